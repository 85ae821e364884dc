"""The choice of one node's column.

Source: hicann/ge ffdcbc9f, compiler/engines/nn_engine/optimizer/graph_optimizer/op_judge/format_and_dtype/
op_format_dtype_judge.cc:482-560 and strategy/op_format_dtype_strategy_manager.cc:254-315.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....core.cann.dtype_names import FLOATING
from ....core.cann.policy import Policy
from .format_filters import filtered, heavy_format
from .kernel import Kernel
from .node_facts import DtypeChoice, Facts, Port, Seen, Setting
from .promote import narrow
from .strategy import JudgedTensor, Matched, Work, match
from .support import Bound, Refusal, customized_columns, taken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .node_facts import BoundPort


_LATE = 0xFF
"""Added to an input's place in the order if a constant or nothing feeds it (op_format_dtype_judge.cc:674-713)."""


def choose(
    facts: Facts,
    seen: Sequence[str | Seen | None],
    kernels: Sequence[Kernel],
    policies: Sequence[Policy],
    setting: Setting,
) -> DtypeChoice:
    """Return the choice for a node, from the first kernel that accepts it.

    :param seen: the dtype that feeds each input
    :param policies: the policy of each kernel, after the mixlist
    """
    refusal = Refusal("not-in-store", "")
    first: Policy | None = None
    confidence: str | None = None
    for number, (kernel, policy) in enumerate(zip(kernels, policies, strict=True)):
        if not any(port.dtype for port in (*facts.inputs, *facts.outputs)):
            refusal = Refusal("unknown-dtype", "")
            continue
        found = taken(facts, kernel, policy, setting.mode)
        if isinstance(found, Refusal):
            refusal, first, confidence = found, first or policy, kernel.confidence
            continue
        choice = _Judged(facts, kernel, policy, setting, found, seen).choice()
        return choice._replace(kernel=number)
    return left_as_is(facts, refusal.why, first, refusal.detail)._replace(confidence=confidence)


def left_as_is(facts: Facts, why: str, policy: Policy | None = None, detail: str = "") -> DtypeChoice:
    """The choice for a node that is not judged: its own dtypes, or those that a customize_dtypes file sets
    (format_selector/manager/format_dtype_setter.cc:291-330).
    """
    inputs = [port.dtype if port.present else None for port in facts.inputs]
    outputs = [port.dtype for port in facts.outputs]
    if facts.customized is not None:
        for own, wanted in ((inputs, facts.customized.inputs), (outputs, facts.customized.outputs)):
            for index, dtype in enumerate(wanted[: len(own)]):
                if dtype is not None and (own is outputs or facts.inputs[index].present):
                    own[index] = dtype
    return DtypeChoice(tuple(inputs), tuple(outputs), -1, why, policy, detail=detail)


