"""Logs are read in blocks of whole lines, whatever their lines are; also what is searched for in the blocks."""

from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path

import pytest

from opsinfo_cli.errors import Damaged, Refused, UsageFault
from opsinfo_cli.logs import reduced as reduced_module
from opsinfo_cli.logs.blocks import Block, blocks
from opsinfo_cli.logs.log import read_log
from opsinfo_cli.logs.metric import Metric, compile_metric
from opsinfo_cli.logs.reduced import Reduced

KIB = 1 << 10


def read(folder: Path, data: bytes) -> list[Block]:
    (folder / "log").write_bytes(data)
    return list(blocks(str(folder / "log")))


def test_a_log_is_read_in_blocks_that_end_after_a_line_end(tmp_path: Path) -> None:
    data = b"".join(b"line %d of a log\n" % number for number in range(40_000))
    found = read(tmp_path, data)
    assert len(found) == 4
    assert all(block.data.endswith(b"\n") and not block.continues for block in found)
    assert all(200 * KIB < len(block.data) < 300 * KIB for block in found[:-1])
    assert b"".join(block.data for block in found) == data


def test_a_short_log_is_one_block(tmp_path: Path) -> None:
    for data in (b"a\n", b"\n", b"\na\n", b"\n" * 8 * KIB):
        assert read(tmp_path, data) == [(data, False)]
    assert read(tmp_path, b"a") == [(b"a", False)]
    assert read(tmp_path, b"a\nb") == [(b"a\n", False), (b"b", False)]
    assert read(tmp_path, b"") == []


def test_carriage_returns_end_lines(tmp_path: Path) -> None:
    assert read(tmp_path, b"a\r\nb\rc\n") == [(b"a\nb\nc\n", False)]
    bar = b"\r" + b"x" * 1000
    found = read(tmp_path, bar * 2000)
    assert b"".join(block.data for block in found) == bar.replace(b"\r", b"\n") * 2000
    assert not any(block.continues for block in found)


def test_only_a_line_of_more_than_a_mebibyte_is_cut(tmp_path: Path) -> None:
    whole = b"x" * (KIB * KIB - 1) + b"\n"
    assert read(tmp_path, whole) == [(whole, False)]
    found = read(tmp_path, b"x" * 3000 * KIB + b"\nlast\n")
    assert b"".join(block.data for block in found) == b"x" * 3000 * KIB + b"\nlast\n"
    assert [block.continues for block in found] == [False, True, True]
    assert max(len(block.data) for block in found) <= 1280 * KIB


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_progress_adds_up_to_the_size_of_the_file(tmp_path: Path, packed: bool) -> None:
    text = b"".join(b"%d\n" % (number * number) for number in range(100_000))
    data = gzip.compress(text) if packed else text
    (tmp_path / "log").write_bytes(data)
    seen: list[int] = []
    found = list(blocks(str(tmp_path / "log"), seen=seen.append))
    assert b"".join(block.data for block in found) == text
    assert sum(seen) == len(data)
    assert len(seen) > 1
    assert all(seen)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (gzip.compress(b"a log\n" * 100)[:-12], "Compressed file ended before the end-of-stream marker was reached"),
        (gzip.compress(b"a log\n" * 100)[:-8] + b"\0" * 8, "CRC check failed"),
        (gzip.compress(b"a log\n")[:10] + b"\xff" * 100, "Error -3 while decompressing data"),
        (b"\x1f\x8b", "Compressed file ended before the end-of-stream marker was reached"),
    ],
    ids=["cut", "checksum", "data", "nothing but the mark"],
)
def test_broken_gzip_is_reported_with_the_reason(tmp_path: Path, data: bytes, reason: str) -> None:
    with pytest.raises(Damaged, match=reason) as caught:
        read(tmp_path, data)
    assert caught.value.hint == "the readable part does not show the number of steps"


def test_gzip_members_that_follow_each_other_are_one_log(tmp_path: Path) -> None:
    data = gzip.compress(b"a\n" * 10) + gzip.compress(b"b\n" * 10)
    assert b"".join(block.data for block in read(tmp_path, data)) == b"a\n" * 10 + b"b\n" * 10


