"""`opsinfo explain`: explain a finding or a topic."""

from __future__ import annotations

import re

import click

from ...errors import UsageFault
from ..cann.near_names import did_you_mean
from ..cann.policy import policy_meant
from ..cann.precision_mode import MODES
from ..check.rules import Rule, rule_called
from ..check.wording import Wording, wording
from ..terminal.answer import Answer
from ..terminal.console import Console
from ..terminal.language import language_for
from ..terminal.params import Command, Word, lazily, prints
from .explanation_view import explanation_answer, subjects_answer


@click.command("explain", cls=Command)
@click.argument("subject", required=False, type=Word("[CODE|NAME|TOPIC]", lazily("findings")))
@prints()
def command(subject: str | None, console: Console) -> Answer:
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
    return Answer(explanation_answer(rules, topics, english, 0).document, answer.blocks)


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
    if subject in MODES:
        hint = f"`opsinfo modes` says what `{subject}` does"
        raise UsageFault(f"`{subject}` is a precision mode", name="unknown-subject", hint=hint)
    names = [*said.rules, *(rule.code for rule in said.rules.values()), *said.topics]
    near = "did you mean `policies`?" if policy_meant(subject) else did_you_mean(subject, names)
    hint = near or "`opsinfo explain` lists all"
    raise UsageFault(f"unknown finding or topic `{subject}`", name="unknown-subject", hint=hint)
