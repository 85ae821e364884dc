"""The other side of a comparison: a second judging, or a compiled model."""

from __future__ import annotations

from typing import NamedTuple

from ...errors import UsageFault
from ...graph.answer import WrittenAnswer
from ...model.target import TargetOptions
from ...report.terminal.output import Output
from ..line import declare
from .judging import FRAMEWORKS, JudgedModel, judged_model, opened_model


class CompareOptions(NamedTuple):
    """A second judging, or a compiled model, to compare with; at most one."""

    compare_mixlist: str | None
    compare_mode: str | None
    compare_against: str | None
    read_back: str | None

    @property
    def given(self) -> dict[str, str]:
        """Return the given options and their values."""
        words = ("--compare-mixlist", "--compare-precision-mode", "--compare-against", "--read-back")
        return {word: value for word, value in zip(words, self, strict=True) if value is not None}


COMPARING = declare.Group("comparing", CompareOptions)


def other_judging(
    judged: JudgedModel, comparing: CompareOptions, options: TargetOptions, output: Output
) -> JudgedModel:
    """Return the same model judged with the mixlist, mode or target to compare with."""
    own = judged.options
    return judged_model(
        judged.graph,
        own._replace(
            mixlist=comparing.compare_mixlist or own.mixlist,
            mode=comparing.compare_mode or own.mode,
            against=comparing.compare_against or own.against,
        ),
        options,
        output,
    )


def compiled_answer(path: str, output: Output) -> WrittenAnswer:
    """Return the dtypes of a compiled model or a later dump.

    :raises UsageFault: if the model holds no dtypes of the engine
    """
    graph = opened_model(path, output)
    if graph.model.format in FRAMEWORKS or graph.model.judged is False:
        said = "neither a compiled model nor a dump made after the engine chose dtypes"
        hint = "--read-back takes a .om file, or a GE dump of a later stage than FeTopoSortingAfter"
        raise UsageFault(said, name="not-compiled", path=path, hint=hint)
    return WrittenAnswer(graph)
