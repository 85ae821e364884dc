"""`opsinfo doctor`: what is wrong with an install, a store, or what opsinfo left there."""

from __future__ import annotations

import os

from ...check.checked import Checked
from ...check.fingerprint import fingerprinted
from ...check.install import check_install
from ...check.run import Checker
from ...check.vault import check_vault
from ...errors import UsageFault
from ...model.install import Install
from ...model.opp import opp_root, socs_of
from ...model.repository import Repository
from ...model.roots import environment_customs, select_root
from ...model.target import Target, TargetOptions, resolve
from ...report.formats.findings_json import findings_document
from ..line import declare
from ..shared.common_options import OutputOptions, WriteOptions, format_option, output_of
from ..shared.findings import say_findings
from ..shared.options import backup_option, customs_option, soc_option
from ..shared.writing import scope_of, vault_of


@declare.command("doctor")
@declare.argument("target", required=False)
@soc_option
@customs_option
@backup_option
@format_option()
def command(target: str | None, options: TargetOptions, writing: WriteOptions, printing: OutputOptions) -> int:
    """Look for what is wrong with TARGET, or with the install the environment selects.

    Stores that fail or shadow, custom paths without effect, edits an upgrade undid, changes that were
    interrupted. Folders that a killed run left open are shut.

    \b
    Examples:
      opsinfo doctor
      opsinfo doctor /usr/local/Ascend/ascend-toolkit/latest
    """
    output = output_of("doctor", printing)
    path, installs = _chosen(target, options)
    checker = Checker(kind="library")
    for install in installs:
        checker.outcome.add(install.root, "install", check_install(install))
    for folder in _stores(path, installs):
        checker.store(folder)
    vault = vault_of(writing)
    checker.outcome.add(vault.path, "vault", check_vault(vault, scope_of(path)), accepts=True)
    repository = Repository.around(os.getcwd(), os.environ)
    checked = Checked(checker.outcome, repository)
    checker.outcome.findings = fingerprinted(checker.outcome.findings, checked.relative)
    say_findings(output, checked, printing.format, findings_document(checked, []))
    return checked.status


def _chosen(target: str | None, options: TargetOptions) -> tuple[str, list[Install]]:
    """The path that is looked at, and the installs that are to be checked there, one for each chip."""
    if target is not None and not os.path.isdir(target):
        found: Target = resolve(target, options, os.environ)
        if found.kind == "snapshot":
            said = "a snapshot tells of an install; doctor looks at the install itself"
            raise UsageFault(said, name="wrong-kind", path=target)
        return found.path, [found.install] if found.install else []
    if target is None:
        target = select_root(os.environ, "no target was given").path
        options = options._replace(customs=(*options.customs, *environment_customs(os.environ)))
    root = opp_root(target)
    if root is None:
        return target, []
    socs: list[str | None] = [options.soc] if options.soc else [*socs_of(root)] or [None]
    return root, [Install.open(root, each, "ai", list(options.customs)) for each in socs]


def _stores(path: str, installs: list[Install]) -> list[str]:
    """Every config directory once."""
    if not installs:
        return [path] if os.path.isdir(path) else [os.path.dirname(os.path.abspath(path))]
    sites = [site for install in installs for core in ("ai", "vector", "dsa") for site in install.sites(core)]
    return list(dict.fromkeys(site.directory for site in sites if os.path.isdir(site.directory)))
