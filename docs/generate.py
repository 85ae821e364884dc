"""Write what the docs take from the program: the reference, the manual pages, the findings, and the output shown in
the README.

    python docs/generate.py           write
    python docs/generate.py --check   exit 1 where a page is stale, or a command has no example

A block in README.md or README.zh-CN.md is made anew from the command in the comment above it::

    <!-- output of: opsinfo list fixtures/opp --soc ascend910b --on black -->
"""

from __future__ import annotations

import argparse
import inspect
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parent.parent
MAN = ROOT / "docs" / "man"
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

from man_pages import man_page, paragraphs  # noqa: E402

from opsinfo_cli import __version__  # noqa: E402
from opsinfo_cli.check.topics import TOPICS  # noqa: E402
from opsinfo_cli.check.wording import wording  # noqa: E402
from opsinfo_cli.cli.line.click_program import cli  # noqa: E402
from opsinfo_cli.cli.line.table import COMMANDS  # noqa: E402
from opsinfo_cli.report.views.explanation import example_text  # noqa: E402

GENERATED = "<!-- Made by docs/generate.py; edit the program, not this page. -->\n\n"
BLOCK = re.compile(r"(<!-- output of: (?P<command>.+?) -->\n\n```[a-z]*\n)(?P<body>.*?)(```\n)", re.DOTALL)

FINDINGS_FRAME = {
    "en": {
        "title": "# Findings\n\n[中文](findings.zh-CN.md)\n\n"
        "A code may be looked up with `opsinfo explain CODE`; a name never changes.\n\n",
        "head": "| code | name | about | severity | engine |\n",
        "rule": "`{code}`, {severity}; the engine {engine}. {why}",
    },
    "zh": {
        "title": "# 检查项\n\n[English](findings.md)\n\n"
        "编码可用 `opsinfo explain CODE` 查询（`OPSINFO_LANG=zh` 时为中文）；名称永不改变。"
        "术语见[术语表](glossary.md)。\n\n",
        "head": "| 编码 | 名称 | 对象 | 级别 | 引擎 |\n",
        "rule": "`{code}`，{severity}；引擎{engine}。{why}",
    },
}


def contexts() -> Iterator[click.Context]:
    """The program and each of its commands, as they are called at 80 columns."""
    program = click.Context(cli, info_name="opsinfo", terminal_width=78, **cli.context_settings)
    yield program
    for name in COMMANDS:
        command = cli.get_command(program, name)
        assert command is not None
        yield click.Context(command, info_name=name, parent=program)


def reference() -> str:
    """Every command with its options, as `--help` says them."""
    parts = [GENERATED, "# Commands\n\n", "What `--help` says of every command.\n\n"]
    for context in contexts():
        parts.append(f"## {context.command_path}\n\n```text\n{context.get_help()}\n```\n\n")
    parts.append(f"## Exit status\n\n```text\n{TOPICS['exit-codes']}\n```\n")
    return "".join(parts)


def man_pages() -> dict[Path, str]:
    """`opsinfo.1`, and a page for each command."""
    short = {**COMMANDS, "opsinfo": inspect.cleandoc(cli.help or "").splitlines()[0]}
    pages = {}
    for context in contexts():
        page = man_page(
            context, short[str(context.info_name)], __version__, COMMANDS, TOPICS["exit-codes"], TOPICS["environment"]
        )
        pages[MAN / (context.command_path.replace(" ", "-") + ".1")] = page
    return pages


def without_example() -> list[str]:
    """Commands whose help shows no example of themselves."""
    paths = {context.command_path: paragraphs(context.command)[1] for context in contexts()}
    return [path for path, examples in paths.items() if not any(f"{path} " in f"{line} " for line in examples)]


def findings(language: str) -> str:
    """Every rule of the table, each with a text that fails and one that passes."""
    said, frame = wording(language), FINDINGS_FRAME[language]
    parts = [GENERATED, frame["title"], frame["head"], "| --- | --- | --- | --- | --- |\n"]
    for rule in said.rules.values():
        cells = (rule.code, f"[`{rule.name}`](#{rule.name})", *map(said.word, (rule.about, rule.severity, rule.engine)))
        parts.append(f"| {' | '.join(cells)} |\n")
    for rule in said.rules.values():
        severity, engine = said.word(rule.severity), said.word(rule.engine)
        about = frame["rule"].format(code=rule.code, severity=severity, engine=engine, why=rule.why)
        parts.append(f"\n## {rule.name}\n\n{about}\n\n")
        for title, example in (("fails", rule.fails), ("passes", rule.passes)):
            parts.append(f"{said.word(title)}\n\n```text\n{example_text(example, said)}\n```\n\n")
        parts.append(said.word("source").format(source=rule.source) + "\n")
    return "".join(parts)


def readme(path: Path, language: str) -> str:
    """A README with every shown output made anew."""
    text = path.read_text(encoding="utf-8")
    return BLOCK.sub(lambda match: match[1] + output_of(match["command"], language) + match[4], text)


def output_of(command: str, language: str) -> str:
    """What a command prints, both streams, off a terminal. Writes go to a copy of the fixtures that is thrown away."""
    words = shlex.split(command)
    assert words[0] == "opsinfo", command
    with tempfile.TemporaryDirectory() as place:
        subprocess.run(["cp", "-r", str(ROOT / "fixtures"), place], check=True)
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("ASCEND_", "OPSINFO_"))}
        ours = {"OPSINFO_BACKUP_DIR": f"{place}/vault", "OPSINFO_LANG": language}
        environment = {**kept, **ours, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", "HOME": place}
        done = subprocess.run(
            [sys.executable, "-m", "opsinfo_cli", *words[1:]],
            cwd=place,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    return done.stdout.decode()


def main() -> int:
    parser = argparse.ArgumentParser(description="Generate what the docs take from the program.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a page is stale")
    wanted_check = parser.parse_args().check
    pages = {
        ROOT / "docs" / "reference.md": reference(),
        ROOT / "docs" / "findings.md": findings("en"),
        ROOT / "docs" / "findings.zh-CN.md": findings("zh"),
        ROOT / "README.md": readme(ROOT / "README.md", "en"),
        ROOT / "README.zh-CN.md": readme(ROOT / "README.zh-CN.md", "zh"),
        **man_pages(),
    }
    stale = [path for path, text in pages.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    left = [path for path in MAN.glob("*") if path not in pages]
    lacking = without_example()
    for path in [*stale, *left]:
        print(f"{'stale' if wanted_check else 'removed' if path in left else 'wrote'}: {path.relative_to(ROOT)}")
    for path in lacking:
        print(f"no example: {path}")
    if not wanted_check:
        MAN.mkdir(exist_ok=True)
        for path in stale:
            path.write_text(pages[path], encoding="utf-8")
        for path in left:
            path.unlink()
    return 1 if lacking or (wanted_check and (stale or left)) else 0


if __name__ == "__main__":
    sys.exit(main())
