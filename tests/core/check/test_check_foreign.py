"""Fixes over text of other tools and over pasted samples: as before, or what a person would say it means."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from program_run import Runner

from opsinfo_cli.core.text.scanner import scan
from opsinfo_cli.core.text.source import Source

WANTED = {"black-list": {"to-add": ["Conv2D", "Mul"]}, "gray-list": {"to-remove": ["Add"]}}
SAMPLE = """{
  "black-list": {
    "to-add": ["Conv2D", "Mul"]
  },
  "gray-list": {"to-remove": ["Add"]}
}
"""
LINES = SAMPLE.splitlines()


def numbered(form: str) -> str:
    return "".join(form.format(number, line) + "\n" for number, line in enumerate(LINES, 1))


PASTED = {
    "numbers before the listing": "".join(f"{number}\n" for number in range(1, 7)) + SAMPLE,
    "fewer numbers than lines": "1\n2\n3\n" + SAMPLE,
    "numbers in a margin": numbered("{} {}"),
    "numbers and bars": numbered("{:>3}| {}"),
    "numbers and dots": numbered("{}. {}"),
    "numbers and tabs": numbered("{}\t{}"),
    "numbers between the lines": numbered("{}\n{}"),
    "numbers from 80 on": "".join(f"{number}  {line}\n" for number, line in enumerate(LINES, 80)),
    "numbers and a comment": numbered("{} {}").replace('"Mul"]', '"Mul"]  // why'),
    "a number in a line of a list": SAMPLE.replace('["Conv2D", "Mul"]', '[\n3 "Conv2D",\n4 "Mul"]'),
    "a prompt": "$ cat ops_info.json\n" + SAMPLE,
    "a prompt of root": "# cat ops_info.json\n" + SAMPLE,
    "a prompt of Python": ">>> " + SAMPLE,
    "a file name": '"ops_info.json"\n' + SAMPLE,
    "a label": "[1]\n" + SAMPLE,
    "a fence": f"```json\n{SAMPLE}```\n",
    "a fence at the end": SAMPLE + "```\n",
    "smart quotes": SAMPLE.replace('"Mul"', "\u201cMul\u201d"),
    "full-width commas": SAMPLE.replace(",", "\uff0c"),
    "full-width colons": SAMPLE.replace(":", "\uff1a"),
    "full-width brackets": SAMPLE.replace("[", "\uff3b").replace("]", "\uff3d"),
    "an ellipsis": SAMPLE.replace('"Mul"', '"Mul", ...'),
    "an ellipsis of one character": SAMPLE.replace('"Mul"', '"Mul", \u2026'),
    "no-break blanks": SAMPLE.replace("    ", "\u00a0\u00a0\u00a0\u00a0"),
    "full-width blanks": SAMPLE.replace(": ", ":\u3000"),
    "a word without quotes": SAMPLE.replace('"Mul"', "Mul"),
    "two samples": SAMPLE + '{"white-list": {"to-add": ["Log"]}}\n',
    "a bracket too early": SAMPLE.replace("  },", "  }},"),
    "a list behind the end": '{"black-list": {"to-add": ["Conv2D"]}}, "to-add": ["Mul"]\n',
    "a diff": "".join(f"+{line}\n" for line in LINES),
    "a quoted mail": "".join(f"> {line}\n" for line in LINES),
    "escaped quotes": SAMPLE.replace('"', '\\"'),
}

FOREIGN = {
    "tactics.ini": "[GeluF32Kernel]\nops=gelu\nmode=high_precision\n\n[ReluF32Kernel]\nops=relu\nmode=high_precision\n",
    "op_precision_tactics.ini": "[A]\nmode=high_precision\n[B]\nmode=high_precision\nmode=high_precision\n",
    "tuned.cfg": "# tuned\nlr=0.1\nlr=0.1\nmode=high_precision\nseed=1\n",
    "settings.cfg": "[core]\nautocrlf = true\n; note\nname = a\nname = a\n",
    "my_keep_dtype.cfg": "[model]\n# which\nkeep = a b\nkeep = a b\n\n",
    "customize_dtypes.txt": "a: 1\n# b\n\nc: 2\na: 1\n",
    "words.txt": "alpha\nbeta\nalpha\n",
    "kernel.cpp": "#include <a.h>\n#include <a.h>\nOpType::Conv f() { return OpType::Conv; }\nOpType::Conv g();\n",
    "tsconfig.json": '\ufeff{\n  // paths\n  "include": [["a"],],\n}\n',
    "settings.json": '{"editor": {"rules": [1, 2,],},} // end\n',
    "firewall.json": '{"whitelist": ["10.0.0.1", "10.0.0.1",], /* x */ "file_list": ["a" "b"]}\n',
    "ops_info.json": '{"ops": {"Conv": ["a", "a",]}, // of another tool\n}\n',
    "log.json": '12 records\n{"level": "info", "msg": []}\n',
    "mixlist.json": "black-list:\n  to-add: [Conv2D]  # keeps float32\n",
    "lines.json": '{"black_list": [1]}\n{"black_list": [1]}\n',
}


WAYS = {
    "fix": ("validate", "--fix"),
    "unsafe fixes": ("validate", "--fix", "--unsafe-fixes"),
    "fmt": ("fmt",),
}


@pytest.fixture
def fixed(opsinfo: Runner, tmp_path: Path) -> Fixed:
    """Return the text of a file after a command, which may refuse it."""

    def run(name: str, text: str, command: str, *options: str) -> str:
        path = tmp_path / name
        path.write_text(text, "utf-8", newline="")
        assert opsinfo(command, path, *options).code in (0, 1, 2, 3)
        return path.read_bytes().decode("utf-8")

    return run


Fixed = Callable[..., str]


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("text", PASTED.values(), ids=PASTED)
def test_a_pasted_sample_stays_or_becomes_what_it_means(fixed: Fixed, text: str, way: tuple[str, ...]) -> None:
    result = fixed("ops_info.json", text, *way)
    assert result == text or json.loads(result) == WANTED


@pytest.mark.parametrize("text", PASTED.values(), ids=PASTED)
def test_fmt_writes_another_file_only_with_what_a_sample_means(opsinfo: Runner, tmp_path: Path, text: str) -> None:
    source, out = tmp_path / "ops_info.json", tmp_path / "out.json"
    source.write_text(text, "utf-8")
    assert (opsinfo("fmt", source, "-o", out).code == 0) is out.exists()
    assert not out.exists() or json.loads(out.read_text("utf-8")) == WANTED


@pytest.mark.parametrize(
    "name",
    [*(name for name in PASTED if name.startswith(("numbers", "fewer"))), "no-break blanks", "full-width blanks"],
)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_what_is_understood_is_mended(fixed: Fixed, name: str, way: tuple[str, ...]) -> None:
    assert json.loads(fixed("ops_info.json", PASTED[name], *way)) == WANTED


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("list_of_numbers", ["[\n0]", "[\n1\n]", "[ 7,\n1\n]"])
def test_a_number_that_is_an_element_is_no_line_number(
    fixed: Fixed, list_of_numbers: str, way: tuple[str, ...]
) -> None:
    text = SAMPLE.replace('["Add"]', list_of_numbers)
    assert fixed("ops_info.json", text, *way) == text


@pytest.mark.parametrize("way", [*WAYS.values(), ("validate", "--follow", "--fix", "--unsafe-fixes")], ids=" ".join)
@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_of_another_tool_is_never_edited(
    opsinfo: Runner, fixed: Fixed, tmp_path: Path, name: str, way: tuple[str, ...]
) -> None:
    assert fixed(name, FOREIGN[name], *way) == FOREIGN[name]
    opsinfo(way[0], tmp_path, *way[1:])
    assert (tmp_path / name).read_bytes().decode("utf-8") == FOREIGN[name]


@pytest.mark.parametrize("name", [name for name in FOREIGN if not name.endswith(".json")])
@pytest.mark.parametrize("kind", ["keep_dtype", "customize_dtypes", "op_precision"])
def test_a_wrong_kind_does_not_edit_it_either(fixed: Fixed, name: str, kind: str) -> None:
    if (name, kind) != ("words.txt", "keep_dtype"):  # it is one, if the user says so
        assert fixed(name, FOREIGN[name], "validate", "--as", kind, "--fix", "--unsafe-fixes") == FOREIGN[name]


def test_broken_json_of_other_tools_keeps_its_content(opsinfo: Runner, tmp_path: Path) -> None:
    folder = Path(__file__).parents[1] / "text" / "json-test-suite"
    for file in sorted(folder.glob("*.json")):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    files = sorted(tmp_path.glob("*.json"))
    assert len(files) > 100
    opsinfo("validate", *files, "--as", "mixlist", "--fix", "--unsafe-fixes")
    for file in files:
        before, after = (folder / file.name).read_bytes(), file.read_bytes()
        if before != after:
            roots = [scan(Source(data, file.name, strict=False)).root for data in (before, after)]
            assert [root and root.plain() for root in roots] == [{}, {}]
