"""Windows as lines, shapes and columns: what is looked up, kept and shared."""

from __future__ import annotations

from collections import Counter

import pytest

from opsinfo_cli.runs.columns import Table, integers, kinds_of
from opsinfo_cli.runs.shapes import Shapes
from opsinfo_cli.runs.sheet import Sheet

CYCLE = 1 << 12


def sheet(*lines: bytes, by_shape: bool = True) -> Sheet:
    data = b"".join(line + b"\n" for line in lines)
    return Sheet(data, len(data), by_shape)


# Sheet


def test_lines_printed_four_times_each_are_counted_as_copies() -> None:
    """The empty text after the last line end is one of twelve."""
    often = sheet(*[b"step 1"] * 5, *[b"step 2"] * 6)
    assert often.copies == {b"step 1": 5, b"step 2": 6, b"": 1}
    assert often.kinds == {b"step 0": 11, b"": 1}
    assert often.shapes == [b"step 0"] * 11 + [b""]
    assert often.copied_lines_of({b"step 0"}).keys() == {b"step 1", b"step 2"}
    seldom = sheet(*[b"step 1"] * 5, *[b"step 2"] * 5)
    assert seldom.copies is None
    assert seldom.kinds == {b"step 0": 10, b"": 1}
    assert seldom.copied_lines_of({b"step 0"}) == {}


def test_lines_that_are_only_at_first_copies_are_counted_by_shape() -> None:
    lines = [b"same"] * 256 + [b"step %d" % at for at in range(1000)]
    found = sheet(*lines)
    assert found.copies is None
    assert found.kinds == {b"same": 256, b"step 0": 10, b"step 00": 90, b"step 000": 900, b"": 1}
    just = sheet(*lines[: 256 + 84])
    assert (len(lines[: 256 + 84]) + 1, len(set(lines[: 256 + 84])) + 1) == (341, 86)
    assert just.copies is None
    assert sheet(*lines[: 256 + 82], b"same").copies is not None  # 85 lines in 340


def test_lines_that_differ_at_first_are_counted_by_shape() -> None:
    found = sheet(*[b"step %3d" % at for at in range(256)], *[b"same"] * 2000)
    assert found.copies is None
    assert found.kinds == {b"step   0": 10, b"step  00": 90, b"step 000": 156, b"same": 2000, b"": 1}


@pytest.mark.parametrize("times", [1, 4])
@pytest.mark.parametrize(("many", "known"), [(255, True), (256, False)])
def test_shapes_are_counted_if_there_are_at_most_256(many: int, known: bool, times: int) -> None:
    """One more is the empty text after the last line end."""
    found = sheet(*[b"x" * length for length in range(1, many + 1) for _ in range(times)], *[b"x"] * 3)
    assert (found.kinds is not None) is known
    assert (found.copies is not None) is (known and times == 4)
    assert found.has(b"xxx")
    assert found.has(b"y") is False
    assert found.count(b"x" * many) == times


@pytest.mark.parametrize(("length", "shared"), [(CYCLE - 8, True), (CYCLE - 7, False)], ids=["in reach", "beyond"])
def test_the_shapes_of_lines_in_a_cycle_are_shared(length: int, shared: bool) -> None:
    """The second cycle is looked for by its first line, of eight characters, in the first 4 KiB."""
    lines = [b"step: 1", b"x" * (length - 9)]
    assert sum(map(len, lines)) + len(lines) == length
    found = sheet(*(line.replace(b"1", b"%d" % at) for at in range(1, 9) for line in lines), b"step: 9")
    assert found.kinds == {lines[0].replace(b"1", b"0"): 9, lines[1]: 8, b"": 1}
    assert len(set(map(id, found.shapes))) == (4 if shared else 18)


@pytest.mark.parametrize("line", [b"", b"a"])
def test_equal_lines_are_a_cycle(line: bytes) -> None:
    found = sheet(*[line] * 3)
    assert (found.shapes, found.kinds) == ([line] * 3 + [b""], Counter([line] * 3 + [b""]))


def test_a_window_without_a_line_end_is_not_looked_up() -> None:
    assert sheet(b"a", by_shape=False).kinds is None
    assert Sheet(b"a\nb", 3, by_shape=True).kinds is None
    assert sheet(b"a").kinds == {b"a": 1, b"": 1}


@pytest.mark.parametrize("by_shape", [False, True])
def test_only_text_before_the_limit_counts(by_shape: bool) -> None:
    found = Sheet(b"word a\nno\nword a\n", 10, by_shape)
    assert (found.lines, found.shapes) == ([b"word a", b"no", b""],) * 2
    assert found.count(b"word") == 1
    assert found.lines_with(b"word")[0] == [b"word a"]


def places(word: bytes) -> Shapes[tuple[slice] | None]:
    def find(shape: bytes) -> tuple[slice] | None:
        at = shape.find(word)
        return (slice(at + len(word), at + len(word) + 1),) if 0 <= at < len(shape) - len(word) else None

    return Shapes(find)


