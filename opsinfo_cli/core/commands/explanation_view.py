"""The explanation of a rule or topic as text; JSON has the rule table itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from ..check.rules import Rule
from ..check.wording import Wording
from ..terminal.answer import Answer, Block, Column, Lines, Table
from ..terminal.escape import wrapped

_WIDTH = 78
_COLUMNS = [Column(title) for title in ("code", "name", "about", "severity", "the engine")]


def subjects_answer(rules: Sequence[Rule], topics: Mapping[str, str]) -> Answer:
    """Return code, name, subject, severity and effect in the engine of everything that can be explained."""
    rows = [[rule.code, rule.name, rule.about, rule.severity, rule.engine] for rule in rules]
    rows += [["-", name, "topic", "-", "-"] for name in topics]
    return Answer(lambda: explanation_document(rules, topics), lambda: [Table(_COLUMNS, rows)])


def explanation_answer(rules: Sequence[Rule], topics: Mapping[str, str], said: Wording, width: int) -> Answer:
    """:param width: cells of the terminal; 0 off a terminal"""

    def blocks() -> Iterator[Block]:
        for rule in rules:
            yield Lines(rule_lines(rule, said, width), indent=2)
        for text in topics.values():
            yield Lines(topic_lines(text, width) if width else text.splitlines(), indent=2)

    return Answer(lambda: explanation_document(rules, topics), blocks)


def explanation_document(rules: Sequence[Rule], topics: Mapping[str, str]) -> dict[str, object]:
    documents = [{"name": name, "text": text} for name, text in topics.items()]
    return {"rules": [asdict(rule) for rule in rules], "topics": documents}


def rule_lines(rule: Rule, said: Wording, width: int) -> Iterator[str]:
    """Yield the rule, its reason, an example that fails, one that passes, and the source."""
    severity, engine = said.word(rule.severity), said.word(rule.engine)
    yield said.word("head").format(code=rule.code, name=rule.name, severity=severity, engine=engine)
    yield ""
    yield from wrapped(rule.why, min(_WIDTH, width or _WIDTH))
    for title, example in (("fails", rule.fails), ("passes", rule.passes)):
        yield ""
        yield said.word(title)
        yield from (f"    {line}" for line in example_text(example, said).splitlines())
    yield ""
    source = said.word("source").format(source=rule.source)
    yield from _source_lines(source, width) if width else [source]


def _source_lines(source: str, width: int) -> Iterator[str]:
    """Yield lines in which a path that is too long is broken after a slash."""
    line = ""
    for piece in re.findall(r"[^ /]*(?:/| +|$)", source):
        if line and len(line) + len(piece.rstrip()) > width:
            yield line.rstrip()
            line = "  "
        line += piece
    yield line.rstrip()


def topic_lines(text: str, width: int) -> Iterator[str]:
    """Yield a topic with its paragraphs, items and columns broken for a terminal."""
    paragraph = ""
    for line in text.splitlines():
        head = re.match(r" +(?:- )?|\S+(?:, \S+)*  +|", line)
        assert head is not None
        if line and not head[0]:
            blank = " " if paragraph and (paragraph[-1] + line[0]).isascii() else ""
            paragraph += blank + line
            continue
        if paragraph:
            yield from wrapped(paragraph, width)
        paragraph = ""
        first, *rest = wrapped(line[head.end() :], width - head.end())
        yield head[0] + first
        yield from (" " * head.end() + part for part in rest)
    if paragraph:
        yield from wrapped(paragraph, width)


def example_text(example: str, said: Wording) -> str:
    """Return an example with invisible characters made visible."""
    return example.replace("\ufeff", "<BOM>") or said.word("empty")
