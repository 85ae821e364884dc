"""`opsinfo explain`: explain a finding or a topic."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from ...errors import UsageFault
from ...near_names import did_you_mean, meant
from ..cann.chips import chip_folder
from ..cann.policy import policy_meant
from ..cann.precision_mode import MODES
from ..check.rules import Rule
from ..check.wording import LANGUAGES, Wording, folded, term_called, wording
from ..document import as_json
from ..terminal import completion
from ..terminal.answer import Block, Column, CommandAnswer, Lines, Table
from ..terminal.console import Console
from ..terminal.params import Command, Word, prints
from ..text.escape import wrapped

_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")
_PROOF = {"zh": "简体"}
"""Characters that an encoding must have for a language."""


@click.command("explain", cls=Command)
@click.argument("words", nargs=-1, type=Word("[CODE|NAME|TOPIC]", completion.findings))
@prints()
def command(words: tuple[str, ...], console: Console) -> CommandAnswer:
    """Explain a finding by its code or name, a topic, a precision mode, an option, or a word of the manuals, English or
    Chinese. Without an argument, list all findings and topics.

    The text is Chinese if OPSINFO_LANG or the locale is zh; lists and JSON are always English.

    \b
    Examples:
      opsinfo explain contradiction
      opsinfo explain M005
      opsinfo explain mixlists
      opsinfo explain loss scale
      opsinfo explain M005 M007
      opsinfo explain 混合精度
    """
    english = wording("en")
    if not words:
        return subjects_answer(list(english.rules.values()), english.topics)
    rules, topics = _chosen(words, english)
    said = wording(_language_for(console))
    answer = explanation_answer(*_chosen(words, said), said, console.width)
    return CommandAnswer(explanation_answer(rules, topics, english, 0).document, answer.blocks)


def _language_for(console: Console) -> str:
    """Return OPSINFO_LANG, else the locale's language; English if it has no texts or the stream cannot show them.

    A note gives the reason if OPSINFO_LANG asked for another language; a locale is ignored silently.
    """
    asked = os.environ.get("OPSINFO_LANG", "")
    locale = asked or next(filter(None, map(os.environ.get, _LOCALE)), "")
    wanted = re.split(r"[_.@-]", locale.strip().lower())[0]  # `zh` of `zh_CN.UTF-8`, `zh-Hans` and `ZH`
    if wanted in ("", "c", "posix", "en"):
        return "en"
    if wanted in LANGUAGES:
        try:
            _PROOF[wanted].encode(sys.stdout.encoding or "utf-8")
            return wanted
        except (UnicodeEncodeError, LookupError):
            why = f"standard output is {sys.stdout.encoding}, which cannot show `{asked}`; PYTHONIOENCODING=utf-8 can"
    else:
        why = f"language `{asked}` is not available, only {', '.join(LANGUAGES)} (OPSINFO_LANG)"
    if asked:
        console.note(why)
    return "en"


def _chosen(words: Sequence[str], said: Wording) -> tuple[list[Rule], dict[str, str]]:
    """Return what the words name together, else what each of them names.

    :raises UsageFault: if nothing has this name
    """
    subject = " ".join(words)
    for subjects in ((subject,), words):
        found = [_named(each, said) for each in subjects]
        if all(rules or topics for rules, topics in found):
            return [rule for rules, _ in found for rule in rules], {
                name: text for _, topics in found for name, text in topics.items()
            }
    raise UsageFault(f"unknown finding or topic `{subject}`", name="unknown-subject", hint=_hint(subject, said))


def _named(subject: str, said: Wording) -> tuple[list[Rule], dict[str, str]]:
    """Return what has a name; case, and the signs between its words, do not matter."""
    wanted = folded(subject)
    rules = [rule for rule in said.rules.values() if wanted in (folded(rule.name), folded(rule.code))]
    if not rules and re.fullmatch("E[0-9Z][0-9]{4}", subject.upper()):  # an error code of the engine
        rules = [rule for rule in said.rules.values() if subject.upper() in f"{rule.why} {rule.source}"]
    titles = wording("en").topics
    topics = {
        name: text
        for name, text in said.topics.items()
        if wanted in (folded(name), *map(folded, (text.split("\n", 1)[0], titles[name].split("\n", 1)[0])))
    }
    if rules or topics:
        return rules, topics
    mode, term = MODES.get(wanted.replace(" ", "_")), term_called(subject)
    texts: list[str | None] = [
        f"{mode.name} is a value of {mode.option}: {mode.says}.\n`opsinfo modes` lists all, with their chips."
        if mode
        else None,
        term.says(said.language) if term else None,
    ]
    text = "\n\n".join(filter(None, texts)) or _option_says(subject)
    return [], {subject: text} if text else {}


def _hint(subject: str, said: Wording) -> str:
    """Return what to do about a name that nothing has."""
    if chip_folder(subject):
        return f"a chip: `opsinfo list {subject}` lists its operators"
    if re.fullmatch("(?!E[0-9])[A-Z][a-z]+([A-Z][A-Za-z0-9]*|[0-9]*)", subject):
        return "an op type? `opsinfo show TARGET OP` shows one; `opsinfo explain` lists what is explained"
    names = [*said.rules, *(rule.code for rule in said.rules.values()), *said.topics]
    begun = [name for name in names if name.startswith(subject.lower())]
    near = "did you mean `policies`?" if policy_meant(subject) else meant(begun[:3]) or did_you_mean(subject, names)
    return near or "`opsinfo explain` lists all"


def _option_says(subject: str) -> str | None:
    """Return what an option does, by the help of the commands that have it; None if there is none of this name."""
    context = click.get_current_context(silent=True)
    name = f"--{subject.lstrip('-').replace('_', '-').lower()}"
    found: dict[str, list[str]] = {}
    for command, path in _commands(context.find_root().command, "") if context else ():
        for param in command.params:
            if isinstance(param, click.Option) and name in param.opts and param.help:
                found.setdefault(param.help, []).append(path)
    return "\n".join(f"{name} ({', '.join(paths)}): {text}" for text, paths in found.items()) or None


def _commands(command: click.Command, path: str) -> Iterator[tuple[click.Command, str]]:
    """Yield a command and those below it, each with the words that call it."""
    yield command, path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                yield from _commands(below, f"{path} {name}".strip())


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
