"""Blocklist, trustlist, graylist: hints recognise the manuals' terms, options do not accept them."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Run, mixlist, write

from opsinfo_cli.model.policy import policy_meant

MEANT = {
    "white": ["trustlist", "Trustlist", "allowlist", "white-list", "WHITE", "白名单"],
    "black": ["blocklist", "block", "denylist", "black_list", "黑名单"],
    "gray": ["graylist", "grey", "灰名单"],
}


@pytest.mark.parametrize(
    ("word", "meant"),
    [(word, policy) for policy, words in MEANT.items() for word in words],
    ids=[word if word.isascii() else f"Chinese {policy}" for policy, words in MEANT.items() for word in words],
)
def test_a_term_of_the_manuals_maps_to_a_list(word: str, meant: str) -> None:
    assert policy_meant(word) == meant


@pytest.mark.parametrize(
    "word",
    ["", "list", "red", "名单", "blocks", "not-white"],
    ids=["empty", "list", "red", "Chinese list", "blocks", "not-white"],
)
def test_other_words_map_to_no_list(word: str) -> None:
    assert policy_meant(word) is None


@pytest.mark.parametrize(
    ("word", "meant"),
    [("blocklist", "black"), ("Trustlist", "white"), ("灰名单", "gray")],
    ids=["blocklist", "Trustlist", "Chinese graylist"],
)
@pytest.mark.parametrize("words", [("move", "m.json", "Add", "--to"), ("list", "m.json", "--on")], ids=" ".join)
def test_an_option_refuses_a_term_of_the_manuals_with_a_suggestion(
    opsinfo: Run, tmp_path: Path, words: tuple[str, ...], word: str, meant: str
) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["Add"]))
    before = path.read_bytes()
    ran = opsinfo(*words, word)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith(f"hint: did you mean `{meant}`?\n")
    assert path.read_bytes() == before


def test_another_word_gets_the_usual_hint(opsinfo: Run) -> None:
    ran = opsinfo("list", "m.json", "--on", "red", "--format", "json")
    assert ran.code == 2
    assert ran.json["error"]["hint"] == "`opsinfo list --help` shows how it is used"


@pytest.mark.parametrize(
    ("key", "meant"),
    [("blocklist", "black-list"), ("灰名单", "gray-list"), ("grey", "gray-list")],
    ids=["blocklist", "Chinese graylist", "grey"],
)
def test_a_mixlist_with_a_term_of_the_manuals_gets_the_right_key_suggested(
    opsinfo: Run, tmp_path: Path, key: str, meant: str
) -> None:
    path = write(tmp_path / "m.json", {key: {"to-add": ["Add"]}})
    findings = opsinfo("validate", path, "--as", "mixlist", "--format", "json").json["findings"]
    hints = [each["hint"] for each in findings if each["name"] == "unknown-list"]
    assert hints == [f"did you mean `{meant}`?"]


def test_explain_suggests_for_terms_of_the_manuals(opsinfo: Run) -> None:
    for word in ("blocklist", "白名单"):
        assert "`policies`" in opsinfo("explain", word).err
