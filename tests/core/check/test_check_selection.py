"""`--select` and `--ignore`: by code, name, prefix of a code, and place."""

from __future__ import annotations

import pytest
from raising import raised
from tables import cases

from opsinfo_cli.core.check.rules import RULES
from opsinfo_cli.core.check.selection import RuleSelection
from opsinfo_cli.errors import UsageFault


def kept(select: list[str], ignore: list[str], pointer: str | None = None) -> set[str]:
    selection = RuleSelection.of(select, ignore)
    return {rule.name for rule in RULES.values() if selection.keeps(rule, pointer)}


def with_codes(*letters: str) -> set[str]:
    return {rule.name for rule in RULES.values() if rule.code.startswith(letters)}


@cases(
    "select, ignore, names",
    {
        "everything": ([], [], set(RULES)),
        "a prefix": (["M"], [], with_codes("M")),
        "a code and a name": (["m003", "syntax"], [], {"contradiction", "syntax"}),
        "a longer prefix": (["M01"], [], with_codes("M01")),
        "ignored prefix": ([], ["T"], set(RULES) - with_codes("T")),
        "selected and ignored": (
            ["M", "T"],
            ["unknown-list", "T00"],
            (with_codes("M") | with_codes("T01")) - {"unknown-list"},
        ),
    },
)
def test_words_select_rules(select: list[str], ignore: list[str], names: set[str]) -> None:
    assert kept(select, ignore) == names


@pytest.mark.parametrize(
    ("word", "pointer", "ignored"),
    [
        ("M005:/black-list", "/black-list", True),
        ("M005:/black-list", "/black-list/to-add/3", True),
        ("M005:/black-list/to-add/3", "/black-list/to-add/3", True),
        ("M005:/black-list/to-add/3", "/black-list/to-add/30", False),
        ("M005:/black-list", "/white-list/to-add/3", False),
        ("M005:/black-list", None, False),
        ("M004:/black-list", "/black-list", False),
        ("M005:/a:b", "/a:b", True),
    ],
)
def test_a_pointer_means_what_is_at_and_below_it(word: str, pointer: str | None, ignored: bool) -> None:
    assert ("unknown-operator" not in kept([], [word], pointer)) is ignored


@pytest.mark.parametrize(
    ("select", "ignore", "message"),
    [
        (["contradicton"], [], "did you mean `contradiction`?"),
        (["X"], [], "opsinfo explain"),
        ([""], [], "opsinfo explain"),
        ([], ["M005,M004"], "repeatable"),
        ([], ["M005:black-list"], "/black-list/to-add"),
    ],
)
def test_an_unknown_word_is_wrong_usage(select: list[str], ignore: list[str], message: str) -> None:
    assert message in str(raised(UsageFault, RuleSelection.of, select, ignore).hint)
