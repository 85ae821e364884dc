"""Tables as the text of a file: CSV for spreadsheets and scripts, Markdown for a README."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..text.escape import visible
from .answer import Table, cell_text


def csv_text(titles: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(map(_csv_cell, row) for row in (titles, *rows))
    return file.getvalue()


def csv_of_documents(names: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Return rows of a JSON document as CSV with a header, one line each.

    :param names: the members that become columns
    """
    return csv_text(names, ([row.get(name) for name in names] for row in rows))


def _csv_cell(value: object) -> str:
    """Return a cell; one of text that a spreadsheet would take for a formula begins with `'`.

    Source: OWASP, CSV Injection.
    """
    text = visible(_flat(value))
    is_number = isinstance(value, (int, float))
    return f"'{text}" if text[:1] in _FORMULA and text[:1] and not is_number else text


_FORMULA = "=+-@"


def _flat(value: Any) -> str:
    """Return a value of a document in one cell: `a,b` for names, `x required float16; y ...` for objects."""
    if isinstance(value, Mapping):
        return " ".join(filter(None, map(_flat, value.values())))
    if isinstance(value, (list, tuple)):
        return ("; " if value and isinstance(value[0], Mapping) else ",").join(map(_flat, value))
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def markdown_text(table: Table) -> str:
    """Return a table of GitHub's Markdown."""
    titles, *rows = (
        [_markdown_cell(visible(cell_text(cell))) for cell in row]
        for row in ([column.title for column in table.columns], *table.rows)
    )
    rules = ["---:" if column.number else "---" for column in table.columns]
    return "".join(f"| {' | '.join(row)} |\n" for row in (titles, rules, *rows))


def _markdown_cell(text: str) -> str:
    """Return a cell as text: one that may be a link, an image or a mention is code, in which nothing of it is live."""
    if not re.search(r"[@\[\]!&]|://|www\.", text):
        return re.sub(r"([\\|`*<~])", r"\\\1", text)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return fence + blank + text.replace("|", "\\|") + blank + fence
