"""Calls that msprobe dumped: the largest magnitudes of their tensors, from the statistics in ``dump.json``.

Read as Ascend/msprobe writes it (core/dump/data_dump); its examples and tests have files of PyTorch and MindSpore.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ...core.cann.name_tables import name_table
from ...core.document import Count
from ...core.text.source import read_bytes
from ...errors import Damaged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from .float_formats import Format

_CALL = re.compile(r"(?!Module\.|Cell\.)[\w.]*\.(\w+)\.\d+\.(forward|backward)")
"""``Torch.matmul.0.forward``, ``Tensor.__mul__.7.forward``, ``Primitive.norm.RmsNorm.0.backward``; modules,
``Module.layer.Linear.forward.0``, contain other calls."""

_BACKWARD = ".backward"


class DumpedCall(NamedTuple):
    """A call of an operator.

    :param name: of the operator, ``matmul``, ``matmul.backward``; ``add`` for ``__iadd__``
    :param magnitudes: the largest magnitude of each floating-point tensor that it reads or yields; infinite for one
        with Inf or NaN
    """

    call: str
    name: str
    magnitudes: list[float]


def op_types_of(name: str) -> tuple[str, ...]:
    """Return the op types that torch's operators run, the most probable first; empty if unknown."""
    return name_table("torch").ops.get(name, ())


def spelled_as_types(name: str) -> tuple[str, ...]:
    """Return what its op type may be called: ``RmsNorm`` for ``rms_norm``, ``SoftmaxGrad`` for ``softmax.backward``."""
    bare = name.removesuffix(_BACKWARD)
    camel = bare.title().replace("_", "")
    return (camel, bare) if bare == name else (f"{camel}Grad",)


def is_dump(document: Any) -> bool:
    """Whether a JSON document looks like a ``dump.json``."""
    return isinstance(document, dict) and isinstance(document.get("data"), dict)


def read_calls(path: str) -> list[DumpedCall]:
    """Return the calls in a file.

    :raises Refused: if it cannot be read
    :raises Damaged: if it is not a ``dump.json``, or has no statistics
    """
    try:
        document = json.loads(read_bytes(path))
    except (ValueError, RecursionError):
        document = None
    if not is_dump(document):
        raise Damaged("not a dump.json of msprobe", path=path)
    return calls_of(document["data"], path)


def calls_of(data: Mapping[str, Any], path: str) -> list[DumpedCall]:
    """Return the calls in the data of a file.

    :raises Damaged: as :func:`read_calls`
    """
    calls = []
    try:
        for call, tensors in data.items():
            magnitudes = list(_magnitudes(tensors))
            if not magnitudes or not (match := _CALL.fullmatch(call)):
                continue
            function, way = match.groups()
            bare = function.strip("_")
            words = [function, bare, bare.removeprefix("npu_"), *([bare[1:]] if function.startswith("__") else [])]
            name = next(filter(op_types_of, words), words[2])
            calls.append(DumpedCall(call, name if way == "forward" else name + _BACKWARD, magnitudes))
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        raise Damaged("not a dump.json of msprobe", path=path) from None
    if not calls:
        hint = "dump with the task statistics, the level L1 or mix, and the summary_mode statistics"
        raise Damaged("the dump has no statistics of calls", name="no-statistics", path=path, hint=hint)
    return calls


def _magnitudes(value: Any) -> Iterator[float]:
    """Yield those of the tensors in the inputs and outputs of a call; an empty tensor has none."""
    if isinstance(value, list):
        for part in value:
            yield from _magnitudes(part)
    elif isinstance(value, dict) and "Max" not in value:
        yield from _magnitudes(list(value.values()))
    elif isinstance(value, dict) and "float" in str(value.get("dtype")).lower():
        numbers = [abs(float(value[key])) for key in ("Max", "Min") if value.get(key) is not None]
        if numbers:
            yield math.inf if any(map(math.isnan, numbers)) else max(numbers)


@dataclass(frozen=True, order=True)
class TensorLosses:
    """Number of affected tensors in the format of --low."""

    overflow: Count
    """Tensors with a value that becomes infinite, or is infinite or NaN."""
    zero: Count
    """Tensors whose values all become 0."""
    subnormal: Count
    """Other tensors whose values are all below normal."""

    @classmethod
    def of(cls, magnitudes: Iterable[float], format: Format) -> TensorLosses:
        limits, pairs = format.limits, [(magnitude, format.nearest(magnitude)) for magnitude in magnitudes]
        return cls(
            sum(nearest > limits.largest for _, nearest in pairs),
            sum(nearest == 0 < magnitude for magnitude, nearest in pairs),
            sum(0 < nearest < limits.smallest_normal for _, nearest in pairs),
        )


class CallLosses(NamedTuple):
    """What the calls of one operator lose in one format."""

    name: str
    calls: int
    tensors: int
    losses: TensorLosses
    largest: float
    worst: str

    @property
    def is_candidate(self) -> bool:
        """Whether it is a candidate for the black list: a tensor overflows or becomes zero."""
        return bool(self.losses.overflow or self.losses.zero)


def by_name(calls: Iterable[DumpedCall], format: Format) -> list[CallLosses]:
    """Return losses by operator; most overflows first, then most zeros, then the largest values."""
    groups: dict[str, list[DumpedCall]] = {}
    for call in calls:
        groups.setdefault(call.name, []).append(call)
    operators = []
    for name, group in sorted(groups.items()):
        lost = [(TensorLosses.of(call.magnitudes, format), max(call.magnitudes)) for call in group]
        losses = TensorLosses(*map(sum, zip(*(astuple(own) for own, _ in lost), strict=True)))
        largest = max(magnitude for _, magnitude in lost)
        tensors, worst = sum(len(call.magnitudes) for call in group), group[lost.index(max(lost))].call
        operators.append(CallLosses(name, len(group), tensors, losses, largest, worst))
    return sorted(operators, key=lambda operator: (operator.losses, operator.largest), reverse=True)
