"""Lists of Python scripts: what the reader says is what Python does, and what it cannot know has its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from opsinfo_cli.errors import Damaged, UsageFault
from opsinfo_cli.systems.list_text import ListText
from opsinfo_cli.systems.python_text import python_lists
from opsinfo_cli.systems.python_values import Library

DEFAULT = ["Resize", "Min", "Max"]
LIBRARY = Library({"convert": ("model", "ops")}, {"ops"}, {"DEFAULT": DEFAULT})


def read(text: str, line: int | None = None) -> tuple[list[str], list[str]]:
    """Return the items of `ops`, and where it was not read: `line:column: text`."""
    source = ListText(text.encode(), "x.py")
    source.line = line
    lists, _ = python_lists(source, LIBRARY)
    found = lists["ops"]
    return [str(item) for item in found.items], [f"{each.line}:{each.column}: {each.text}" for each in found.unread]


def scripts(name: str) -> dict[str, str]:
    """Return the scripts of a data file by name."""
    text = Path(__file__).with_name(f"{name}.txt").read_text("utf-8")
    parts = [part.partition("\n") for part in text.split("\n=== ")[1:]]
    return {title: script for title, _, script in parts}


@pytest.mark.parametrize("text", scripts("literal_lists").values(), ids=scripts("literal_lists"))
def test_a_literal_list_is_what_python_makes_of_it(text: str) -> None:
    given: list[Any] = []

    def convert(model: object, ops: Any = None) -> None:
        given.append(list(ops))

    exec(text, {"convert": convert, "DEFAULT": list(DEFAULT), "m": None, "__name__": "__main__"})
    assert len(given) == 1
    items, unread = read(text)
    assert (sorted(items), unread) == (sorted(set(given[0])), [])


@pytest.mark.parametrize("text", scripts("unread_lists").values(), ids=scripts("unread_lists"))
def test_what_is_not_literal_has_its_place(text: str) -> None:
    lines = text.strip().split("\n")
    expected = [line[3:] for line in lines if line.startswith("-> ")]
    script = "\n".join(line for line in lines if not line.startswith("-> "))
    if not expected or not expected[0][0].isdigit():
        items, unread = read(script)
        assert [*items, *unread] == expected
        return
    with pytest.raises(Damaged) as caught:
        read(script)
    assert f"{caught.value.line}:{caught.value.column}: {caught.value.message.split(': ', 1)[1]}" == expected[0]


def test_a_line_chooses_the_call() -> None:
    text = "convert(m, ['A'])\nconvert(\n    n,\n    ['B'],\n)"
    assert read(text, 1) == (["A"], [])
    assert read(text, 4) == (["B"], [])
    with pytest.raises(UsageFault, match="line 9 gives no list") as caught:
        read(text, 9)
    assert caught.value.hint == "lists are given in lines 1, 2"


@pytest.mark.parametrize(
    "text",
    [
        "ops = ['A']\n" + 64 * "ops = ops + ops\n" + "convert(m, ops)",
        "ops = 'A'\n" + 64 * "ops += ops\n" + "convert(m, ops.split())",
        "convert(m, ['A'] * 10**9)",
        "convert(m, list(range(10**9)))",
        "ops = ['A']\nwhile True:\n    ops = ops + ops\nconvert(m, ops)",
        "def f(x):\n    return f(x) + f(x)\nconvert(m, f(['A']))",
        "ops = []\nops.append(ops)\nconvert(m, ops)",
        "def f(x):\n  for a in range(999):\n    for b in range(999):\n      x.append(a)\nf([])\nconvert(m, ['A'])",
        "convert(m, " + "+".join(["['A']"] * 5000) + ")",
    ],
)
def test_a_script_that_grows_without_end_is_refused_at_once(text: str) -> None:
    with pytest.raises(Damaged):
        read(text)
