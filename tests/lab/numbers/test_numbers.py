"""Number formats and the losses of tensors, compared with numpy and ml_dtypes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from opsinfo_cli.errors import Damaged, Refused
from opsinfo_cli.lab.numbers.float_formats import FORMATS, HIF8
from opsinfo_cli.lab.numbers.tensors import COARSE, DumpedTensor, by_operator, dumped_type, read_tensor

np = pytest.importorskip("numpy", reason="tensors are read with numpy")
ml_dtypes = pytest.importorskip("ml_dtypes", reason="tensors are cast with ml_dtypes")

TYPES: dict[str, Any] = {
    "fp32": np.float32,
    "bf16": ml_dtypes.bfloat16,
    "fp16": np.float16,
    "fp8-e4m3": ml_dtypes.float8_e4m3fn,
    "fp8-e5m2": ml_dtypes.float8_e5m2,
}


@pytest.mark.parametrize("name", FORMATS)
def test_limits(name: str) -> None:
    limits, info = FORMATS[name].limits, ml_dtypes.finfo({**TYPES, "fp64": np.float64}[name])
    assert limits.bits == info.bits
    assert limits.largest == float(info.max)
    assert limits.smallest_normal == float(info.smallest_normal)
    assert limits.smallest_subnormal == float(info.smallest_subnormal)
    assert limits.epsilon == float(info.eps)


def test_hif8_has_the_values_of_its_paper() -> None:
    """31 binades of normal values, 38 with the denormals; 3 bits of mantissa next to 1."""
    exponents = [math.log2(each) for each in HIF8[1:]]
    assert exponents == [15, 15 - 30, 15 - 37, -3]


def saved(path: Path, array: Any) -> DumpedTensor:
    np.save(path, array)
    tensor = read_tensor(str(path))
    assert tensor is not None
    return tensor


@pytest.mark.parametrize("name", TYPES)
def test_losses_are_those_of_a_cast(tmp_path: Path, name: str) -> None:
    chance = np.random.default_rng(3)
    array = (chance.normal(size=20_000) * 2.0 ** chance.integers(-40, 25, 20_000)).astype(np.float32)
    array[:3] = 0, -0.0, 448.0
    losses = saved(tmp_path / "x.npy", array).losses[name]
    with np.errstate(all="ignore"):
        cast = array.astype(TYPES[name]).astype(np.float64)
    exact = array.astype(np.float64)
    sizes, normal = np.abs(cast), float(FORMATS[name].limits.smallest_normal)
    kept = np.isfinite(cast) & (cast != 0)
    assert losses.overflow == int(np.sum(~np.isfinite(cast)))
    assert losses.zero == int(np.sum((cast == 0) & (exact != 0)))
    assert losses.subnormal == int(np.sum((sizes > 0) & (sizes < normal)))
    assert losses.coarse == int(np.sum(np.abs(cast - exact)[kept] > COARSE * np.abs(exact)[kept]))


def test_the_loss_scale_lifts_the_smallest_and_keeps_the_largest(tmp_path: Path) -> None:
    array = np.array([2.0**-20, 2.0**-30, 0.0], np.float32)
    scale, left = saved(tmp_path / "x.npy", array).loss_scale(FORMATS["fp16"])
    assert (scale, left) == (2.0**16, 0.0)
    wide = np.array([2.0**-40, 1.0], np.float32)
    assert saved(tmp_path / "wide.npy", wide).loss_scale(FORMATS["fp16"]) == (2.0**15, 0.5)


@pytest.mark.parametrize("values", [[1.0, 2.0], [1e30, 1e-30], [0.0, 0.0], []])
def test_no_loss_scale_if_none_is_needed_or_none_helps(tmp_path: Path, values: list[float]) -> None:
    tensor = saved(tmp_path / "x.npy", np.array(values, np.float64))
    assert tensor.loss_scale(FORMATS["fp16"]) == (None, 0.0)


@pytest.mark.parametrize("type_", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
def test_types_shapes_and_order(tmp_path: Path, type_: Any) -> None:
    array = np.asfortranarray(np.arange(24, dtype=np.float32).reshape(2, 3, 4).astype(type_))
    tensor = saved(tmp_path / "x.npy", array)
    assert (tensor.values, tensor.largest, tensor.smallest) == (24, 23.0, 1.0)
    assert tensor.dtype == ("bf16" if type_ is ml_dtypes.bfloat16 else np.dtype(type_).name)


def test_blocks_make_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    array = np.random.default_rng(1).normal(size=1000) * 1e5
    whole = saved(tmp_path / "x.npy", array)
    monkeypatch.setattr("opsinfo_cli.lab.numbers.tensors._BLOCK", 7)
    assert read_tensor(str(tmp_path / "x.npy")) == whole


def test_infinite_values_are_counted_apart(tmp_path: Path) -> None:
    tensor = saved(tmp_path / "x.npy", np.array([np.inf, -np.inf, np.nan, 1.0]))
    assert (tensor.not_finite, tensor.losses["fp16"].overflow) == (3, 0)


def test_integer_tensors_are_skipped(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(4))
    assert read_tensor(str(tmp_path / "x.npy")) is None


@pytest.mark.parametrize(
    "content",
    [b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00\xff\xff{'descr'", b"PK\x03\x04", b"\x80\x04.", b"x" * 500],
    ids=["empty", "magic alone", "cut header", "zip", "pickle", "text"],
)
def test_a_file_that_is_not_npy_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises((Refused, Damaged)) as refused:
        read_tensor(str(tmp_path / "x.npy"))
    assert "pickle" not in refused.value.message


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(Damaged):
        read_tensor(str(tmp_path / "x.npy"))


@pytest.mark.parametrize(
    ("name", "op_type"),
    [
        ("MatMulV2.layer_1_dense_MatMul.12.1700000000.output.0.npy", "MatMulV2"),
        ("Add.a.b.3.1.1700000000.input.12.npy", "Add"),
        ("gradient.npy", None),
        ("MatMulV2.x.output.0.npy", None),
    ],
    ids=["output", "node name with dots", "not a dump", "time missing"],
)
def test_names_of_dumps(name: str, op_type: str | None) -> None:
    assert dumped_type(f"some/where/{name}") == op_type


def test_operators_come_worst_first(tmp_path: Path) -> None:
    def tensor(name: str, values: list[float]) -> DumpedTensor:
        return saved(tmp_path / f"{name}.output.0.npy", np.array(values, np.float32))

    tensors = [
        tensor("Fine.x.1.2", [1.0]),
        tensor("Small.x.1.2", [1e-9, 1.0]),
        tensor("Large.x.1.2", [1e5, 1.0, 1.0, 1.0]),
        tensor("Large.y.1.2", [1e5, 1e5, 1e5, 1.0]),
        saved(tmp_path / "other.npy", np.array([1e9])),
    ]
    found = by_operator(tensors, "fp16")
    assert [each.name for each in found] == ["Large", "Small", "Fine"]
    assert [each.candidate for each in found] == [True, True, False]
    assert (found[0].files, found[0].losses.overflow, found[0].values) == (2, 4, 8)
    assert "Large.y" in found[0].worst
    assert [each.name for each in by_operator(tensors, "bf16") if each.candidate] == []
