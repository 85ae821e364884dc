"""Every source that opsinfo cites can be opened, and docs/sources.md lists it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opsinfo_cli.core.check.rules import RULES
from opsinfo_cli.core.check.wording import wording

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "sources.md").read_text("utf-8")
LISTED = re.findall(r"^\| ([^|]+?) \|", PAGE, re.MULTILINE)

SHIPPED = [
    path
    for folder in ("opsinfo_cli", "docs", "schemas", "fixtures", "benchmarks", "tests")
    for path in (ROOT / folder).rglob("*")
    if path.is_file() and path.suffix in (".py", ".json", ".md", ".toml", ".js", ".sh")
] + [path for path in ROOT.glob("*") if path.suffix in (".md", ".toml", ".yml", ".yaml")]
PRIVATE = re.compile(r"\b(?:" + "engine|interop|anchors|review" + r")\.md\b")
OWNERS = (
    "hicann Ascend HabanaAI NVIDIA pytorch mindspore-ai mindspore-lab huggingface tensorflow PaddlePaddle microsoft "
    "deepspeedai facebookresearch mlcommons bigscience-workshop"
)
REPOSITORY = re.compile(rf"(?<![\w/])(?:{'|'.join(OWNERS.split())})/[A-Za-z][\w.-]*\w(?=[,:@`\"; )]|$)", re.MULTILINE)


def test_no_text_of_the_product_names_a_page_that_readers_do_not_have() -> None:
    named = [
        str(path.relative_to(ROOT)) for path in SHIPPED if PRIVATE.search(path.read_text("utf-8", errors="replace"))
    ]
    assert named == []


@pytest.mark.parametrize("name", RULES)
def test_the_source_of_a_finding_is_a_listed_repository_or_opsinfo_itself(name: str) -> None:
    source = RULES[name].source
    repositories = re.findall(r"\b(hicann/[a-z-]+), \S+", source)
    assert repositories or "opsinfo" in source
    assert all(f"`{each}`" in PAGE for each in repositories)


@pytest.mark.parametrize("name", RULES)
def test_a_cited_file_has_line_numbers_and_its_short_path_is_on_the_page(name: str) -> None:
    for path in re.findall(r"hicann/ge, (\S+?)(?:[;,]| |$)", RULES[name].source):
        file, _, lines = path.partition(":")
        assert re.fullmatch(r"\d+(-\d+)?", lines), path
        assert any(file.startswith(each.strip("`")) for each in LISTED if each.startswith("`")), path


def test_a_topic_with_a_source_names_files_and_lines() -> None:
    cited = [
        text.partition("\nSource:\n")[2].splitlines() for text in wording("en").topics.values() if "\nSource:" in text
    ]
    assert len(cited) >= 2
    assert all(re.fullmatch(r"  hicann/ge, \S+:\d+-\d+", line) for lines in cited for line in lines)
    assert all(cited)


def test_every_repository_that_the_product_names_is_listed() -> None:
    texts = [path.read_text("utf-8") for path in SHIPPED if path.parts[len(ROOT.parts)] in ("opsinfo_cli", "schemas")]
    named = {each for text in texts for each in REPOSITORY.findall(text)}
    assert len(named) > 3
    assert {each for each in named if f"`{each}`" not in PAGE} == set()
