"""Messages stay short for any file content."""

from __future__ import annotations

import pytest

from opsinfo_cli.errors import Refused, brief, join_some


@pytest.mark.parametrize(
    "message", ["", "short", "`Add` is no op type", "x" * 200, f"`{'x' * 200}` and `{'y' * 200}` differ"]
)
def test_a_short_message_is_unchanged(message: str) -> None:
    assert brief(message) == message


def test_a_long_name_is_cut_and_the_text_around_it_kept() -> None:
    assert brief(f"operator `{'x' * 5000}`: bad; see `Add`") == f"operator `{'x' * 197}...`: bad; see `Add`"


def test_text_between_two_names_is_not_shortened() -> None:
    message = f"`Add` is {'very ' * 60}far from `Mul`"
    assert brief(message) == message


@pytest.mark.parametrize("message", ["x" * 10**6, "`" * 10**6, "`x" * 10**6, f"{'x' * 10**6}`y`"])
def test_any_message_stays_short_and_keeps_its_end(message: str) -> None:
    assert len(brief(message)) <= 1000
    assert brief(message)[-100:] == message[-100:]


def test_an_error_is_brief_and_so_is_its_hint() -> None:
    error = Refused("x" * 5000, hint="y" * 5000)
    assert len(error.message) == len(error.hint or "") == 1000
    assert len(str(error)) == 2000 + len("\nhint: ")


def test_of_many_names_the_first_few_and_the_number_of_others_are_shown() -> None:
    assert join_some(["a", "b", "c"]) == "a, b, c"
    assert join_some(["a", "b", "c", "d"]) == "a, b, c and 1 more"
    assert join_some([str(number) for number in range(100)], 2) == "0, 1 and 98 more"