def test_standard_input_is_named_by_a_dash(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"skipped\na log\n")
    with (tmp_path / "log").open("rb", buffering=0) as file:
        file.read(8)
        assert list(blocks("-", file)) == [(b"a log\n", False)]
        assert not file.closed
    with pytest.raises(Refused, match="standard input is closed"):
        list(blocks("-"))


def test_a_log_that_grows_is_read_up_to_the_size_that_it_had(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"a line\n" * 100_000)
    size = path.stat().st_size
    read_bytes = 0
    with path.open("ab") as writer:
        for block in blocks(str(path)):
            read_bytes += len(block.data)
            writer.write(b"another line\n" * 50_000)
            writer.flush()
    assert read_bytes == size


def test_a_pipe_is_read_to_its_end_in_pieces_of_any_size() -> None:
    text = gzip.compress(b"a line\n" * 10_000)
    reading, writing = os.pipe()

    def write() -> None:
        with os.fdopen(writing, "wb", buffering=0) as pipe:
            for at in range(0, len(text), 7):
                pipe.write(text[at : at + 7])

    writer = threading.Thread(target=write)
    writer.start()
    with os.fdopen(reading, "rb") as pipe:
        found = list(blocks("-", pipe))
    writer.join()
    assert b"".join(block.data for block in found) == b"a line\n" * 10_000


@pytest.mark.parametrize(
    ("name", "message"),
    [("absent.log", "No such file or directory"), ("", "Is a directory"), ("a\0b", "embedded null byte")],
    ids=["missing", "folder", "NUL"],
)
def test_a_log_that_cannot_be_read_is_refused_with_the_systems_reason(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(Refused) as caught:
        read_log(f"{tmp_path}/{name}")
    assert (caught.value.message, caught.value.name) == (message, "unreadable")


# Metrics


def taken(*texts: bytes, expression: str = "acc( [0-9.a-z]+)?;") -> float | None:
    metric = Metric(compile_metric(expression))
    for text in texts:
        metric.take(text)
    return metric.value


def test_a_metric_is_the_last_value() -> None:
    assert taken(b"acc 1; acc 3;\n", b"acc; acc word;\n", b"acc 2; acc;\n") == 2.0
    assert taken(b"acc; nothing\n") is None
    assert taken(b"acc 1; acc nan; acc 2;") == 2.0


@pytest.mark.parametrize("filling", [0, 100, 20_000])
def test_an_expression_may_span_the_lines_of_two_blocks(filling: int) -> None:
    first = b"x\n" * filling + b"top-1\n"
    assert taken(first, b"is 4\n" + b"x\n" * filling, b"top-1\n", expression="top-1\\nis ([0-9]+)") == 4
    assert taken(first, b"y\n", expression="top-1\\nis ([0-9]+)") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [("(", "is not a regular expression: missing \\)"), ("acc", "needs a group around the number")],
)
def test_an_expression_without_a_number_is_wrong_usage(text: str, message: str) -> None:
    with pytest.raises(UsageFault, match=message):
        compile_metric(text)


# Records of reduced precision

NODE = "[INFO] n{[0]: %s, [1]: x} "
RECORD = NODE + "%s precision, node datatype: (43) -> (43), select kernel: (%s) -> (42)\n"


def records(folder: Path, text: str) -> Reduced:
    (folder / "ms.log").write_text(text)
    return read_log(str(folder / "ms.log")).reduced


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


def test_the_records_of_several_logs_are_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduced_module, "MOST_NAMES", 2)
    every = Reduced()
    assert not every
    for name, kernel in (("Add", 1), ("Mul", 2), ("Add", 3), ("Sub", 4)):
        every.include(records(tmp_path, RECORD % (name, "Reduce", kernel) + RECORD % ("Div", "Raise", 1)))
    every.include(records(tmp_path, "".join(RECORD % (name, "Reduce", 1) for name in ("Add", "Mul", "Sub", "Div"))))
    assert (every.counts, every.raised, every.unnamed) == ({"Add": 3, "Mul": 2}, 4, 3)
    assert every.kernels == {"Add": ["(1) -> (42)", "(3) -> (42)"], "Mul": ["(2) -> (42)", "(1) -> (42)"]}
    assert every.ordered == [("Add", 3), ("Mul", 2)]
    assert every
