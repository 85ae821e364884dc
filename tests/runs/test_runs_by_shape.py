"""Windows whose lines are looked up by shape give what windows searched word by word give."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from log_lines import LINES, windows_of
from log_reading import fed, fields_state, state

from opsinfo_cli.runs import step_fields
from opsinfo_cli.runs import steps as step_module
from opsinfo_cli.runs.columns import integers
from opsinfo_cli.runs.readers import fp16_optimizer
from opsinfo_cli.runs.scan import Log
from opsinfo_cli.runs.shapes import ZEROS
from opsinfo_cli.runs.sheet import Sheet
from opsinfo_cli.runs.steps import StepFields
from opsinfo_cli.runs.stream import Window
from opsinfo_cli.runs.track import Track

starts = st.sampled_from(
    [
        b"opt_level              : O1",
        b"fp16: True",
        b"fp16=False, fp16_opt_level=O1",
        b"bf32: True, using 8 threads",
        b"using 4 threads, fp32",
        b"using 4 GPUs",
        b"loss_scale             : dynamic",
        b"loss_scale             : 128.0",
        b"gloss_scale 3",
        b"nothing",
        b"on iteration  7",
        b"a\rstep: 8",
    ]
)
texts = windows_of(st.one_of(LINES, starts))


def seen(log: Log) -> object:
    startup = {name: value for name, value in vars(log.startup).items() if name != "_shapes"}
    words = [(each.name, each.overflow_words, each.scale_words) for each in log._readers]
    return (
        startup,
        words,
        [state(each) for each in log._readers],
        fields_state(log.steps),
        log.evidence(None, None).count,
    )


@pytest.mark.parametrize("whole", [0, 1 << 21])
@given(windows=texts)
def test_a_log_read_by_shape_is_the_log_read_by_words(whole: int, windows: list[bytes]) -> None:
    """``whole``: how much of a log is read line by line for steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(step_module, "_WHOLE", whole)
        patch.setattr(step_module, "_GAP", 0)
        patch.setattr(step_module, "_LOOK", 60)
        by_shape = seen(fed(windows, by_shape=True))
        patch.setattr(step_module, "is_bare", lambda text, spot_of: False)
        assert by_shape == seen(fed(windows, by_shape=False))


counters = st.sampled_from(
    [
        b"step: %d loss: 1.5",
        b"Epoch: [%d][3/20] loss",
        b"epoch:[ 2/9], step:[%d/ 40], ",
        b"epoch:[ 2/9], step:[%d/ 0], ",
        b"| %d/40 [00:01, 2.1it/s]",
        b"no %d",
        b"a\rstep: %d",
        b"step: %d " + b"long " * 120,
    ]
)
series = st.builds(
    lambda kind, other, starts: [
        (other if at == 1 and number == 33 else kind) % number
        for at, start in enumerate(starts)
        for number in range(start, start + 35)
    ],
    counters,
    counters,
    st.lists(st.integers(0, 200), min_size=1, max_size=3),
)