class _Judged:
    """One node while its column is chosen."""

    def __init__(
        self,
        facts: Facts,
        kernel: Kernel,
        policy: Policy,
        setting: Setting,
        bound: Bound,
        seen: Sequence[str | Seen | None],
    ) -> None:
        self.facts = facts
        self.kernel = kernel
        self.policy = policy
        self.bound = bound
        self.seen = seen
        self.work = Work(facts, setting, policy, kernel.null, _takes_16_gives_32(bound))
        self.steps: list[tuple[str, int, Matched, list[int]]] = []

    def choice(self) -> DtypeChoice:
        customized = self.facts.customized
        asked = [] if customized is None else customized_columns(customized, self.bound)
        columns = list(asked)
        order = self._order()
        if self.bound.promotion is None:
            self._loop("inputs", order, columns)
            self._loop("outputs", range(len(self.bound.outputs)), columns)
            filtered(self.kernel, self.bound.inputs, self.bound.outputs, order, columns)
        elif narrow(self.bound.promotion, self.bound.inputs, columns) and columns:
            filtered(self.kernel, self.bound.inputs, self.bound.outputs, order, columns)
        column = columns[0] if columns else asked[0] if asked else 0
        return self._chosen(column, bool(asked))

    def _order(self) -> list[int]:
        """Return the inputs in the engine's order; of two at the same place the later one is lost."""
        places: dict[int, int] = {}
        for index, port in enumerate(self.facts.inputs):
            places.setdefault(index + _LATE if port.late else index, index)
        return [places[place] for place in sorted(places)]

    def _loop(self, side: str, order: Sequence[int], columns: list[int]) -> None:
        """Narrow by all tensors of one side; start again from all columns if the other side left none."""
        ports = self.bound.inputs if side == "inputs" else self.bound.outputs
        begun = bool(columns)
        for index in order:
            each = ports[index]
            if each is None or not each.port.present:
                continue
            if not begun:
                columns[:] = range(len(each.formats))
                begun = True
            if each.port.dtype is None:
                continue
            seen = self.seen[index] if side == "inputs" else None
            tensor = JudgedTensor(each.port, each.dtypes, side == "inputs", index, seen)
            matched = match(self.work, tensor, columns)
            self.steps.append((side, index, matched, list(columns)))

    def _chosen(self, column: int, customized: bool) -> DtypeChoice:
        why, detail = "customized", ""
        decided: tuple[str, int] | None = None
        matched = Matched(True, why)
        if self.bound.promotion is not None:
            why = "promoted"
        elif not customized:
            decided, matched, detail = self._reason(column)
            why = matched.why
        return DtypeChoice(
            self._dtypes(self.facts.inputs, self.bound.inputs, column),
            self._dtypes(self.facts.outputs, self.bound.outputs, column),
            column,
            why,
            self.policy,
            decided,
            matched.followed,
            matched.through,
            self.kernel.confidence,
            detail=detail,
            layouts=self._layouts(column),
        )

    def _dtypes(self, ports: Sequence[Port], bound: Sequence[BoundPort | None], column: int) -> tuple[str | None, ...]:
        """Return the column's dtypes; a tensor that the kernel does not list goes with listed ones of its dtype."""
        dtypes = [_at(each, column) for each in bound]
        if None not in bound:
            return tuple(dtypes)
        became = {each.port.dtype: _at(each, column) for each in self._listed() if each.port.present}
        return tuple(
            became.get(port.dtype, port.dtype) if each is None and port.present else dtype
            for port, each, dtype in zip(ports, bound, dtypes, strict=True)
        )

    def _listed(self) -> list[BoundPort]:
        return [each for each in (*self.bound.inputs, *self.bound.outputs) if each is not None]

    def _layouts(self, column: int) -> tuple[tuple[str | None, ...], tuple[str | None, ...]] | None:
        layouts = (
            tuple(heavy_format(each, column) for each in self.bound.inputs),
            tuple(heavy_format(each, column) for each in self.bound.outputs),
        )
        return layouts if any(layouts[0]) or any(layouts[1]) else None

    def _reason(self, column: int) -> tuple[tuple[str, int] | None, Matched, str]:
        """Return the deciding tensor: the first after which all remaining columns had the chosen floating dtypes."""
        wanted = self._floating(column)
        floats = [step for step in self.steps if self._port(step).port.dtype in FLOATING]
        if not any(step[2].fits for step in floats or self.steps):
            rule = (floats or self.steps)[0][2].why if self.steps else "mode"
            return None, Matched(False, "first-column"), rule
        for side, index, matched, columns in self.steps:
            if matched.fits and column in columns and all(self._floating(each) == wanted for each in columns):
                return (side, index), matched, ""
        side, index, matched, _ = next(step for step in reversed(self.steps) if step[2].fits)
        return (side, index), matched, ""

    def _port(self, step: tuple[str, int, Matched, list[int]]) -> BoundPort:
        each = (self.bound.inputs if step[0] == "inputs" else self.bound.outputs)[step[1]]
        assert each is not None
        return each

    def _floating(self, column: int) -> tuple[str | None, ...]:
        ports = (*self.bound.inputs, *self.bound.outputs)
        return tuple(dtype if (dtype := _at(each, column)) in FLOATING else None for each in ports)


def _at(each: BoundPort | None, column: int) -> str | None:
    if each is None or not each.port.present:
        return None
    return each.dtypes[column] if column < len(each.dtypes) else each.port.dtype


def _takes_16_gives_32(bound: Bound) -> bool:
    """Return whether a column has float16 at input 0 and float32 at output 0 (op_format_dtype_judge.cc:218-260)."""
    first, output = (ports[0] if ports else None for ports in (bound.inputs, bound.outputs))
    if first is None or output is None or len(first.dtypes) > len(output.dtypes):
        return False
    pairs = zip(first.dtypes, output.dtypes, strict=False)
    return any(pair == ("float16", "float32") for pair in pairs)