@pytest.mark.parametrize("by_shape", [False, True])
def test_a_table_has_the_lines_with_one_of_its_words(by_shape: bool) -> None:
    found = sheet(b"a 1", b"b 2", b"c", b"", b"x a 3", by_shape=by_shape)
    table = found.table(places(b" "), b"a", b"b")
    assert (len(table), table.lines, table.column(0)) == (3, [b"a 1", b"b 2", b"x a 3"], [b"1", b"2", b"a"])
    assert len(found.table(places(b" "), b"absent")) == 0
    assert found.table(places(b" "), b"absent").column(0) == []


def test_a_whole_table_has_a_place_in_each_of_its_lines() -> None:
    lines = [b"a: 1", b"a: 2", b"xa: 3", b"b", b"a:"]
    table = sheet(*lines[:4]).whole_table(places(b": "), b"a")
    assert table is not None
    assert (table.lines, table.column(0)) == (lines[:3], [b"1", b"2", b"3"])
    assert sheet(*lines).whole_table(places(b": "), b"a") is None
    assert sheet(*lines[:4]).whole_table(places(b": "), b"absent") is None
    assert sheet(*lines[:4], by_shape=False).whole_table(places(b": "), b"a") is None


# Shapes


class Finds:
    """Finds the length of a text, and keeps which texts it was asked for."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []

    def __call__(self, text: bytes) -> int | None:
        self.asked.append(text)
        return len(text) or None


def test_texts_of_one_shape_are_searched_once() -> None:
    find = Finds()
    shapes = Shapes(find)
    assert [shapes.of(text) for text in (b"step 1", b"step 2", b"", b"")] == [6, 6, None, None]
    assert shapes.of_all([b"step 3", b"", b"a"]) == [6, None, 1]
    assert shapes.of_all([b"b", b"c", b"b"], [b"b", b"c", b"b"]) == [1, 1, 1]
    assert shapes.of_all([]) == []
    assert find.asked == [b"step 0", b"", b"a", b"b", b"c"]


def test_texts_that_hold_what_is_between_them_are_looked_up_each() -> None:
    assert Shapes(Finds()).of_all([b"a\nb", b"c"]) == [3, 1]
    assert Shapes(Finds()).of_all([b"a\nb", b"c"], between=b"\0") == [3, 1]


def test_texts_known_by_their_shapes_are_looked_up_together(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = Shapes(Finds())
    monkeypatch.setattr(shapes, "of", None)
    assert shapes.of_all([b"a 1", b"a 22"]) == [3, 4]
    monkeypatch.setattr(shapes, "_learned", None)
    assert shapes.of_all([b"a 2", b"a 33"]) == [3, 4]


@pytest.mark.parametrize(("length", "asked"), [(1024, 1), (1025, 2)])
def test_long_texts_are_not_kept(length: int, asked: int) -> None:
    find = Finds()
    shapes = Shapes(find)
    assert [shapes.of(b"x" * length) for _ in range(2)] == [length] * 2
    assert len(find.asked) == asked


@pytest.mark.parametrize(("many", "asked"), [(1024, 1024), (1025, 1026)])
def test_shapes_are_forgotten_if_there_are_too_many(many: int, asked: int) -> None:
    find = Finds()
    shapes = Shapes(find)
    texts = [b"x" * (at % 1000) + b"y" * (at // 1000) for at in range(many)]
    for text in [*texts, texts[0]]:
        shapes.of(text)
    assert len(find.asked) == asked


# Columns


def test_lines_of_one_kind_have_one_row() -> None:
    row = (slice(0, 1), 7)
    table = Table.of([b"ab", b"cd"], [row, row])
    assert (table.kinds, table.rows, table.values(1), table.values_of_kinds(1)) == ([row], [row, row], [7, 7], [7])
    assert table.column(0) == [b"a", b"c"]
    assert kinds_of([row, row]) == [row]


def test_lines_of_several_kinds_have_their_own_places_and_values() -> None:
    first, second = (slice(0, 1), 7), (slice(1, 2), 8)
    table = Table.of([b"ab", b"cd", b"ef"], [first, second, first])
    assert (table.kinds, table.values(1), table.column(0)) == ([first, second], [7, 8, 7], [b"a", b"d", b"e"])
    same = Table([b"ab", b"cd"], [first, (slice(0, 1), 7)], list)
    assert (same.values(1), same.column(0)) == ([7, 7], [b"a", b"c"])  # the rows are not made
    assert kinds_of([first, second, first]) == [first, second]
    assert kinds_of([]) == []


@pytest.mark.parametrize("runs", [[(1, 64), (2, 1), (1, 63)], [(1, 64), (1, 64), (2, 70)], [(3, 65), (4, 64), (3, 1)]])
def test_a_number_that_returns_later_is_read_in_its_place(runs: list[tuple[int, int]]) -> None:
    expected = [number for number, many in runs for _ in range(many)]
    assert integers([b"%d" % number for number in expected]) == expected
