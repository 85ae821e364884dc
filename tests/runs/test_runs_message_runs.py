"""Runs of equal messages: each is read once, at the step before it, on the quick ways too."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opsinfo_cli.runs.readers import message_runs as searched_messages
from opsinfo_cli.runs.readers import messages as line_messages
from opsinfo_cli.runs.readers.message import Message
from opsinfo_cli.runs.readers.message_runs import message_runs
from opsinfo_cli.runs.readers.messages import Messages
from opsinfo_cli.runs.sheet import Sheet
from opsinfo_cli.runs.steps import StepFields

MESSAGE = re.compile(rb"reducing loss scale to (\d+|nan)")
MARK = b"reducing loss scale"
TEXTS = {
    "M": b"reducing loss scale to 8\n",
    "m": b"reducing loss scale to 4\n",
    "n": b"reducing loss scale to nan\n",
    "j": b"reducing loss scale to 8",  # the next message is on the same line
    "o": b"a line without any field\n",
    "x": b"short\n",
}
STEPS = {True: b"step : %d\n", False: b"step: %d\n"}
"""The shortest lines with a step that are read: by shape and searched for."""
BEFORE = b"step: 998\nstep: 999\n"
"""What shows the counter of steps, in the window before."""


class Run(NamedTuple):
    """Copies of a message, the step before the last of them, and that before the first if it is another one."""

    text: str
    copies: int
    at: int | None
    since: int | None = None


def window(plan: str, step: bytes = STEPS[True]) -> bytes:
    """A letter of ``TEXTS`` each, and ``s`` for the next step."""
    number = iter(range(1000, 9999))
    return b"".join(step % next(number) if letter == "s" else TEXTS[letter] for letter in plan)


def runs_in(data: bytes, by_shape: bool, moves: Any = None, before: bytes = BEFORE) -> tuple[list[Run], StepFields]:
    """The runs of messages in a window, by shape or searched for, and the steps after it."""
    steps = StepFields()
    if before:
        steps.finish(Sheet(before, len(before)))
    sheet = Sheet(data, len(data), by_shape=True)
    with pytest.MonkeyPatch.context() as patch:
        if by_shape:
            patch.setattr(line_messages, "message_runs", None)
            found = Messages(Message(MESSAGE, MARK), sheet).runs(steps, moves)
        else:
            found = message_runs(MESSAGE, MARK, data, len(data), steps, moves)
        letters = {b"8": "M", b"4": "m", b"nan": "n"}
        runs = [Run(letters[match[1]], copies, steps.at, steps.since) for match, copies in found]
    assert steps.since is None
    steps.finish(sheet)
    return runs, steps


BOTH = pytest.mark.parametrize("by_shape", [True, False], ids=["by shape", "searched"])


@BOTH
@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ("MMM", [Run("M", 3, 999)]),
        ("osMMsm", [Run("M", 2, 1000), Run("m", 1, 1001)]),
        ("MsMMoMsm", [Run("M", 1, 999), Run("M", 2, 1000), Run("M", 1, 1000), Run("m", 1, 1001)]),
        ("MMMMMMMMMMMMsMMMMMMMMo", [Run("M", 12, 999), Run("M", 8, 1000)]),
        ("osMmMs", [Run("M", 1, 1000), Run("m", 1, 1000), Run("M", 1, 1000)]),
        ("MsMsMsM", [Run("M", 1, 999), Run("M", 1, 1000), Run("M", 1, 1001), Run("M", 1, 1002)]),
        ("MsMsMsMsM", [Run("M", 1, 999), Run("M", 4, 1003, 1000)]),
        ("MMssMMosMsMsMM", [Run("M", 2, 999), Run("M", 6, 1004, 1001)]),
        ("MosMsMsMosMsmsm", [Run("M", 1, 999), Run("M", 4, 1003, 1000), Run("m", 1, 1004), Run("m", 1, 1005)]),
        ("nsnsnsnsn", [Run("n", 1, 999 + at) for at in range(5)]),
        ("mMsMsMsMsMom", [Run("m", 1, 999), Run("M", 1, 999), Run("M", 4, 1003, 1000), Run("m", 1, 1003)]),
    ],
)
def test_copies_of_a_message_are_one_run_up_to_the_next_step(plan: str, expected: list[Run], by_shape: bool) -> None:
    """Four and more runs of one message after its first run, each near to the one before, are one."""
    runs, steps = runs_in(window(plan, STEPS[by_shape]), by_shape)
    assert runs == expected
    assert (steps.seen, steps.at) == (2 + plan.count("s"), 999 + plan.count("s"))


@BOTH
@given(
    plan=st.lists(
        st.sampled_from(["M", "MM", "sM", "oM", "s", "so", "o", "oo", "m", "n", "MoM", "MsMsMsMsMsM", "ssMosMMsoMsM"]),
        max_size=12,
    ).map("".join),
    known=st.booleans(),
)
def test_each_message_is_read_once_at_the_step_before_it(plan: str, known: bool, by_shape: bool) -> None:
    plan = "o" + plan
    runs, steps = runs_in(window(plan, STEPS[by_shape]), by_shape, before=BEFORE if known else b"")
    at = 999 if known else None
    messages: list[tuple[str, int | None]] = []
    for letter in plan:
        if letter == "s":
            at = (at or 999) + 1
        elif letter != "o":
            messages.append((letter, at))
    for text, copies, last, since in runs:
        some, messages = messages[:copies], messages[copies:]
        assert {letter for letter, _ in some} == {text}
        assert (some[0][1], some[-1][1]) == (last if since is None else since, last)
    assert not messages
    assert (steps.seen, steps.at) == (2 * known + plan.count("s"), at)


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ("jM", [Run("M", 2, 999)]),
        ("osjjMjm", [Run("M", 4, 1000), Run("m", 1, 1000)]),
        ("MxMxxxM", [Run("M", 2, 999), Run("M", 1, 999)]),  # the last gap is long enough for a step
        ("jMsjMsMsjjMsM", [Run("M", 2, 999), Run("M", 7, 1003, 1000)]),
        ("xmsjMsMsM", [Run("m", 1, 999), Run("M", 2, 1000), Run("M", 1, 1001), Run("M", 1, 1002)]),
    ],
)
def test_messages_run_together_in_a_line_are_copies(plan: str, expected: list[Run]) -> None:
    runs, steps = runs_in(window(plan), by_shape=False)
    assert runs == expected
    assert (steps.seen, steps.at) == (2 + plan.count("s"), 999 + plan.count("s"))


@BOTH
@pytest.mark.parametrize(
    ("length", "lines", "is_one"),
    [(1022, 1, True), (1023, 1, False), (510, 2, True), (511, 2, False)],
)
def test_messages_farther_apart_than_a_kilobyte_are_a_run_each(
    length: int, lines: int, is_one: bool, by_shape: bool
) -> None:
    between = [(b"step: %d " % at).ljust(length, b"x") + b"\n" for at in range(1000, 1000 + 4 * lines)]
    parts = [b"".join(between[at : at + lines]) for at in range(0, len(between), lines)]
    runs, _ = runs_in(TEXTS["M"] + b"".join(part + TEXTS["M"] for part in parts), by_shape)
    assert len(runs) == (2 if is_one else 5)


@BOTH
@pytest.mark.parametrize(("apart", "is_one"), [(8, True), (9, False)])
def test_messages_with_more_steps_between_them_than_ranks_lag_are_a_run_each(
    apart: int, is_one: bool, by_shape: bool
) -> None:
    """Ranks lag by 16 steps at most (`skew_of`); two lines with a step are between two messages."""
    parts = [b"step: %d of a run\nstep: %d of a run\n" % (at - apart, at) for at in range(2000, 2100, 2 * apart)][:5]
    before = b"step: %d\n" * 2 % (1999 - 2 * apart, 2000 - 2 * apart)
    runs, steps = runs_in(TEXTS["M"] + b"".join(part + TEXTS["M"] for part in parts), by_shape, before=before)
    last = 2000 + 8 * apart
    if is_one:
        assert runs == [Run("M", 1, 2000 - 2 * apart), Run("M", 5, last, 2000)]
    else:
        assert runs == [Run("M", 1, at) for at in range(2000 - 2 * apart, last + 1, 2 * apart)]
    assert steps.seen == 12


@BOTH
def test_messages_that_show_two_scales_are_a_run_each_if_these_differ(by_shape: bool) -> None:
    data = window("MsMsMsMsM", STEPS[by_shape])
    assert runs_in(data, by_shape, lambda match: True)[0] == [Run("M", 1, 999 + at) for at in range(5)]
    assert runs_in(data, by_shape, lambda match: False)[0] == [Run("M", 1, 999), Run("M", 4, 1003, 1000)]
    copies = window("MMoMMoMMMMMMMMMMMM")
    assert [run.copies for run in runs_in(copies, by_shape, lambda match: True)[0]] == [2, 2, 12]


def test_a_step_in_the_first_line_is_before_the_message_in_the_second() -> None:
    assert runs_in(window("sMsm"), by_shape=True)[0] == [Run("M", 1, 1000), Run("m", 1, 1001)]


@pytest.mark.parametrize(
    ("plan", "with_steps", "expected"),
    [
        ("MMMMMMMM", True, [8]),
        ("oMMoMMMMMooMMo" + "o" * 6, True, [2, 7]),
        ("MoMMMMMMMMMMM", True, [1, 11]),
        ("oMMoMMMMMooMMo" + "o" * 6, False, [9]),
    ],
)
def test_one_message_between_lines_without_steps_is_only_counted(
    plan: str, with_steps: bool, expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_messages, "MessageLines", None)
    data, steps = window(plan), StepFields()
    sheet = Sheet(data, len(data), by_shape=True)
    assert [
        copies for _, copies in Messages(Message(MESSAGE, MARK), sheet).runs(steps if with_steps else None)
    ] == expected
    if with_steps:
        monkeypatch.setattr(steps, "_gaps", None)  # nothing of this window is searched for steps any more
        steps.finish(sheet)


def test_a_window_of_several_messages_without_steps_is_not_searched_for_them_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data, steps = window("oMoMmoM"), StepFields()
    sheet = Sheet(data, len(data), by_shape=True)
    assert sum(copies for _, copies in Messages(Message(MESSAGE, MARK), sheet).runs(steps)) == 4
    monkeypatch.setattr(steps, "_gaps", None)
    steps.finish(sheet)


@BOTH
def test_without_steps_the_copies_of_a_message_are_one_run(by_shape: bool) -> None:
    data = window("oMsMsMMsmosMoM", STEPS[by_shape])
    sheet = Sheet(data, len(data), by_shape)
    found = Messages(Message(MESSAGE, MARK), sheet).runs()
    assert [(match[1], copies) for match, copies in found] == [(b"8", 4), (b"4", 1), (b"8", 2)]


def test_a_window_with_no_line_of_a_message_gives_no_run() -> None:
    data = window("osososx") + b"reducing loss scale to what\n"
    for by_shape in (True, False):
        assert not list(Messages(Message(MESSAGE, MARK), Sheet(data, len(data), by_shape)).runs(StepFields()))


def test_a_step_that_follows_a_message_in_its_line_counts() -> None:
    """`updatestep` would be no step."""
    overflow, steps = re.compile(rb"Gradient overflow, skipping (?:all|update)"), StepFields()
    kinds = [b"update", b"update", b"update", b"all", b"update"]
    lines = [b"Gradient overflow, skipping %sstep: %d loss 1.5\n" % (kind, at) for at, kind in enumerate(kinds, 1)]
    data = b"".join(lines)
    found = message_runs(overflow, b"overflow", data, len(data), steps)
    assert [(copies, steps.at) for _, copies in found] == [(1, None), (1, 1), (1, 2), (1, 3), (1, 4)]
    steps.finish(Sheet(data, len(data)))
    assert steps.at == 5


@BOTH
def test_messages_with_more_text_in_their_line_are_each_at_the_step_before(by_shape: bool) -> None:
    data = b"".join(TEXTS["M"][:-1] + b" after step: %d\n" % at for at in range(1000, 1004))
    steps = StepFields()
    found = Messages(Message(MESSAGE, MARK), Sheet(data, len(data), by_shape)).runs(steps)
    assert [(copies, steps.at) for _, copies in found] == [(1, None), (1, 1000), (1, 1001), (1, 1002)]


@BOTH
def test_copies_with_blank_or_short_lines_between_them_are_one_run(by_shape: bool) -> None:
    for between in (b"\n", b"short\n", b"\n\n", b"a\rb\n"):
        data = b"step: 1000 of a run\n" + (TEXTS["M"] + between) * 5 + b"step: 1001 of a run\n" + TEXTS["m"]
        steps = StepFields()
        found = Messages(Message(MESSAGE, MARK), Sheet(data, len(data), by_shape)).runs(steps)
        assert [(match[1], copies, steps.at) for match, copies in found] == [(b"8", 5, 1000), (b"4", 1, 1001)]


def test_a_message_or_a_step_at_the_first_byte_is_read() -> None:
    assert runs_in(window("M"), by_shape=False)[0] == [Run("M", 1, 999)]
    assert runs_in(b"step: 1000 of a run\n" + TEXTS["M"], by_shape=False)[0] == [Run("M", 1, 1000)]


@pytest.mark.parametrize("plan", ["MMsM", "osMMoMoM", "MsMsMsMsMsM"])
def test_one_line_again_and_again_is_not_searched_for_copies(plan: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searched_messages, "_runs_of", None)
    assert sum(run.copies for run in runs_in(window(plan, STEPS[False]), by_shape=False)[0]) == plan.count("M")


@BOTH
def test_steps_that_another_reader_has_taken_are_not_taken_again(by_shape: bool) -> None:
    data = window("MosMosMosMosMos", STEPS[by_shape])
    steps = StepFields()
    steps.finish(Sheet(BEFORE, len(BEFORE)))
    steps.advance(data, data.index(TEXTS["M"], 1))
    sheet = Sheet(data, len(data), by_shape)
    found = [copies for _, copies in Messages(Message(MESSAGE, MARK), sheet).runs(steps)]
    assert found == [1] * 5
    steps.finish(sheet)
    assert (steps.seen, steps.at) == (7, 1004)
