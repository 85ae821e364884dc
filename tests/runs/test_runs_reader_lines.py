"""What single readers take from a few lines."""

from __future__ import annotations

import re

import pytest
from log_makers import MAKERS
from log_reading import read, text_of

from opsinfo_cli.runs.readers import DeepSpeed, Fairseq, Fp16Optimizer, Megatron, MindSpore, ScaleColumn, fp16_optimizer
from opsinfo_cli.runs.readers import messages as messages_module
from opsinfo_cli.runs.readers.reader import Reader, counted_lines, lines_with, rows_of
from opsinfo_cli.runs.scan import Log
from opsinfo_cli.runs.stream import Window


@pytest.mark.parametrize(
    ("kind", "line", "counts"),
    [
        (DeepSpeed, b"[Rank 0] step=0, skipped=0, lr=[0.1]", False),
        (DeepSpeed, b"[Rank 0] step=1, skipped=0, lr=[0.1]", True),
        (DeepSpeed, b"[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 8, reducing to 4", True),
        (DeepSpeed, b"  fp16_enabled ................. True", False),
        (Megatron, b"  fp16 ......................... True", False),
        (Megatron, b" iteration 1/ 9 | number of skipped iterations: 0 |", True),
        (Fp16Optimizer, b"Grad overflow on iteration  3", True),
        (Fp16Optimizer, b"Grad overflow", False),
        (Fairseq, b"Minimum loss scale reached (0.0001)", True),
        (Fairseq, b"--min-loss-scale: Minimum loss scale before training is stopped", False),
        (MindSpore, b"overflow: True, scale: 8", True),
        (MindSpore, b"step: 3 has overflow 1 in a layer", False),
        (ScaleColumn, b"step: 4 loss_scale 3.0", True),
        (ScaleColumn, b"step: 4 num_updates=4 loss_scale 3.0", False),
        (ScaleColumn, b"step: 4 overflow, loss_scale 3.0", False),
        (ScaleColumn, b"loss_scale 3.0", False),
    ],
)
def test_options_at_the_start_are_read_but_count_no_overflows(kind: type[Reader], line: bytes, counts: bool) -> None:
    reader = read(kind, text_of(line))
    assert reader.counts is counts
    assert reader.lines == (counts or b" .." in line or b"step=0" in line)


@pytest.mark.parametrize("by_shape", [True, False])
@pytest.mark.parametrize(
    ("copies", "printed", "ranks", "expected"),
    [
        ([8, 8, 8], (), None, (3, 3, 8)),
        ([1, 1], (), None, (2, 2, 1)),
        ([1, 1], (2,), None, (2, 2, 1)),
        ([2, 2, 1], (), None, (2, 5, 2)),  # a garbled copy, or an iteration of its own
        ([2, 2, 1, 1], (), None, (3, 3, 2)),
        ([4, 4, 3, 1], (), None, (3, 3, 4)),
        ([4, 4, 3, 1], (4, 6), None, (3, 3, 4)),
        ([4, 4, 3, 1], (3, 5), None, (3, 3, 4)),  # fewer than print, and no divisor of the messages
        ([4, 4, 3, 1], (3, 6), None, (2, 2, 6)),
        ([4, 4, 4], (6,), None, (3, 3, 4)),  # nothing is garbled
        ([2, 1], (), 2, (1, 3, 2)),
        ([1, 1, 1, 1], (), 2, (2, 2, 2)),
        ([2, 2], (), 1, (4, 4, 1)),
        ([], (), None, (0, 0, 1)),
    ],
)
def test_iterations_and_copies_give_the_number_of_ranks(
    copies: list[int], printed: tuple[int, ...], ranks: int | None, expected: tuple[int, int, int], by_shape: bool
) -> None:
    lines = [b"Grad overflow on iteration  %d" % (100 * at) for at, many in enumerate(copies) for _ in range(many)]
    reader = read(Fp16Optimizer, text_of(*lines), by_shape=by_shape)
    reader.printed_ranks = printed
    count = reader.tally(None, ranks)
    assert (count.low, count.high, count.ranks) == expected
    assert bool(count.proof) == bool(copies)
    assert ("ranks" in count.basis) == (expected[2] > 1)


USING = b"Using dynamic loss scale of %s"


