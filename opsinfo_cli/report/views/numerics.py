"""Formats, values and dumped tensors, as text and JSON."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from ...model.policy import Policy
from ...numerics.number_format import FORMATS, HIF8, Limits, Rounded
from ...numerics.operator_losses import OperatorLosses
from ...numerics.tensor_losses import DumpedTensor
from ..escape import row
from ..terminal.output import Output
from ..terminal.places import PlaceCell

Value = tuple[str, dict[str, Rounded]]


def _limits() -> dict[str, Limits]:
    return {**{name: each.limits for name, each in FORMATS.items()}, "hif8": HIF8}


def _print(output: Output, titles: Iterable[str], cells: Sequence[Sequence[str | PlaceCell]]) -> None:
    if output.on_terminal:
        from ..terminal.table import Column, print_table

        columns = [Column(title, policy=title == "policy", spare=title in _SPARE) for title in titles]
        with output.paged():
            print_table(output, columns, cells)
    else:
        output.lines(row(*map(str, each)) for each in cells)


_SPARE = ("coarse", "files", "worst file")


def _file(output: Output, path: str) -> PlaceCell:
    """Return a file's base name on a terminal; elsewhere its whole path."""
    return PlaceCell(os.path.basename(path) if output.on_terminal else path)


def show_formats(output: Output) -> None:
    digits = 7 if output.on_terminal else 17
    cells = [[name, *_limit_cells(limits, digits)] for name, limits in _limits().items()]
    _print(output, ("format", "bits", "largest", "smallest normal", "smallest subnormal", "epsilon"), cells)


def _limit_cells(limits: Limits, digits: int) -> list[str]:
    return [str(limits.bits), *(_short(each, digits) for each in limits[1:])]


def _short(value: Fraction, digits: int = 17) -> str:
    """Return a small integer in full; else at most ``digits`` significant digits."""
    if value.denominator == 1 and abs(value) < 10**9:
        return str(value.numerator)
    exact = repr(float(value))
    return exact if digits >= 17 else min(exact, f"{float(value):.{digits}g}", key=len)


def formats_document() -> dict[str, Any]:
    return {
        "formats": [
            {"name": name, **{key: value if key == "bits" else float(value) for key, value in limits._asdict().items()}}
            for name, limits in _limits().items()
        ]
    }


def show_values(output: Output, values: list[Value]) -> None:
    digits = 9 if output.on_terminal else 17
    cells = []
    for text, found in values:
        for name, each in found.items():
            error = "-" if each.error is None else f"{float(each.error):.3g}"
            bits = _hexadecimal(each.bits) if output.on_terminal else each.bits
            cells.append([text, name, _nearest(each, digits), bits, error, each.outcome])
    _print(output, ("value", "format", "nearest", "bits", "relative error", "outcome"), cells)


def _hexadecimal(bits: str) -> str:
    """Return the bits of a format wider than 16 in hexadecimal, to fit a terminal; others unchanged."""
    joined = bits.replace(" ", "")
    return bits if len(joined) <= 16 else f"0x{int(joined, 2):0{len(joined) // 4}x}"


def _nearest(each: Rounded, digits: int = 17) -> str:
    if each.value is not None:
        return "-0.0" if not each.value and each.bits.startswith("1") else _short(each.value, digits)
    if each.outcome == "nan":
        return "nan"
    if each.bits.replace(" ", "")[1:] == "1111111":  # e4m3 has no infinity
        return "nan"
    return "-inf" if each.bits.startswith("1") else "inf"


def values_document(values: list[Value]) -> dict[str, Any]:
    return {
        "values": [
            {
                "value": text,
                "formats": [
                    {
                        "name": name,
                        "nearest": _nearest(each),
                        "bits": each.bits,
                        "relative_error": None if each.error is None else float(each.error),
                        "outcome": each.outcome,
                    }
                    for name, each in found.items()
                ],
            }
            for text, found in values
        ]
    }


def show_tensors(output: Output, tensors: list[DumpedTensor]) -> None:
    cells: list[list[str | PlaceCell]] = []
    for tensor in tensors:
        for name, losses in tensor.losses.items():
            many = [losses.overflow, losses.subnormal, losses.zero, losses.coarse]
            scale, _ = tensor.loss_scale(FORMATS[name])
            shares = [share(count, tensor.values) for count in many]
            cells.append([_file(output, tensor.path), name, *shares, _power(scale)])
    _print(output, ("file", "format", "overflow", "subnormal", "zero", "coarse", "loss scale"), cells)


def _power(scale: float | None) -> str:
    return f"2^{int(math.log2(scale))}" if scale else "-"


def share(count: int, total: int) -> str:
    """Return a share in percent; `0 %` only if the count is zero."""
    return "0 %" if not count else f"{count / total * 100:.3g} %"


def show_operators(output: Output, operators: list[OperatorLosses], policies: dict[str, Policy | None]) -> None:
    cells: list[list[str | PlaceCell]] = []
    for each in operators:
        many = [each.losses.overflow, each.losses.zero, each.losses.subnormal, each.losses.coarse]
        policy = policies.get(each.type)
        shares = [share(count, each.values) for count in many]
        word = str(policy) if policy else "-"
        cells.append([each.type, word, *shares, str(each.files), _file(output, each.worst)])
    _print(output, ("operator", "policy", "overflow", "zero", "subnormal", "coarse", "files", "worst file"), cells)


def tensors_document(
    tensors: list[DumpedTensor], operators: list[OperatorLosses], policies: dict[str, Policy | None], low: str
) -> dict[str, Any]:
    return {
        "low": low,
        "tensors": [_tensor(tensor) for tensor in tensors],
        "operators": [
            {
                "name": each.type,
                "policy": policies.get(each.type),
                "files": each.files,
                "values": each.values,
                "losses": asdict(each.losses),
                "worst": each.worst,
                "candidate": each.is_candidate and policies.get(each.type) is not Policy.BLACK,
            }
            for each in operators
        ],
    }


def _tensor(tensor: DumpedTensor) -> dict[str, Any]:
    formats = []
    for name, losses in tensor.losses.items():
        scale, left = tensor.loss_scale(FORMATS[name])
        formats.append({"name": name, **asdict(losses), "loss_scale": scale, "below_normal_then": left})
    return {
        "path": tensor.path,
        "dtype": tensor.dtype,
        "values": tensor.values,
        "not_finite": tensor.not_finite,
        "largest": tensor.largest,
        "smallest": tensor.smallest if tensor.largest else None,
        "formats": formats,
    }
