"""`opsinfo bisect --simulate` on trained models: its list passes, and each culprit is needed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trained import TRAINED, Trained, path_of, target

from opsinfo_cli.core.cann.marks import ADD_BLACK
from opsinfo_cli.core.cann.target import resolve
from opsinfo_cli.core.cann.targets.found import TargetOptions
from opsinfo_cli.lab.graph.atc_options import AtcOptions
from opsinfo_cli.lab.graph.prepare import prepare
from opsinfo_cli.lab.graph.readers import read_graph
from opsinfo_cli.lab.simulate.inputs import given_shapes, input_sets
from opsinfo_cli.lab.simulate.simulation import Simulation


def inputs_of(model: Trained, path: str, folder: Path) -> Path:
    """Random inputs as an ``.npz``, those with a meaning as they must be."""
    feeds = input_sets("random:0", read_graph(path, shapes_of=model.shapes_of).model.onnx)[0].feeds
    for name, value in model.numbers.items():
        feeds[name] = np.asarray(value, feeds[name].dtype)
    np.savez(folder / "inputs.npz", **feeds)
    return folder / "inputs.npz"


SEARCHES = [(model, mode) for mode in ("mixed_float16", "mixed_bfloat16") for model in TRAINED]
SEARCHES = [
    (model, mode) for model, mode in SEARCHES if mode == "mixed_float16" or model.name not in ("recogniser", "detector")
]
"""In bfloat16 the searches in the two large models take most of the time."""


@pytest.mark.parametrize(("model", "mode"), SEARCHES, ids=lambda each: each if isinstance(each, str) else each.name)
def test_a_third_of_the_error_is_reached_by_a_list_that_is_minimal(
    opsinfo: Any, model: Trained, mode: str, tmp_path: Path
) -> None:
    path = path_of(model)
    place, soc = target()
    common = ["--against", place, "--soc", soc, "--precision-mode", mode, "--inputs", inputs_of(model, path, tmp_path)]

    common += ["--allow-hf32", "00"]  # a black convolution is else computed in HF32, which a list cannot cure
    modes = AtcOptions(allow_hf32="00")
    graph = read_graph(path, shapes_of=partial(given_shapes, [str(common[-3])], {}))
    prepared = prepare(graph, resolve(place, TargetOptions(soc=soc), {}), atc=modes)
    simulation = Simulation(path, prepared, mode, input_sets(str(common[-3]), graph.model.onnx))

    def error(types: list[str]) -> float:
        return simulation.run({name: frozenset({ADD_BLACK}) for name in types}).max_rel_error

    unlisted = error([])
    if unlisted == 0:
        pytest.skip(f"{model.name} loses nothing in {mode}")
    bound = unlisted / 3
    ran = opsinfo("bisect", "--model", path, *common, "--simulate", "--max-error", f"{bound!r}", "--format", "json")
    assert ran.code == 0, ran.err
    document = ran.json
    assert (document["ended"], document["one_minimal"]) == ("found", True)
    culprits = [each["type"] for each in document["culprits"]]
    assert error(culprits) <= bound
    for culprit in culprits:
        assert error([name for name in culprits if name != culprit]) > bound