@pytest.mark.parametrize(
    ("lines", "scales"),
    [
        ([USING % b"8"] * 12, [8.0]),
        ([USING % b"8"] * 6 + [USING % b"4"] * 6, [8.0, 4.0]),
        ([USING % b"8" + USING % b"4"] * 12, [8.0, 4.0] * 12),
        ([USING % b"8", USING % b"4", USING % b"2"], [8.0, 4.0, 2.0]),
        ([b"Using static loss scale of 8"] * 12, []),
        ([USING % b"8"] + [b"Using static loss scale of 8"] * 12, [8.0]),
    ],
)
@pytest.mark.parametrize("by_shape", [True, False])
def test_scales_are_read_from_copies_and_from_text(lines: list[bytes], scales: list[float], by_shape: bool) -> None:
    reader = read(Fp16Optimizer, text_of(b"Grad overflow on iteration  3", *lines), by_shape=by_shape)
    assert [point.scale for point in reader.scale.points] == scales
    assert reader.lines == 1 + sum(line.count(b"Using dynamic") for line in lines)


@pytest.mark.parametrize(
    ("iterations", "leading"),
    [([], 0), ([0], 1), ([1], 1), ([2], 0), ([0, 2], 2), ([0, 3], 1), ([0, 1, 2, 9, 10], 3)],
)
def test_overflows_of_the_first_steps_are_the_first_descent(iterations: list[int], leading: int) -> None:
    lines = [b"Grad overflow on iteration  %d" % each for each in iterations]
    assert read(Fp16Optimizer, text_of(*lines)).tally(None, None).calibrating == leading


def test_a_scale_that_all_ranks_print_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages_module.MessageLines, "runs", None)
    overflow = b"Grad overflow on iteration  3"
    reader = read(Fp16Optimizer, text_of(*[USING % b"8"] * 9, *[overflow] * 9), text_of(*[overflow] * 9))
    assert (reader.lines, reader.scale.drawn) == (27, [(3, 8.0)])


@pytest.mark.parametrize("by_shape", [True, False])
@pytest.mark.parametrize(
    ("line", "is_read"),
    [
        (b"Using dynamic loss scale of  8.0", True),
        (b"Using dynamic loss scale of 8\r", True),
        (b"3: Using dynamic loss scale of  8.0", True),
        (b"[1,0]<stdout>:Using dynamic loss scale of  8.0", True),
        (b"[2020-06-20 09:05:05] [INFO] Using dynamic loss scale of 8.0", True),
        (b"Using dynamic loss scale of  8.0 ", False),
        (b"Using dynamic loss scale of  8.08.0", False),
        (b" Using dynamic loss scale of  8.0", False),
        (b"8.0Using dynamic loss scale of  8.0", False),
        (b"Grad overflow on iteration Using dynamic loss scale of  8", False),
        (b"Using dynamic loss scale of Using dynamic loss scale of  8.0", False),
        (b"Using dynamic loss scale of ", False),
    ],
)
def test_a_scale_counts_if_nothing_runs_into_its_line(line: bytes, is_read: bool, by_shape: bool) -> None:
    """One message that is mixed up shows that the ranks write into one line, so that no scale of the log is certain."""
    data = text_of(*[b"Grad overflow on iteration  3"] * 9, *[b"Using dynamic loss scale of  8.0"] * 9)
    reader = read(Fp16Optimizer, data, text_of(*[b"nothing to see"] * 9, line), data, by_shape=by_shape)
    found = reader.evidence(None, None)
    assert (found.scale.final, found.unreadable is None) == ((8.0, True) if is_read else (None, False))


def test_iterations_that_come_in_order_are_forgotten_without_sorting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fp16_optimizer, "_REMEMBERED", 3)
    data = [text_of(*(b"Grad overflow on iteration  %d" % at for at in some)) for some in ((1, 2, 4), (9, 7, 8), (10,))]
    assert read(Fp16Optimizer, *data[:2]).tally(None, None).low == 6
    monkeypatch.setattr(fp16_optimizer, "sorted", None, raising=False)
    reader = read(Fp16Optimizer, data[0], data[2], text_of(b"Grad overflow on iteration  12"))
    assert list(reader._copies) == [4, 10, 12]


def test_iterations_are_in_order_again_after_they_were_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fp16_optimizer, "_REMEMBERED", 3)
    reader = read(Fp16Optimizer, text_of(*(b"Grad overflow on iteration  %d" % at for at in (5, 1, 2, 4))))
    assert list(reader._copies) == [2, 4, 5]
    monkeypatch.setattr(fp16_optimizer, "sorted", None, raising=False)
    reader._iterations(fp16_optimizer._found(b"Grad overflow on iteration  6"))
    assert list(reader._copies) == [4, 5, 6]


@pytest.mark.parametrize(
    ("iterations", "unused"),
    [((3, 3, 4, 4), "_OVERFLOW"), ((3, 3, 3, 4, 4), "_OVERFLOW"), ((3, 3, 4), "_ITERATION"), ((3, 4), "_ITERATION")],
)
def test_copies_of_ranks_are_looked_at_once_if_they_are_half_of_the_messages(
    iterations: tuple[int, ...], unused: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fp16_optimizer, unused, None)
    found = fp16_optimizer._found(text_of(*(b"Grad overflow on iteration  %d" % each for each in iterations)))
    assert found == {b"%d" % each: iterations.count(each) for each in iterations}


