"""Windows in which a counter does not move are read at once: the answer is that of reading line by line."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opsinfo_cli.runs.counters import Counters
from opsinfo_cli.runs.flags import Flags
from opsinfo_cli.runs.readers import megatron, mindspore, step_dictionary
from opsinfo_cli.runs.readers.reader import Reader
from opsinfo_cli.runs.scan import Log
from opsinfo_cli.runs.steps import StepFields
from opsinfo_cli.runs.stream import Window

DICTIONARY = b"0: {'training_steps': %d, 'loss': 1.5, 'global_steps': %d, 'skipped_steps': %d, 'x': 0}"
UPDATES = b"0: {'global_steps': %d, 'skipped_steps': %d}"
MEGATRON = b" iteration %8d/ 900 | lr: 1E-05 | loss scale: %s | grad norm: 0.2 | number of skipped iterations: %3d |"
NO_SCALE = b" iteration %8d/ 900 | lr: 1E-05 | number of skipped iterations: %3d |"
ODD = [
    b"'skipped_steps': 3",
    b"'training_steps': 7",
    b"'global_steps': 8 then text",
    b"skipped_steps unknown",
    b" iteration 5 | nothing",
    b"number of skipped iterations: 9",
    b"loss scale: 12.0",
    b"",
]

steps = st.integers(1, 40)
skips = st.sampled_from([0, 0, 0, 1, 2])
dictionaries = st.one_of(
    st.builds(lambda step, skip: DICTIONARY % (step, step - skip, skip), steps, skips), st.sampled_from(ODD)
)
updates = st.one_of(st.builds(lambda step, skip: UPDATES % (step, skip), steps, skips), st.sampled_from(ODD))
scales = st.sampled_from([b"65536.0", b"65536.0", b"32768.0", b"-1.0", b"inf"])
megatrons = st.one_of(
    st.builds(lambda step, scale, skip: MEGATRON % (step, scale, skip), steps, scales, skips),
    st.builds(lambda step, skip: NO_SCALE % (step, skip), steps, skips),
    st.sampled_from(ODD),
)
ends = st.sampled_from([b"\n", b"\n", b"\n", b" ", b"\r\n"])


steady = st.builds(
    lambda kind, start, skip, many: b"".join(
        {0: DICTIONARY % (at, at, skip), 1: UPDATES % (at, skip), 2: MEGATRON % (at, b"65536.0", skip)}[kind] + b"\n"
        for at in range(start, start + many)
    ),
    st.integers(0, 2),
    steps,
    skips,
    st.integers(1, 5),
)


MINDFORMERS = (
    b"- INFO - { Epoch:[%3d/  3], step:[%5d/%5d], loss: 2.3, per_step_time: 512ms, overflow cond: %s, loss_scale: %s, "
    b"global_norm: [1.2]"
)
flags = st.builds(
    lambda epoch, step, total, over, scale: MINDFORMERS % (epoch, step, total, over, scale),
    st.integers(1, 2),
    steps,
    st.sampled_from([40, 40, 40, 50]),
    st.sampled_from([b"False", b"False", b"False", b"True"]),
    scales,
)
flagged = st.one_of(
    flags,
    st.sampled_from([b"step: 3, overflow: True, scale: 4", b"iter 7 ", b"Epoch 9 step:[2/9], ", b"scale: 3 ", b""]),
)
clean = st.builds(
    lambda epoch, start, many: b"".join(
        MINDFORMERS % (epoch, at, 40, b"False", b"1024.0") + b"\n" for at in range(start, start + many)
    ),
    st.integers(1, 3),
    steps,
    st.integers(1, 5),
)


def windows_of(line: st.SearchStrategy[bytes]) -> st.SearchStrategy[list[bytes]]:
    """Windows of lines, some of them with steps in order and run together in one line or not."""
    text = st.lists(st.tuples(line, ends), max_size=8).map(lambda pairs: b"".join(a + b for a, b in pairs))
    return st.lists(st.one_of(text, steady, clean), max_size=6)


def state(reader: Any) -> object:
    counted = vars(reader.flags if isinstance(reader, mindspore.MindSpore) else reader.counters)
    scale = vars(reader.scale)
    return reader.lines, sorted(counted.items(), key=str), sorted(scale.items(), key=str), reader.tally(None, None)


def read(kind: type[Reader], windows: list[bytes]) -> object:
    reader = kind()
    for data in windows:
        reader.window(data, len(data), StepFields())
    return state(reader)


@pytest.mark.parametrize(
    ("kind", "module", "line"),
    [
        (step_dictionary.StepDictionary, step_dictionary, st.one_of(dictionaries, updates)),
        (megatron.Megatron, megatron, megatrons),
        (mindspore.MindSpore, mindspore, flagged),
    ],
    ids=["step dictionary", "Megatron", "MindSpore"],
)
@given(data=st.data())
def test_reading_at_once_equals_reading_line_by_line(
    kind: type[Reader], module: Any, line: st.SearchStrategy[bytes], data: Any
) -> None:
    windows = data.draw(windows_of(line))
    at_once = read(kind, windows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "rows_of", lambda *_: [])
        assert read(kind, windows) == at_once


@given(st.booleans(), st.lists(st.tuples(st.lists(steps, min_size=1, max_size=5), skips), max_size=8))
def test_lines_added_together_count_as_lines_added_one_by_one(
    cumulative: bool, groups: list[tuple[list[int], int]]
) -> None:
    together, single = Counters(cumulative), Counters(cumulative)
    for some, skipped in groups:
        for step in some:
            single.add(step, skipped)
        if not together.add_unmoved(some, skipped):
            for step in some:
                together.add(step, skipped)
        assert vars(together) == vars(single)


@pytest.mark.parametrize("cumulative", [False, True])
def test_lines_are_added_together_after_the_first_descent(cumulative: bool) -> None:
    counters = Counters(cumulative)
    counters.add(10, 1)
    counters.add(20, int(cumulative))
    assert counters.add_unmoved([30, 40], int(cumulative))
    assert not counters.add_unmoved([40, 50], int(cumulative)), "a rank's copy of a step"
    assert not counters.add_unmoved([60, 55], int(cumulative)), "a restart"
    assert not counters.add_unmoved([60, 70], 2), "the counter moved"
    count = counters.count(None)
    assert (count.steps, count.low) == (40, 1)


def test_a_reader_of_scales_gets_its_window_if_another_reader_left_a_scale_over() -> None:
    log = Log("log")
    messages = b"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 32768.0\n" * 3
    for data in (messages, messages + b"FloatingPointError: Minimum loss scale reached (0.0001).\n"):
        log.take(Window(data, len(data)))
    by_name = {reader.name: reader for reader in log._readers}
    assert by_name["fairseq"].found.fatal
    assert (by_name["apex"].overflow_words, by_name["apex"].scale_words) == (6, 12)


@given(st.lists(st.lists(st.tuples(st.integers(1, 60), st.booleans()), min_size=1, max_size=6), max_size=6))
def test_clean_steps_added_together_count_as_steps_added_one_by_one(groups: list[list[tuple[int, bool]]]) -> None:
    together, single = Flags(), Flags()
    for group in groups:
        at = [step for step, _ in group]
        is_clean = not any(over for _, over in group)
        for step, over in group:
            single.add(step, over)
        if not (is_clean and together.add_clean(at)):
            for step, over in group:
                together.add(step, over)
        assert vars(together) == vars(single)


def test_more_clean_steps_than_are_remembered_leave_the_newest() -> None:
    together, single = Flags(), Flags()
    for flags_ in (together, single):
        flags_.add(1, False)
    steps_ = list(range(2, 10_000))
    assert together.add_clean(steps_)
    for step in steps_:
        single.add(step, False)
    assert vars(together) == vars(single)
