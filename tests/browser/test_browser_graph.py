"""The page of `opsinfo graph --format html` in a real browser (Chromium, headless)."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser_support import CHROMIUM, HOSTILE, Browser, dumped, framed
from model_files import Graph, chain, dump

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH")

Run = Callable[..., Any]
WORDS = "--precision-mode mixed_float16 --format html".split()  # noqa: SIM905
CELLS = "const cells = () => $$('#nodes tbody tr').map((row) => row.cells[0].textContent);\n"
SEARCH = """
const search = $("#nodes input[type=search]"), wait = () => new Promise((done) => setTimeout(done, 250));
const find = async (text) => {
  search.value = text; search.dispatchEvent(new Event("input", {bubbles: true})); await wait();
};
"""
"""Puts a text into the search box, and waits for the table."""


@pytest.fixture
def judged(opp: Path) -> list[str | Path]:
    return ["--against", opp, "--soc", "ascend910b", *WORDS]


def classifier(relu: str) -> Graph:
    """A white, a gray and a black operator; the gray one has the given name, as text protobuf writes it."""
    return chain({"fc/matmul": "MatMulV2", relu: "Relu", "log": "Log"})


def test_nodes_are_searched_filtered_chosen_and_drawn(
    browser: Browser, opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    result = browser(
        opsinfo("graph", dump(tmp_path), *judged).out,
        CELLS
        + SEARCH
        + """
        result.all = cells();
        await find("float16 matmul"); result.searched = cells();
        await find(""); $("input[value=high]").click(); await wait(); result.high = cells();
        result.status = $("#nodes [role=status]").textContent;
        $("input[value=high]").click(); await wait();
        result.hidden = $("#node").hidden;
        $("#nodes a[href='#n4']").click(); await wait();
        result.chosen = $("#node h2").textContent;
        result.focus = document.activeElement.id;
        result.way = $$("#node .way li").map((each) => each.textContent);
        result.boxes = $$("#node .near a").map((each) => each.querySelector("title").textContent);
        result.casts = $$("#node .near .cast").length;
        result.tensor = $("#node tbody tr").textContent;
        $("#node .near a[href='#n3']").dispatchEvent(new MouseEvent("click", {bubbles: true})); await wait();
        result.neighbour = $("#node h2").textContent;
        result.steps = $$("#node .way li").length;
        history.back(); await wait(); result.back = $("#node h2").textContent;
        """,
    )
    assert result["all"] == ["fc/matmul", "relu", "log", "x", "w", "output"]
    assert result["searched"] == ["fc/matmul"]
    assert (result["high"], result["status"]) == (["log"], "1 of 6 nodes")
    assert result["hidden"] is True
    assert (result["chosen"], result["focus"]) == ("log", "node")
    assert result["way"] == ["log: on the black list by the library: keeps its dtype"]
    assert result["boxes"] == ["relu (Relu)", "output (NetOutput)", "log (Log)"]
    assert (result["casts"], result["tensor"]) == (1, "input 0relufloat32float32float16 → float32")
    assert (result["neighbour"], result["steps"], result["back"]) == ("relu", 2, "log")


def test_the_ribbon_is_walked_with_the_keyboard(
    browser: Browser, opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    result = browser(
        opsinfo("graph", dump(tmp_path), *judged).out,
        """
        const ribbon = $("div.ribbon"), press = (key) => ribbon.dispatchEvent(new KeyboardEvent("keydown", {key}));
        const now = () => ribbon.getAttribute("aria-valuenow");
        ribbon.focus(); result.focus = document.activeElement === ribbon;
        press("ArrowRight"); result.right = [now(), $("#node h2").textContent];
        press("End"); result.end = [now(), ribbon.getAttribute("aria-valuetext")];
        press("ArrowRight"); result.beyond = now();
        press("Home"); press("ArrowLeft"); result.home = now();
        const box = $("svg.ribbon").getBoundingClientRect();
        ribbon.dispatchEvent(new MouseEvent("click", {clientX: box.left + box.width * 0.4})); result.clicked = now();
        """,
    )
    assert result["focus"] is True
    assert result["right"] == ["2", "w"]
    assert result["end"] == ["6", "6 of 6: output (NetOutput), no output"]
    assert (result["beyond"], result["home"], result["clicked"]) == ("6", "1", "3")


def test_hostile_names_are_text_in_the_table_in_the_drawing_and_in_reasons(
    browser: Browser, opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    written = HOSTILE.replace('"', '\\"')
    model = dump(tmp_path, classifier(written))
    text = opsinfo("graph", model, *judged).out
    result = browser(
        text,
        CELLS + "location.hash = '#n4'; await new Promise((done) => setTimeout(done, 250));"
        "result.names = cells(); result.images = $$('img').length; result.scripts = document.scripts.length;"
        "result.drawn = $('#node .near title').textContent; result.title = document.title;",
    )
    shown = HOSTILE.replace("\u202e", "\\u202e")
    assert result["names"][1] == shown
    assert result["drawn"] == f"{shown} (Relu)"
    assert result["images"] == 0
    assert "owned" not in str(result["title"])
    assert "\u202e" not in text
    assert text.count("<script") == 2  # the data and ours


def test_the_content_policy_lets_the_page_run_and_nothing_else(
    opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    text = opsinfo("graph", dump(tmp_path), *judged).out
    dom = dumped(text.replace("</footer>", "</footer><script>document.body.id = 'other'</script>"), tmp_path)
    assert '<a href="#n2">' in dom
    assert 'id="other"' not in dom


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_page(
    browser: Browser, opsinfo: Run, judged: list[str | Path], tmp_path: Path, width: int
) -> None:
    long = "/".join(["a_scope_with_a_rather_long_name"] * 8)
    result = browser(
        framed(opsinfo("graph", dump(tmp_path, classifier(long)), *judged).out, width),
        """
        const frame = $("iframe"); await new Promise((done) => setTimeout(done, 500));
        const inside = frame.contentDocument; inside.location.hash = "#n3";
        await new Promise((done) => setTimeout(done, 500));
        const root = inside.documentElement;
        result.widths = [root.scrollWidth, root.clientWidth];
        const table = inside.querySelector("#nodes table");
        result.table = [table.scrollWidth, table.parentNode.clientWidth];
        result.drawn = inside.querySelectorAll("#node .near a").length;
        """,
    )
    assert result["widths"][0] <= result["widths"][1] <= width
    assert result["table"][0] <= result["table"][1]
    assert result["drawn"] == 3


def test_changed_nodes_are_marked_and_show_the_other_judging(
    browser: Browser, opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    marks = tmp_path / "ops_info.json"
    marks.write_text(json.dumps({"black-list": {"to-add": ["Relu"]}}), "utf-8")
    ran = opsinfo("graph", dump(tmp_path), *judged, "--compare-mixlist", marks)
    result = browser(
        ran.out,
        CELLS
        + """
        const wait = () => new Promise((done) => setTimeout(done, 250));
        result.ribbons = $$("svg.ribbon g").length; result.marks = $$("svg.ribbon .mark").length;
        $("input[value='other dtypes in B']").click(); await wait(); result.changed = cells();
        result.row = Array.from($("#nodes tbody tr").cells, (cell) => cell.textContent).slice(0, 5);
        location.hash = "#n3"; await wait();
        result.other = $("#node p").textContent; result.marked = $$("#node .marked").length;
        result.cast = $("#node tbody td:last-child").textContent;
        """,
    )
    assert ran.code == 1
    assert (result["ribbons"], result["marks"]) == (4, 1)
    assert (result["changed"], result["row"]) == (["relu"], ["relu", "Relu", "low", "float16", "float32"])
    assert "on the black list by the mixlist" in str(result["other"])
    assert (result["marked"], result["cast"]) == (1, "in B: float16 → float32")


def test_a_graph_of_many_nodes_shares_columns_and_is_shown_in_parts(
    browser: Browser, opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    nodes: list[dict[str, Any]] = [{"name": "x", "type": "Data", "out": ["f32"]}]
    for number in range(5000):
        nodes.append({"name": f"r{number}", "type": "Relu", "inputs": [f"{nodes[-1]['name']}:0"], "out": ["f32"]})
    result = browser(
        opsinfo("graph", dump(tmp_path, {"nodes": nodes}), *judged).out,
        CELLS
        + SEARCH
        + """
        result.first = cells().length; result.bins = $("svg.ribbon").viewBox.baseVal.width;
        $("#nodes .more button").click(); result.more = cells().length;
        result.status = $("#nodes [role=status]").textContent; result.unprinted = $("#nodes .more").dataset.left;
        await find("r4999"); result.found = cells(); result.left = $("#nodes .more").hidden;
        result.lens = $$("svg.lens rect").length;
        """,
    )
    assert (result["first"], result["more"], result["bins"]) == (200, 400, 1200)
    assert result["status"] == "5001 nodes; the first 400 are shown"
    assert result["unprinted"] == "4601 more nodes are not printed: the page shows them."
    assert (result["found"], result["left"], result["lens"]) == (["r4999"], True, 120)


def test_without_scripts_the_summary_the_ribbon_and_the_op_types_are_shown(
    opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    text = opsinfo("graph", dump(tmp_path), *judged).out
    still = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    path = tmp_path / "still.html"
    path.write_text(still, "utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    command = [str(CHROMIUM), *flags, f"--print-to-pdf={tmp_path / 'still.pdf'}", path.as_uri()]
    subprocess.run(command, capture_output=True, timeout=120, check=True)
    assert (tmp_path / "still.pdf").stat().st_size > 1000
    assert '<path class="float16" d="M2 0h2v30h-2z"/>' in still
    assert '<th scope="row">MatMulV2</th>' in still
    assert re.search(r'<section id="nodes" hidden>', still)
