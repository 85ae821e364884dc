"""Lists of Python scripts: what the reader says is what Python does, and what it cannot know has its place."""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from opsinfo_cli.errors import Damaged, UsageFault
from opsinfo_cli.systems.list_text import ListText
from opsinfo_cli.systems.python_text import python_lists
from opsinfo_cli.systems.python_values import CalledLibrary

DEFAULT = ["Resize", "Min", "Max"]
LIBRARY = CalledLibrary({"convert": ("model", "ops")}, {"ops"}, {"DEFAULT": DEFAULT})


def read(text: str, line: int | None = None) -> tuple[list[str], list[str]]:
    """Return the items of `ops`, and where it was not read: `line:column: text`."""
    source = ListText(text.encode(), "x.py")
    source.line = line
    lists, _ = python_lists(source, LIBRARY)
    found = lists["ops"]
    return [str(item) for item in found.items], [f"{each.line}:{each.column}: {each.text}" for each in found.unread]


def scripts() -> dict[str, str]:
    """Return the scripts of the data file by name."""
    text = Path(__file__).with_name("python_lists.txt").read_text("utf-8")
    parts = [part.partition("\n") for part in text.split("\n=== ")[1:]]
    return {title: script for title, _, script in parts}


def given_by(script: str, flag: bool) -> list[list[Any]]:
    """Run a script, and return the lists that it gives."""
    given: list[list[Any]] = []

    def convert(model: object, ops: Any = None, **others: Any) -> None:
        given.append(list(ops or ()))

    def fail() -> None:
        raise ValueError

    names = {"convert": convert, "DEFAULT": list(DEFAULT), "fail": fail, "s": slice(0, 1), "__name__": "__main__"}
    names |= {"a": SimpleNamespace(x=flag, y=flag), "m": None, "n": None, "logger": logging.getLogger()}
    names |= {"load": lambda *_: ["Q"], "change": lambda ops: ops.append("Z"), "log": lambda **_: None, "g": convert}
    with suppress(AttributeError, IndexError, NameError, TypeError, ValueError):  # Python refuses it, or it has no rest
        exec(script, names)
    return given


@pytest.mark.parametrize("text", scripts().values(), ids=scripts())
def test_a_list_is_what_python_gives_or_has_its_place(text: str) -> None:
    lines = text.strip().split("\n")
    expected = [line[3:] for line in lines if line.startswith("-> ")]
    script = "\n".join(line for line in lines if not line.startswith("-> "))
    try:
        items, unread = read(script)
    except Damaged as error:
        items, unread = [], [f"{error.line}:{error.column}: {error.message.split(': ', 1)[1]}"]
    assert [*items, *unread] == expected
    if not unread:
        for given in [*given_by(script, True), *given_by(script, False)]:
            assert set(given) == set(items)


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
        "convert(m, " + "+".join(["['A']"] * 5000) + ")",
    ],
)
def test_a_script_that_grows_without_end_is_refused_at_once(text: str) -> None:
    with pytest.raises(Damaged):
        read(text)
