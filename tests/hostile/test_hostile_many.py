"""Files with many items: work on one item must not depend on the number of others.

Judged by processor time: linear work takes a second or two, quadratic work would take minutes.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile_counts import Counts
from hostile_support import ENTRY, Hostile

pytestmark = pytest.mark.heavy


def ops(many: int) -> list[str]:
    return [f"Op{number}" for number in range(many)]


def written(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
    return path


def objects(names: list[str]) -> dict[str, Any]:
    return {name: {} for name in names}


MIXLISTS: dict[str, Callable[[int], Any]] = {
    # situation: content, by number of items
    "unknown lists": lambda many: objects(ops(many)),
    "unknown actions": lambda many: {"black-list": {op: [] for op in ops(many)}},
    "one name repeated in an array": lambda many: {"black-list": {"to-add": ["Add"] * many}},
    "names on two lists": lambda many: {"black-list": {"to-add": ops(many)}, "white-list": {"to-add": ops(many)}},
    "names that have no effect": lambda many: {"gray-list": {"to-add": ops(many)}},
    "numbers for names": lambda many: {"black-list": {"to-add": list(range(many))}},
    "a repeated list": lambda many: "{" + ",\n".join(['"black-list": {}'] * many) + "}",
    "missing commas": lambda many: '{"black-list": {"to-add": [' + " ".join(f'"{op}"' for op in ops(many)) + "]}}",
    "comments in one line": lambda many: '{"black-list": {"to-add": [' + "/**/" * many * 5 + "]}}",
    "comments and blanks in one line": lambda many: '{"black-list": {"to-add": [' + " /**/ " * many * 5 + "]}}",
    "comments in lines": lambda many: '{"black-list": {"to-add": [' + "// x\n" * many + "]}}",
    "quotes": lambda many: '"' * many * 100,
}


SCRIPTS: dict[str, Callable[[int], str]] = {
    "f.sh, here documents without an end": lambda many: "cat <<a\n" * many * 3,
    "f.sh, here documents of many names": lambda many: "".join(f"cat <<a{n}\n" for n in range(many * 3)),
    "f.sh, here documents in each other": lambda many: "cat <<a\n" * many * 3 + "a\n" * many * 3,
    "f.py, uses of names": lambda _: (
        'a0 = "xx"\n'
        + "".join(f"a{n} = f'{f'{{a{n - 1}}}' * 10}'\n" for n in range(1, 8))
        + 'parameter_map["modify_mixlist"].s = a7\n'
    ),
    "f.py, sums of names": lambda _: (
        "".join(f"a{n} = {f'a{n - 1} + ' * 9}a{n - 1}\n" for n in range(1, 8)) + "config.modify_mixlist = a7\n"
    ),
}


@pytest.mark.parametrize("situation", SCRIPTS)
def test_a_script_with_many(hostile: Hostile, tmp_path: Path, counts: Counts, situation: str) -> None:
    path = tmp_path / situation.partition(",")[0]
    path.write_text("# modify_mixlist\n" + SCRIPTS[situation](counts.many))
    assert hostile("validate", tmp_path, "--follow", seconds=counts.seconds).code in (0, 1, 2)


@pytest.mark.parametrize("situation", MIXLISTS)
def test_a_mixlist_with_many(hostile: Hostile, tmp_path: Path, counts: Counts, situation: str) -> None:
    path = written(tmp_path / "f.json", MIXLISTS[situation](counts.many))
    ran = hostile("validate", path, "--as", "mixlist", seconds=counts.seconds)
    assert ran.code in (0, 1)
    assert len(ran.out) < 2_000_000, "the findings that are printed are limited, and so is each"


@pytest.mark.parametrize(
    "situation",
    ["missing commas", "comments in one line", "comments and blanks in one line", "comments in lines"],
)
def test_fixing_many_faults(hostile: Hostile, tmp_path: Path, counts: Counts, situation: str) -> None:
    path = written(tmp_path / "f.json", MIXLISTS[situation](counts.many))
    assert hostile("fmt", path, "--dry-run", seconds=counts.seconds).code == 0
    assert hostile("validate", path, "--fix", "-n", "--as", "mixlist", seconds=counts.seconds).code == 1
    assert hostile("fmt", path, seconds=counts.seconds).code == 0
    json.loads(path.read_text())


LIBRARIES: dict[str, Callable[[int], Any]] = {
    "entries that are numbers": lambda many: dict.fromkeys(ops(many), 1),
    "bad flags": lambda many: {op: {"precision_reduce": {"flag": op}} for op in ops(many)},
    "a repeated entry": lambda many: "{" + ",\n".join([f'"Add": {ENTRY}'] * (many // 5)) + "}",
    "a repeated section": lambda many: '{"Add": {' + ",\n".join(['"op": {}'] * many) + "}}",
    "inputs": lambda many: {"Add": {f"input{n}": {"name": "x", "dtype": "float", "format": "ND"} for n in range(many)}},
    "keys of one section": lambda many: {"Add": {"op": dict.fromkeys(ops(many), 1)}},
    "columns": lambda many: {"Add": {"input0": {"name": "x", "paramType": "required", "dtype": ",".join(ops(many))}}},
    "missing attributes": lambda many: {"Add": {"attr": {"list": ",".join(ops(many))}}},
    "misspelt sections": lambda many: {"Add": {f"inputt{number}": {} for number in range(many)}},
    "names with blanks": lambda many: {f"{op} ": {} for op in ops(many)},
}


@pytest.mark.parametrize("situation", LIBRARIES)
def test_a_library_with_many(hostile: Hostile, tmp_path: Path, counts: Counts, situation: str) -> None:
    path = written(tmp_path / "f.json", LIBRARIES[situation](counts.many))
    assert hostile("validate", path, "--as", "library", seconds=counts.seconds).code in (0, 1)
    assert hostile("list", path, "--as", "library", seconds=counts.seconds).code in (0, 3)


def test_a_move_in_a_mixlist_whose_lines_are_all_the_same(hostile: Hostile, tmp_path: Path, counts: Counts) -> None:
    path = written(tmp_path / "f.json", {"black-list": {"to-add": ["Add"] * counts.many}})
    assert hostile("list", path, seconds=counts.seconds).code == 0
    assert hostile("move", path, "Log", "--to", "black", seconds=counts.seconds).code == 0
    assert hostile("move", path, "Add", "--to", "white", "--dry-run", seconds=counts.seconds).code == 0
    assert hostile("move", path, "Add", "--to", "white", seconds=counts.seconds).code == 0
    assert json.loads(path.read_text()) == {"black-list": {"to-add": ["Log"]}, "white-list": {"to-add": ["Add"]}}


def test_a_move_of_a_thousand_in_a_mixlist(hostile: Hostile, tmp_path: Path, counts: Counts) -> None:
    names = ops(counts.many)
    path = written(tmp_path / "f.json", {"black-list": {"to-add": names}})
    assert hostile("move", path, *names[::8][:1000], "--to", "white", seconds=counts.seconds).code == 0
    assert json.loads(path.read_text())["white-list"] == {"to-add": names[::8][:1000]}


@pytest.mark.parametrize("option", [(), ("--dry-run",)])
def test_a_mixlist_of_all_ops_applied_to_a_library(
    hostile: Hostile, tmp_path: Path, counts: Counts, option: tuple[str, ...]
) -> None:
    library = written(tmp_path / "aic-x-ops-info.json", objects(ops(counts.many)))
    mixlist = written(tmp_path / "f.json", {"black-list": {"to-add": ops(counts.many)}})
    assert hostile("apply", library, mixlist, *option, seconds=counts.seconds).code == 0


def test_a_library_against_a_mixlist_of_its_own_size(hostile: Hostile, tmp_path: Path, counts: Counts) -> None:
    library = written(tmp_path / "aic-x-ops-info.json", objects(ops(counts.many)))
    mixlist = written(tmp_path / "f.json", {"black-list": {"to-add": ops(counts.many)}})
    assert hostile("list", library, "--mixlist", mixlist, seconds=counts.seconds).code == 0
    assert hostile("validate", mixlist, "--against", library, seconds=counts.seconds).code == 0
    assert hostile("list", mixlist, "--against", library, seconds=counts.seconds).code == 0


def test_many_versions_of_one_op_type(hostile: Hostile, tmp_path: Path, counts: Counts) -> None:
    names = [f"AddV{number}" for number in range(counts.many)]
    library = written(tmp_path / "aic-x-ops-info.json", objects(names))
    mixlist = written(tmp_path / "f.json", {"black-list": {"to-add": names[::2]}})
    ran = hostile("validate", mixlist, "--against", library, seconds=counts.seconds)
    assert ran.code == 0
    assert max(map(len, ran.out.splitlines())) < 2000


@pytest.mark.parametrize("command", [["list"], ["validate", "--format", "json"]], ids=["list", "validate"])
def test_many_unknown_names(hostile: Hostile, tmp_path: Path, command: list[str]) -> None:
    """Near names of each are searched among as many op types as a real chip has."""
    words = (
        ("Fused", "Sparse", "Grouped", "Masked", "Quant", "Batch", "Scaled", "Moving", "Segment", "Inplace"),
        ("Ripple", "Harbor", "Lattice", "Meadow", "Prism", "Comet", "Anchor", "Cobalt", "Willow", "Summit"),
        ("Norm", "Gather", "Pool", "Loss", "Softmax", "Conv2D", "MatMul", "Scatter", "Reduce", "Cumsum", "Gelu"),
    )
    known = ["".join(parts) for parts in itertools.product(*words)]
    library = written(tmp_path / "aic-x-ops-info.json", objects(known))
    mixlist = written(tmp_path / "f.json", {"black-list": {"to-add": [f"{name}Z{name[3]}" for name in known]}})
    ran = hostile(*command, mixlist, "--against", library, seconds=10)
    assert ran.code in (0, 1)
    output = ran.out + ran.err
    assert output.count("did you mean") == len(known)
    assert all(f"did you mean `{name}`" in output for name in known)


@pytest.mark.parametrize(
    ("name", "command"),
    [("{:08}", ["list"]), ("Op{:020}", ["validate", "--format", "json"])],
    ids=["digits", "letters and digits"],
)
def test_many_names_that_differ_in_digits_only(
    hostile: Hostile, tmp_path: Path, counts: Counts, name: str, command: list[str]
) -> None:
    """Hundreds of op types are equally near to each name."""
    pick = random.Random(23)
    numbers = pick.sample(range(10**8), 2 * counts.many)
    known, asked = ([name.format(number) for number in each] for each in (numbers[::2], numbers[1::2]))
    library = written(tmp_path / "aic-x-ops-info.json", objects(known))
    mixlist = written(tmp_path / "f.json", {"black-list": {"to-add": asked}})
    ran = hostile(*command, mixlist, "--against", library, seconds=4 * counts.seconds)
    assert (ran.out + ran.err).count("unknown operator") == counts.many


def test_many_files_of_undefined_order(hostile: Hostile, tmp_path: Path, counts: Counts) -> None:
    store = tmp_path / "config" / "ascend910b"
    store.mkdir(parents=True)
    for number in range(counts.many // 30):
        written(store / f"aic-ascend910b-ops-info-{number:04}.json", objects([f"Own{number}", "Add"]))
    findings = hostile("validate", store, "--format", "json", seconds=counts.seconds).json["findings"]
    assert [finding["name"] for finding in findings].count("load-order-undefined") == 1


def test_names_of_megabytes_that_are_near_each_other(hostile: Hostile, tmp_path: Path, counts: Counts) -> None:
    middle = "x" * (counts.long // 8)
    library = written(tmp_path / "aic-x-ops-info.json", {f"a{middle}b": {}})
    mixlist = written(tmp_path / "f.json", {"black-list": {"to-add": [f"b{middle}a"]}})
    ran = hostile("validate", mixlist, "--against", library, seconds=counts.seconds * 2)
    assert "did you mean" not in ran.out, "similar names are not searched for such names"
    assert len(ran.out) < 2000


def test_two_libraries_that_have_nothing_in_common(hostile: Hostile, tmp_path: Path, counts: Counts) -> None:
    a = written(tmp_path / "aic-a-ops-info.json", objects(ops(counts.many)))
    b = written(tmp_path / "aic-b-ops-info.json", objects([f"{op}X" for op in ops(counts.many)]))
    assert hostile("diff", a, b, seconds=counts.seconds).code == 1


def test_a_refusal_is_short_for_any_number_of_equal_keys(hostile: Hostile, tmp_path: Path, counts: Counts) -> None:
    path = written(tmp_path / "f.json", "{" + ",\n".join(['"Add": {}'] * counts.many) + "}")
    ran = hostile("move", path, "Add", "--to", "black", "--as", "library", seconds=counts.seconds)
    assert ran.code == 3
    assert f"appears {counts.many} times, in lines 1, 2, 3 and {counts.many - 3} more" in ran.err


def test_a_refusal_is_short_for_any_number_of_unknown_names(hostile: Hostile, tmp_path: Path) -> None:
    path = written(tmp_path / "aic-x-ops-info.json", objects(ops(100)))
    for command in (["show"], ["move", "--to", "black"]):
        ran = hostile(*command[:1], path, *(f"{op}Zz" for op in ops(5000)), *command[1:], seconds=10)
        assert ran.code == 2
        assert "`Op9Zz` and 4990 more" in ran.err
        assert len(ran.err) < 3000


def test_lists_of_another_system_with_many_names_twice(hostile: Hostile, tmp_path: Path, counts: Counts) -> None:
    for name in ("bf16", "fp32"):
        (tmp_path / name).write_text("mm\n" + "".join(f"op{number}\n" for number in range(5 * counts.many)), "utf-8")
    words = ["--from", "habana-autocast", "--to", "mindspore-white", tmp_path / "bf16", tmp_path / "fp32"]
    ran = hostile("systems", "convert", *words, "-o", tmp_path / "out", seconds=counts.seconds)
    assert (ran.code, "entries are not converted" in ran.err) == (0, True)
