"""A kernel: the engine's facts about one op type of one store for the choice of dtypes.

Source: hicann/ge ffdcbc9f, compiler/engines/nn_engine/opskernel/ops_store/op_kernel_info_constructor.cc (how columns
are loaded) and optimizer/format_selector/ (which of them count).
"""

from __future__ import annotations

from sys import intern
from typing import TYPE_CHECKING, NamedTuple

from ....core.cann.dtype_names import canonical
from ....core.cann.entry_rules import Sections, comma_list, pattern_of, tensors_of
from ....core.cann.policy import BLANKS, Policy, folded

if TYPE_CHECKING:
    from collections.abc import Mapping


ORIGIN_FORMATS = ("NCHW", "NHWC", "HWCN", "CHWN", "NDHWC", "NCDHW", "DHWCN", "DHWNC", "ND")
"""In the engine's order (inc/common/aicore_util_constants.h:231)."""
HEAVY_FORMATS = (
    *("NC1HWC0_C04", "NC1HWC0", "C1HWNCoC0", "FRACTAL_Z", "FRACTAL_NZ", "NDC1HWC0", "FRACTAL_Z_3D"),
    *("FRACTAL_Z_3D_TRANSPOSE", "FRACTAL_Z_C04", "FRACTAL_Z_WINO", "C1HWC0", "FRACTAL_NZ_C0_2", "FRACTAL_NZ_C0_4"),
    *("FRACTAL_NZ_C0_8", "FRACTAL_NZ_C0_16", "FRACTAL_NZ_C0_32"),
)
"""In the engine's order (inc/common/aicore_util_constants.h:239)."""
ASSUMED = ("float16", "float32", "bfloat16")
"""The columns assumed for every tensor of an op type whose columns are unknown."""
_BY_KERNEL = "dynamic"
_BUILT_IN_PATTERNS = frozenset({"broadcast", "broadcastenhanced", "reduce", "rangeagnostic"})


class DtypeRow(NamedTuple):
    """One tensor's dtypes and formats, by column."""

    dtypes: tuple[str, ...]
    formats: tuple[str, ...]


NOTHING = DtypeRow((), ())


class Slot(NamedTuple):
    """One input or output as the library lists it.

    :param section: ``input0`` ...
    :param static: its columns for static shapes
    :param dynamic: its columns for unknown shapes, and for static ones if a dynamic kernel serves both
    """

    section: str
    name: str
    param_type: str
    needs_const: bool
    static: DtypeRow
    dynamic: DtypeRow


class Kernel(NamedTuple):
    """One op type of one store.

    :param confidence: where the columns come from: ``library``, ``kernel`` or ``assumed``; ``none``: there are none
    :param null: whether it has no kernel file (``opFile`` Null)
    :param serves_static: whether the dynamic kernel serves static shapes too (``dynamicCompileStatic``)
    :param promotes: groups of inputs, by name, that must have one dtype (``promoteType``)
    :param alike: whether any number of tensors is taken, each with the first slot's columns
    """

    op_type: str
    policy: Policy
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    confidence: str
    heavy: bool = False
    null: bool = False
    serves_static: bool = False
    dynamic_shape: bool = False
    dynamic_rank: bool = False
    promotes: tuple[tuple[str, ...], ...] = ()
    alike: bool = False

    def with_columns(self, columns: Mapping[str, tuple[str, ...]] | None, confidence: str) -> Kernel:
        """Return this kernel with other columns by section, or with the assumed ones."""

        def filled(slot: Slot) -> Slot:
            dtypes = ASSUMED if columns is None else columns.get(slot.section, ())
            row = DtypeRow(dtypes, ("ND",) * len(dtypes))
            listed = self.confidence == "none" and slot.dynamic.dtypes  # for unknown shapes alone
            return slot._replace(static=row, dynamic=slot.dynamic if listed else row)

        return self._replace(
            inputs=tuple(map(filled, self.inputs)), outputs=tuple(map(filled, self.outputs)), confidence=confidence
        )


