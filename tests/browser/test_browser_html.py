"""Pages of `--format html` in a real browser (Chromium, headless)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser_support import CHROMIUM, HOSTILE, Browser, dumped, framed, opened

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH")

Run = Callable[..., Any]


def library(path: Path, flags: dict[str, str | None]) -> Path:
    """A library with these op types; None is no flag."""
    entries = {name: {} if flag is None else {"precision_reduce": {"flag": flag}} for name, flag in flags.items()}
    path.write_text(json.dumps(entries), "utf-8")
    return path


def test_a_page_can_be_searched_filtered_and_sorted(browser: Browser, opsinfo: Run, fixtures: Path) -> None:
    result = browser(
        opsinfo("diff", fixtures / "opp", "--format", "html").out,
        """
        const search = $("input[type=search]"), fire = () => search.dispatchEvent(new Event("input", {bubbles: true}));
        const head = (at) => $$("thead th")[at], box = (value) => $(`input[value="${value}"]`);
        result.all = names().length;
        result.hidden = $(".tools").hidden;
        search.value = "MATMUL gray"; fire(); result.searched = names();
        search.value = ""; box("2=black").click(); result.black = names().length;
        box("3=the same").click(); result.blackAndSame = names();
        box("3=the same").click(); box("2=black").click(); result.again = names().length;
        result.status = $("[role=status]").textContent;
        search.value = "no such thing"; fire(); result.none = [names().length, $(".none").hidden];
        search.value = ""; fire();
        head(0).firstChild.click(); head(0).firstChild.click();
        result.down = [names()[0], head(0).getAttribute("aria-sort")];
        head(1).firstChild.click();
        result.byPolicy = [$$("tbody tr")[0].cells[1].textContent, ...[1, 0].map((at) => head(at).ariaSort)];
        const takesFocus = (each) => { each.focus(); return document.activeElement === each; };
        result.focusable = $$("thead button, .tools input").every(takesFocus);
        """,
    )
    assert result["title"] == "Operators of ascend910 and ascend910b"
    assert (result["all"], result["hidden"], result["again"], result["status"]) == (44, False, 44, "44 rows")
    assert result["searched"] == ["MatMulV3"]
    assert result["black"] == 10
    assert result["blackAndSame"] == ["ApplyMomentumD", "Log", "ReduceMeanD"]
    assert result["none"] == [0, False]
    assert result["down"] == ["Xlog1py", "descending"]
    assert result["byPolicy"] == ["white", "ascending", "none"]
    assert result["focusable"] is True


def test_a_hostile_name_is_shown_as_text(browser: Browser, opsinfo: Run, tmp_path: Path) -> None:
    text = opsinfo(
        "list", library(tmp_path / "aic-x-ops-info.json", {HOSTILE: "true", "Add": None}), "--format", "html"
    ).out
    result = browser(text, "result.name = names().find((name) => name !== 'Add'); result.images = $$('img').length;")
    assert result["name"] == HOSTILE.replace("\u202e", "\\u202e")
    assert result["images"] == 0
    assert "owned" not in str(result["title"]).split("<")[0]


def test_the_content_policy_allows_only_the_pages_own_script(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    text = opsinfo("list", fixtures / "opp", "--soc", "ascend910b", "--format", "html").out
    dom = dumped(text.replace("</footer>", "</footer><script>document.body.id = 'other'</script>"), tmp_path)
    assert "aria-sort" in dom
    assert '<button type="button">Operator</button>' in dom
    assert 'id="other"' not in dom


def test_a_page_of_two_thousand_rows_can_be_searched(browser: Browser, opsinfo: Run, tmp_path: Path) -> None:
    flags = {f"Operator{number}": ("true", "false", None)[number % 3] for number in range(2000)}
    lib = library(tmp_path / "aic-many-ops-info.json", flags)
    result = browser(
        opsinfo("list", lib, "--format", "html").out,
        """
        $$("thead th")[1].firstChild.click();
        const search = $("input[type=search]");
        search.value = "1999"; search.dispatchEvent(new Event("input", {bubbles: true}));
        result.names = names();
        """,
    )
    assert result["names"] == ["Operator1999"]


PAGES = {
    "list": ["list", "{opp}@ascend910b"],
    "sections": ["diff", "{opp}@ascend910", "{opp}@ascend910b", "--sections"],
    "targets": ["diff", "{opp}"],
    "profile": ["profile", "{fixtures}/profiles/kernel_details.csv", "--against", "{opp}@ascend910b"],
    "model": ["graph", "{fixtures}/graphs/ge_proto_00020_FeTopoSortingAfter.txt", "--against", "{opp}@ascend910b"],
    "search": [
        "bisect",
        "--against",
        "{opp}@ascend910b",
        "--among",
        "Mul",
        "--among",
        "Add",
        "--",
        "grep",
        "Mul",
        "{{mixlist}}",
    ],
}


@pytest.mark.parametrize("words", PAGES.values(), ids=PAGES)
def test_a_narrow_page_shows_all_columns_in_low_rows(
    browser: Browser,
    opsinfo: Run,
    opp: Path,
    fixtures: Path,
    tmp_path: Path,
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    command, *rest = (word.format(opp=opp, fixtures=fixtures) for word in words)
    page = opsinfo(command, "--format", "html", *rest).out
    result = browser(
        framed(page, 400),
        """
        const frame = $("iframe"); await new Promise((done) => setTimeout(done, 300));
        const inside = frame.contentDocument, root = inside.documentElement;
        result.widths = [root.scrollWidth, root.clientWidth];
        const cells = Array.from(inside.querySelectorAll("tbody th, tbody td")).filter((each) => each.textContent);
        const edge = (each) => each.closest(".sheet").getBoundingClientRect().right;
        result.cells = cells.length;
        const isCut = (each) => each.getBoundingClientRect().right > edge(each);
        result.cut = cells.filter(isCut).map((each) => each.textContent);
        result.highest = Math.max(...Array.from(inside.querySelectorAll("tbody tr"), (row) => row.clientHeight));
        result.unnamed = cells.filter((each) => each.tagName === "TD" && !each.dataset.of).length;
        """,
    )
    assert result["cells"] > 3
    assert (result["cut"], result["unnamed"]) == ([], 0)
    assert result["widths"][0] <= result["widths"][1]
    assert result["highest"] <= 200


def test_a_plot_follows_the_colours_of_the_desktop(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    text = (
        '<ir_version: 8, opset_import: ["": 17]> net (float[1,2] x, float[2,2] w) => (float[1,2] y) {y = MatMul(x, w)}'
    )
    onnx.save(onnx.parser.parse_model(text), tmp_path / "m.onnx")
    page = opsinfo("simulate", tmp_path / "m.onnx", "--against", f"{opp}@ascend910b", "--format", "html").out
    script = """
    result.ground = getComputedStyle($(".plot-svg .ground")).fill;
    result.page = getComputedStyle(document.body).backgroundColor;
    """
    light, dark = (opened(page, script, tmp_path, dark) for dark in (False, True))
    assert light["ground"] == "rgb(255, 255, 255)"
    assert dark["ground"] == "rgb(27, 32, 39)"
    assert light["page"] != dark["page"]
