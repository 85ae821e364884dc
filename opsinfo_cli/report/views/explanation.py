"""A rule in words, for people; machines take the table as it is."""

from __future__ import annotations

from collections.abc import Iterator

from ...check.rule import Rule
from ...check.wording import Wording
from ..terminal.cell_width import wrapped
from ..terminal.output import Output, terminal_size

__all__ = ["example_text", "rule_lines"]

_WIDTH = 78


def rule_lines(output: Output, rule: Rule, said: Wording) -> Iterator[str]:
    """What it is, why it matters, an example that fails and one that passes, and where it stands in the engine."""
    width = min(_WIDTH, terminal_size().columns) if output.on_terminal else _WIDTH
    severity, engine = said.word(rule.severity), said.word(rule.engine)
    yield said.word("head").format(code=rule.code, name=rule.name, severity=severity, engine=engine)
    yield ""
    yield from wrapped(rule.why, width)
    for title, example in (("fails", rule.fails), ("passes", rule.passes)):
        yield ""
        yield said.word(title)
        yield from (f"    {line}" for line in example_text(example, said).splitlines())
    yield ""
    yield said.word("source").format(source=rule.source)


def example_text(example: str, said: Wording) -> str:
    """An example with what nobody could see in it made visible."""
    return example.replace("\ufeff", "<BOM>") or said.word("empty")
