"""`opsinfo doctor`: check an install or a store, and the changes made to it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence

import click

from ...errors import UsageFault, quoted
from ..cann.install import CORES, Install, environment_customs, select_root
from ..cann.load_order import library_files
from ..cann.mixlist import MixlistFile
from ..cann.repository import Repository
from ..cann.target import look_up
from ..cann.targets.found import FACTS, TargetOptions
from ..cann.targets.store import is_loaded_from
from ..change.scope import scope_of
from ..change.vault import vault_in
from ..check.checked import Checked, Narrowing
from ..check.files import FoundFile
from ..check.finding import Finding
from ..check.kinds import Asked, Context, ReadFile
from ..check.run import CheckRun
from ..check.selection import RuleSelection
from ..check.store import check_install, unused_packages
from ..check.vault import check_vault
from ..terminal import completion
from ..terminal.answer import Block, CommandAnswer, Either, Line, Lines, Span, Tree
from ..terminal.console import Console
from ..terminal.findings import concise_lines, file_lines, finding_lines, summary_line
from ..terminal.params import (
    TARGET,
    Command,
    Word,
    WriteOptions,
    backup_dir_option,
    bundle,
    custom_option,
    option,
    prints,
    soc_option,
)
from ..terminal.write import settings_of
from ..text.escape import shortened
from ..text.source import Source

FINDING = Word("CODE|NAME", completion.findings)


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
) -> CommandAnswer:
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
    run = CheckRun(Context(Asked(kind="library")))
    unused = list(unused_packages(installs))
    for install in installs:
        run.outcome.add(install.root, "install", [*check_install(install), *unused])
    folders = _stores(path, installs)
    for folder in folders:
        run.check(ReadFile(folder, None))
    libraries = [os.path.join(folder, name) for folder in folders for name in library_files(folder)]
    if not folders:  # a library that no engine loads from where it lies
        run.read_and_check(FoundFile(path))
        libraries = [path]
    vault = vault_in(settings_of(writing))
    run.outcome.add(vault.path, "vault", check_vault(vault, scope_of(path), libraries), accepts=True)
    checked = Narrowing(Repository.around(os.getcwd(), os.environ), selection).narrow(run.outcome)
    folds = not (select or console.verbose)
    return diagnosis_answer(checked, path, folds, console.quiet, console.width)


def _chosen(target: str | None, options: TargetOptions) -> tuple[str, list[Install]]:
    """Return the path to check, and its installs, one for each chip.

    :raises UsageFault: if there is nothing to check
    """
    if target is None:
        target = select_root(os.environ, "no target was given").path
        options = options._replace(customs=(*options.customs, *environment_customs(os.environ)))
    found, soc = look_up(target, options, os.environ)
    if isinstance(found, Source):
        raise _no_install(target, MixlistFile.phrase, found.path)
    if found.kind not in ("install", "store", "library"):
        facts = FACTS[found.kind]
        raise _no_install(target, facts.phrase, found.path if facts.is_checked else None)
    chips: list[str | None] = [soc] if soc or not found.has_chips else [*found.list_socs()] or [None]
    installs = [install for chip in chips if (install := found.open(chip).install)]
    return installs[0].root if installs else found.path, installs


def _no_install(target: str, phrase: str, checked: str | None) -> UsageFault:
    """:param checked: the path that `validate` checks instead; None if it checks none"""
    hint = f"`opsinfo validate {quoted(checked)}` checks it" if checked else None
    return UsageFault(f"doctor checks an install, not {phrase}", name="wrong-kind", path=target, hint=hint)


def _stores(path: str, installs: list[Install]) -> list[str]:
    """Return every config directory once; none for a library that lies elsewhere."""
    if not installs:
        folder = path if os.path.isdir(path) else os.path.dirname(os.path.abspath(path))
        return [folder] if folder == path or is_loaded_from(folder) else []
    sites = [site for install in installs for core in CORES for site in install.sites(core)]
    return list(dict.fromkeys(site.directory for site in sites if os.path.isdir(site.directory)))


_VAULT = "V"
"""The prefix of the codes of findings on edits made by opsinfo."""


def diagnosis_answer(checked: Checked, top: str, folds: bool, quiet: bool, width: int) -> CommandAnswer:
    """:param top: the folder to which a terminal shows places relative
    :param folds: whether only the number of notes is shown, and on a terminal that of what one rule finds often
    :param quiet: whether notes are left out
    :param width: cells of the terminal; 0 off a terminal
    """
    ordered = sorted(checked.findings, key=lambda each: not each.rule.code.startswith(_VAULT))
    notes = [finding for finding in ordered if finding.severity == "note"]
    hidden = notes if folds or quiet else []
    shown = [finding for finding in ordered if finding.severity != "note"] if hidden else ordered
    folded = [] if quiet else list(_folded(hidden))

    def blocks() -> list[Block]:
        return [
            Either(lambda: [_tree(shown, top, width, folds)] if shown else [], lambda: [Lines(finding_lines(shown))]),
            Lines(folded),
        ]

    return CommandAnswer(
        checked.to_dict,
        blocks,
        formats={"concise": lambda: [Lines([*concise_lines(shown), *folded], whole=True)]},
        details=file_lines(checked),
        failures=checked.failures,
        notes=[summary_line(checked)],
        status=checked.status,
    )


_MOST_OF_A_RULE = 5
"""The findings of one rule that the tree shows of a file: a broken library may have one for each operator."""


def _tree(findings: Sequence[Finding], top: str, width: int, folds: bool) -> Tree:
    """Return a branch for each file, with its findings and their hints; the file of the most urgent finding first."""
    files: dict[str, list[Finding]] = {}
    for finding in findings:
        files.setdefault(finding.path, []).append(finding)
    branches = []
    for path, group in files.items():
        name = path.removeprefix(f"{top.rstrip('/')}/")
        counts: Counter[str] = Counter()
        leaves = []
        for finding in group:
            code = finding.rule.code
            counts[code] += 1
            if not folds or counts[code] <= _MOST_OF_A_RULE:
                leaves.append(_branch(finding))
        for code, count in counts.items():
            if folds and count > _MOST_OF_A_RULE:
                leaves.append(Tree(f"{count - _MOST_OF_A_RULE} more {code} (doctor --select {code})"))
        branches.append(Tree(shortened(name, width - 4) if width else name, leaves))
    return Tree([Span(top, "title")], branches)


def _branch(finding: Finding) -> Tree:
    is_whole = finding.rule.code.startswith(_VAULT)  # about a file or folder, not a line of it
    place = f" (line {finding.start.line})" if finding.start and not is_whole else ""
    head = Span(f"{finding.severity}[{finding.rule.code}]:", finding.severity)
    label: Line = [head, Span(f" {finding.message}{place}")]
    hint: list[Tree] = [Tree([Span("hint:", "hint"), Span(f" {finding.hint}")])] if finding.hint else []
    return Tree(label, hint)


def _folded(notes: Sequence[Finding]) -> Iterator[Line]:
    """Yield one line for each rule, with the number of its findings."""
    for (code, name), count in Counter((note.rule.code, note.rule.name) for note in notes).items():
        if name == "shadowed":
            text = f"{count} entries are overridden (doctor --select {code})" if count > 1 else None
            text = text or f"1 entry is overridden (doctor --select {code})"
        else:
            text = f"{count} x {name}; --select {code} lists {'it' if count == 1 else 'them'}"
        yield [Span(f"note[{code}]", "note"), Span(f": {text}")]
