"""Windows are read at once: the answer is that of reading line by line."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from log_lines import LINES, MEGATRON, skips, steps, windows_of
from log_reading import fed, fields_state, flags_state, state

from opsinfo_cli.runs.counters import Counters
from opsinfo_cli.runs.flags import Flags
from opsinfo_cli.runs.readers import READERS
from opsinfo_cli.runs.readers.megatron import Megatron
from opsinfo_cli.runs.readers.reader import Reader
from opsinfo_cli.runs.readers.step_dictionary import StepDictionary
from opsinfo_cli.runs.scan import Log
from opsinfo_cli.runs.sheet import Sheet
from opsinfo_cli.runs.startup import Startup
from opsinfo_cli.runs.steps import StepFields
from opsinfo_cli.runs.stream import Window
from opsinfo_cli.runs.trajectory import Trajectory


@pytest.mark.parametrize("kind", READERS)
@given(windows=windows_of(LINES), by_shape=st.booleans())
def test_reading_at_once_gives_what_reading_line_by_line_gives(
    kind: type[Reader], windows: list[bytes], by_shape: bool
) -> None:
    """A window of one line has nothing that can be taken at once."""
    at_once, single = kind(), kind()
    steps, single_steps = StepFields(), StepFields()
    for data in windows:
        marked = data if data.endswith(b"\n") else data + b"\n"
        if kind is StepDictionary:  # one kind of dictionary counts in a window
            marked = marked.replace(b"{'global_steps'", b"{'other'").replace(b"'global_steps': 8", b"")
        if any(mark in marked for mark in at_once.marks):
            at_once.sheet(Sheet(marked, len(marked), by_shape), steps)
        for line in marked.splitlines(keepends=True) if b"\r" not in marked else [marked]:
            if any(mark in line for mark in single.marks):
                single.sheet(Sheet(line, len(line)), single_steps)
    assert state(at_once) == state(single)


@given(st.booleans(), st.lists(st.tuples(st.lists(st.tuples(steps, skips), min_size=1, max_size=5)), max_size=8))
def test_lines_added_together_count_as_lines_added_one_by_one(
    cumulative: bool, groups: list[tuple[list[tuple[int, int]]]]
) -> None:
    together, single = Counters(cumulative), Counters(cumulative)
    for (some,) in groups:
        new = [row for row, (step, skipped) in enumerate(some) if single.add(step, skipped)]
        assert list(together.add_rows([step for step, _ in some], [skipped for _, skipped in some])) == new
        assert vars(together) == vars(single)


@pytest.mark.parametrize("cumulative", [False, True])
def test_lines_after_the_first_descent_are_not_read_one_by_one(
    cumulative: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    counters = Counters(cumulative)
    counters.add_rows([10, 20], [1, int(cumulative)])
    monkeypatch.setattr(counters, "add", None)
    assert counters.add_rows([30, 40, 45], [int(cumulative), 2 + int(cumulative), 2 + int(cumulative)]) == range(3)
    count = counters.count(None)
    assert (count.steps, count.low) == (45, 3 if cumulative else 1 + 2 + 2)


def test_a_reader_of_scales_gets_its_window_if_another_reader_left_a_scale_over() -> None:
    log = Log("log")
    messages = b"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 32768.0\n" * 3
    for data in (messages, messages + b"FloatingPointError: Minimum loss scale reached (0.0001).\n"):
        log.take(Window(data, len(data)))
    by_name = {reader.name: reader for reader in log._readers}
    assert by_name["fairseq"].found.fatal
    assert (by_name["apex"].overflow_words, by_name["apex"].scale_words) == (6, 12)


@given(st.lists(st.lists(st.tuples(st.none() | st.integers(1, 60), st.booleans()), min_size=1, max_size=6), max_size=6))
def test_flags_added_together_count_as_flags_added_one_by_one(groups: list[list[tuple[int | None, bool]]]) -> None:
    together, single = Flags(), Flags()
    for group in groups:
        new = [row for row, (step, over) in enumerate(group) if single.add(step, over)]
        assert list(together.add_rows([step for step, _ in group], [over for _, over in group])) == new
    assert flags_state(together) == flags_state(single)


@pytest.mark.parametrize("copies", [1, 2])
def test_more_flags_than_are_remembered_leave_the_newest(copies: int) -> None:
    together, single = Flags(), Flags()
    for begin in range(1, 10_000, 1000):
        some = [step for step in range(begin, begin + 1000) for _ in range(copies)]
        overs = [number % 7 == 0 for number in range(len(some))]
        together.add_rows(some, overs)
        for step, over in zip(some, overs, strict=True):
            single.add(step, over)
    assert flags_state(together) == flags_state(single)


scale_texts = st.sampled_from([b"65536.0", b"65536.0", b"32768.0", b"inf", b"nan", b"0.5"])


@given(st.lists(st.lists(st.tuples(st.integers(0, 30), scale_texts), min_size=1, max_size=6), max_size=6))
def test_scales_added_together_make_the_trajectory_of_scales_added_one_by_one(
    groups: list[list[tuple[int, bytes]]],
) -> None:
    together, single = Trajectory(), Trajectory()
    for group in groups:
        together.add_rows([at for at, _ in group], [scale for _, scale in group])
        for at, scale in group:
            single.add(at, float(scale))
    assert vars(together) == vars(single)


def test_more_changes_than_are_kept_are_thinned_as_if_they_were_added_one_by_one() -> None:
    together, single = Trajectory(), Trajectory()
    for begin, end in ((0, 1500), (1500, 6000)):
        together.add_rows(range(begin, end), [b"%d" % (1 + at % 7) for at in range(begin, end)])
        for at in range(begin, end):
            single.add(at, 1 + at % 7)
    assert vars(together) == vars(single)


rows = st.tuples(st.integers(0, 3), st.integers(0, 40), st.sampled_from([0, 10, 10, 10]))


@given(st.lists(st.lists(rows, min_size=1, max_size=8), min_size=1, max_size=5))
def test_fields_taken_together_count_as_fields_taken_one_by_one(groups: list[list[tuple[int, int, int]]]) -> None:
    kind = (3, b"")
    together, single = StepFields(), StepFields()
    for group in groups:
        ats = together.take_rows(kind, group)
        for row, at in zip(group, ats, strict=True):
            single.take_rows(kind, [row])
            assert single.at == at
    assert fields_state(together) == fields_state(single)


messages = st.sampled_from([b"to 4.0\n", b"to 4.0\n", b"to 4.0\n", b"to 2.0\n", b"to nan\n", b"to 4.0"])
between = st.one_of(
    st.builds(lambda step: b"step: %d loss: 1.5\n" % step, steps),
    st.builds(lambda step: b"Epoch: [%d][%d/20] x\n" % divmod(step, 20), steps),
    st.sampled_from([b"", b"", b"no step here at all\n", b"a\n", b" 1/40 [00:01, 2.1it/s]\r"]),
)


@given(st.lists(st.tuples(messages, between), max_size=30), st.integers(1, 4))
def test_messages_at_once_are_counted_as_messages_one_by_one(pairs: list[tuple[bytes, bytes]], parts: int) -> None:
    """A message and what follows it make a window that has nothing that can be taken at once."""
    text = [b"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale " + a + b for a, b in pairs]
    size = -(-len(text) // parts) or 1
    at_once = fed([b"".join(text[at : at + size]) for at in range(0, len(text), size)])
    single = fed(text)
    counts = [log.evidence(None, None).count for log in (at_once, single)]
    assert counts[0] == counts[1]
    assert fields_state(at_once.steps) == fields_state(single.steps)


whole_lines = st.one_of(
    st.builds(lambda step: b"step: %d loss: 1.5\n" % step, steps),
    st.builds(lambda step, many: b"".join(b"Epoch: [0][%d/80] x\n" % (step + at) for at in range(many)), steps, steps),
    st.sampled_from([b"", b"", b"no step here at all\n", b"no step here at all\n" * 4]),
)


few_scales = st.sampled_from([b"4.0", b"4.0", b"4.0", b"2.0", b"nan"])
many_scales = st.integers(-2, 6).map(lambda power: b"%r" % 2.0**power)


@given(
    st.lists(st.tuples(few_scales, whole_lines), max_size=40)
    | st.lists(st.tuples(many_scales, whole_lines), max_size=60),
    st.booleans(),
    st.booleans(),
)
def test_messages_that_are_lines_are_counted_as_messages_that_are_searched_for(
    pairs: list[tuple[bytes, bytes]], rises: bool, of_npu: bool
) -> None:
    """The window before them has the step, so that the steps of this one can be taken at once."""
    message = b"Gradient overflow. Skipping step\nLoss scaler reducing loss scale to %s\n%s"
    if not of_npu:
        message = b"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to %s\n%s"
    pairs = [(scale, b"step: %d of a run\n" % at if rises else text) for at, (scale, text) in enumerate(pairs, 3)]
    windows = [b"step: 1 of a run\n", b"step: 2 of a run\n", b"".join(message % pair for pair in pairs)]
    by_shape, searched = fed(windows, True), fed(windows, False)
    assert [state(each) for each in by_shape._readers] == [state(each) for each in searched._readers]
    assert fields_state(by_shape.steps) == fields_state(searched.steps)


openings = st.builds(
    lambda parts, word, number: b" ".join(parts).replace(b"WORD", word).replace(b"7", b"%d" % number),
    st.lists(
        st.sampled_from(
            [
                b"opt_level : O7",
                b"amp_level='O7'",
                b"opt_level: auto",
                b"precision_mode : WORD",
                b"precision_mode_v2 : WORD",
                b"fp7=True",
                b"fp16: True",
                b"bf16=True",
                b"fp16=False",
                b"fp32=True",
                b"fp16_opt_level='O7'",
                b"nproc_per_node=7",
                b"using 7 GPUs",
                b"world_size=7",
                b"loss_scale : 7.0",
                b"loss_scale : dynamic",
                b"loss_scale : 7e3",
                b'"loss_scale": "7"',
            ]
        ),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from([b"allow_mix_precision", b"mixed_float16", b"force_fp16", b"allow_fp32_to_bf16", b"other7"]),
    st.integers(0, 20),
)


@given(st.lists(openings, max_size=12))
def test_start_lines_are_read_at_once_as_one_by_one(lines: list[bytes]) -> None:
    at_once, single = Startup(), Startup()
    at_once.lines(lines)
    for line in lines:
        single._line(line)
    assert at_once == replace(single, _shapes=at_once._shapes)


def test_a_line_of_another_rank_does_not_change_the_scale() -> None:
    lines = b"".join(MEGATRON % (step, scale, 0) + b"\n" for step, scale in ((1, b"8.0"), (1, b"4.0"), (2, b"8.0")))
    reader = Megatron()
    reader.sheet(Sheet(lines, len(lines), by_shape=True), StepFields())
    assert (reader.lines, reader.scale.lowest, reader.scale.falls) == (3, 8.0, 0)


def test_every_field_between_messages_is_taken_if_there_are_several_kinds() -> None:
    gap = b"step: %d\niter: %d\niter: %d\nstep: %d\n"
    gaps = [gap % (at, at, at, at + 1) for at in range(2, 20, 2)]
    swept, single = StepFields(), StepFields()
    begin = b"step: 0\niter: 0\nstep: 1\niter: 1\n"
    data = begin + b"".join(gaps)
    for fields in (swept, single):
        fields.advance(data, len(begin))
    assert swept.sweep(gaps, len(begin), len(data))
    end = len(begin)
    for each in gaps:
        end += len(each)
        single.advance(data, end)
    swept.since = single.since = None
    assert fields_state(swept) == fields_state(single)
