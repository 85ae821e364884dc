"""`opsinfo doctor`: check an install or a store, and the changes made to it."""

from __future__ import annotations

import os

from ...check.baseline import fingerprinted
from ...check.run import Checker, CheckResult
from ...check.selection import RuleSelection
from ...check.store import check_install
from ...check.vault import check_vault
from ...errors import UsageFault
from ...model.install import Install, environment_customs, opp_root, select_root, socs_of
from ...model.library import library_files
from ...model.repository import Repository
from ...model.target import Target, TargetOptions, not_a_target, resolve
from ...report.formats.findings_json import findings_document
from ...report.views.diagnosis import show_diagnosis
from ..line import declare
from ..shared.common_options import OutputOptions, WriteOptions, format_option, output_of
from ..shared.findings import say_findings, talk_about
from ..shared.options import backup_option, customs_option, pager_option, soc_option
from ..shared.writing import scope_of, vault_of


@declare.command("doctor")
@declare.argument("target", required=False)
@soc_option
@customs_option
@declare.option(
    "--select", metavar="CODE|NAME", multiple=True, help="Only these findings; S selects all of S...; repeatable."
)
@declare.option("--ignore", metavar="CODE|NAME", multiple=True, help="All findings but these; repeatable.")
@backup_option
@pager_option
@format_option("concise")
def command(
    target: str | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    options: TargetOptions,
    writing: WriteOptions,
    printing: OutputOptions,
) -> int:
    """Check TARGET, or the install that the environment selects.

    Reports stores that fail, entries that are shadowed, custom paths without effect, edits that an upgrade
    undid, and interrupted changes. Restores directory modes left writable by an interrupted run.

    Notes are counted, not shown, unless --select or -v asks for them; -q leaves them out.

    \b
    Examples:
      opsinfo doctor
      opsinfo doctor /usr/local/Ascend/ascend-toolkit/latest
      opsinfo doctor --select shadowed --format concise
    """
    output = output_of("doctor", printing._replace(format="json" if printing.format == "json" else "text"))
    selection = RuleSelection.of(select, ignore)
    path, installs = _chosen(target, options)
    checker = Checker(kind="library")
    for install in installs:
        checker.outcome.add(install.root, "install", check_install(install))
    for folder in _stores(path, installs):
        checker.store(folder)
    vault = vault_of(writing)
    checker.outcome.add(vault.path, "vault", check_vault(vault, scope_of(path)), accepts=True)
    checked = CheckResult(checker.outcome, Repository.around(os.getcwd(), os.environ))
    findings = [each for each in checker.outcome.findings if selection.keeps(each.rule, each.pointer)]
    checker.outcome.findings = fingerprinted(findings, checked.relative)
    if printing.format == "json":
        say_findings(output, checked, printing.format, findings_document(checked, []))
    else:
        folds = not (select or output.verbose)
        show_diagnosis(output, checker.outcome.findings, printing.format, path, folds)
        talk_about(output, checked)
    return checked.status


def _chosen(target: str | None, options: TargetOptions) -> tuple[str, list[Install]]:
    """Return the path to check, and its installs, one for each chip.

    :raises UsageFault: if there is nothing to check
    """
    if target is not None and not os.path.isdir(target):
        found: Target = resolve(target, options, os.environ)
        if found.kind == "snapshot":
            said = "doctor checks an install, not a snapshot of one"
            raise UsageFault(said, name="wrong-kind", path=target)
        return found.path, [found.install] if found.install else []
    if target is None:
        target = select_root(os.environ, "no target was given").path
        options = options._replace(customs=(*options.customs, *environment_customs(os.environ)))
    root = opp_root(target)
    if root is None:
        if not library_files(target):
            raise not_a_target(target)
        return target, []
    socs: list[str | None] = [options.soc] if options.soc else [*socs_of(root)] or [None]
    return root, [Install.open(root, each, "ai", list(options.customs)) for each in socs]


def _stores(path: str, installs: list[Install]) -> list[str]:
    """Return every config directory once."""
    if not installs:
        return [path] if os.path.isdir(path) else [os.path.dirname(os.path.abspath(path))]
    sites = [site for install in installs for core in ("ai", "vector", "dsa") for site in install.sites(core)]
    return list(dict.fromkeys(site.directory for site in sites if os.path.isdir(site.directory)))
