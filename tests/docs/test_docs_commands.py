"""Every command that a page, a help text, a hint, a hook or a workflow shows is one that click accepts."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import click
import pytest

from opsinfo_cli.app import cli

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *ROOT.glob("*.md"),
    *(path for path in (ROOT / "docs").rglob("*.md") if path.name != "reference.md"),  # of the modules' docstrings
    *(ROOT / "docs/checks").glob("*.sh"),
    *(ROOT / "action").glob("*.sh"),
    ROOT / ".pre-commit-hooks.yaml",
    ROOT / ".pre-commit-config.yaml",
    *(ROOT / "tests/sample-repository").glob("*.[ty]*"),
    *(ROOT / "opsinfo_cli").rglob("*.toml"),
]
MODULES = [*(ROOT / "opsinfo_cli").rglob("*.py")]
SPAN = re.compile(r"`opsinfo\s+([^`]+)`")
LINE = re.compile(
    r"""(?:(?:^|\ \ |[:$&|]\ |-\ |[A-Z]=\S+\ |'\ |[>/('])opsinfo"?|-m\ opsinfo_cli)\ +(?=[a-z-])(.*)$""",
    re.MULTILINE | re.VERBOSE,
)
"""What follows the program's name in a line of code, to its end. Inside a sentence the name is a subject."""

PLACEHOLDERS = {"mixlist", "keep_dtype", "trial", "cache", "device"}
"""What ``bisect`` replaces in the words of a check."""


def commands_in(path: Path) -> Iterator[str]:
    """The commands in backticks, and those in lines of code: in fences, indented by four, or in comments of a page."""
    for text in texts_of(path):
        yield from (" ".join(span.split()) for span in SPAN.findall(text))
        code = re.sub(r" *\\\n\s*", " ", text)
        parts = [
            *re.findall(r"^ *```[a-z]*\n(.*?)^ *```", code, re.MULTILINE | re.DOTALL),
            *re.findall(r"^(?: {4}|\t).*$", code, re.MULTILINE),
            *re.findall(r"<!-- output of: (.*?) -->", code),
        ]
        for part in [code] if path.suffix in (".yaml", ".sh") else parts:
            yield from LINE.findall(part)


def texts_of(path: Path) -> Iterator[str]:
    """The strings of a module, a value that is put in as ``X``, or as nothing if a word precedes it; else the file."""
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        yield text
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr):
            said = ""
            for part in node.values:
                whole = isinstance(part, ast.Constant)
                said += str(part.value) if whole else "" if re.search(r"[\w-]$", said) else "X"  # type: ignore[attr-defined]
            yield said
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def words_of(command: str) -> list[str]:
    """The words of a command to a pipe, another command, a comma of a sentence, or the quote that it stands in."""
    if command.count("'") % 2:
        command = command.rpartition("'")[0]
    lexer = shlex.shlex(re.sub(r"(?:, |，).*", "", command), posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    words = list(takewhile(lambda word: not set(word) <= set("();<>|&"), lexer))
    return [word for word in words if word not in ("...", "…")]


def fault_of(words: list[str]) -> str | None:
    """What click does not accept; an argument may be missing, as in `opsinfo fmt` of a sentence."""
    command: click.Command = cli
    context = click.Context(cli, info_name="opsinfo")
    for name in re.findall(r"(?<!\$){(\w*)}", " ".join(words)):
        if name not in PLACEHOLDERS:
            return f"no placeholder: {{{name}}}"
    words = words[1:] if words[:1] == ["help"] else words
    try:
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            found = command.get_command(context, words[0])
            if words[0].isupper():  # stands for a command
                return None
            if found is None:
                return f"no command: {words[0]}"
            command, context, words = found, click.Context(found, info_name=words[0], parent=context), words[1:]
        try:
            values, rest, _ = command.make_parser(context).parse_args(list(words))
        except click.BadOptionUsage:  # its value is left out
            values, rest, _ = command.make_parser(context).parse_args([*words, "VALUE"])
    except click.UsageError as error:
        return error.format_message()
    if rest and not context.allow_extra_args:
        return f"too many words: {' '.join(rest)}"
    for param in command.params:
        given = values.get(param.name or "")
        for value in given if isinstance(given, list) else [given]:
            if isinstance(param.type, click.Choice) and isinstance(value, str):
                known = {*param.type.choices, value.upper()}  # a word in capitals stands for one
                if value not in known:
                    return f"{param.opts[0]}: {value} is none of {', '.join(map(str, param.type.choices))}"
    return None


def test_click_accepts_every_command_that_is_shown() -> None:
    for path in [*PAGES, *MODULES]:
        faults = {command: fault_of(words_of(command)) for command in commands_in(path)}
        assert {command: fault for command, fault in faults.items() if fault} == {}, path


PLACES = {
    "README.md": "bisect --against ascend910b --model model.onnx -o ops_info.json -- ./evaluate.sh {mixlist}",
    "README.zh-CN.md": "list fixtures/opp@ascend910b --on black",
    "docs/guide.md": "move ascend910b Add --to black --dry-run",
    "docs/ci.md": "validate . --report gitlab:gl-code-quality-report.json --report junit:opsinfo.xml",
    "docs/fleet.md": "apply ${OPP}@${SOC} /opt/opsinfo/ops_info.json --strict --backup-dir /opt/opsinfo/backups",
    "docs/checks/check-atc.sh": "bisect --against ascend910b --model model.onnx --max-drop 0.001",
    "action/validate.sh": "validate",
    ".pre-commit-hooks.yaml": "fmt",
    ".pre-commit-config.yaml": "validate --no-config --quiet --ignore unknown-operator",
    "opsinfo_cli/core/cann/snapshot.py": "snapshot TARGET -o FILE",
    "opsinfo_cli/core/commands/edit.py": "edit ascend910b --on white -n",
    "opsinfo_cli/core/check/zh.toml": "fmt",
}


@pytest.mark.parametrize("place", PLACES)
def test_the_commands_of_a_place_are_found(place: str) -> None:
    assert any(command.startswith(PLACES[place]) for command in commands_in(ROOT / place))


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("graph model.onnx --againts ascend910b", "No such option"),
        ("graph model.onnx --match Conv* --onn low", "No such option"),
        ("bisect --model m.onnx -- ./check.sh {mixlists}", "no placeholder: {mixlists}"),
        ("lsit TARGET", "no command: lsit"),
        ("list a b", "too many words: b"),
        ("list TARGET --on blck", "--on: blck is none of"),
        ("systems shwo apex", "no command: shwo"),
        ("list 'TARGET' --on black | grep --nonsense", None),
        ("graph MODEL --mixlist", None),
    ],
)
def test_a_wrong_command_is_found(command: str, fault: str | None) -> None:
    found = fault_of(words_of(command))
    assert found is None if fault is None else fault in str(found), found