@pytest.mark.parametrize("whole", [0, 1 << 21])
@given(windows=st.lists(series, max_size=4))
def test_steps_taken_by_shape_are_the_steps_taken_one_by_one(whole: int, windows: list[list[bytes]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(step_module, "_WHOLE", whole)
        patch.setattr(step_module, "_GAP", 0)
        by_shape, single = StepFields(), StepFields()
        for lines in windows:
            data = b"".join(line + b"\n" for line in lines)
            by_shape.finish(Sheet(data, len(data), by_shape=True))
            single.finish(Sheet(data, len(data)))
            assert fields_state(by_shape) == fields_state(single)


@given(st.lists(st.lists(st.integers(0, 60), min_size=1, max_size=9), min_size=1, max_size=5))
def test_a_counter_taken_at_once_is_the_counter_taken_step_by_step(groups: list[list[int]]) -> None:
    first = step_fields.Field((step_fields.NAMED, b"step"), 0, 5, 0)
    at_once, single = Track(first), Track(first)
    for steps in groups:
        at_once.take_steps(steps)
        for step in steps:
            single.take(first._replace(step=step))
        assert vars(at_once) == vars(single)


@given(st.lists(st.tuples(st.integers(0, 99), st.sampled_from([1, 2, 63, 64, 70])), max_size=5))
def test_a_column_of_integers_is_read_as_printed(runs: list[tuple[int, int]]) -> None:
    expected = [number for number, many in runs for _ in range(many)]
    assert integers([b"%2d" % number for number in expected]) == expected


@given(st.lists(st.sampled_from([b"a word", b"fp16 here", b"fp99 here", b"", b"12 words"]), max_size=8))
def test_lines_with_a_word_are_the_same_by_shape(lines: list[bytes]) -> None:
    data = b"".join(line + b"\n" for line in lines)
    for words in ([b"word"], [b"fp16"], [b"fp16", b"word"], [b"absent"], [b""]):
        by_shape, plain = (Sheet(data, len(data), each) for each in (True, False))
        assert by_shape.lines_with(*words)[0] == plain.lines_with(*words)[0]
        assert by_shape.count(b"word") == plain.count(b"word")
        assert by_shape.has(words[0]) or not any(words[0] in line for line in lines)


words = st.sampled_from([b"", b"a", b"step 1", b"step 2", b"step 10"])


@given(st.lists(words, min_size=1, max_size=4), st.integers(1, 6), st.lists(words, max_size=3))
def test_lines_in_a_cycle_have_the_shapes_that_each_has_alone(
    cycle: list[bytes], many: int, after: list[bytes]
) -> None:
    lines = [*(cycle * many), *after]
    data = b"".join(line + b"\n" for line in lines)
    sheet = Sheet(data, len(data), by_shape=True)
    assert sheet.shapes == [*(line.translate(ZEROS) for line in lines), b""]
    assert sheet.kinds == Counter(sheet.shapes)


def test_many_shapes_are_not_kept() -> None:
    data = b"".join(b"x" * length + b"\n" for length in range(1000))
    assert Sheet(data, len(data), by_shape=True).kinds is None


def test_a_window_cut_inside_a_line_is_searched_by_words() -> None:
    assert Sheet(b"overf" + b"low", 5, by_shape=True).kinds is None


def test_a_log_is_read_by_shape_while_its_lines_have_few_shapes() -> None:
    log = Log("log")
    line = b"INFO:tensorflow:Step = 1 total loss = 1.0 Loss scale = 8.0 isFinite = 1\n"
    few, many = line + b"no message\n" * 1000, b"".join(b"x" * length + b"\n" for length in range(1000))
    log.take(Window(few, len(few)))
    assert log._by_shape
    log.take(Window(many, len(many)))
    assert not log._by_shape
    log.take(Window(line * 20, len(line) * 20))
    assert log._by_shape
    for number in range(4, 9):
        log.take(Window(many, len(many)))
        assert log._by_shape == (number == 8)


@given(st.lists(st.lists(st.integers(0, 30), max_size=8), max_size=8))
def test_the_lowest_iterations_are_forgotten_in_any_order(groups: list[list[int]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fp16_optimizer, "_REMEMBERED", 4)
        reader = fp16_optimizer.Fp16Optimizer()
        kept: dict[int, int] = {}
        before = 0
        for group in groups:
            reader._iterations(Counter(b"%d" % each for each in group))
            for each in group:
                kept[each] = kept.get(each, 0) + 1
            before += max(0, len(kept) - 4)
            kept = {each: kept[each] for each in sorted(kept)[-4:]}
        assert (dict(reader._copies), reader._before) == (kept, before)


pieces = st.sampled_from([b"  3\n", b": 3\n", b"  35\n", b"  3.5", b"", b"\n", b"  3", b"Grad overflow on iteration"])


@given(st.lists(pieces, max_size=12))
def test_iterations_of_copies_are_those_of_each_message(after: list[bytes]) -> None:
    text = b"".join(b"Grad overflow on iteration" + each for each in after)
    assert fp16_optimizer._found(text) == Counter(fp16_optimizer._OVERFLOW.findall(text))


@given(st.lists(st.one_of(LINES, starts), min_size=40, max_size=60))
def test_the_fields_of_a_long_text_are_those_of_its_lines(lines: list[bytes]) -> None:
    text = b"\n".join(line.replace(b"\r", b" ") for line in lines)
    at, expected = 0, []
    for line in text.split(b"\n"):
        expected += [spot.moved(at) for spot in step_fields.every_spot(line)]
        at += len(line) + 1
    assert step_fields.every_spot(text) == expected
