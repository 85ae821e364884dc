"""Branches of rules, reports and opening that users see and that no other test held."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from library_files import entry

from opsinfo_cli import Target
from opsinfo_cli.core.cann.option_files import CustomizeDtypes
from opsinfo_cli.core.change.scope import scope_of
from opsinfo_cli.core.check.finding import Finding
from opsinfo_cli.core.check.rules import RULES
from opsinfo_cli.core.check.run import validate
from opsinfo_cli.core.check.schema import mixlist_schema
from opsinfo_cli.core.terminal.findings import MOST, concise_lines, plain
from opsinfo_cli.errors import Refused
from opsinfo_cli.opening import open_file


def test_the_schema_of_two_targets_of_one_chip_has_both(tmp_path: Path, opp: Path) -> None:
    one = Target.open(f"{opp}@ascend910b")
    library = tmp_path / "aic-ascend910b-ops-info.json"
    library.write_text(json.dumps({"OnlyHere": entry("true")}))
    two = Target.open(str(library))
    schema = mixlist_schema([one, two])
    names = schema["$defs"]["op-type"]["enum"]
    assert "OnlyHere" in names
    assert "Mul" in names
    text = schema["$defs"]["op-type"]["enumDescriptions"][names.index("OnlyHere")]
    assert text.startswith("white in ")


def test_the_findings_that_are_not_printed_are_counted() -> None:
    findings = [Finding(RULES["no-effect"], f"m{number}", "a.json") for number in range(MOST + 1234)]
    lines = [plain(line) for line in concise_lines(findings)]
    assert len(lines) == MOST + 1
    assert lines[-1] == "1,234 more findings; --format json has all"


@pytest.mark.parametrize(
    ("folder", "hint"), [("legacy-950", "a folder of the path has `legacy` in its name"), ("x", None)]
)
def test_an_undefined_load_order_says_what_a_folder_does_to_it(tmp_path: Path, folder: str, hint: str | None) -> None:
    store = tmp_path / folder
    store.mkdir()
    for name in ("aa", "bb"):
        (store / f"aic-x-ops-info-{name}.json").write_text(json.dumps({"Mul": entry("true")}))
    (finding,) = [each for each in validate(str(store)).findings if each.rule.name == "load-order-undefined"]
    assert finding.hint == hint


def test_a_target_with_a_path_too_long_is_no_folder(tmp_path: Path) -> None:
    path = f"{tmp_path}/{'a' * 5000}.json"
    assert not scope_of(path)(str(tmp_path))


def test_a_target_that_is_a_link_to_itself_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert not scope_of(str(tmp_path / "loop"))(str(tmp_path / "other"))


def test_a_line_of_customize_dtypes_ends_at_a_nul() -> None:
    read = CustomizeDtypes(["OpType::Mul:InputDtype:float16\0,nonsense"])
    assert [each.name for each in read.names.values()] == ["Mul"]
    assert read.faults == []


def test_a_pipe_is_no_file_and_the_hint_says_what_to_do(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, hint in (("pipe", "write what comes from the pipe to a file first"), (".", None)):
        with pytest.raises(Refused) as caught:
            open_file(str(tmp_path / name))
        assert (caught.value.name, caught.value.hint) == ("not-a-file", hint)


@pytest.mark.parametrize(
    ("modes", "expected"),
    [
        ([], ["white-without-low"]),
        (["mixed_float16", "force_fp16"], ["white-without-low"]),
        (["force_fp16"], []),
        (["must_keep_origin_dtype"], []),
    ],
)
def test_white_without_low_columns_is_said_for_modes_with_lists_alone(
    tmp_path: Path, modes: list[str], expected: list[str]
) -> None:
    library = tmp_path / "aic-ascend910b-ops-info.json"
    library.write_text(json.dumps({"High": entry(dtypes="float")}))
    mixlist = tmp_path / "ops_info.json"
    mixlist.write_text(json.dumps({"white-list": {"to-add": ["High"]}}))
    found = validate(str(mixlist), against=str(library), modes=modes).findings
    assert [each.rule.name for each in found if each.rule.name == "white-without-low"] == expected
