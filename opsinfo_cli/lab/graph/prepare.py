"""Prepare a graph to be judged against a target, and say what options leave without effect in it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from ...core.cann.install import Install
from ...core.cann.library import Operators
from ...core.cann.marks import Mark, combination, is_legal
from ...core.cann.mixlist import Mixlist
from ...core.cann.option_files import OpPrecision
from ...core.cann.policy import policy_of
from ...core.cann.precision_mode import mode_doubt
from ...core.cann.target import Target
from ...core.check.mode import keep_dtype_without_effect
from ...errors import UsageFault
from .atc_options import NO_OPTIONS, with_options
from .fusions.fuse import Fused, fuse, fused_into
from .implmode import implementation_modes
from .judge.graph_judge import GraphJudge
from .judge.kernel_sources import Kernels
from .judge.modes import FP16_OP_TYPES
from .judge.sorting import Marks
from .limits import has_open_dimensions, with_sizes
from .result import Answer
from .undo import before_judge

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

    from ...core.cann.mixlist import AnyMixlist
    from ...core.cann.option_files import CustomizeDtypes, KeepDtype
    from ...core.cann.target import AnyTarget
    from .atc_options import AtcOptions, Considered
    from .graph import ModelGraph
    from .implmode import ImplModes


@dataclass(eq=False)
class PreparedModel:
    """A graph prepared for repeated judging, with several modes or mixlists.

    Indexes of nodes, in answers, lists and costs, are those of ``graph``, after fusion; ``original`` has others.

    >>> model = prepare(graph, "ascend910b")  # doctest: +SKIP
    >>> model.judge("mixed_float16", Mixlist.read("a.json")).counts.low  # doctest: +SKIP
    """

    preparation: Preparation
    original: ModelGraph
    graph_judge: GraphJudge
    considered: Considered
    modes: ImplModes
    fused: Fused

    @property
    def graph(self) -> ModelGraph:
        """The graph that is judged, after fusion."""
        return self.graph_judge.graph

    def judge(self, mode: str, mixlist: AnyMixlist | None = None) -> Answer:
        """Return the answer of one mode and mixlist.

        :param mode: any name of a precision mode: v1, v2 or the engine's own
        :param mixlist: a mixlist, its path, a parsed one, or marks by op type
        :raises UsageFault: if the mode is unknown, or the mixlist is none of these
        :raises Refused: if the mixlist cannot be read, or the engine would refuse it
        """
        marks = marks_of(mixlist)
        judgement = self.graph_judge.judge(mode, marks)
        doubts = partial(_doubts, marks=marks, given=self.preparation)

        def judge_with_sizes() -> Answer | None:
            return self._with_sizes.judge(mode, marks) if self._with_sizes else None

        return Answer(self.graph_judge, judgement, self.considered, self.modes, self.fused, doubts, judge_with_sizes)

    @cached_property
    def _with_sizes(self) -> PreparedModel | None:
        """The same graph with a size for every open dimension; None if none is open."""
        original = self.original
        return self.preparation.of(with_sizes(original)) if has_open_dimensions(original) else None

    def with_files(
        self, keep_dtype: KeepDtype | None = None, customize_dtypes: CustomizeDtypes | None = None
    ) -> PreparedModel:
        """Return the same graph prepared with these files instead; kernels that are known are kept.

        :raises Damaged: if the compiler refuses the keep_dtype file
        """
        preparation = replace(self.preparation, keep_dtype=keep_dtype, customize_dtypes=customize_dtypes)
        judge = preparation.judge(self.graph, self.graph_judge.kernels)
        return replace(self, preparation=preparation, graph_judge=judge)


@dataclass(frozen=True)
class Preparation:
    """How graphs are prepared.

    :param against: the target, or its path or name; None without a target
    :param soc: the SoC, if the target does not have it
    :param fp16_types: ``fp16.op_type`` of fe.ini
    :param atc: options of atc; missing ones are taken from the command that compiled the model
    :param no_fusion: names of fusions that are left out, or ``all``
    """

    against: AnyTarget | Operators | None
    soc: str | None = None
    keep_dtype: KeepDtype | None = None
    customize_dtypes: CustomizeDtypes | None = None
    fp16_types: frozenset[str] = FP16_OP_TYPES
    atc: AtcOptions = NO_OPTIONS
    no_fusion: Collection[str] = ()

    def of(self, graph: ModelGraph) -> PreparedModel:
        """Prepare a graph for judging: what a compiler did to dtypes is undone, and a model of a framework is fused.

        :raises UsageFault: if an option of atc does not fit the graph, or has a wrong value
        :raises Refused: if the target or a file cannot be read
        :raises Damaged: if the graph has a cycle, or the compiler refuses the keep_dtype file for it
        """
        operators, own_soc, root = _open_target(self.against)
        soc = self.soc or own_soc
        kernels = Kernels(operators, soc)
        fused = fuse(before_judge(graph), kernels, self.no_fusion, root)
        judged_graph, considered = with_options(fused.graph, self.atc)
        modes = implementation_modes(self.atc, judged_graph.model.command, soc, root)
        return PreparedModel(self, graph, self.judge(judged_graph, kernels), considered, modes, fused)

    def judge(self, graph: ModelGraph, kernels: Kernels) -> GraphJudge:
        """:raises Damaged: if the graph has a cycle, or the compiler refuses the keep_dtype file for it"""
        kept = self.keep_dtype.marks(graph) if self.keep_dtype is not None else frozenset()
        customized = self.customize_dtypes.marks(graph) if self.customize_dtypes is not None else {}
        return GraphJudge(graph, kernels, Marks(kept, customized), self.fp16_types)


def prepare(graph: ModelGraph, against: AnyTarget | Operators | None, **options: Any) -> PreparedModel:
    """:param options: those of :class:`Preparation`; errors as of :meth:`Preparation.of`"""
    return Preparation(against, **options).of(graph)


def _open_target(against: AnyTarget | Operators | None) -> tuple[Operators | None, str | None, str | None]:
    """Return the op types of a target, its SoC and its OPP root."""
    if against is None or isinstance(against, Operators):
        return against, None, None
    if isinstance(against, (str, os.PathLike)):
        against = Target.open(against)
    install = against.install if isinstance(against, Target) else against if isinstance(against, Install) else None
    soc = against.soc if isinstance(against, (Target, Install)) else None
    return against.operators, soc, install.root if install else None


def marks_of(mixlist: AnyMixlist | None) -> Mapping[str, frozenset[Mark]]:
    """The marks of a mixlist by op type.

    :raises UsageFault: if it is no mixlist, or the engine refuses marks that are given by op type
    :raises Refused: if it cannot be read, or the engine would refuse it
    """
    if mixlist is None:
        return {}
    if isinstance(mixlist, (str, os.PathLike)):
        return Mixlist.read(os.fspath(mixlist)).marks
    if isinstance(mixlist, Mixlist):
        return mixlist.marks
    if not isinstance(mixlist, Mapping):
        message = f"a mixlist is a path, a Mixlist, a parsed one, or marks by op type, not {type(mixlist).__name__}"
        raise UsageFault(message, name="wrong-type")
    if not all(isinstance(marks, (frozenset, set, tuple)) for marks in mixlist.values()):
        return Mixlist.of(mixlist).marks
    found: dict[str, frozenset[Mark]] = {}
    for name, marks in mixlist.items():
        if not all(isinstance(mark, Mark) for mark in marks):
            raise UsageFault(f"the marks of `{name}` are no `Mark`s", name="wrong-type", hint="give a parsed mixlist")
        found[name] = frozenset(Mark(mark.action, policy_of(mark.policy)) for mark in marks)
        if not is_legal(found[name]):
            raise UsageFault(f"the engine refuses `{name}`: {combination(found[name])}", name="contradiction")
    return found


_MOST_LINES = 5
"""The faults of one file that are listed."""


def _doubts(answer: Answer, marks: Mapping[str, frozenset[Mark]], given: Preparation) -> Iterator[str]:
    """Yield a sentence for each doubt, as the commands print it.

    :param given: what the graph was prepared with
    """
    mode, graph, kernels = answer.mode, answer.graph, answer.graph_judge.kernels
    operators, soc = kernels.operators, kernels.soc
    if operators is not None:
        yield from operators.lacking(marks).values()
        for name in sorted({node.type for node in graph if node.type in operators}):
            if why := operators[name].entry.unread:
                yield f"the dtypes of `{name}` are assumed, since they could not be read: {why}"
    if marks and not mode.is_mixed:
        yield f"the engine refuses a mixlist with {mode.name} (E10001); it is ignored here"
    if doubt := mode_doubt(mode.name, soc):
        yield doubt
    if given.keep_dtype and mode.engine == "KEEP_ORIGIN":
        yield keep_dtype_without_effect(mode.name)[0]
    for name in sorted(marks):
        if types := fused_into(graph, name):
            named = ", ".join(f"`{op_type}`" for op_type in types)
            yield f"the mixlist names `{name}`: fusion makes {named} of its nodes before the lists are applied"
    yield from _ignored_lines(graph, given)
    if given.customize_dtypes and (refused := [node for node in answer if node.code == "refused-customized"]):
        more = f" and {len(refused) - 1} more" if len(refused) > 1 else ""
        what = "refuses" if refused[0].confidence == "library" else "refuses, by assumed columns,"
        node = f"node `{refused[0].name}`{more}"
        yield f"{given.customize_dtypes.path}: AI Core {what} {node}: no column has the dtypes of its line"


def _ignored_lines(graph: ModelGraph, given: Preparation) -> Iterator[str]:
    """Yield lines that the compiler ignores, and those that name nothing in the graph."""
    modes = OpPrecision.read(given.atc.op_precision_mode) if given.atc.op_precision_mode else None
    for file in (given.keep_dtype, given.customize_dtypes, modes):
        if file is None:
            continue
        faults = [*file.faults, *file.unmatched(graph)]
        for fault in faults[:_MOST_LINES]:
            yield f"{file.path}:{fault.line}:{fault.column}: {fault.message}"
        if len(faults) > _MOST_LINES:
            yield f"{file.path}: {len(faults) - _MOST_LINES} more lines are ignored or name nothing"
