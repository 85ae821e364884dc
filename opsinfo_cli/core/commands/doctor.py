"""`opsinfo doctor`: check an install or a store, and the changes made to it."""

from __future__ import annotations

import os

import click

from ...errors import UsageFault, quoted
from ..cann.definitions import chips_of
from ..cann.install import Install, environment_customs, opp_root, select_root, socs_of
from ..cann.library import library_files
from ..cann.repository import Repository
from ..cann.target import Target, TargetOptions, not_a_target, resolve
from ..change.scope import scope_of
from ..check.run import Checker, Narrowing
from ..check.selection import RuleSelection
from ..check.store import check_install, unused_packages
from ..check.vault import check_vault
from ..terminal.answer import Answer
from ..terminal.console import Console
from ..terminal.params import (
    TARGET,
    Command,
    Word,
    WriteOptions,
    backup_dir_option,
    bundle,
    custom_option,
    lazily,
    option,
    prints,
    soc_option,
)
from ..terminal.write import vault_of
from .diagnosis_view import diagnosis_answer

FINDING = Word("CODE|NAME", lazily("findings"))


@click.command("doctor", cls=Command)
@click.argument("target", required=False, type=TARGET)
@bundle("options", TargetOptions, soc_option, custom_option)
@option("--select", type=FINDING, multiple=True, help="Only these findings; S selects all of S...; repeatable.")
@option("--ignore", type=FINDING, multiple=True, help="All findings but these; repeatable.")
@bundle("writing", WriteOptions, backup_dir_option)
@prints("concise")
def command(
    target: str | None,
    options: TargetOptions,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    writing: WriteOptions,
    console: Console,
) -> Answer:
    """Check TARGET, or the install that the environment selects.

    Reports stores that fail, entries that are overridden, custom paths without effect, edits that an upgrade
    undid, and interrupted changes. Restores directory modes left writable by an interrupted run.

    Notes are counted, not shown, unless --select or -v asks for them; -q leaves them out.

    \b
    Examples:
      opsinfo doctor
      opsinfo doctor ascend910b --select shadowed --format concise
    """
    selection = RuleSelection.of(select, ignore)
    path, installs = _chosen(target, options)
    checker = Checker(kind="library")
    unused = list(unused_packages(installs))
    for install in installs:
        checker.outcome.add(install.root, "install", [*check_install(install), *unused])
    for folder in _stores(path, installs):
        checker.store(folder)
    vault = vault_of(writing)
    checker.outcome.add(vault.path, "vault", check_vault(vault, scope_of(path)), accepts=True)
    checked = Narrowing(Repository.around(os.getcwd(), os.environ), selection).of(checker.outcome)
    folds = not (select or console.verbose)
    return diagnosis_answer(checked, path, folds, console.quiet, console.width)


def _chosen(target: str | None, options: TargetOptions) -> tuple[str, list[Install]]:
    """Return the path to check, and its installs, one for each chip.

    :raises UsageFault: if there is nothing to check
    """
    if target is not None and os.path.isdir(target) and (defined := chips_of(target)):
        raise _no_install(target, defined.phrase, target)
    if target is not None and not os.path.isdir(target):
        found: Target = resolve(target, options, os.environ)
        if found.kind in ("snapshot", "mixlist") or found.definitions:
            raise _no_install(target, found.phrase, None if found.kind == "snapshot" else found.path)
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


def _no_install(target: str, phrase: str, checked: str | None) -> UsageFault:
    """:param checked: the path that `validate` checks instead; None if it checks none"""
    hint = f"`opsinfo validate {quoted(checked)}` checks it" if checked else None
    return UsageFault(f"doctor checks an install, not {phrase}", name="wrong-kind", path=target, hint=hint)


def _stores(path: str, installs: list[Install]) -> list[str]:
    """Return every config directory once."""
    if not installs:
        return [path] if os.path.isdir(path) else [os.path.dirname(os.path.abspath(path))]
    sites = [site for install in installs for core in ("ai", "vector", "dsa") for site in install.sites(core)]
    return list(dict.fromkeys(site.directory for site in sites if os.path.isdir(site.directory)))
