"""Chinese texts: complete, without extras, with codes and keys unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from opsinfo_cli.core.check.rules import RULES, texts
from opsinfo_cli.core.check.wording import wording
from opsinfo_cli.core.text.escape import cell_width

GLOSSARY = Path(__file__).resolve().parents[3] / "docs" / "glossary.md"
ZH = texts("zh")
FIELDS = ("why", "fails", "passes", "source")


def pairs() -> Iterator[tuple[str, str, str]]:
    """(name, English, Chinese) of every text that a reader is shown."""
    chinese = wording("zh")
    for name, rule in RULES.items():
        yield from ((f"{name}.{field}", getattr(rule, field), getattr(chinese.rules[name], field)) for field in FIELDS)
    yield from ((name, text, chinese.topics[name]) for name, text in wording("en").topics.items())


PAIRS = list(pairs())


def test_every_rule_and_topic_has_exactly_one_chinese_text() -> None:
    assert set(ZH["rules"]) == set(RULES)
    assert {*ZH["topics"], "agents"} == set(wording("en").topics)  # that page is a file of its own
    assert [name for name, fields in ZH["rules"].items() if "why" not in fields or not set(fields) <= set(FIELDS)] == []


def test_a_word_without_a_translation_stays_as_it_is() -> None:
    word, said = next(iter(ZH["words"].items()))
    assert [wording("zh").word(each) for each in (word, "of no language")] == [said, "of no language"]


def test_every_word_around_a_rule_is_chinese() -> None:
    words = {word for rule in RULES.values() for word in (rule.about, rule.severity, rule.engine)}
    assert set(ZH["words"]) == words | set(wording("en").words)


@pytest.mark.parametrize(("name", "english", "chinese"), PAIRS, ids=[name for name, _, _ in PAIRS])
def test_codes_and_keys_are_unchanged_in_chinese(name: str, english: str, chinese: str) -> None:
    """Blocks of commands, backquoted words, error codes, options, keys, numbers of chapters; in any order."""
    kept = r"(?s:```.+?```)|`[^`]+`|E\d{5}|--[a-z]+(?:[-_][a-z]+)*|\b\w+_\w+\b|\b[A-Z]+:\d[\d, -]*\d"
    assert [each for each in re.findall(kept, english) if each not in chinese] == []


@pytest.mark.parametrize(("name", "english", "chinese"), PAIRS, ids=[name for name, _, _ in PAIRS])
def test_no_english_sentence_is_left(name: str, english: str, chinese: str) -> None:
    prose = re.sub(r"`[^`]*`|opsinfo [a-z]+", "", chinese)
    assert re.findall(r"(?<![-_/.])\b[a-z]+ [a-z]+ [a-z]+\b", prose) == []


def test_chinese_can_be_shown_on_a_terminal_of_any_chinese_encoding_and_fits() -> None:
    for _, _, chinese in PAIRS:
        text = chinese.replace("\ufeff", "")
        assert text.encode("gb2312", "replace").decode("gb2312") == text
    for text in ZH["topics"].values():
        assert max(map(cell_width, text.splitlines())) <= 110


def test_words_are_those_of_the_glossary() -> None:
    glossary = GLOSSARY.read_text(encoding="utf-8")
    texts = "".join(chinese for _, _, chinese in PAIRS)
    for term in ("白名单", "黑名单", "灰名单", "混合精度名单", "算子信息库", "信息库目录", "算子类型", "降精度"):
        assert term in glossary
        assert term in texts
    for word in ("操作符", "运算符", "阻止列表", "信任列表", "黑列表", "白列表", "灰列表"):
        assert word not in texts


@pytest.mark.parametrize(
    "word",
    ["blocklist", "trustlist", "graylist", "溢出检测", "损失缩放", "昇腾", "OpType"],
    ids=["blocklist", "trustlist", "graylist", "overflow detection", "loss scaling", "Ascend", "OpType"],
)
def test_the_glossary_has_the_words_of_the_manuals(word: str) -> None:
    assert word in GLOSSARY.read_text(encoding="utf-8")
