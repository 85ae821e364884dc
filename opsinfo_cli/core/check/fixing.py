"""Apply the fixes of a run's findings, and check again."""

from __future__ import annotations

from collections.abc import Callable

from ...errors import OpsinfoError, counted
from ..cann.file_kind import OPTION_KINDS, NamedKind
from ..change.plan import Job
from ..change.write_settings import WriteSettings
from ..change.writer import write_files
from ..text.source import Source, read_bytes
from .checked import Checked, Narrowing
from .finding import Finding, Outcome
from .fixes import FixPlan, OptionFixPlan, applicable
from .kinds import KINDS, Asked, Context, ReadFile


def apply_fixes(
    checked: Checked,
    run: Callable[[], Checked],
    asked: Asked,
    narrowing: Narrowing,
    unsafe: bool,
    settings: WriteSettings,
    say: Callable[[str], None],
) -> Checked:
    """Apply fixes, and check again. The findings are kept if a fix cannot be written.

    :param run: checks again
    """
    fixable = {finding.path for finding in checked.findings if applicable([finding], unsafe)}
    kinds: dict[str, NamedKind] = {
        verdict.path: verdict.kind if verdict.kind in OPTION_KINDS else "mixlist"
        for verdict in checked.files
        if verdict.path in fixable
    }
    base, trees = checked.base, checked.trees
    of_options, of_mixlists = Context(asked), Context(asked._replace(models=None))  # no model has fixes of a mixlist

    def plan(kind: NamedKind) -> FixPlan:
        def find(source: Source) -> list[Finding]:
            """Return the findings of a text that are reported."""
            outcome = Outcome()
            file = ReadFile(source.path, source.data, kind)
            for each in KINDS[kind].check([file], of_options if kind in OPTION_KINDS else of_mixlists):
                outcome.add(each.path, kind, each.findings)
            if base is not None:
                outcome.findings = base.lacks(outcome.findings)
            return narrowing.narrow(outcome).findings

        return OptionFixPlan(find, unsafe, kind) if kind in OPTION_KINDS else FixPlan(find, unsafe)

    plans = {path: plan(kind) for path, kind in kinds.items()}
    if not plans:
        return checked
    jobs = []
    try:
        for path, each in plans.items():
            seen = None
            if kinds[path] in OPTION_KINDS:  # which may have bytes that are not UTF-8
                seen = Source(read_bytes(path, trees.get(path)), path, strict=False)
            jobs.append(Job(path, each, seen, tree=trees.get(path)))
        result = write_files("validate", jobs, settings, say)
    except OpsinfoError as error:
        checked.failures.append(error)
        return checked

    def count(path: str, source: Source) -> int:
        return len(applicable(plans[path].find(source), unsafe))

    fixed = sum(count(file.path, file.source) - count(file.path, file.result) for file in result.files)
    if result.change:
        checked = run()
    checked.fixed = result
    checked.said = [f"{'would fix' if result.dry_run else 'fixed'} {counted(fixed, 'finding')}"]
    checked.failures.extend(result.refused)
    return checked
