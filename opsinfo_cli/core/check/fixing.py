"""Apply the fixes of a run's findings, and check again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from ...errors import OpsinfoError, counted
from ...near_names import NearNames
from ..cann.file_kind import OPTION_KINDS
from ..change.plan import Job, Result
from ..change.write_settings import WriteSettings
from ..change.writer import write_files
from ..text.source import Source, read_bytes
from .asked import Asked
from .checked import Checked, Narrowing
from .finding import BaseUsed, CheckedKind, Finding, Outcome
from .fixes import FixPlan, OptionFixPlan, applicable
from .kinds import find_in_mixlist
from .mixlist import near_names_of
from .options import OptionCheck, OptionFile


def apply_fixes(
    checked: Checked,
    run: Callable[[], Checked],
    asked: Asked,
    narrowing: Narrowing,
    unsafe: bool,
    settings: WriteSettings,
    say: Callable[[str], None],
) -> Checked:
    """Apply fixes, to each real file once, and check again. The findings are kept if a fix cannot be written.

    :param run: checks again
    """
    outcome = checked.outcome
    fixable = {finding.path for finding in outcome.findings if applicable([finding], unsafe)}
    kinds = {verdict.path: verdict.kind for verdict in outcome.files if verdict.kind and verdict.path in fixable}
    real = {os.path.realpath(path): path for path in reversed(kinds)}
    names = near_names_of(asked.against)
    base = outcome.base
    plans = {path: _plan(kinds[path], asked, narrowing, base, names, unsafe) for path in reversed(real.values())}
    if not plans:
        return checked
    try:
        trees = {path: outcome.trees.get(path) for path in plans}
        jobs = [
            Job(path, plan, _seen(path, kinds[path], trees[path]), tree=trees[path]) for path, plan in plans.items()
        ]
        result = write_files("validate", jobs, settings, say)
    except OpsinfoError as error:
        checked.failures.append(error)
        return checked
    said = list(_about(result, plans, unsafe))
    if result.change:
        checked = run()
    checked.fixed, checked.said = result, said
    checked.failures.extend(result.refused)
    return checked


def _plan(
    kind: CheckedKind, asked: Asked, narrowing: Narrowing, base: BaseUsed | None, names: NearNames, unsafe: bool
) -> FixPlan:
    find = partial(_find, kind, asked, narrowing, base, names)
    return OptionFixPlan(find, unsafe, kind) if kind in OPTION_KINDS else FixPlan(find, unsafe)


def _find(
    kind: CheckedKind, asked: Asked, narrowing: Narrowing, base: BaseUsed | None, names: NearNames, source: Source
) -> list[Finding]:
    """Return the findings of a text that are reported; those of a mixlist without the models."""
    outcome = Outcome()
    if kind in OPTION_KINDS:
        check = OptionCheck(OptionFile(kind, source), asked.against, asked.models, asked.open_models)
        outcome.add(source.path, kind, check.findings())
    else:
        outcome.add(source.path, kind, find_in_mixlist(source, asked._replace(models=None), names))
    if base is not None:
        outcome.findings = base.lacks(outcome.findings)
    return narrowing.narrow(outcome).outcome.findings


def _about(result: Result, plans: Mapping[str, FixPlan], unsafe: bool) -> Iterator[str]:
    """Yield the number of fixed findings."""

    def count(path: str, source: Source) -> int:
        return len(applicable(plans[path].find(source), unsafe))

    fixed = sum(count(file.path, file.source) - count(file.path, file.result) for file in result.files)
    yield f"{'would fix' if result.dry_run else 'fixed'} {counted(fixed, 'finding')}"


def _seen(path: str, kind: str, tree: str | None) -> Source | None:
    """Return the text of a file of compiler options, which may have bytes that are not UTF-8; None for a mixlist.

    :raises Refused: if it cannot be read
    """
    return Source(read_bytes(path, tree), path, strict=False) if kind in OPTION_KINDS else None
