"""`--format html`: one page that fetches nothing, trusts nothing, and works in a real browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
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
    "diff": ("diff", "OPP", "OPP", "--soc-a", "ascend910", "--soc-b", "ascend910b"),
    "diff with sections": ("diff", "OPP", "OPP", "--soc-a", "ascend910", "--soc-b", "ascend910b", "--sections"),
    "diff of mixlists": ("diff", "MIXLIST", "OTHER"),
    "matrix": ("matrix", "OPP"),
    "matrix of none": ("matrix", "OPP", "--match", "Nothing"),
}


@pytest.fixture
def page(opsinfo: Run, fixtures: Path) -> Callable[..., str]:
    def run(*words: str) -> str:
        good = fixtures / "mixlists/good"
        places = {"OPP": fixtures / "opp", "MIXLIST": good / "several-operators.json", "OTHER": good / "add-black.json"}
        ran = opsinfo(*(places.get(word, word) for word in words), "--format", "html")
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


def test_a_page_says_what_the_rows_say(page: Callable[..., str], opsinfo: Run, fixtures: Path) -> None:
    text = page(*PAGES["list"])
    rows = re.findall(r'<tr data-tags="(\w+)"><th scope="row">(\w+)</th>', text)
    listed = [line.split("\t") for line in opsinfo("list", fixtures / "opp", "--soc", "ascend910b").out.splitlines()]
    assert rows == [(fields[1], fields[0]) for fields in listed]
    assert "<b>15</b>" in text


def test_a_page_of_differences_has_the_worst_first(page: Callable[..., str]) -> None:
    tags = re.findall(r'<tr data-tags="([^"]+)">', page(*PAGES["diff"]))
    said = list(dict.fromkeys(tags))
    assert said == ["gray -&gt; white", "white -&gt; gray", "black -&gt; gray", "only in A", "only in B"]


def hostile_library(folder: Path) -> Path:
    return write(folder / f"aic-{HOSTILE.replace('/', '')}-ops-info.json", {HOSTILE: entry("true"), "Add": entry()})


def test_no_name_in_a_file_becomes_a_part_of_the_page(opsinfo: Run, tmp_path: Path) -> None:
    lib = hostile_library(tmp_path)
    other = write(tmp_path / "aic-y-ops-info.json", library({"Add": "true"}))
    marks = write(tmp_path / "m.json", mixlist(black_add=[HOSTILE]))
    marked = ("list", lib, "--mixlist", marks)
    for words in (marked, ("list", marks), ("diff", lib, other, "--sections"), ("matrix", lib)):
        text = opsinfo(*words, "--format", "html").out
        assert len(Elements(text).of("script")) == 1
        assert Elements(text).of("img") == []
        assert "&lt;/script&gt;" in text
        assert "\u202e" not in text
        assert "\\u202e" in text


def test_into_a_file_instead_of_standard_output(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    words = ("matrix", fixtures / "opp", "--format", "html")
    printed = opsinfo(*words).out
    for _ in range(2):
        ran = opsinfo(*words, "-o", path)
        assert (ran.code, ran.out) == (0, "")
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
def test_a_report_never_replaces_what_it_reports_on(opsinfo: Run, opp: Path, format_: str) -> None:
    before = (opp / NN).read_bytes()
    ran = opsinfo("list", opp / NN, "--format", format_, "-o", opp / NN)
    assert ran.code == 2
    assert (opp / NN).read_bytes() == before


# in a browser

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture
def browser(tmp_path: Path) -> Callable[[str, str], dict[str, object]]:
    """Open a page, run a script in it, and see what the script puts into ``said``."""
    if not CHROMIUM:
        pytest.skip("there is no chromium")

    def run(text: str, script: str) -> dict[str, object]:
        text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
        acting = "<script>addEventListener('error', (event) => { document.title = event.message; });</script>"
        done = (
            "<script>const said = {title: document.title}; const $ = (css) => document.querySelector(css);\n"
            "const $$ = (css) => Array.from(document.querySelectorAll(css));\n"
            "const names = () => $$('tbody tr').filter((row) => !row.hidden).map((row) => row.cells[0].textContent);\n"
            f"{script}\n"
            "document.body.append(Object.assign(document.createElement('pre'),"
            " {id: 'said', textContent: btoa(unescape(encodeURIComponent(JSON.stringify(said))))}));</script>"
        )
        return json.loads(_base64(_dumped(text.replace("<style>", acting + "<style>", 1) + done, tmp_path)))

    return run


def _dumped(text: str, folder: Path) -> str:
    path = write(folder / "browser" / "page.html", text)
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'browser' / 'profile'}"]
    done = subprocess.run(
        [str(CHROMIUM), *flags, "--dump-dom", path.as_uri()], capture_output=True, timeout=120, check=True
    )
    return done.stdout.decode("utf-8")


def _base64(dom: str) -> str:
    import base64

    found = re.search(r'<pre id="said">([^<]*)</pre>', dom)
    assert found, "the script did not come to its end"
    return base64.b64decode(found[1]).decode("utf-8")


def test_in_a_browser_a_page_is_searched_chosen_from_and_sorted(
    browser: Callable[[str, str], dict[str, object]], page: Callable[..., str]
) -> None:
    said = browser(
        page(*PAGES["matrix"]),
        """
        const search = $("input[type=search]"), fire = () => search.dispatchEvent(new Event("input", {bubbles: true}));
        const head = (at) => $$("thead th")[at], box = (value) => $(`input[value="${value}"]`);
        said.all = names().length;
        said.hidden = $(".tools").hidden;
        search.value = "MATMUL gray"; fire(); said.searched = names();
        search.value = ""; box("black").click(); said.black = names().length;
        box("the same").click(); said.blackAndSame = names();
        box("the same").click(); box("black").click(); said.again = names().length;
        said.status = $("[role=status]").textContent;
        search.value = "no such thing"; fire(); said.none = [names().length, $(".none").hidden];
        search.value = ""; fire();
        head(0).firstChild.click(); head(0).firstChild.click();
        said.down = [names()[0], head(0).getAttribute("aria-sort")];
        head(1).firstChild.click();
        said.byPolicy = [$$("tbody tr")[0].cells[1].textContent, ...[1, 0].map((at) => head(at).ariaSort)];
        const takesFocus = (each) => { each.focus(); return document.activeElement === each; };
        said.focusable = $$("thead button, .tools input").every(takesFocus);
        """,
    )
    assert said["title"] == "Operators of ascend910 and ascend910b"
    assert (said["all"], said["hidden"], said["again"], said["status"]) == (44, False, 44, "44 rows")
    assert said["searched"] == ["MatMulV3"]
    assert said["black"] == 12
    assert said["blackAndSame"] == ["ApplyMomentumD", "Log", "ReduceMeanD"]
    assert said["none"] == [0, False]
    assert said["down"] == ["Xlog1py", "descending"]
    assert said["byPolicy"] == ["white", "ascending", "none"]
    assert said["focusable"] is True


def test_in_a_browser_a_hostile_name_is_text(
    browser: Callable[[str, str], dict[str, object]], opsinfo: Run, tmp_path: Path
) -> None:
    text = opsinfo("list", hostile_library(tmp_path), "--format", "html").out
    said = browser(text, "said.name = names().find((name) => name !== 'Add'); said.images = $$('img').length;")
    assert said["name"] == HOSTILE.replace("\u202e", "\\u202e")
    assert said["images"] == 0
    assert "owned" not in str(said["title"]).split("<")[0]


def test_in_a_browser_the_policy_lets_our_script_run_and_no_other(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    if not CHROMIUM:
        pytest.skip("there is no chromium")
    text = opsinfo("list", fixtures / "opp" / NN, "--format", "html").out
    dom = _dumped(text.replace("</footer>", "</footer><script>document.body.id = 'other'</script>"), tmp_path)
    assert "aria-sort" in dom
    assert '<button type="button">Operator</button>' in dom
    assert 'id="other"' not in dom


def test_in_a_browser_two_thousand_rows(
    browser: Callable[[str, str], dict[str, object]], opsinfo: Run, tmp_path: Path
) -> None:
    flags = {f"Operator{number}": ("true", "false", None)[number % 3] for number in range(2000)}
    lib = write(tmp_path / "aic-many-ops-info.json", library(flags))
    said = browser(
        opsinfo("list", lib, "--format", "html").out,
        """
        const before = performance.now();
        $$("thead th")[1].firstChild.click();
        const search = $("input[type=search]");
        search.value = "1999"; search.dispatchEvent(new Event("input", {bubbles: true}));
        said.names = names(); said.seconds = (performance.now() - before) / 1000;
        """,
    )
    assert said["names"] == ["Operator1999"]
    assert said["seconds"] < 5  # type: ignore[operator]


def test_the_store_of_a_real_chip_as_a_page(opsinfo: Run, corpus: Path) -> None:
    text = opsinfo("list", corpus / "cann-910b" / "opp" / AI_910B, "--format", "html").out
    assert text.count("<tr data-tags=") == 1196
    for count in (380, 95, 721):
        assert f"<b>{count}</b>" in text
    assert len(text) < 1_000_000
