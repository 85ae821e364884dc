"""`--format html`: one page that loads nothing and escapes everything; `tests/browser` opens it in a browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from cli_support import AI_910B, NN, Run, entry, library, mixlist, write

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">'&\u202e$x"


class Elements(HTMLParser):
    """(tag, attributes) of every element, and all text outside of style and script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.elements and self.elements[-1][0] not in ("style", "script"):
            self.words += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


PAGES: dict[str, tuple[str, ...]] = {
    "list": ("list", "OPP", "--soc", "ascend910b"),
    "list with a mixlist": ("list", "OPP", "--soc", "ascend910b", "--mixlist", "MIXLIST"),
    "list of a mixlist": ("list", "MIXLIST"),
    "diff": ("diff", "OPP@ascend910", "OPP@ascend910b"),
    "diff with sections": ("diff", "OPP@ascend910", "OPP@ascend910b", "--sections"),
    "diff of mixlists": ("diff", "MIXLIST", "OTHER"),
    "many targets": ("diff", "OPP"),
    "many targets without a row": ("diff", "OPP", "--match", "Nothing"),
}


@pytest.fixture
def page(opsinfo: Run, fixtures: Path) -> Callable[..., str]:
    def run(*words: str) -> str:
        good = fixtures / "mixlists/good"
        places = {"OPP": fixtures / "opp", "MIXLIST": good / "several-operators.json", "OTHER": good / "add-black.json"}
        given = [str(places.get(word, word)).replace("OPP@", f"{fixtures}/opp@") for word in words]
        ran = opsinfo(*given, "--format", "html")
        assert ran.code in (0, 1)
        return str(ran.out)

    return run


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole_accessible_and_fetches_nothing(page: Callable[..., str], name: str) -> None:
    text = page(*PAGES[name])
    found = Elements(text)
    assert text.startswith("<!DOCTYPE html>")
    assert found.of("html") == [{"lang": "en"}]
    assert len(found.of("table")) == len(found.of("caption")) == len(found.of("main")) == len(found.of("h1")) == 1
    heads = [each for each in found.of("th") if each["scope"] == "col"]
    assert {each["aria-sort"] for each in heads} == {"none"}
    body_rows = len(found.of("tr")) - 1
    assert len([each for each in found.of("th") if each["scope"] == "row"]) == body_rows
    assert len(found.of("td")) == body_rows * (len(heads) - 1)
    assert "prefers-color-scheme: dark" in text
    assert "default-src 'none'" in str(found.of("meta")[1]["content"])
    links = [value for _, attributes in found.elements for key, value in attributes.items() if key in ("src", "href")]
    assert links == []
    assert "http:" not in text
    assert "https:" not in text
    assert "url(" not in text


def test_a_page_has_the_same_values_as_the_rows(page: Callable[..., str], opsinfo: Run, fixtures: Path) -> None:
    text = page(*PAGES["list"])
    rows = re.findall(r'<tr data-tags="1=(\w+)"><th scope="row">(\w+)</th>', text)
    listed = [line.split("\t") for line in opsinfo("list", fixtures / "opp", "--soc", "ascend910b").out.splitlines()]
    assert rows == [(fields[1], fields[0]) for fields in listed]
    assert "<b>15</b>" in text


def test_a_page_of_differences_has_the_worst_first(page: Callable[..., str]) -> None:
    tags = re.findall(r'<tr data-tags="1=([^"]+)">', page(*PAGES["diff"]))
    order = list(dict.fromkeys(tags))
    assert order == ["gray -&gt; white", "white -&gt; gray", "black -&gt; gray", "only in A", "only in B"]


def hostile_library(folder: Path) -> Path:
    return write(folder / f"aic-{HOSTILE.replace('/', '')}-ops-info.json", {HOSTILE: entry("true"), "Add": entry()})


def test_names_from_files_are_escaped_in_the_page(opsinfo: Run, tmp_path: Path) -> None:
    lib = hostile_library(tmp_path)
    other = write(tmp_path / "aic-y-ops-info.json", library({"Add": "true"}))
    marks = write(tmp_path / "m.json", mixlist(black_add=[HOSTILE]))
    marked = ("list", lib, "--mixlist", marks)
    for words in (marked, ("list", marks), ("diff", lib, other, "--sections"), ("diff", lib, lib, lib)):
        text = opsinfo(*words, "--format", "html").out
        assert len(Elements(text).of("script")) == 1
        assert Elements(text).of("img") == []
        assert "&lt;/script&gt;" in text
        assert "\u202e" not in text
        assert "\\u202e" in text


def test_into_a_file_instead_of_standard_output(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    words = ("diff", fixtures / "opp", "--format", "html")
    printed = opsinfo(*words).out
    for _ in range(2):
        ran = opsinfo(*words, "-o", path)
        assert (ran.code, ran.out) == (1, "")
        assert path.read_text("utf-8") == printed
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize("format_", ["text", "json"])
def test_other_formats_into_a_file_too(opsinfo: Run, fixtures: Path, tmp_path: Path, format_: str) -> None:
    words = ("diff", fixtures / "opp" / NN, fixtures / "opp-old", "--sections", "--format", format_)
    printed = opsinfo(*words).out
    for _ in range(2):
        ran = opsinfo(*words[:-2], f"--format={format_}", "--output", "out.json")
        assert (ran.code, ran.out) == (1, "")
        assert (tmp_path / "out.json").read_text("utf-8") == printed


def test_a_page_that_cannot_be_written_is_exit_3(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "nowhere" / "page.html"):
        ran = opsinfo("list", fixtures / "opp-old", "--format", "html", "-o", place)
        assert (ran.code, ran.out) == (3, "")
        assert str(place) in ran.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("format_", ["html", "json"])
def test_a_report_never_replaces_its_target(opsinfo: Run, opp: Path, format_: str) -> None:
    before = (opp / NN).read_bytes()
    ran = opsinfo("list", opp / NN, "--format", format_, "-o", opp / NN)
    assert ran.code == 2
    assert (opp / NN).read_bytes() == before


def test_the_store_of_a_real_chip_as_a_page(opsinfo: Run, corpus: Path) -> None:
    text = opsinfo("list", corpus / "cann-910b" / "opp" / AI_910B, "--format", "html").out
    assert text.count("<tr data-tags=") == 1196
    for count in (380, 95, 721):
        assert f"<b>{count}</b>" in text
    assert len(text) < 1_000_000