TEXT = b"\na 1 b 2\n\nb 3\na 4\nb 5 a 6"


@pytest.mark.parametrize(
    ("words", "limit", "expected"),
    [
        ([b"a"], len(TEXT), [b"a 1 b 2", b"a 4", b"b 5 a 6"]),
        ([b"b", b"a"], len(TEXT), [b"a 1 b 2", b"b 3", b"a 4", b"b 5 a 6"]),
        ([b"a"], 18, [b"a 1 b 2", b"a 4"]),
        ([b"b"], 19, [b"a 1 b 2", b"b 3", b"b"]),
        ([b"3"], len(TEXT), [b"b 3"]),
        ([b"3", b"1"], len(TEXT), [b"a 1 b 2", b"b 3"]),
        ([b"c"], len(TEXT), []),
    ],
)
def test_lines_with_a_pattern_are_found_once_and_in_order(
    words: list[bytes], limit: int, expected: list[bytes]
) -> None:
    found = lines_with(TEXT, limit, [re.compile(word) for word in words])
    assert [TEXT[start:end] for start, end in found] == expected


COUNTER = re.compile(rb"skipped (\d)")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"n=1 skipped 2\nn= 3 skipped 4", [(1, 2), (3, 4)]),
        (b"n=1 skipped 2 n=3 skipped 4\n", [(1, 2), (3, 4)]),
        (b"n=1\nskipped 2\nx n=x skipped 3\nn=5 n=6 skipped 4\n", [(5, 4)]),
        (b"skipped 1 n=2 skipped 3\n\nskipped 4", [(2, 3)]),
        (b"skipped 5\nn=6 skipped 7", [(6, 7)]),
    ],
)
def test_a_counter_belongs_to_the_step_before_it_in_its_line(text: bytes, expected: list[tuple[int, int]]) -> None:
    found = list(counted_lines(text, len(text), b"n=", COUNTER))
    assert [(step, skipped) for step, skipped, _, _ in found] == expected
    for step, skipped, after_step, after_counter in found:
        assert (text[after_step - 1 : after_step], text[after_counter - 1 : after_counter]) == (
            b"%d" % step,
            b"%d" % skipped,
        )


def test_rows_are_given_only_if_every_line_has_each_word_once() -> None:
    pattern = re.compile(rb"n=(\d) skipped (\d)")
    text = b"n=1 skipped 2\nn=3 skipped 4\n"
    assert rows_of(pattern, text, len(text), (b"n=", b"skipped")) == [(b"1", b"2"), (b"3", b"4")]
    assert rows_of(pattern, text, 14, (b"skipped",)) == [(b"1", b"2")]
    for odd in (b"skipped 5\n", b"n=5\n"):
        assert rows_of(pattern, text + odd, len(text + odd), (b"n=", b"skipped")) == []


def test_a_log_of_no_format_shows_nothing_after_logs_of_every_format() -> None:
    odd = b" iteration 7 | skipped iterations: x\n iteration 8 | skipped iterations: 1\n  fp16 .... True\n"
    texts = [maker(40, (1, 2, 30)).encode() for _, maker in MAKERS.values()]
    logs = []
    for text in (*texts, odd, b"step: 1 loss 2\n"):
        logs.append(Log("log"))
        logs[-1].take(Window(text, len(text)))
    *known, nothing = (log.evidence(None, None) for log in logs)
    assert all((found.known, found.lines > 0) == (True, True) for found in known)
    assert (nothing.format, nothing.known, nothing.lines, nothing.at_is_step) == ("unknown", False, 0, False)


def test_a_move_of_deepspeeds_scale_is_at_the_step_of_its_counter() -> None:
    """Other lines may count other steps."""
    counter = b"[Rank 0] step=%d, skipped=1, lr=[0.1]"
    moved = b"[INFO] [fused_optimizer.py:345:_update_scale] Reducing dynamic loss scale from %s to %s"
    first, second = (moved % scales for scales in ((b"8.0", b"4.0"), (b"4.0", b"2.0")))
    reader = read(DeepSpeed, text_of(counter % 1), text_of(b"step: 7", first, counter % 9, b"step: 12", second))
    assert reader.scale.points == [(1, 8.0), (1, 4.0), (9, 2.0)]
    alone = read(
        DeepSpeed, text_of(b"step: 7", moved % (b"8.0", b"4.0")), text_of(b"step: 9", moved % (b"4.0", b"2.0"))
    )
    assert alone.scale.points == [(7, 8.0), (7, 4.0), (9, 2.0)]
