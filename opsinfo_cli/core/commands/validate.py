"""`opsinfo validate`: findings on mixlists, libraries, and the files of compiler options beside a mixlist."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import click

from ...errors import OpsinfoError, UsageFault, counted
from ...near_names import did_you_mean
from ..cann.chips import chip_folder
from ..cann.file_kind import OPTION_KINDS, NamedKind
from ..cann.input_shapes import parse_shapes
from ..cann.target import Target, target_labels
from ..cann.targets.found import TargetOptions
from ..check.baseline import Baseline
from ..check.checked import BaselineUsed, Checked, FixesMade, Narrowing
from ..check.finding import SEVERITIES, Finding, Outcome
from ..check.fixes import applicable
from ..check.kinds import Asked
from ..check.mode import PLACE
from ..check.models import OpenModels
from ..check.rules import Severity
from ..check.run import Step, check_and_fix, opened_models, readable_targets
from ..document import as_json
from ..terminal import completion
from ..terminal.answer import Block, CommandAnswer, Lines
from ..terminal.atc_option import atc_in_use, atc_option, tell_atc
from ..terminal.config import Configured, config_in_use, config_not_taken, config_options, config_that_names
from ..terminal.console import Console
from ..terminal.findings import (
    FORMATS,
    REPORTS,
    annotated,
    concise_lines,
    file_lines,
    finding_lines,
    rendered,
    summary_line,
)
from ..terminal.open import open_against, report_doubts
from ..terminal.params import (
    MODE,
    SOC,
    TARGET,
    Choice,
    Word,
    WriteOptions,
    backup_dir_option,
    bundle,
    dry_run_option,
    force_option,
    in_place_option,
    is_same,
    option,
    prints,
    shape_option,
    strict_option,
    wait_option,
)
from ..terminal.write import settings_of
from ..text.source import read_standard_input


@dataclass(frozen=True)
class NarrowingOptions:
    """Options that choose the reported findings."""

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    baseline: str | None
    update_baseline: bool
    severity: Severity

    def made(self, strict: bool, baseline: Baseline) -> Narrowing:
        """Return what is reported; options that a configuration file gave are said with what they hide."""
        narrowing = Narrowing.of(self.select, self.ignore, self.severity, strict, baseline)
        usual: dict[str, Any] = {"select": (), "ignore": (), "severity": "note"}
        configured = {name: value for name, value in usual.items() if config_that_names(name)}
        if not configured:
            return narrowing
        typed = replace(self, **configured)
        without = Narrowing.of(typed.select, typed.ignore, typed.severity, strict, baseline)
        return replace(narrowing, config=config_in_use(), without=without)


FINDING = Word("CODE|NAME", completion.findings)
_narrowing_options = bundle(
    "narrowing",
    NarrowingOptions,
    option("--select", type=FINDING, multiple=True, help="Only these findings; M selects all of M...; repeatable."),
    option(
        "--ignore",
        type=Word("CODE[:POINTER]", completion.findings),
        multiple=True,
        help="All findings but these, or these at and below a JSON pointer; repeatable.",
    ),
    option("--baseline", type=Word("FILE", files=True), help="File of known findings to hide."),
    option("--update-baseline", is_flag=True, help="Write the findings to the baseline; exit 0."),
    option(
        "--severity",
        type=Choice(SEVERITIES),
        default="note",
        show_default=True,
        help="Report only findings of this severity and above.",
    ),
)
_write_options = bundle(
    "writing", WriteOptions, dry_run_option, force_option, wait_option, in_place_option, backup_dir_option
)


@click.command("validate", cls=Configured)
@click.argument("paths", nargs=-1, type=Word("FILE|DIR|TARGET", files=True))
@atc_option
@option("--against", type=TARGET, multiple=True, help="Target that the mixlists are for; repeatable.")
@option(
    "--precision-mode",
    "modes",
    type=MODE,
    multiple=True,
    help="Precision mode that the mixlists are used with; repeatable.",
)
@option(
    "--model",
    "models",
    type=Word("MODEL", reads=True),
    multiple=True,
    help="Model that the mixlists are used with; repeatable.",
)
@shape_option
@option(
    "--soc", "socs", type=SOC, multiple=True, help="Chip of the install given with --against, or as path; repeatable."
)
@option(
    "--as",
    "kind",
    type=Choice(["library", "mixlist", *OPTION_KINDS]),
    help="The kind of the files, if it cannot be detected.",
)
@option(
    "--follow",
    is_flag=True,
    help="Also check the files that scripts name (.sh, .py, .ini, .cfg, .config), and the modes beside them.",
)
@option(
    "--exclude",
    type=Word("GLOB"),
    multiple=True,
    help="Leave out files and folders with this name, or path, when searching a directory; repeatable.",
)
@option(
    "--base",
    type=Word("DIR|REV", files=True),
    help="Report only what this folder, or revision of git, lacks, and each policy that differs from it.",
)
@_narrowing_options
@strict_option
@option("--fix", is_flag=True, help="Apply safe fixes; report the rest.")
@option(
    "--unsafe-fixes",
    is_flag=True,
    help="Also apply unsafe fixes: guessed names, duplicate keys, entries without effect.",
)
@_write_options
@option(
    "--report",
    "reports",
    type=Word("FORMAT:FILE", lambda ctx, param: [f"{name}:" for name in FORMATS]),
    multiple=True,
    help=f"Also write a report to FILE: {', '.join(FORMATS)}; repeatable.",
)
@config_options
@prints(
    "concise",
    "github",
    "auto",
    default="auto",
    hints={name: f"--report {name}:FILE writes it" for name in REPORTS if name != "github"},
)
def command(
    paths: tuple[str, ...],
    against: tuple[str, ...],
    modes: tuple[str, ...],
    models: tuple[str, ...],
    shapes: tuple[str, ...],
    socs: tuple[str, ...],
    kind: NamedKind | None,
    follow: bool,
    exclude: tuple[str, ...],
    base: str | None,
    narrowing: NarrowingOptions,
    fix: bool,
    unsafe_fixes: bool,
    writing: WriteOptions,
    reports: tuple[str, ...],
    console: Console,
    open_models: OpenModels,
) -> CommandAnswer:
    """Check files, stores and directories for what the engine refuses or ignores, and for entries without effect.

    Exit status 1 if a finding is an error. Op names are checked against the targets given with --against, one for each
    chip that the mixlist is for; a snapshot replaces an install. keep_dtype, customize_dtypes and op_precision files
    are checked too, their nodes against --model. Directories are searched for all of them; files that git ignores are
    left out. Put options you always use in opsinfo.toml, or in pyproject.toml under [tool.opsinfo].

    Format concise prints one line for each finding; github adds annotations to the text, and auto does so in GitHub
    Actions.

    \b
    Examples:
      opsinfo validate mixlists --against ascend910b
      opsinfo validate ops_info.json --against ascend910b --precision-mode mixed_bfloat16
      opsinfo validate ops_info.json --against ascend910b --model model.onnx
      opsinfo validate . --against ascend910 --against ascend910b
      opsinfo validate . --report sarif:opsinfo.sarif --report junit:opsinfo.xml
      opsinfo validate ascend910b
      opsinfo validate . --follow
      opsinfo validate . --ignore T006 --ignore unknown-operator:/black-list/to-add
      opsinfo validate . --base origin/main
      opsinfo validate . --exclude 'testdata/*' --exclude vendor
      opsinfo validate . --baseline opsinfo-baseline.json --update-baseline
      opsinfo validate ops_info.json --fix --dry-run
    """
    from ..terminal.report_file import write_report

    if not paths and not (atc_in_use() and modes):
        why = (
            "the command of --atc names no mixlist or other file, and no mode"
            if atc_in_use()
            else "FILE|DIR is missing"
        )
        raise UsageFault(why, name="missing-path", hint="give files or directories, or --atc with your command of atc")
    tell_atc(console)
    if path := config_not_taken():
        console.note(f"{path} belongs to another user and is not used; --config takes it")
    if config_in_use():
        console.detail(f"defaults from {config_in_use()}")
    _require_fitting(fix, unsafe_fixes, writing, narrowing, paths)
    named = [*paths, *against, *models, narrowing.baseline, config_in_use()]
    baseline, files = _baseline(narrowing), _report_files(reports, [path for path in named if path is not None])
    targets = [target for text in against for target in _chips(text, socs, console)]
    if targets:
        pairs = zip(target_labels(targets), targets, strict=True)
        chips = [label if label == each.text else f"{label} ({each.text})" for label, each in pairs]
        console.detail(f"checked against {', '.join(chips)}")
    with ExitStack() as stack:
        narrowed = narrowing.made(console.strict, baseline)
        asked = Asked(
            readable_targets(targets),
            modes,
            opened_models(models, parse_shapes(shapes), open_models),
            kind,
            follow,
            console.verbose > 0,
            open_models,
            exclude,
        )
        checked = check_and_fix(
            paths,
            asked,
            narrowed,
            () if against else socs,
            base,
            read_standard_input() if "-" in paths else None,
            ("unsafe" if unsafe_fixes else "safe") if fix else None,
            settings=settings_of(writing),
            step=_progress(stack, console),
            say=console.warn,
        )
    for note in _notes(checked, targets, bool(models), paths):
        console.note(note)
    if narrowing.update_baseline:
        assert narrowing.baseline is not None
        _accept(checked, narrowing.baseline, baseline, writing.writes, console)
    answer = ValidateAnswer(checked, narrowing.baseline, fix, writing)
    for format_, path in files:
        try:
            text = rendered(format_, checked, console.headed(answer.document()))
            write_report(path, text.encode("utf-8", "backslashreplace"))
        except OpsinfoError as error:
            checked.failures.append(error)
    return answer.answer(console)


def _progress(stack: ExitStack, console: Console) -> Step:
    """Return a step that shows the progress from the first call on; a second check after fixes goes on in it."""
    advance: list[Callable[[float], None]] = []

    def step(done: int, total: int) -> None:
        if not advance:
            advance.append(stack.enter_context(console.progress("checking", total)))
        advance[0](1)

    return step


def _notes(outcome: Outcome, targets: Sequence[Target], has_models: bool, paths: Sequence[str]) -> Iterator[str]:
    """Yield how files were found, what was not checked, and where wrong modes come from."""
    yield from outcome.notes
    kinds = {file.kind for file in outcome.files}
    if not targets and kinds & {"mixlist", *(() if has_models else OPTION_KINDS)}:
        chip = next((path for path in paths if chip_folder(path) and not os.path.lexists(path)), None)
        yield "names not checked; " + (f"did you mean --against {chip}?" if chip else "add --against TARGET")
    elif not targets and "customize_dtypes" in kinds:
        yield "the dtypes of customize_dtypes not checked; add --against TARGET"
    if "opdef" in kinds and outcome.base is None and any(target.kind == "opdef" for target in targets):
        yield "--against does not see operators and chips that are gone, nor experimental/; --base DIR|REV does"
    config = config_that_names("modes")
    if config and any(finding.path == PLACE for finding in outcome.findings):
        yield f"{config} gives --precision-mode"


def _chips(text: str, socs: tuple[str, ...], console: Console) -> list[Target]:
    """Return a target, or one for each chip of an install."""
    chips = dict.fromkeys(socs) if socs and not os.path.isfile(text) else [None]
    targets = [open_against(text, console, TargetOptions(soc=soc)) for soc in chips]
    for target in targets:
        report_doubts(target, console)
    return targets


def _accept(checked: Checked, path: str, old: Baseline, writes: bool, console: Console) -> None:
    """Write the findings to the baseline, unless it has them already, and report them no more."""
    from ..change.output_file import write_file

    new = checked.baseline.updated(checked.selected, checked.gone, checked.relative)
    try:
        if new.text() == old.text() and os.path.exists(path):
            console.tell(f"{path} is up to date")
        else:
            if writes:
                write_file(path, new.text().encode())
            added = len(new.fingerprints - checked.baseline.fingerprints)
            size = counted(len(new.entries), "finding")
            done = "wrote" if writes else "would write"
            console.tell(f"{done} {path}: {size}, {added} new, {len(checked.gone)} gone")
    except OpsinfoError as error:
        checked.failures.append(error)
    else:
        checked.findings, checked.gone = [], []


class ValidateAnswer(NamedTuple):
    """
    :param baseline: the path of the baseline, if there is one
    :param fixes: whether fixes were asked for, and how they are written
    """

    checked: Checked
    baseline: str | None
    fixes: bool
    writing: WriteOptions

    def document(self) -> dict[str, Any]:
        checked, fixed = self.checked, self.checked.fixed
        changed = (fixed.change, fixed.changed_files()) if fixed else (None, [])
        document: dict[str, Any] = as_json(
            checked.document(
                BaselineUsed(self.baseline, checked.known, checked.gone) if self.baseline else None,
                FixesMade(*changed, not self.writing.writes) if self.fixes else None,
            )
        )
        return document

    def answer(self, console: Console) -> CommandAnswer:
        checked, width = self.checked, console.width
        findings = checked.findings
        shows_diff = self.fixes and not self.writing.writes
        fixable = [] if self.fixes else fixable_notes(findings)
        baseline = self._about_baseline(console.verbose > 0)
        notes = [*self._about_fixes(), summary_line(checked), *checked.remarks, *baseline, *fixable]

        def text() -> list[Block]:
            from ..terminal.write import diffs

            if shows_diff:
                return diffs(checked.fixed) if checked.fixed else []
            return [Lines(finding_lines(findings, width))]

        formats: dict[str, Callable[[], Iterable[Block]]] = {
            "concise": lambda: [Lines(concise_lines(findings), whole=True)],
            "github": lambda: annotated(checked, width),
        }
        return CommandAnswer(
            self.document,
            text,
            formats={} if shows_diff else formats,
            details=file_lines(checked),
            failures=checked.failures,
            notes=notes,
            status=checked.status,
            paged=False,
        )

    def _about_fixes(self) -> Iterator[str]:
        """Yield the written files and the number of fixed findings."""
        from ..terminal.write import notes_of_result, undoing

        result = self.checked.fixed
        if result and result.change:
            yield from notes_of_result(result, undoing(self.writing, result.change), writes=True, verbose=False)
        yield from self.checked.said

    def _about_baseline(self, verbose: bool) -> Iterator[str]:
        known, gone = self.checked.known, self.checked.gone
        if self.baseline and known:
            yield f"{counted(known, 'known finding')} hidden by the baseline {self.baseline}"
        if gone:
            verb = "finding no longer occurs" if len(gone) == 1 else "findings no longer occur"
            it = "it" if len(gone) == 1 else "them"
            yield f"note: {self.baseline}: {len(gone)} {verb}; --update-baseline removes {it}"
            if verbose:
                yield from (f"  gone: {entry.path}: {entry.code} {entry.name}: {entry.message}" for entry in gone)


def fixable_notes(findings: Sequence[Finding]) -> list[str]:
    """Return how many findings --fix would fix, in a line if there are any."""
    safe = len(applicable(findings, unsafe=False))
    unsafe = len(applicable(findings, unsafe=True)) - safe
    if safe and unsafe:
        return [f"{safe} can be fixed with --fix, {unsafe} more with --fix --unsafe-fixes"]
    if safe or unsafe:
        return [f"{safe or unsafe} can be fixed with --fix{'' if safe else ' --unsafe-fixes'}"]
    return []


def _require_fitting(
    fix: bool, unsafe_fixes: bool, writing: WriteOptions, narrowing: NarrowingOptions, paths: tuple[str, ...]
) -> None:
    """:raises UsageFault: if the options contradict each other"""
    if not fix:
        if unsafe_fixes:
            raise UsageFault("--unsafe-fixes requires --fix")
        if writing.dry_run and not narrowing.update_baseline:
            raise UsageFault("--dry-run requires --fix or --update-baseline; without them nothing is written")
    elif "-" in paths:
        raise UsageFault("standard input cannot be fixed in place", hint="`opsinfo fmt -` writes to standard output")


# baseline and reports


def _baseline(narrowing: NarrowingOptions) -> Baseline:
    """Return the known findings of ``--baseline``; none without it.

    :raises UsageFault: if the options contradict each other
    :raises Refused: if the file cannot be used
    """
    path, updates = narrowing.baseline, narrowing.update_baseline
    if path is None:
        if updates:
            raise UsageFault("--update-baseline requires --baseline", hint="add --baseline FILE")
        return Baseline()
    from ..change.output_file import require_writable

    if updates:
        config = config_that_names("baseline")
        if config:
            message = "--update-baseline writes only a file that --baseline names on the command line"
            raise UsageFault(message, name="config-writes", path=config, hint=f"add --baseline {path}")
        require_writable(path)
        if not os.path.lexists(path):
            return Baseline()
    return Baseline.read(path)


def _report_files(words: Iterable[str], inputs: Sequence[str]) -> list[tuple[str, str]]:
    """Parse the values of ``--report``, and check them before anything is written.

    :param inputs: files that a report must not overwrite
    :returns: the format and the path of each
    :raises UsageFault: if a value is wrong
    :raises Refused: if a report could not be written
    """
    from ..change.output_file import require_writable
    from ..terminal.report_file import require_report

    reports = list(map(_report_file, words))
    taken = list(inputs)
    for format_, file in reports:
        if any(is_same(file, path) for path in taken) and not file.startswith("/dev/"):
            message = f"--report {format_}:{file} would overwrite a file that this run reads or writes"
            raise UsageFault(message, name="report-clash", hint="choose another name")
        taken.append(file)
        require_writable(file)
        require_report(file)
    return reports


def _report_file(word: str) -> tuple[str, str]:
    """Return the format and the path."""
    format_, _, path = word.partition(":")
    if format_ not in FORMATS:
        hint = did_you_mean(format_, FORMATS) or "known formats: " + ", ".join(FORMATS)
        raise UsageFault(f"--report {word}: unknown format `{format_}`", name="unknown-format", hint=hint)
    if path in ("", "-"):
        hint = f"--report {format_}:FILE; /dev/stdout is standard output"
        raise UsageFault(f"--report {word}: no file given", name="report-without-file", hint=hint)
    return format_, path
