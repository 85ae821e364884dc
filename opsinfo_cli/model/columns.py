"""The dtypes that a library lists for an operator, and the policies that they allow.

Source: hicann/ge at ffdcbc9f
- compiler/engines/nn_engine/optimizer/ops_kernel_store/sub_ops_store.cc
- compiler/engines/nn_engine/optimizer/graph_optimizer/op_judge/format_and_dtype/strategy/dtype_strategy/
  op_dtype_selection_strategy_allow_mix_precision_base.cc
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Protocol

from .entry_faults import pattern_of
from .load_fault import Sections
from .policy import BLANKS, folded
from .tensor_faults import tensors_of

FP32 = frozenset({"float", "float32"})
FP16 = frozenset({"float16"})
BF16 = frozenset({"bfloat16"})
HIF8 = frozenset({"hifloat8"})


class Possible(str, Enum):
    """Whether an operator can be on a list; ``KERNEL`` if its kernel package decides at compile time."""

    YES = "yes"
    NO = "no"
    KERNEL = "kernel"

    def __str__(self) -> str:
        return self.value


class TensorColumns(NamedTuple):
    """One input or output: its name, ``paramType`` and the dtype of each column, case folded."""

    name: str
    param_type: str
    dtypes: tuple[str, ...]


class Listed(NamedTuple):
    """Inputs and outputs as an entry lists them.

    :param source: static, broadcast, reduce, formatagnostic or kernel
    """

    inputs: list[TensorColumns]
    outputs: list[TensorColumns]
    source: str


def listed_in(sections: Sections) -> Listed:
    inputs, outputs = tensors_of(sections)
    return Listed(
        [_tensor(sections, name) for name in inputs],
        [_tensor(sections, name) for name in outputs],
        _source(sections, [*inputs, *outputs]),
    )


class HasListed(Protocol):
    """An entry of a library or of a snapshot."""

    @property
    def listed(self) -> Listed: ...


class Columns:
    """The columns the engine may choose from for one entry."""

    def __init__(self, entry: HasListed) -> None:
        self.inputs, self.outputs, self.source = entry.listed

    @property
    def is_listed(self) -> bool:
        return self.source != "kernel" and any(tensor.dtypes for tensor in self.inputs + self.outputs)

    def can_be_black(self) -> Possible:
        """Return NO without a column for fp32 input: the operator would be unsupported (sub_ops_store.cc:130-156)."""
        if not self.is_listed:
            return Possible.KERNEL
        dtypes = self._dtypes(self.inputs or self.outputs)
        return Possible.NO if dtypes & (FP16 | BF16) and not dtypes & FP32 else Possible.YES

    def can_be_white(self, low: frozenset[str] = FP16 | BF16) -> Possible:
        """Return NO if no column is in ``low``: the engine warns and keeps the dtype.

        Source: op_dtype_selection_strategy_allow_mix_precision_base.cc:126-132
        """
        if not self.is_listed:
            return Possible.KERNEL
        return Possible.YES if self._dtypes(self.inputs + self.outputs) & low else Possible.NO

    @staticmethod
    def _dtypes(tensors: list[TensorColumns]) -> frozenset[str]:
        return frozenset(dtype for tensor in tensors for dtype in tensor.dtypes)


def _tensor(sections: Sections, name: str) -> TensorColumns:
    content = sections[name]
    dtypes = tuple(folded(word.strip(BLANKS)) for word in content.get("dtype", "").split(","))
    return TensorColumns(content.get("name", ""), content.get("paramType", ""), dtypes if dtypes != ("",) else ())


def _source(sections: Sections, tensors: list[str]) -> str:
    if any("format" in sections[name] or "unknownshape_format" in sections[name] for name in tensors):
        return "static"
    pattern = pattern_of(sections)
    return pattern if pattern in ("broadcast", "reduce", "formatagnostic") else "kernel"
