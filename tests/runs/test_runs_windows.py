"""Logs are read in windows of bounded size, whatever their lines are; also the values of a metric in them."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from opsinfo_cli.errors import Damaged, Refused, UsageFault
from opsinfo_cli.runs import reduced as reduced_module
from opsinfo_cli.runs.metric import Metric, compiled_metric
from opsinfo_cli.runs.reduced import Reduced, read_reduced
from opsinfo_cli.runs.stream import Window, windows

KIB = 1 << 10


def read(folder: Path, data: bytes) -> list[Window]:
    (folder / "log").write_bytes(data)
    return list(windows(str(folder / "log")))


def sizes(found: list[Window]) -> list[tuple[int, int]]:
    return [(len(data), limit) for data, limit in found]


def test_a_log_is_read_in_windows_of_256_kib_that_repeat_8_kib(tmp_path: Path) -> None:
    data = (b"x" * 63 + b"\n") * (10 * KIB)  # 640 KiB
    found = read(tmp_path, data)
    assert sizes(found) == [(256 * KIB, 248 * KIB), (264 * KIB, 256 * KIB), (136 * KIB, 128 * KIB), (8 * KIB, 8 * KIB)]
    assert b"".join(data[:limit] for data, limit in found) == data


def test_windows_end_after_a_line_end(tmp_path: Path) -> None:
    data = b"".join(b"line %d of a log\n" % number for number in range(40_000))
    found = read(tmp_path, data)
    assert len(found) > 2
    assert all(data[:limit].endswith(b"\n") for data, limit in found)
    assert b"".join(data[:limit] for data, limit in found) == data


def test_a_short_log_is_one_window(tmp_path: Path) -> None:
    for data in (b"a", b"\n", b"\na", b"\n" * 8 * KIB, b"a\n" + b"b" * 1000):
        assert read(tmp_path, data) == [(data, len(data))]
    assert read(tmp_path, b"") == []


def test_the_line_end_that_closes_the_tail_is_in_the_tail(tmp_path: Path) -> None:
    assert sizes(read(tmp_path, b"a\n" + b"b" * 8 * KIB)) == [(8 * KIB + 2, 2), (8 * KIB, 8 * KIB)]
    assert sizes(read(tmp_path, b"a\n" + b"b" * (8 * KIB - 1))) == [(8 * KIB + 1, 8 * KIB + 1)]
    assert sizes(read(tmp_path, b"\n" + b"b" * 8 * KIB)) == [(8 * KIB + 1, 1), (8 * KIB, 8 * KIB)]


def test_a_line_up_to_one_mib_is_not_cut(tmp_path: Path) -> None:
    whole = b"x" * (KIB * KIB - 1) + b"\n"
    assert sizes(read(tmp_path, whole)) == [(KIB * KIB, KIB * KIB)]


def test_a_longer_line_is_cut_before_the_tail_or_after_a_carriage_return(tmp_path: Path) -> None:
    much = 1280 * KIB
    assert sizes(read(tmp_path, b"x" * much)) == [(much, much - 8 * KIB), (8 * KIB, 8 * KIB)]
    assert sizes(read(tmp_path, b"\r" + b"x" * (much - 1))) == [(much, 1), (much - 1, much - 1)]
    bar = b"x" * 1000 * KIB + b"\r" + b"y" * (much - 1000 * KIB - 1)
    assert sizes(read(tmp_path, bar)) == [(much, 1000 * KIB + 1), (280 * KIB - 1, 280 * KIB - 1)]


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_progress_adds_up_to_the_size_of_the_file(tmp_path: Path, packed: bool) -> None:
    text = b"".join(b"%d\n" % (number * number) for number in range(100_000))
    data = gzip.compress(text) if packed else text
    (tmp_path / "log").write_bytes(data)
    seen: list[int] = []
    found = list(windows(str(tmp_path / "log"), seen=seen.append))
    assert b"".join(data[:limit] for data, limit in found) == text
    assert sum(seen) == len(data)
    assert len(seen) > 1
    assert all(seen)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (gzip.compress(b"a log\n" * 100)[:-12], "Compressed file ended before the end-of-stream marker was reached"),
        (gzip.compress(b"a log\n" * 100)[:-8] + b"\0" * 8, "CRC check failed"),
        (gzip.compress(b"a log\n")[:10] + b"\xff" * 100, "Error -3 while decompressing data"),
    ],
    ids=["cut", "checksum", "data"],
)
def test_broken_gzip_is_reported_with_the_reason(tmp_path: Path, data: bytes, reason: str) -> None:
    with pytest.raises(Damaged, match=reason) as caught:
        read(tmp_path, data)
    assert caught.value.hint == "the readable part does not show the number of steps"


def test_standard_input_is_named_by_a_dash(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"a log\n")
    with (tmp_path / "log").open("rb") as file:
        assert list(windows("-", file)) == [(b"a log\n", 6)]
        assert not file.closed
    with pytest.raises(Refused, match="standard input is closed"):
        list(windows("-"))


# Metrics


def taken(pick: str, *texts: bytes, expression: str = "acc( [0-9.a-z]+)?;") -> float | None:
    metric = Metric(compiled_metric(expression), pick)
    for text in texts:
        metric.window(text, len(text))
    return metric.value


@pytest.mark.parametrize(("pick", "value"), [("last", 2.0), ("max", 3.0), ("min", 1.0)])
def test_a_metric_is_the_last_highest_or_lowest_value(pick: str, value: float) -> None:
    assert taken(pick, b"acc 1; acc 3;\n", b"acc; acc word;\n", b"acc 2; acc;\n") == value
    assert taken(pick, b"acc; nothing\n") is None


@pytest.mark.parametrize("pick", ["max", "min"])
def test_a_metric_that_was_not_a_number_stays_so(pick: str) -> None:
    assert str(taken(pick, b"acc 1; acc nan; acc 2; acc 0;")) == "nan"
    assert taken("last", b"acc 1; acc nan; acc 2;") == 2.0


def test_a_value_behind_the_limit_of_a_window_is_left_to_the_next() -> None:
    """It may be cut short."""
    metric = Metric(re.compile(rb"acc (\d+)"), "min")
    metric.window(b"acc 34\nacc 1", 7)
    assert metric.value == 34
    metric.window(b"acc 12\nacc 1", 12)
    assert metric.value == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [("(", "is not a regular expression: missing \\)"), ("acc", "needs a group around the number")],
)
def test_an_expression_without_a_number_is_wrong_usage(text: str, message: str) -> None:
    with pytest.raises(UsageFault, match=message):
        compiled_metric(text)


# Records of reduced precision

NODE = "[INFO] n{[0]: %s, [1]: x} "
RECORD = NODE + "%s precision, node datatype: (43) -> (43), select kernel: (%s) -> (42)\n"


def records(folder: Path, text: str) -> Reduced:
    (folder / "ms.log").write_text(text)
    found = Reduced()
    read_reduced(str(folder / "ms.log"), found)
    return found


@pytest.mark.parametrize("letter", ["R", "r"])
def test_records_are_counted_by_op_type(tmp_path: Path, letter: str) -> None:
    text = "".join(RECORD % (name, letter + "educe", 42) for name in ("Add", "Mul", "Add"))
    found = records(tmp_path, text + RECORD % ("Sub", letter + "aise", 42) * 2)
    assert (found.counts, found.raised, found.unnamed) == ({"Add": 2, "Mul": 1}, 2, 0)


def test_the_operator_of_a_record_is_the_last_before_it_on_its_line(tmp_path: Path) -> None:
    twice = "{[0]: Add} {[0]: ValueNode<Primitive> Mul} Reduce precision, node datatype: (43)\n"
    other = "{[0]: Sub}\nReduce precision, node datatype: (43)\n"
    found = records(tmp_path, "\n" + twice + other)
    assert (found.counts, found.raised, found.unnamed) == ({"Mul": 1}, 0, 1)


@pytest.mark.parametrize(("way", "unnamed", "raised"), [("Reduce", 1, 0), ("Raise", 0, 1)])
def test_a_record_at_the_start_of_a_log_has_no_operator(tmp_path: Path, way: str, unnamed: int, raised: int) -> None:
    found = records(tmp_path, f"{way} precision, node datatype: (43)\n")
    assert (found.counts, found.raised, found.unnamed) == ({}, raised, unnamed)


def test_an_operator_at_the_start_of_a_log_is_found(tmp_path: Path) -> None:
    assert records(tmp_path, "[0]: Add, Reduce precision, node datatype: (43)\n").counts == {"Add": 1}
    assert records(tmp_path, "\n[0]: Add, Reduce precision, node datatype: (43)\n").counts == {"Add": 1}


def test_an_operator_far_before_its_record_is_not_searched_for(tmp_path: Path) -> None:
    for gap, counts in ((3900, {"Add": 1}), (4100, {})):
        assert records(tmp_path, "[0]: Add" + " " * gap + "Reduce precision, node datatype: (43)\n").counts == counts


def test_a_record_without_an_operator_does_not_take_that_of_the_record_before_it(tmp_path: Path) -> None:
    record = "Reduce precision, node datatype: (43)"
    found = records(tmp_path, f"[0]: Add, {record} {record} [0]: Mul {record}\n")
    assert (found.counts, found.unnamed) == ({"Add": 1, "Mul": 1}, 1)


def test_three_different_kernels_of_an_op_type_are_kept(tmp_path: Path) -> None:
    found = records(tmp_path, "".join(RECORD % ("Add", "Reduce", each) for each in (1, 2, 1, 3, 4, 5)))
    assert (found.counts, found.kernels) == ({"Add": 6}, {"Add": ["(1) -> (42)", "(2) -> (42)", "(3) -> (42)"]})
    assert records(tmp_path, "[0]: Add Reduce precision, node datatype: (43)\n").kernels == {}


def test_records_of_more_op_types_than_are_kept_are_counted_as_unnamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reduced_module, "MOST_NAMES", 2)
    text = "".join(RECORD % (name, "Reduce", 42) for name in ("Add", "Mul", "Sub", "Add", "Div", "Mul"))
    found = records(tmp_path, text)
    assert (found.counts, found.unnamed) == ({"Add": 2, "Mul": 2}, 2)


def test_records_of_a_long_log_are_counted_once(tmp_path: Path) -> None:
    assert records(tmp_path, (RECORD % ("Add", "Reduce", 42)) * 10_000).counts == {"Add": 10_000}
