"""Plots as characters and as SVG: of the loss scale and of the error along a graph."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree

import pytest

from opsinfo_cli.core.terminal.plot import Curve, Plot, PlotMark, picture, svg_text, text_rows
from opsinfo_cli.lab.commands.simulate import error_plot
from opsinfo_cli.lab.simulate.trace import Trace, TracedNode
from opsinfo_cli.logs.commands.qualify import scale_plot
from opsinfo_cli.logs.evidence import Evidence
from opsinfo_cli.logs.training_run import RunEvidence, TrainingRun

SVG = "{http://www.w3.org/2000/svg}"


def run_of(*points: tuple[int, float], name: str = "a.log") -> RunEvidence:
    evidence = Evidence("x", at_is_step=True)
    for at, scale in points:
        evidence.scale.add(at, scale)
    return RunEvidence(TrainingRun(name, (name,)), evidence)


def falling(steps: int = 100) -> RunEvidence:
    return run_of(*((step, 65536.0 / 2 ** (step // 10)) for step in range(1, steps)))


def error_nodes(*errors: float) -> Trace:
    return Trace(tuple(TracedNode(f"node {n}", "Add", error, 0, 0, 0.0, 1) for n, error in enumerate(errors)))


@pytest.mark.parametrize("width", [20, 40, 80])
@pytest.mark.parametrize("unicode", [True, False])
def test_a_plot_fits_a_terminal(width: int, unicode: bool) -> None:
    for plot in (scale_plot([falling()]), error_plot(error_nodes(*(10.0**-power for power in range(1, 60))))):
        rows = list(text_rows(plot, width, unicode))
        assert max(map(len, rows)) <= width
        assert "".join(rows).isascii() is not unicode
        titled = list(picture(plot, "scale, ", "runs/of/last/week/a.log").rows(width, unicode))
        assert (titled[0], titled[2:], len(titled[1]) <= width, titled[1][-5:]) == ("", rows, True, "a.log")


def test_a_scale_is_a_line_that_holds_until_the_next_point() -> None:
    rows = list(text_rows(scale_plot([run_of((0, 4.0), (10, 2.0), (19, 1.0), (20, 1.0))]), 26, False, height=3))
    assert rows == [
        "2^2 |###########",
        "    |          #########",
        "2^0 |                  ##",
        "    +--------------------",
        "     0            step 20",
    ]


def test_an_error_is_a_bar_for_each_node() -> None:
    rows = list(text_rows(error_plot(error_nodes(0.0, 1e-4, 1e-2, math.inf, 2e-4)), 80, False, height=4))
    assert rows == [
        "1e-2 |  ##",
        "     |  ##",
        "     |  ##",
        "1e-4 |  ###",
        "     +-----",
        "      1 node 5",
    ]


def test_a_node_whose_infinities_a_softmax_absorbs_is_not_marked() -> None:
    absorbed = TracedNode("mask", "Add", math.inf, 1, 0, 0.0, 4, absorbed_by="softmax")
    wrong = TracedNode("log", "Log", math.inf, 1, 0, 0.0, 4)
    assert [mark.kind for mark in error_plot(Trace((absorbed,))).marks] == ["usual"]
    assert [mark.kind for mark in error_plot(Trace((absorbed, wrong))).marks] == ["usual", "bad"]


def test_fewer_than_two_points_are_no_plot() -> None:
    assert list(text_rows(scale_plot([run_of((1, 8.0))]), 80, True)) == []
    assert list(text_rows(error_plot(Trace(())), 80, True)) == []


@pytest.mark.parametrize(
    "plot",
    [
        scale_plot([]),
        scale_plot([run_of()]),
        scale_plot([run_of((1, 0.0), (2, -5.0))]),
        scale_plot([falling(), run_of((1, 8.0))] * 9),
        error_plot(Trace(())),
        error_plot(error_nodes(0.0, 0.1, math.inf)),
    ],
)
def test_a_plot_is_svg_without_scripts(plot: Plot) -> None:
    tree = ElementTree.fromstring(svg_text(plot))
    assert {child.tag.removeprefix(SVG) for child in tree.iter()} <= {
        "svg",
        "title",
        "style",
        "rect",
        "line",
        "text",
        "path",
        "circle",
    }


def test_names_of_logs_and_nodes_are_only_text() -> None:
    hostile = "<script>alert('x')</script>\x1b[31m\u202e"
    mark = PlotMark(1, 0, hostile, "bad")
    plot = Plot(hostile, "2^", hostile, [Curve(hostile, [(0, 0), (1, 1)])], 0, 1, 0, 1, marks=[mark], caption=hostile)
    text = svg_text(plot)
    ElementTree.fromstring(text.replace("\x1b", "").replace("\u202e", ""))
    assert "<script>" not in text


def test_colours_follow_a_dark_page_and_have_one_for_viewers_without_variables() -> None:
    text = svg_text(scale_plot([falling()]))
    assert "prefers-color-scheme: dark" in text
    assert "fill: #ffffff; fill: var(--ground);" in text
    in_page = svg_text(scale_plot([falling()]), in_page=True)
    assert "style" not in in_page  # the page's policy allows its own style sheet only
    classes = {name for child in ElementTree.fromstring(in_page).iter() for name in (child.get("class") or "").split()}
    assert all(f".{name}" in text for name in classes)