def kernel_of(op_type: str, policy: Policy, sections: Sections) -> Kernel:
    """Return the kernel of an entry; confidence ``none`` if it has no columns: they are set at compile time."""
    names_in, names_out = tensors_of(sections)
    pattern = pattern_of(sections)
    dynamic_shape = _flag(sections, "dynamicShapeSupport") == "true"
    listed = any("format" in sections[name] for name in names_in)
    groups = sections.get("promoteType", {}).get("value", "").split(";")
    promotes = [tuple(name.strip(BLANKS) for name in group.split(",")) for group in groups]
    listed_dynamic = listed or any("unknownshape_format" in sections[name] for name in names_in)

    def slot(section: str) -> Slot:
        content = sections[section]
        static, dynamic = _rows(content, pattern, dynamic_shape)
        if pattern in _BUILT_IN_PATTERNS and not listed:
            static = _combine(_dtypes(content), ORIGIN_FORMATS)
        if pattern in _BUILT_IN_PATTERNS and not listed_dynamic:
            dynamic = static
        needs_const = content.get("valueDepend", "").strip(BLANKS) == "required"
        param_type = content.get("paramType", "").strip(BLANKS)
        return Slot(section, content.get("name", "").strip(BLANKS), param_type, needs_const, static, dynamic)

    return Kernel(
        op_type,
        policy,
        tuple(map(slot, names_in)),
        tuple(map(slot, names_out)),
        "none" if pattern == _BY_KERNEL and not listed else "library",
        heavy=_flag(sections, "heavyOp") == "true",
        null=sections.get("opFile", {}).get("value", "").strip(BLANKS) in ("Null", "AICore_Null"),
        serves_static=_flag(sections, "dynamicCompileStatic") in ("true", "tune"),
        dynamic_shape=dynamic_shape,
        dynamic_rank=_flag(sections, "dynamicRankSupport") in ("true", "upgrade_to_dynamic_rank"),
        promotes=tuple(group for group in promotes if len(group) >= 2),  # `dynamic`: the kernel decides
    )


def assumed_kernel(op_type: str, policy: Policy) -> Kernel:
    row = DtypeRow(ASSUMED, ("ND",) * len(ASSUMED))
    slot = Slot("input0", "", "dynamic", False, row, row)
    return Kernel(op_type, policy, (slot,), (slot,), "assumed", dynamic_shape=True, dynamic_rank=True, alike=True)


def _rows(content: Mapping[str, str], pattern: str, dynamic_shape: bool) -> tuple[DtypeRow, DtypeRow]:
    """Return static and dynamic columns as loaded (op_kernel_info_constructor.cc:522-577, 741-995)."""
    dtypes = _dtypes(content)
    if "format" not in content and "unknownshape_format" not in content:
        if pattern == "formatagnostic":
            row = _combine(dtypes, (*HEAVY_FORMATS, *ORIGIN_FORMATS))
            return row, row if dynamic_shape else NOTHING
        return NOTHING, NOTHING
    static = NOTHING
    if "format" in content:
        formats = _formats(content["format"])
        count = min(len(dtypes), len(formats))  # the engine refuses lists of unequal length
        static = DtypeRow(dtypes[:count], formats[:count])
    formats = _formats(content.get("unknownshape_format", content.get("format", "")))
    kept = [pair for pair in zip(dtypes, formats, strict=False) if pair[1] != "NULL"]
    return static, DtypeRow(tuple(dtype for dtype, _ in kept), tuple(name for _, name in kept))


def _combine(dtypes: tuple[str, ...], formats: tuple[str, ...]) -> DtypeRow:
    return DtypeRow(dtypes * len(formats), tuple(name for name in formats for _ in dtypes))


def _dtypes(content: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(canonical(folded(word.strip(BLANKS))) for word in comma_list(content.get("dtype", "")))


def _formats(text: str) -> tuple[str, ...]:
    return tuple(intern(word.strip(BLANKS).partition(":")[0]) for word in comma_list(text))


def _flag(sections: Sections, section: str) -> str:
    return folded(sections.get(section, {}).get("flag", "").strip(BLANKS))
