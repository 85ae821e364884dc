"""Opens what a search is about: the target, the base list and the model."""

from __future__ import annotations

from ...bisect.problem import Problem, SubjectOptions, problem_of, require_sense
from ...graph.judging import prepare
from ...model.target import TargetOptions
from ...report.console import Console
from ..open import accepted_mixlist, open_against, open_model, report_doubts, report_unknown


def open_problem(options: SubjectOptions, target_options: TargetOptions, console: Console) -> Problem:
    """Open the target, the base list and the model, and find the candidates.

    :raises UsageFault: if options exclude each other, the mode has no lists, or an op type is unknown
    :raises Refused: if a file cannot be read, or the engine refuses it
    """
    require_sense(options)
    target = open_against(options.against, console, target_options)
    report_doubts(target, console)
    base = accepted_mixlist(options.base, console) if options.base else None
    if base:
        report_unknown(base, target.operators, console)
    ready = prepare(open_model(options.model, console), target) if options.model else None
    return problem_of(options, target, base, ready, console)
