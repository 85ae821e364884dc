"""`opsinfo explain`: explain a finding or a topic."""

from __future__ import annotations

from dataclasses import asdict

from ...check.finding import Rule
from ...check.rules import rule_called
from ...check.wording import Wording, wording
from ...errors import UsageFault
from ...model.near_names import did_you_mean
from ...model.policy import policy_meant
from ...report.terminal.language import language_for
from ...report.views.explanation import rule_lines, show_subjects
from ..line import declare
from ..shared.common_options import OutputOptions, format_option, output_of
from ..shared.options import pager_option


@declare.command("explain")
@declare.argument("subject", required=False, metavar="[CODE|NAME|TOPIC]")
@pager_option
@format_option()
def command(subject: str | None, printing: OutputOptions) -> int:
    """Explain a finding by its code or name, or a topic. Without an argument, list all findings and topics.

    The text is Chinese if OPSINFO_LANG or the locale is zh; lists and JSON are always English.

    \b
    Examples:
      opsinfo explain contradiction
      opsinfo explain M005
      OPSINFO_LANG=zh opsinfo explain mixlists
    """
    output = output_of("explain", printing)
    for_people = output.format == "text" and subject is not None
    said = wording(language_for(output) if for_people else "en")
    rules, topics = _chosen(subject, said)
    if output.format == "json":
        documents = [{"name": name, "text": text} for name, text in topics.items()]
        output.document({"rules": [asdict(rule) for rule in rules], "topics": documents})
    elif subject is None:
        show_subjects(output, rules, topics)
    else:
        with output.paged():
            output.lines(line for rule in rules for line in rule_lines(output, rule, said))
            output.lines(line for text in topics.values() for line in text.splitlines())
    return 0


def _chosen(subject: str | None, said: Wording) -> tuple[list[Rule], dict[str, str]]:
    if subject is None:
        return list(said.rules.values()), said.topics
    found = rule_called(subject)
    if found:
        return [said.rules[found.name]], {}
    if subject in said.topics:
        return [], {subject: said.topics[subject]}
    names = [*said.rules, *(rule.code for rule in said.rules.values()), *said.topics]
    near = "did you mean `policies`?" if policy_meant(subject) else did_you_mean(subject, names)
    hint = near or "`opsinfo explain` lists all"
    raise UsageFault(f"unknown finding or topic `{subject}`", name="unknown-subject", hint=hint)
