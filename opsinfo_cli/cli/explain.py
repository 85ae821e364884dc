"""`opsinfo explain`: a finding or a topic, from the same table that finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import click

from ..check.rule import Rule
from ..check.rules import RULES, rule_called
from ..check.topics import TOPICS
from ..errors import UsageFault
from ..model.names import did_you_mean
from ..report.visible import row
from .options import format_option, output_of

__all__ = ["command"]


@click.command("explain")
@click.argument("subject", required=False, metavar="CODE|NAME|TOPIC")
@format_option()
def command(subject: str | None, format_: str, **options: Any) -> int:
    """Explain a finding by its code or name, or a topic; without one, list them all.

    \b
    Examples:
      opsinfo explain contradiction
      opsinfo explain M005
      opsinfo explain mixlists
    """
    output = output_of("explain", options, format_)
    rules, topics = _chosen(subject)
    if output.format == "json":
        documents = [{"name": name, "text": text} for name, text in topics.items()]
        output.document({"rules": [asdict(rule) for rule in rules], "topics": documents})
    elif subject is None:
        output.lines(row(rule.code, rule.name, rule.about, rule.severity, rule.engine) for rule in rules)
        output.lines(row("-", name, "topic", "-", "-") for name in topics)
    else:
        output.lines(line for rule in rules for line in _rule_lines(rule))
        output.lines(line for text in topics.values() for line in text.splitlines())
    return 0


def _chosen(subject: str | None) -> tuple[list[Rule], dict[str, str]]:
    if subject is None:
        return list(RULES.values()), TOPICS
    found = rule_called(subject)
    if found:
        return [found], {}
    if subject in TOPICS:
        return [], {subject: TOPICS[subject]}
    names = [*RULES, *(rule.code for rule in RULES.values()), *TOPICS]
    hint = did_you_mean(subject, names) or "`opsinfo explain` lists them"
    raise UsageFault(f"nothing is called `{subject}`", name="unknown-subject", hint=hint)


def _rule_lines(rule: Rule) -> Iterator[str]:
    import textwrap

    yield f"{rule.code} {rule.name}: {rule.severity}; the engine {rule.engine}"
    yield ""
    yield from textwrap.wrap(rule.why, 78)
    for title, example in (("Fails:", rule.fails), ("Passes:", rule.passes)):
        yield ""
        yield title
        yield from (f"    {line}" for line in (example or "(an empty file)").replace("\ufeff", "<BOM>").splitlines())
    yield ""
    yield f"Source: {rule.source}"
