"""Every listing command on a terminal: lines fit, a row is one line at 80 columns, long output is paged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from cli_support import Run, write

from opsinfo_cli.report.terminal.cell_width import cell_width
from opsinfo_cli.report.terminal.output import Output
from opsinfo_cli.report.terminal.places import PlaceCell, Words, cut_in_the_middle, shortened
from opsinfo_cli.report.terminal.table import Cell, Column, table_lines

Terminal = Callable[..., "tuple[int, str]"]
PLAIN = {"NO_COLOR": "1", "PAGER": "cat"}

OUTPUT = Output("list")


def drawn(rows: list[list[Cell]], width: int, *columns: Column) -> list[str]:
    return list(table_lines(OUTPUT, columns or [Column(f"c{n}") for n in range(len(rows[0]))], rows, width))


# the policy


def test_a_table_that_fits_is_unchanged() -> None:
    assert drawn([["Add", "gray"], ["MatMulV2", "white"]], 40)[2:] == ["Add       gray", "MatMulV2  white"]


def test_places_are_shortened_before_anything_else() -> None:
    place = PlaceCell("aic-ascend910b-ops-info-legacy.json", ":30627")
    (line,) = drawn([["SparseSoftmaxCrossEntropyWithLogits", "white", place]], 80)[2:]
    assert line == "SparseSoftmaxCrossEntropyWithLogits  white  aic-ascen...s-info-legacy.json:30627"
    assert cell_width(line) <= 80


def test_an_optional_column_is_left_out_at_80_columns_and_wrapped_below() -> None:
    columns = [Column("a"), Column("b"), Column("c", spare=True)]
    row: list[Cell] = ["a" * 40, "b" * 30, "c" * 20]
    assert drawn([row], 80, *columns)[2:] == [f"{'a' * 40}  {'b' * 30}"]
    assert drawn([row], 75, *columns)[3:] == [f"{'a' * 40}  {'b' * 30}", f"    {'c' * 20}"]


def test_a_narrow_terminal_wraps_whole_cells() -> None:
    assert drawn([["MatMulV2", "white", "aic.json:1"]], 20)[3:] == ["MatMulV2  white", "    aic.json:1"]


def test_a_name_wider_than_the_terminal_is_not_split() -> None:
    assert drawn([["M" * 50, "white"]], 30)[3:] == ["M" * 50, "    white"]


def test_wide_characters_count_twice() -> None:
    lines = drawn([["算子", "gray"], ["Add", "white"]], 40)
    assert [cell_width(line.rpartition("  ")[0]) for line in lines[2:]] == [4, 4]


@pytest.mark.parametrize(
    ("path", "room", "expected"),
    [
        ("built-in/a/b/aic-ops.json", 30, "built-in/a/b/aic-ops.json"),
        ("built-in/a/b/aic-ops.json", 24, ".../aic-ops.json"),
        ("/a/b/c/aic-ops.json", 17, ".../aic-ops.json"),
        ("a/aic-ascend910b-ops-info-legacy.json", 20, "aic-a...-legacy.json"),
    ],
)
def test_a_path_loses_its_middle_and_keeps_its_end(path: str, room: int, expected: str) -> None:
    assert shortened(path, room) == expected


def test_no_shortened_text_is_wider_than_its_room() -> None:
    for room in range(8, 40):
        assert cell_width(cut_in_the_middle("算子-" * 12 + ".json", room)) <= room
        assert cell_width(str(Words(("ascend910b1", "ascend910b2", "x"), ", ").within(max(16, room)))) <= max(16, room)


# real data


@pytest.fixture
def real(corpus: Path) -> Path:
    return corpus / "cann-910b" / "opp"


ONE_LINE_A_ROW: dict[str, tuple[tuple[str, ...], int]] = {
    # command line: the least number of rows
    "list": (("list", "OPP"), 1196),
    "list of a mixlist": (("list", "MIXLIST", "--against", "OPP"), 1),
    "list with a mixlist": (("list", "OPP", "--mixlist", "MIXLIST"), 1196),
    "list of a system": (("list", "--system", "torch-npu"), 90),
    "matrix": (("matrix", "OPP"), 1196),
    "diff": (("diff", "OPP", "OPP", "--mixlist-b", "MIXLIST"), 5),
    "show": (("show", "OPP", "MatMulV2", "IndexFill"), 15),
    "modes": (("modes",), 11),
    "systems": (("systems",), 15),
    "systems of one": (("systems", "mindspore"), 5),
    "numerics": (("numerics",), 7),
    "numerics of values": (("numerics", "65519", "1e-8"), 12),
    "numerics of a folder": (("numerics", "DUMP", "--against", "OPP"), 2),
    "backups": (("backups",), 1),
    "doctor": (("doctor", "OPP"), 3),
    "doctor with notes": (("doctor", "OPP", "--select", "S001"), 30),
    "socs": (("socs", "OPP", "OTHER"), 4),
    "decide": (("decide", "--system", "ascend:mixed_float16", "--against", "OPP", "SoftmaxV2:float16"), 3),
    "qualify": (("qualify", "LOG"), 3),
    "reduced": (("reduced", "MSLOG", "--against", "OPP"), 1),
    "explain": (("explain",), 40),
    "explain one": (("explain", "contradiction"), 10),
}


@pytest.fixture
def places(real: Path, corpus: Path, tmp_path: Path, opp: Path, opsinfo: Run) -> dict[str, str]:
    """The arguments of a command line, with placeholders replaced."""
    np = pytest.importorskip("numpy", reason="tensors are read with numpy")
    dump = tmp_path / "a folder with dumps" / "of one step"
    dump.mkdir(parents=True)
    for name in ("SparseSoftmaxCrossEntropyWithLogits.network-loss-fn", "MatMul.network-encoder-layer-12-attention"):
        np.save(dump / f"{name}.12.1700000000123456.output.0.npy", np.array([1e-9, 7e4, 1.0], np.float32))
    assert opsinfo("move", opp, "SwiGlu", "--soc", "ascend910b", "--to", "gray").code == 0
    record = "op{[0]: BatchMatMul, [1]: q} Reduce precision, node datatype: (43, 43) -> (43), select kernel: (42)\n"
    return {
        "OPP": str(real),
        "OTHER": str(corpus / "cann-910" / "opp"),
        "MIXLIST": str(next((corpus / "mixlists").glob("BERT_*.json"))),
        "DUMP": str(dump),
        "LOG": str(corpus / "logs" / "bs_meg_gpt2_base_n4_dp1_tp4_pp4-1809579.out.gz"),
        "MSLOG": str(write(tmp_path / "ms.log", record * 3)),
    }


@pytest.mark.parametrize("name", ONE_LINE_A_ROW)
def test_no_line_is_wider_than_80_columns(terminal: Terminal, places: dict[str, str], name: str) -> None:
    words, rows = ONE_LINE_A_ROW[name]
    code, output = terminal(*(places.get(word, word) for word in words), env=PLAIN, width=80)
    assert code in (0, 1), output
    lines = output.splitlines()
    assert [line for line in lines if cell_width(line) > 80 and " " in line.strip()] == []  # one word may be longer
    assert len(lines) >= rows


@pytest.mark.parametrize(
    "name", ["list", "list with a mixlist", "matrix", "backups", "numerics of a folder", "systems"]
)
def test_a_row_is_one_line_at_80_columns(terminal: Terminal, places: dict[str, str], name: str) -> None:
    words, _ = ONE_LINE_A_ROW[name]
    words = tuple(places.get(word, word) for word in words)
    _, output = terminal(*words, env=PLAIN, width=80)
    _, wide = terminal(*words, env=PLAIN, width=400)
    rows, whole = ([line.split()[0] for line in each.splitlines() if "  " in line] for each in (output, wide))
    assert rows == whole


@pytest.mark.parametrize("width", [60, 40])
def test_a_narrow_terminal_splits_no_operator(terminal: Terminal, opsinfo: Run, real: Path, width: int) -> None:
    _, output = terminal("list", real, env=PLAIN, width=width)
    first = {line.split()[0] for line in output.splitlines()[3:] if not line.startswith(" ")}
    assert {line.partition("\t")[0] for line in opsinfo("list", real).out.splitlines()} <= first
    assert all(cell_width(line) <= width or " " not in line for line in output.splitlines())


# the pager


@pytest.fixture
def pager(tmp_path: Path) -> str:
    return str(write(tmp_path / "marks", "#!/bin/sh\nexec sed s/^/paged:/\n").absolute())


PAGED = [
    ("list", "OPP", "--soc", "ascend910b"),
    ("show", "OPP", "Add", "MatMulV2", "IndexFill", "SwiGlu", "--soc", "ascend910b"),
    ("matrix", "OPP"),
    ("diff", "OPP", "OPP", "--soc-a", "ascend910", "--soc-b", "ascend910b"),
    ("modes",),
    ("systems",),
    ("explain",),
    ("explain", "mixlists"),
    ("numerics", "1", "2", "3"),
    ("doctor", "OPP", "-v"),
    ("decide", "--system", "apex:O1", *(f"mul{n}" for n in range(9))),
]


@pytest.mark.parametrize("words", PAGED, ids=lambda words: f"{words[0]} {words[-1]}")
def test_every_listing_is_paged_the_same_way(terminal: Terminal, opp: Path, pager: str, words: tuple[str, ...]) -> None:
    Path(pager).chmod(0o755)
    words = tuple(str(opp) if word == "OPP" else word for word in words)
    for env in ({"OPSINFO_PAGER": pager, "PAGER": "cat"}, {"PAGER": pager}):
        assert "paged:" in terminal(*words, env=env, height=12)[1]
    for env in ({"OPSINFO_PAGER": "", "PAGER": pager}, {"OPSINFO_PAGER": "cat", "PAGER": pager}):
        assert "paged:" not in terminal(*words, env=env, height=12)[1]
    assert "paged:" not in terminal(*words, env={"PAGER": pager}, height=900)[1]
    assert "paged:" not in terminal(*words, "--no-pager", env={"PAGER": pager}, height=12)[1]


def test_a_pager_may_have_arguments(terminal: Terminal, opp: Path) -> None:
    assert "paged:" in terminal("matrix", opp, env={"PAGER": "sed -e s/^/paged:/"}, height=12)[1]
