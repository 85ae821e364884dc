"""Pages of `--format html` in a real browser (Chromium, headless)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser_support import CHROMIUM, HOSTILE, Browser, dumped

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH")

Run = Callable[..., Any]


def library(path: Path, flags: dict[str, str | None]) -> Path:
    """A library with these op types; None is no flag."""
    entries = {name: {} if flag is None else {"precision_reduce": {"flag": flag}} for name, flag in flags.items()}
    path.write_text(json.dumps(entries), "utf-8")
    return path


def test_a_page_can_be_searched_filtered_and_sorted(browser: Browser, opsinfo: Run, fixtures: Path) -> None:
    said = browser(
        opsinfo("matrix", fixtures / "opp", "--format", "html").out,
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


def test_a_hostile_name_is_shown_as_text(browser: Browser, opsinfo: Run, tmp_path: Path) -> None:
    text = opsinfo(
        "list", library(tmp_path / "aic-x-ops-info.json", {HOSTILE: "true", "Add": None}), "--format", "html"
    ).out
    said = browser(text, "said.name = names().find((name) => name !== 'Add'); said.images = $$('img').length;")
    assert said["name"] == HOSTILE.replace("\u202e", "\\u202e")
    assert said["images"] == 0
    assert "owned" not in str(said["title"]).split("<")[0]


def test_the_content_policy_allows_only_the_pages_own_script(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    text = opsinfo("list", fixtures / "opp", "--soc", "ascend910b", "--format", "html").out
    dom = dumped(text.replace("</footer>", "</footer><script>document.body.id = 'other'</script>"), tmp_path)
    assert "aria-sort" in dom
    assert '<button type="button">Operator</button>' in dom
    assert 'id="other"' not in dom


def test_a_page_of_two_thousand_rows_can_be_searched(browser: Browser, opsinfo: Run, tmp_path: Path) -> None:
    flags = {f"Operator{number}": ("true", "false", None)[number % 3] for number in range(2000)}
    lib = library(tmp_path / "aic-many-ops-info.json", flags)
    said = browser(
        opsinfo("list", lib, "--format", "html").out,
        """
        $$("thead th")[1].firstChild.click();
        const search = $("input[type=search]");
        search.value = "1999"; search.dispatchEvent(new Event("input", {bubbles: true}));
        said.names = names();
        """,
    )
    assert said["names"] == ["Operator1999"]
