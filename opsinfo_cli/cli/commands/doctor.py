"""`opsinfo doctor`: what is wrong with an install, a store, or what opsinfo left there."""

from __future__ import annotations

import os
from typing import Any

from ...check.checked import Checked
from ...check.fingerprint import fingerprinted
from ...check.install import check_install
from ...check.run import Checker
from ...check.selection import Selection
from ...check.vault import check_vault
from ...errors import UsageFault
from ...model.install import Install
from ...model.opp import opp_root, socs_of
from ...model.repository import Repository
from ...model.roots import environment_customs, select_root
from ...model.target import Options, Target, resolve
from ...report.formats.findings_json import findings_document
from ...report.views.diagnosis import show_diagnosis
from ..line import declare
from ..shared.findings import say_findings, talk_about
from ..shared.options import backup_option, format_option, output_of, pager_option
from ..shared.writing import scope_of, vault_of

__all__ = ["command"]


@declare.command("doctor")
@declare.argument("target", required=False)
@declare.option("--soc", metavar="SOC", help="Only this chip of an install.")
@declare.option(
    "--custom",
    "customs",
    metavar="PATH",
    multiple=True,
    help="A custom operator package, as in ASCEND_CUSTOM_OPP_PATH; repeatable.",
)
@declare.option(
    "--select", metavar="CODE|NAME", multiple=True, help="Only these findings; S selects all of S...; repeatable."
)
@declare.option("--ignore", metavar="CODE|NAME", multiple=True, help="All findings but these; repeatable.")
@backup_option
@pager_option
@format_option("concise")
def command(
    target: str | None,
    soc: str | None,
    customs: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    format_: str,
    **options: Any,
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
    output = output_of("doctor", options, "json" if format_ == "json" else "text")
    selection = Selection.of(select, ignore)
    path, installs = _chosen(target, soc, customs)
    checker = Checker(kind="library")
    for install in installs:
        checker.outcome.add(install.root, "install", check_install(install))
    for folder in _stores(path, installs):
        checker.store(folder)
    vault = vault_of(options)
    checker.outcome.add(vault.path, "vault", check_vault(vault, scope_of(path)), accepts=True)
    repository = Repository.around(os.getcwd(), os.environ)
    checked = Checked(checker.outcome, repository)
    findings = [each for each in checker.outcome.findings if selection.keeps(each.rule, each.pointer)]
    checker.outcome.findings = fingerprinted(findings, checked.relative)
    if format_ == "json":
        say_findings(output, checked, format_, findings_document(checked, []))
    else:
        folds = not (select or output.verbose)
        show_diagnosis(output, checker.outcome.findings, format_, path, folds)
        talk_about(output, checked)
    return checked.status


def _chosen(target: str | None, soc: str | None, customs: tuple[str, ...]) -> tuple[str, list[Install]]:
    """The path that is looked at, and the installs that are to be checked there, one for each chip."""
    if target is not None and not os.path.isdir(target):
        found: Target = resolve(target, Options(soc=soc, customs=customs), os.environ)
        if found.kind == "snapshot":
            said = "a snapshot tells of an install; doctor looks at the install itself"
            raise UsageFault(said, name="wrong-kind", path=target)
        return found.path, [found.install] if found.install else []
    if target is None:
        target = select_root(os.environ, "no target was given").path
        customs = (*customs, *environment_customs(os.environ))
    root = opp_root(target)
    if root is None:
        return target, []
    socs: list[str | None] = [soc] if soc else [*socs_of(root)] or [None]
    return root, [Install.open(root, each, "ai", list(customs)) for each in socs]


def _stores(path: str, installs: list[Install]) -> list[str]:
    """Every config directory once."""
    if not installs:
        return [path] if os.path.isdir(path) else [os.path.dirname(os.path.abspath(path))]
    sites = [site for install in installs for core in ("ai", "vector", "dsa") for site in install.sites(core)]
    return list(dict.fromkeys(site.directory for site in sites if os.path.isdir(site.directory)))