FOREIGN = {
    "git": "--batch --cached --end-of-options --exclude-standard --full-tree --ignore-submodules "
    "--is-shallow-repository --name-only --no-ext-diff --no-optional-locks --no-renames --others --unshallow --verify",
    "pip": "--dest --disable-pip-version-check --find-links --no-deps --no-index --only-binary --platform --wheel-dir",
    "venv": "--clear",
    "docker": "--build-arg",
    "cp": "--preserve",
    "ray": "--address --head",
    "ruff, zizmor, pytest": "--dist --force-exclude --offline",
    "model-explorer": "--extensions",
    "strace": "--seccomp-bpf",
    "trtexec, fairseq": "--bf16 --best --fp16 --fp16-scale-tolerance --int8 --onnx",
    "atc, msame, converter_lite, benchmarks": "--fmk --framework --input --mode --name --optimize --outfmt --source",
}
"""Options of other programs that pages and messages name. Those of ``atc`` have an underscore or a capital."""


def options_of(command: click.Command, context: click.Context) -> Iterator[tuple[str, ...]]:
    """The spellings of each option."""
    for param in command.params:
        yield (*param.opts, *param.secondary_opts)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from options_of(below, click.Context(below, info_name=name, parent=context))


def test_every_option_that_is_named_is_one_of_a_command_or_of_a_program_that_is_listed_here() -> None:
    ours = {word for words in options_of(cli, click.Context(cli)) for word in words}
    known = {*ours, "--help", *" ".join(FOREIGN.values()).split()}
    history = ROOT / "CHANGELOG.md"  # it also names options that went
    typed_elsewhere = ROOT / "opsinfo_cli/core/terminal/hints.py"  # options that users of other tools type
    for path in [path for path in (*PAGES, *MODULES) if path not in (history, typed_elsewhere)]:
        for text in texts_of(path):
            named = set(re.findall(r"(?<![\w-])--[a-z][\w-]*\w(?![\w-])", text))
            assert {name for name in named - known if not re.search("[_A-Z]", name)} == set(), path


def test_every_option_has_a_place_in_a_page_that_is_written_by_hand() -> None:
    generated = {"reference.md", "findings.md", "findings.zh-CN.md", "glossary.md"}
    pages = [page for page in (ROOT / "docs").glob("*.md") if page.name not in generated]
    named = {
        word for page in [ROOT / "README.md", *pages] for word in re.findall(r"(?<![\w-])--?[\w-]+", page.read_text())
    }
    options = set(options_of(cli, click.Context(cli))) - {("-V", "--version")}
    assert {words for words in options if words[0].startswith("-") and named.isdisjoint(words)} == set()
