"""The entry of an op type in an operator-information file: its place in the text, its policy, its dtypes.

Source: hicann/ge at ffdcbc9f
- compiler/engines/nn_engine/optimizer/ops_kernel_store/sub_ops_store.cc
- compiler/engines/nn_engine/optimizer/graph_optimizer/op_judge/format_and_dtype/strategy/dtype_strategy/
  op_dtype_selection_strategy_allow_mix_precision_base.cc
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Annotated

from ...errors import Damaged
from ..document import Schema
from ..text.members import RawMember
from ..text.scanner import scan
from ..text.source import Source
from .entry_rules import EntryFault, Sections, build_faults, combination_faults, pattern_of, tensors_of, trim
from .policy import BLANKS, BadFlag, Policy, folded

if TYPE_CHECKING:
    from typing import Any

    from ..text.scanner import Member, Node


REFUSED = "the engine refuses the store with this file; `opsinfo validate` and `opsinfo doctor` show more"


class Entry:
    """The definition of one op type in one library.

    :cvar hint: of an error about an entry that fails its store
    """

    hint = REFUSED

    def __init__(self, source: Source, member: RawMember, has_blanks: bool) -> None:
        """:param has_blanks: whether a section or key of its library has blanks around it, which is rare"""
        self.source = source
        self.name = member.key
        self.member = member
        self._has_blanks = has_blanks

    def __repr__(self) -> str:
        return f"<Entry {self.name}: {self.policy_or_none} in {self.path}:{self.line}>"

    @property
    def value(self) -> Any:
        return self.member.value

    @property
    def sections(self) -> Sections:
        """Section -> key -> value, names trimmed as the engine trims them."""
        return trim(self.value) if self._has_blanks else self.value

    @property
    def policy(self) -> Policy:
        """:raises BadFlag: if the flag fails the engine"""
        return Policy.of(self.sections)

    @property
    def policy_or_none(self) -> Policy | None:
        """The policy; None if the engine cannot read the flag, which matters only if the entry wins."""
        try:
            return self.policy
        except BadFlag:
            return None

    @property
    def faults(self) -> Sequence[EntryFault]:
        """Faults that prevent the engine from building a kernel, and unknown words."""
        return build_faults(self.sections)

    def combination_faults(self, words_are_right: bool) -> Sequence[EntryFault]:
        """Return the faults that the schema of libraries cannot state.

        :param words_are_right: whether the schema accepts the entry
        """
        return combination_faults(self.sections, words_are_right)

    @property
    def by_default(self) -> bool:
        """Whether it is white only because a source sets no policy."""
        return False

    @property
    def refused(self) -> str | None:
        """Why the engine would refuse the library that is made of it; None for one that was loaded."""
        return None

    @property
    def unread(self) -> str | None:
        """Why its inputs and outputs could not be read although its policy could."""
        return None

    @property
    def path(self) -> str:
        return self.source.path

    @property
    def line(self) -> int:
        """1-based line of the op type's key."""
        return self.source.place(self.member.key_start).line

    @cached_property
    def node(self) -> Node:
        """The entry's value with spans."""
        root = scan(self.source, self.member.start).root
        assert root is not None  # it was valid when read
        return root

    def damaged(self, fault: EntryFault) -> Damaged:
        return self.source.damaged(f"operator `{self.name}`: {fault.message}", self.span(fault)[0], self.hint)

    def span(self, fault: EntryFault) -> tuple[int, int]:
        """Return the span of the offending token. Names are trimmed only in an object of objects of strings."""
        if fault.section is None:
            return self.member.key_start, self.member.key_end
        fold = _trim if self.member.is_sound else str
        section = self.node.by(fold)[fold(fault.section)]
        if fault.key is None:
            return section.key.start, section.key.end
        member = section.value.by(fold)[fold(fault.key)]
        return (member.key.start, member.key.end) if fault.at_key else _token(member.value, fault.token)


def member_read(node: Node, name: str) -> Member | None:
    """Return the member that the engine reads for a trimmed name: the first in byte order, of equal ones the last."""
    return node.by(_trim).get(_trim(name))


def _trim(name: str) -> str:
    return name.strip(BLANKS)


def _token(value: Node, index: int | None) -> tuple[int, int]:
    """Return the span of one part of a comma list; of the whole value if it has escapes."""
    text = str(value.value)
    if index is None or len(text) != value.end - value.start - 2:
        return value.start, value.end
    start, end = comma_parts(text)[index]
    part = text[start:end]
    start += value.start + 1 + len(part) - len(part.lstrip(BLANKS))
    return start, start + max(len(part.strip(BLANKS)), 1)


@lru_cache(maxsize=8)
def comma_parts(text: str) -> list[tuple[int, int]]:
    """Return the spans of the parts of a comma list, cached because lists may have thousands of parts."""
    at = len(text) - len(text.lstrip(BLANKS))
    spans = []
    for part in text.strip(BLANKS).split(","):
        spans.append((at, at + len(part)))
        at += len(part) + 1
    return spans


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


@dataclass(frozen=True)
class TensorColumns:
    """One input or output."""

    name: Annotated[str, Schema(examples=["x1"])]
    """The name of the tensor in the library."""
    param_type: Annotated[str, Schema(examples=["required"])]
    """required, optional, dynamic or reserved, as in the library."""
    dtypes: tuple[str, ...]
    """The dtype of each column, in lower case; empty if the library lists none."""


class Columns:
    """The columns the engine may choose from for one entry.

    :ivar is_listed: whether the library lists them, not the kernel package when it compiles
    """

    def __init__(self, entry: Entry) -> None:
        sections = entry.sections
        inputs, outputs = tensors_of(sections)
        self.inputs = [_tensor_columns(sections[name]) for name in inputs]
        self.outputs = [_tensor_columns(sections[name]) for name in outputs]
        has_formats = any({"format", "unknownshape_format"} & sections[name].keys() for name in (*inputs, *outputs))
        has_dtypes = any(tensor.dtypes for tensor in self.inputs + self.outputs)
        needs_none = pattern_of(sections) in ("broadcast", "reduce", "formatagnostic")
        self.is_listed = has_dtypes and (has_formats or needs_none)

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


def _tensor_columns(content: Mapping[str, str]) -> TensorColumns:
    dtypes = tuple(folded(word.strip(BLANKS)) for word in content.get("dtype", "").split(","))
    return TensorColumns(content.get("name", ""), content.get("paramType", ""), dtypes if dtypes != ("",) else ())
