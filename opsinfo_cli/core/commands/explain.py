"""`opsinfo explain`: explain a finding or a topic."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from ...errors import UsageFault
from ..cann.near_names import did_you_mean
from ..cann.policy import policy_meant
from ..cann.precision_mode import MODES
from ..check.rules import Rule, rule_called
from ..check.wording import Wording, wording
from ..document import as_json
from ..terminal import completion
from ..terminal.answer import Block, Column, CommandAnswer, Lines, Table
from ..terminal.console import Console
from ..terminal.language import language_for
from ..terminal.params import Command, Word, prints
from ..text.escape import wrapped


@click.command("explain", cls=Command)
@click.argument("subject", required=False, type=Word("[CODE|NAME|TOPIC]", completion.findings))
@prints()
def command(subject: str | None, console: Console) -> CommandAnswer:
    """Explain a finding by its code or name, or a topic. Without an argument, list all findings and topics.

    The text is Chinese if OPSINFO_LANG or the locale is zh; lists and JSON are always English.

    \b
    Examples:
      opsinfo explain contradiction
      opsinfo explain M005
      opsinfo explain mixlists
    """
    english = wording("en")
    if subject is None:
        return subjects_answer(list(english.rules.values()), english.topics)
    rules, topics = _chosen(subject, english)
    said = wording(language_for(console))
    answer = explanation_answer(*_chosen(subject, said), said, console.width)
    return CommandAnswer(explanation_answer(rules, topics, english, 0).document, answer.blocks)


def _about(code: str, said: Wording) -> list[Rule]:
    """Return the findings that lead to an error code of the engine."""
    return [rule for rule in said.rules.values() if code in f"{rule.why} {rule.source}"]


def _chosen(subject: str, said: Wording) -> tuple[list[Rule], dict[str, str]]:
    """:raises UsageFault: if nothing has this name"""
    rule = rule_called(subject)
    if rule:
        return [said.rules[rule.name]], {}
    if subject in said.topics:
        return [], {subject: said.topics[subject]}
    if re.fullmatch("E[0-9Z][0-9]{4}", subject) and (rules := _about(subject, said)):
        return rules, {}
    if mode := MODES.get(subject):
        text = f"{subject} is a value of {mode.option}: {mode.says}.\n`opsinfo modes` lists all, with their chips."
        return [], {subject: text}
    names = [*said.rules, *(rule.code for rule in said.rules.values()), *said.topics]
    near = "did you mean `policies`?" if policy_meant(subject) else did_you_mean(subject, names)
    hint = near or "`opsinfo explain` lists all"
    raise UsageFault(f"unknown finding or topic `{subject}`", name="unknown-subject", hint=hint)


_WIDTH = 78
_COLUMNS = [Column(title) for title in ("code", "name", "about", "severity", "the engine")]


def subjects_answer(rules: Sequence[Rule], topics: Mapping[str, str]) -> CommandAnswer:
    """Return code, name, subject, severity and effect in the engine of everything that can be explained."""
    rows = [[rule.code, rule.name, rule.about, rule.severity, rule.engine] for rule in rules]
    rows += [["-", name, "topic", "-", "-"] for name in topics]
    return CommandAnswer(lambda: explanation_document(rules, topics), lambda: [Table(_COLUMNS, rows)])


def explanation_answer(rules: Sequence[Rule], topics: Mapping[str, str], said: Wording, width: int) -> CommandAnswer:
    """:param width: cells of the terminal; 0 off a terminal"""

    def blocks() -> Iterator[Block]:
        for rule in rules:
            yield Lines(rule_lines(rule, said, width), indent=2)
        for text in topics.values():
            is_page = text.startswith("# ")  # Markdown, to be copied whole
            yield Lines(
                topic_lines(text, width) if width and not is_page else text.splitlines(), indent=2, whole=is_page
            )

    return CommandAnswer(lambda: explanation_document(rules, topics), blocks)


@dataclass(frozen=True)
class Topic:
    """A subject that is not a rule."""

    name: str
    """The name of the topic."""
    text: str
    """The text of the explanation."""


@dataclass(frozen=True)
class Explanations:
    """Explanations of rules and topics. Later versions may add keys."""

    rules: list[Rule]
    """The requested rules."""
    topics: list[Topic]
    """The requested topics."""


def explanation_document(rules: Iterable[Rule], topics: Mapping[str, str]) -> dict[str, Any]:
    document: dict[str, Any] = as_json(Explanations([*rules], [Topic(*each) for each in topics.items()]))
    return document


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
