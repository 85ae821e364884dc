"""The explanation of a rule as text; JSON has the rule table itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...check.finding import Rule
from ...check.wording import Wording
from ..escape import row
from ..terminal.cell_width import wrapped
from ..terminal.output import Output

_WIDTH = 78


def show_subjects(output: Output, rules: Iterable[Rule], topics: Iterable[str]) -> None:
    """Print code, name, subject, severity and effect in the engine; a table on a terminal."""
    cells = [[rule.code, rule.name, rule.about, rule.severity, rule.engine] for rule in rules]
    cells += [["-", name, "topic", "-", "-"] for name in topics]
    if not output.on_terminal:
        output.lines(row(*each) for each in cells)
        return
    from ..terminal.table import Column, print_table

    columns = [Column(title) for title in ("code", "name", "about", "severity", "the engine")]
    with output.paged():
        print_table(output, columns, cells)


def rule_lines(output: Output, rule: Rule, said: Wording) -> Iterator[str]:
    """Yield the rule, its reason, an example that fails, one that passes, and the source."""
    width = min(_WIDTH, output.columns or _WIDTH)
    severity, engine = said.word(rule.severity), said.word(rule.engine)
    yield said.word("head").format(code=rule.code, name=rule.name, severity=severity, engine=engine)
    yield ""
    yield from wrapped(rule.why, width)
    for title, example in (("fails", rule.fails), ("passes", rule.passes)):
        yield ""
        yield said.word(title)
        yield from (f"    {line}" for line in example_text(example, said).splitlines())
    yield ""
    yield from output.wrapped(said.word("source").format(source=rule.source), 2)


def example_text(example: str, said: Wording) -> str:
    """Return an example with invisible characters made visible."""
    return example.replace("\ufeff", "<BOM>") or said.word("empty")
