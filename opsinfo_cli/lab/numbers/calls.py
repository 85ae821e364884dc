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
from ...core.cann.policy import Policy
from ...core.document import Count
from ...core.text.source import read_bytes
from ...errors import Damaged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ...core.cann.library import Operators
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


@dataclass(frozen=True)
class DumpedOperator:
    """The calls of one operator, by the statistics of their floating-point tensors."""

    name: str
    """The operator: torch's name, or MindSpore's."""
    op_type: str | None
    """The op type that it runs, in the target if one is given; null: unknown."""
    policy: Policy | None
    """white: may be reduced. black: not reduced. gray: follows its producer. null: unknown."""
    calls: Count
    """Number of calls."""
    tensors: Count
    """Number of tensors that they read and yield."""
    losses: TensorLosses
    """Number of affected tensors in the format of --low."""
    largest: float | None
    """The largest absolute value; null: infinite or NaN."""
    worst: str
    """The call that loses most."""
    candidate: bool
    """Whether a tensor overflows or becomes zero and the op type is not on the black list."""


def by_name(calls: Iterable[DumpedCall], format: Format, operators: Operators | None = None) -> list[DumpedOperator]:
    """Return losses by operator; most overflows first, then most zeros, then the largest values.

    :param operators: of the target
    """
    groups: dict[str, list[DumpedCall]] = {}
    for call in calls:
        groups.setdefault(call.name, []).append(call)
    rows = []
    for name, group in sorted(groups.items()):
        lost = [(TensorLosses.of(call.magnitudes, format), max(call.magnitudes)) for call in group]
        losses = TensorLosses(*map(sum, zip(*(astuple(own) for own, _ in lost), strict=True)))
        tensors, worst = sum(len(call.magnitudes) for call in group), group[lost.index(max(lost))].call
        known = op_types_of(name)
        here = [op for op in (*known, *spelled_as_types(name)) if operators and op in operators]
        policy = operators[here[0]].entry.policy if operators and here else None
        candidate = bool(losses.overflow or losses.zero) and policy is not Policy.BLACK
        largest, op_type = max(magnitude for _, magnitude in lost), next(iter((*here, *known)), None)
        rows.append(DumpedOperator(name, op_type, policy, len(group), tensors, losses, largest, worst, candidate))
    return sorted(rows, key=lambda row: (row.losses, row.largest), reverse=True)
