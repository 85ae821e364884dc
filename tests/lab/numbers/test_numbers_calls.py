"""Statistics of msprobe: calls, and what they lose in a format."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest

from opsinfo_cli.errors import Damaged
from opsinfo_cli.lab.numbers.calls import by_name, read_calls
from opsinfo_cli.lab.numbers.float_formats import FORMATS

np = pytest.importorskip("numpy", reason="roundings are compared with numpy's")


def tensor(largest: object, smallest: object = 0.0, dtype: str = "torch.float16") -> dict[str, object]:
    shape = {"type": "torch.Tensor", "dtype": dtype, "shape": [2, 2]}
    return {**shape, "Max": largest, "Min": smallest, "Mean": None, "Norm": None, "requires_grad": True}


def test_calls_with_their_names_and_magnitudes(tmp_path: Path) -> None:
    """Written as the files of Ascend/msprobe, which are of PyTorch and of MindSpore."""
    number = {"type": "int", "value": 70000}
    calls: dict[str, Any] = {
        "Tensor.__mul__.7.forward": {
            "input_args": [tensor(1.4, -1.4), number],
            "input_kwargs": {"x": tensor(3.0, -9.0)},
        },
        "Tensor.__iadd__.0.forward": {"output": [tensor(2.0)]},
        "Torch.cat.8.forward": {"input_args": [[tensor(1.4), tensor(4000.0)]], "input_kwargs": {}, "output": []},
        "Functional.softmax.0.backward": {"input": [tensor(6.0)], "output": [tensor(float("nan")), None]},
        "NPU.npu_rms_norm.0.forward": {"output": [tensor(5.25, 0.0, "torch.bfloat16"), tensor(None, None)]},
        "Primitive.norm.RmsNorm.0.forward": {"input_args": [tensor(20.0, 0.0, "Float32")], "output": []},
        "Torch.argmax.0.forward": {"input_args": [tensor(90000.0, 0.0, "torch.int64")]},
        "Module.layer.0.Linear.forward.0": {"input_args": [tensor(90000.0)], "input_kwargs": {}, "output": []},
    }
    file = tmp_path / "dump.json"
    file.write_text(json.dumps({"task": "statistics", "level": "mix", "data": calls}), "utf-8")
    assert [(each.name, each.magnitudes) for each in read_calls(str(file))] == [
        ("mul", [1.4, 9.0]),
        ("add", [2.0]),
        ("cat", [1.4, 4000.0]),
        ("softmax.backward", [6.0, math.inf]),
        ("rms_norm", [5.25]),
        ("RmsNorm", [20.0]),
    ]
    found = by_name(read_calls(str(file)), FORMATS["fp16"])
    assert [(each.name, each.losses.overflow) for each in found][:2] == [("softmax.backward", 1), ("cat", 0)]


@pytest.mark.parametrize("text", ["", "[", "3", '{"data": []}', '{"data": ' + 200_000 * "["])
def test_what_is_no_dump_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "dump.json").write_text(text, "utf-8")
    with pytest.raises(Damaged, match="not a dump"):
        read_calls(str(tmp_path / "dump.json"))


@pytest.mark.parametrize(("most", "why"), [([], "not a dump"), ("x", "not a dump"), (None, "no statistics")])
def test_a_dump_without_statistics_is_refused(tmp_path: Path, most: object, why: str) -> None:
    calls = {"Torch.add.0.forward": {"output": [{"Max": most, "dtype": "float16"}]}}
    (tmp_path / "dump.json").write_text(json.dumps({"data": calls}), "utf-8")
    with pytest.raises(Damaged, match=why):
        read_calls(str(tmp_path / "dump.json"))


def test_a_magnitude_is_rounded_as_numpy_casts() -> None:
    chance = np.random.default_rng(5)
    numbers = np.abs(chance.normal(size=2000)) * 2.0 ** chance.integers(-30, 20, 2000)
    for number in (*numbers, 65504.0, 65519.0, 65520.0, 2.0**-25, 2.0**-25 * 1.01, 0.0, math.inf):
        with np.errstate(over="ignore"):
            cast = float(np.float16(number))
        nearest = FORMATS["fp16"].nearest(float(number))
        assert (math.inf if nearest > 65504 else nearest) == cast


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "fp64"])
def test_the_largest_double_overflows_in_every_smaller_format(name: str) -> None:
    assert FORMATS[name].nearest(sys.float_info.max) > FORMATS[name].limits.largest
