"""The page of `opsinfo graph --format html` in a real browser (Chromium, headless)."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser_support import CHROMIUM, HOSTILE, Browser, dumped

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


def dumped_model(folder: Path, nodes: list[dict[str, Any]]) -> Path:
    from ge_dump import ge_dump

    path = folder / "ge_proto_00020_FeTopoSortingAfter.txt"
    path.write_text(ge_dump({"nodes": nodes}), "utf-8")
    return path


def classifier(relu: str = "relu") -> list[dict[str, Any]]:
    """A white, a gray and a black operator; the gray one has the given name, as text protobuf writes it."""
    return [
        {"name": "x", "type": "Data", "out": ["f32"]},
        {"name": "w", "type": "Const", "out": ["f32"]},
        {"name": "fc/matmul", "type": "MatMulV2", "inputs": ["x:0", "w:0"], "out": ["f32"]},
        {"name": relu, "type": "Relu", "inputs": ["fc/matmul:0"], "out": ["f32"]},
        {"name": "log", "type": "Log", "inputs": [f"{relu}:0"], "out": ["f32"]},
        {"name": "output", "type": "NetOutput", "inputs": ["log:0"]},
    ]


def test_nodes_are_searched_filtered_chosen_and_drawn(
    browser: Browser, opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    said = browser(
        opsinfo("graph", dumped_model(tmp_path, classifier()), *judged).out,
        CELLS
        + SEARCH
        + """
        said.all = cells();
        await find("float16 matmul"); said.searched = cells();
        await find(""); $("input[value=high]").click(); await wait(); said.high = cells();
        said.status = $("#nodes [role=status]").textContent;
        $("input[value=high]").click(); await wait();
        said.hidden = $("#node").hidden;
        $("#nodes a[href='#n4']").click(); await wait();
        said.chosen = $("#node h2").textContent;
        said.focus = document.activeElement.id;
        said.way = $$("#node .way li").map((each) => each.textContent);
        said.boxes = $$("#node .near a").map((each) => each.querySelector("title").textContent);
        said.casts = $$("#node .near .cast").length;
        said.tensor = $("#node tbody tr").textContent;
        $("#node .near a[href='#n3']").dispatchEvent(new MouseEvent("click", {bubbles: true})); await wait();
        said.neighbour = $("#node h2").textContent;
        said.steps = $$("#node .way li").length;
        history.back(); await wait(); said.back = $("#node h2").textContent;
        """,
    )
    assert said["all"] == ["x", "w", "fc/matmul", "relu", "log", "output"]
    assert said["searched"] == ["fc/matmul"]
    assert (said["high"], said["status"]) == (["log"], "1 of 6 nodes")
    assert said["hidden"] is True
    assert (said["chosen"], said["focus"]) == ("log", "node")
    assert said["way"] == ["log: on the black list by the library: keeps its dtype"]
    assert said["boxes"] == ["relu (Relu)", "output (NetOutput)", "log (Log)"]
    assert (said["casts"], said["tensor"]) == (1, "input 0relufloat32float32float16 → float32")
    assert (said["neighbour"], said["steps"], said["back"]) == ("relu", 2, "log")


def test_the_ribbon_is_walked_with_the_keyboard(
    browser: Browser, opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    said = browser(
        opsinfo("graph", dumped_model(tmp_path, classifier()), *judged).out,
        """
        const ribbon = $("div.ribbon"), press = (key) => ribbon.dispatchEvent(new KeyboardEvent("keydown", {key}));
        const now = () => ribbon.getAttribute("aria-valuenow");
        ribbon.focus(); said.focus = document.activeElement === ribbon;
        press("ArrowRight"); said.right = [now(), $("#node h2").textContent];
        press("End"); said.end = [now(), ribbon.getAttribute("aria-valuetext")];
        press("ArrowRight"); said.beyond = now();
        press("Home"); press("ArrowLeft"); said.home = now();
        const box = $("svg.ribbon").getBoundingClientRect();
        ribbon.dispatchEvent(new MouseEvent("click", {clientX: box.left + box.width * 0.4})); said.clicked = now();
        """,
    )
    assert said["focus"] is True
    assert said["right"] == ["2", "w"]
    assert said["end"] == ["6", "6 of 6: output (NetOutput), no output"]
    assert (said["beyond"], said["home"], said["clicked"]) == ("6", "1", "3")


def test_hostile_names_are_text_in_the_table_in_the_drawing_and_in_reasons(
    browser: Browser, opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    written = HOSTILE.replace('"', '\\"')
    model = dumped_model(tmp_path, classifier(written))
    text = opsinfo("graph", model, *judged).out
    said = browser(
        text,
        CELLS + "location.hash = '#n4'; await new Promise((done) => setTimeout(done, 250));"
        "said.names = cells(); said.images = $$('img').length; said.scripts = document.scripts.length;"
        "said.drawn = $('#node .near title').textContent; said.title = document.title;",
    )
    shown = HOSTILE.replace("\u202e", "\\u202e")
    assert said["names"][3] == shown
    assert said["drawn"] == f"{shown} (Relu)"
    assert said["images"] == 0
    assert "owned" not in str(said["title"])
    assert "\u202e" not in text
    assert text.count("<script") == 2  # the data and ours


def test_the_content_policy_lets_the_page_run_and_nothing_else(
    opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    text = opsinfo("graph", dumped_model(tmp_path, classifier()), *judged).out
    dom = dumped(text.replace("</footer>", "</footer><script>document.body.id = 'other'</script>"), tmp_path)
    assert '<a href="#n2">' in dom
    assert 'id="other"' not in dom


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_page(
    browser: Browser, opsinfo: Run, judged: list[str | Path], tmp_path: Path, width: int
) -> None:
    long = "/".join(["a_scope_with_a_rather_long_name"] * 8)
    said = browser(
        framed(opsinfo("graph", dumped_model(tmp_path, classifier(long)), *judged).out, width),
        """
        const frame = $("iframe"); await new Promise((done) => setTimeout(done, 500));
        const inside = frame.contentDocument; inside.location.hash = "#n3";
        await new Promise((done) => setTimeout(done, 500));
        const root = inside.documentElement;
        said.widths = [root.scrollWidth, root.clientWidth];
        const table = inside.querySelector("#nodes table");
        said.table = [table.scrollWidth, table.parentNode.clientWidth];
        said.drawn = inside.querySelectorAll("#node .near a").length;
        """,
    )
    assert said["widths"][0] <= said["widths"][1] <= width
    assert said["table"][0] <= said["table"][1]
    assert said["drawn"] == 3


def framed(text: str, width: int) -> str:
    """A page that has the page in a frame of this width."""
    from html import escape

    inside = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    return f'<!DOCTYPE html><style></style><iframe width="{width}" height="800" srcdoc="{escape(inside)}"></iframe>'


def test_changed_nodes_are_marked_and_show_the_other_judging(
    browser: Browser, opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    marks = tmp_path / "ops_info.json"
    marks.write_text(json.dumps({"black-list": {"to-add": ["Relu"]}}), "utf-8")
    ran = opsinfo("graph", dumped_model(tmp_path, classifier()), *judged, "--compare-mixlist", marks)
    said = browser(
        ran.out,
        CELLS
        + """
        const wait = () => new Promise((done) => setTimeout(done, 250));
        said.ribbons = $$("svg.ribbon g").length; said.marks = $$("svg.ribbon .mark").length;
        $("input[value='other dtypes in B']").click(); await wait(); said.changed = cells();
        said.row = Array.from($("#nodes tbody tr").cells, (cell) => cell.textContent).slice(0, 5);
        location.hash = "#n3"; await wait();
        said.other = $("#node p").textContent; said.marked = $$("#node .marked").length;
        said.cast = $("#node tbody td:last-child").textContent;
        """,
    )
    assert ran.code == 1
    assert (said["ribbons"], said["marks"]) == (4, 1)
    assert (said["changed"], said["row"]) == (["relu"], ["relu", "Relu", "low", "float16", "float32"])
    assert "on the black list by the mixlist" in str(said["other"])
    assert (said["marked"], said["cast"]) == (1, "in B: float16 → float32")


def test_a_graph_of_many_nodes_shares_columns_and_is_shown_in_parts(
    browser: Browser, opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    nodes: list[dict[str, Any]] = [{"name": "x", "type": "Data", "out": ["f32"]}]
    for number in range(5000):
        nodes.append({"name": f"r{number}", "type": "Relu", "inputs": [f"{nodes[-1]['name']}:0"], "out": ["f32"]})
    said = browser(
        opsinfo("graph", dumped_model(tmp_path, nodes), *judged).out,
        CELLS
        + SEARCH
        + """
        said.first = cells().length; said.bins = $("svg.ribbon").viewBox.baseVal.width;
        $("#nodes .more button").click(); said.more = cells().length;
        said.status = $("#nodes [role=status]").textContent; said.unprinted = $("#nodes .more").dataset.left;
        await find("r4999"); said.found = cells(); said.left = $("#nodes .more").hidden;
        said.lens = $$("svg.lens rect").length;
        """,
    )
    assert (said["first"], said["more"], said["bins"]) == (200, 400, 1200)
    assert said["status"] == "5001 nodes; the first 400 are shown"
    assert said["unprinted"] == "4601 more nodes are not printed: the page shows them."
    assert (said["found"], said["left"], said["lens"]) == (["r4999"], True, 120)


def test_without_scripts_the_summary_the_ribbon_and_the_op_types_are_shown(
    opsinfo: Run, judged: list[str | Path], tmp_path: Path
) -> None:
    text = opsinfo("graph", dumped_model(tmp_path, classifier()), *judged).out
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
