"""Findings as an answer: text with carets, one line each, a JSON document, and the files of reports."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING

from ...errors import OpsinfoError, counted
from ..cann.file_kind import OPTION_KINDS
from ..text.escape import BRACKETED, cell_width, inert, inert_json, shown, visible, visible_line
from .answer import Block, Exact, Line, Lines, Span, Style, spans
from .console import error_place

if TYPE_CHECKING:
    from ..check.checked import Checked
    from ..check.finding import Finding, Outcome
    from ..text.source import Excerpt

REPORTS = ("github", "gitlab", "sarif", "junit")
"""The modules of :mod:`..check.reports`, each with a function of its name."""
FORMATS = ("text", "concise", "json", *REPORTS)
"""The formats of report files."""

MOST = 1000
"""The most findings that are printed as text; the others are counted."""
_TAB = 4
_CUT = "..."
_LEAST = 8
"""The fewest cells of source that a line shows, even on a narrower terminal."""
_PIPE = 100
"""The width of a line of source off a terminal."""


def finding_lines(findings: Sequence[Finding], width: int = 0, encoding: str | None = None) -> Iterator[Line]:
    """Yield a paragraph for each error and warning with its source, then a line for each note, and a blank line at the
    end of each. What is the same at several places is said once, at the first of them, with all places.

    :param width: cells of the terminal; 0 off a terminal, where messages are not broken
    :param encoding: of the text, so that carets stand below what it lacks; None for that of standard output
    """
    alike: dict[tuple[str, ...], list[Finding]] = {}
    for finding in islice(findings, MOST):
        said = (finding.rule.code, finding.severity, finding.message, finding.hint or "")
        alike.setdefault(said, []).append(finding)
    for (code, severity, message, hint), (first, *others) in alike.items():
        is_note = severity == "note"
        remark = f" ({hint})" if is_note and hint else ""
        yield [Span(f"{severity}[{code}]:", first.severity), Span(f" {message}{remark}")]
        yield f"  --> {place(first)}"
        if first.start and first.snippet and not is_note:
            yield from caret_lines(first.snippet, first.start.line, width or _PIPE, first.severity, encoding)
        for other in others:
            yield f"  --> {place(other)}"
        if hint and not is_note:
            yield ""
            yield [Span("hint:", "hint"), Span(f" {hint}")]
        if not is_note:
            yield ""
    if findings and findings[-1].severity == "note":
        yield ""
    yield from _rest(findings)


def _rest(findings: Sequence[Finding]) -> Iterator[str]:
    if len(findings) > MOST:
        yield f"{len(findings) - MOST:,} more findings; --format json has all"


def place(finding: Finding) -> str:
    """Return `path:line:column`."""
    return visible(finding.path) + (f":{finding.start.line}:{finding.start.column}" if finding.start else "")


def caret_lines(snippet: Excerpt, line: int, width: int, style: Style, encoding: str | None = None) -> Iterator[Line]:
    """Yield three lines: a gutter, the source, the carets. They fit ``width``, for source of any length."""
    gutter = len(str(line)) + 1
    room = max(_LEAST, width - gutter - 3)
    low = max(0, snippet.start - room)  # text further away is never shown, so it is not measured
    characters = [_character(each, encoding) for each in snippet.text[low : snippet.start + room]]
    widths = list(map(cell_width, characters))
    start = snippet.start - low
    is_cut = snippet.cut_left or snippet.cut_right or low or len(characters) < len(snippet.text)
    first, last = _window(widths, start, room) if is_cut or sum(widths) > room else (0, len(widths))
    end = max(start + 1, min(snippet.end - low, last))
    cut_left = _CUT if snippet.cut_left or low + first > 0 else ""
    cut_right = _CUT if snippet.cut_right or low + last < len(snippet.text) else ""
    blanks = " " * (len(cut_left) + sum(widths[first:start]))
    yield f"{' ' * gutter} |"
    yield f" {line} | {cut_left}{''.join(characters[first:last])}{cut_right}".rstrip()
    yield [Span(f"{' ' * gutter} | {blanks}"), Span("^" * (sum(widths[start:end]) or 1), style)]


def _character(character: str, encoding: str | None) -> str:
    if character.isascii() and character.isprintable():
        return character
    return " " * _TAB if character == "\t" else shown(character, encoding)


def _window(widths: Sequence[int], start: int, room: int) -> tuple[int, int]:
    """Return (first, last): the most characters around ``start`` that fit if both sides are cut."""
    room = max(_LEAST, room - 2 * len(_CUT))
    first = last = min(start, len(widths))
    taken = 0
    while first and taken + widths[first - 1] <= room // 2:
        first -= 1
        taken += widths[first]
    while last < len(widths) and taken + widths[last] <= room:
        taken += widths[last]
        last += 1
    while first and taken + widths[first - 1] <= room:
        first -= 1
        taken += widths[first]
    return first, last


def concise_lines(findings: Sequence[Finding], failures: Iterable[OpsinfoError] = ()) -> Iterator[Line]:
    """Yield `path:line:column: severity[code] name: message (hint)`, and in a file the failures."""
    for finding in islice(findings, MOST):
        hint = f" ({visible(finding.hint)})" if finding.hint else ""
        severity = Span(f"{finding.severity}[{finding.rule.code}]", finding.severity)
        yield [
            Span(f"{_unmistakable(place(finding))}: "),
            severity,
            Span(f" {finding.rule.name}: {visible(finding.message)}{hint}"),
        ]
    yield from _rest(findings)
    for error in failures:
        yield f"{_unmistakable(error_place(error))}: error {error.name}: {visible(error.message)}"


def _unmistakable(place: str) -> str:
    """Return a place in which a problem matcher finds no severity: a file may be called `a: error[M001] b: c`."""
    return re.sub(r":(?= (?:error|warning|note)\[)", r"\\x3a", place)


def _concise_report(checked: Checked) -> Iterator[Line]:
    yield from concise_lines(checked.findings, checked.failures)
    yield from (f"opsinfo: {remark}" for remark in checked.remarks)


def failure_lines(error: OpsinfoError) -> Iterator[Line]:
    """Yield an error on a file that could not be checked, in the style of findings."""
    yield f"error: {error.message}"
    if error.path:
        yield f"  --> {error_place(error)}"
    if error.hint:
        yield ""
        yield f"hint: {error.hint}"


def text_lines(checked: Checked) -> Iterator[Line]:
    """Yield the findings for people, as in a file."""
    yield from finding_lines(checked.findings, encoding="utf-8")
    for error in checked.failures:
        yield from failure_lines(error)
    yield summary_line(checked)
    yield from checked.remarks


def plain(line: Line) -> str:
    """Return a line as in a file: visible, without colours, and no command to a CI runner."""
    return inert(visible_line("".join(span.text for span in spans(line))))


def annotated(checked: Checked, width: int) -> list[Block]:
    """Return the findings as text, and after them the annotations of GitHub Actions."""
    return [Lines(finding_lines(checked.findings, width)), Exact(_report("github", checked), is_for_runner=True)]


def summary_line(outcome: Outcome) -> str:
    said = ", ".join(counted(count, severity) for severity, count in outcome.counts.items() if count)
    kinds = [verdict.kind for verdict in outcome.files]
    files = sum(kind in ("library", "mixlist", "ini", "opdef", *OPTION_KINDS) for kind in kinds)
    scripts = kinds.count("script")
    checked = [counted(count, what) for count, what in ((files, "file"), (scripts, "script")) if count]
    if not checked and "mode" in kinds:
        checked = ["the precision mode"]
    if not checked and not said:
        return "no file was checked"
    checked = checked or ["0 files"]
    return f"{' and '.join(checked)} checked: {said or 'no findings'}"


def file_lines(outcome: Outcome) -> Iterator[str]:
    """Yield whether the engine accepts each file, and which files of a tree were skipped, for ``-v``."""
    reactions = {True: "the engine accepts it", False: "the engine refuses it", None: "the engine does not read it"}
    for verdict in outcome.files:
        reaction = "checked" if verdict.kind in ("vault", "script") else reactions[verdict.engine_accepts]
        yield f"{verdict.path}: {verdict.kind}; {reaction}"
    for skipped in outcome.passed_over:
        yield f"{skipped.path}: skipped; {skipped.reason}"


def rendered(format: str, checked: Checked, document: Mapping[str, object]) -> str:
    """Return a report as the text of a file.

    :param document: the JSON document of the report, with its head
    """
    if format == "json":
        return inert_json(json.dumps(document, indent=2)) + "\n"
    if format in ("text", "concise"):
        lines = text_lines(checked) if format == "text" else _concise_report(checked)
        return "".join(f"{plain(line)}\n" for line in lines)
    text = _report(format, checked)
    if format == "junit":
        return re.sub(BRACKETED, "&#35;#", text)
    return text if format == "github" else inert_json(text)  # in a command of ours a runner finds no other


def _report(name: str, checked: Checked) -> str:
    text: str = getattr(import_module(f"..check.reports.{name}", __package__), name)(checked)
    return text
