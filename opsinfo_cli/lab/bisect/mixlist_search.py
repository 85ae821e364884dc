"""A search from Python, from the candidates to the answer."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING
from warnings import warn

from ...core.cann.input_shapes import stated_shapes
from ...core.cann.mixlist import Mixlist
from ...core.cann.target import Target
from ...errors import UsageFault, brief
from ..graph.judge.judge import prepare
from ..graph.readers import read_graph
from ..profile.table import Table, find_tables
from ..profile.times import profile_of
from .check_command import named_files, names_list, require_placeholders
from .cost import Prices
from .culprits import BisectAnswer, answer_of
from .journal import SearchJournal, begun
from .places.here import HerePlace
from .places.many import ManyPlace
from .problem import SubjectOptions, problem_of, require_sense
from .run_folder import BEST, RunFolder
from .session import Budget, OutOfBudget, Rules, SearchSession

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from ...core.cann.input_shapes import Shapes
    from .place import Trial, TrialPlace

    Check: TypeAlias = Callable[[str], bool] | Sequence[str]
    """Called with the path of a mixlist, it returns whether the result is good enough; or a command."""


class _Doubts:
    """Gives warnings as Python warnings, and drops notes."""

    def note(self, text: str) -> None: ...

    def detail(self, text: str) -> None: ...

    def warn(self, text: str) -> None:
        warn(text, stacklevel=2)


def bisect_mixlist(
    check: Check,
    against: Target | str | os.PathLike[str],
    mode: str = "mixed_float16",
    mixlist: str | os.PathLike[str] | None = None,
    *,
    model: str | os.PathLike[str] | None = None,
    shapes: Shapes | None = None,
    among: Sequence[str] = (),
    evidence: Sequence[str] = (),
    grow: bool = False,
    profile: Sequence[str] = (),
    lead: int | None = None,
    budget: int | str | None = None,
    journal: str = ".opsinfo-bisect",
    resume: bool = False,
) -> BisectAnswer:
    """Find the smallest black list that makes a check pass, as ``opsinfo bisect``.

    :param check: called with the path of a mixlist, or a command with ``{mixlist}``; see ``docs/bisect.md``
    :param against: the target that supplies the policies, or its path or SoC name
    :param mixlist: the path of the mixlist that every list extends
    :param model: the path of a model, to search among its op types
    :param shapes: of its inputs, by name, as for :meth:`.Graph.read`
    :param among: op types to search among
    :param evidence: paths of comparison tables, or of the JSON of a simulation
    :param grow: search for the largest white list, not the smallest black one
    :param profile: tables of what ran, which say what the nodes of the model cost
    :param lead: run a list until one verdict has so many more runs than the other
    :param budget: a number of runs, or a time such as ``6h``; the best list known is returned when it is spent
    :param journal: the folder of the search, which holds the list as ``best.json``
    :param resume: continue the search in that folder
    :raises UsageFault: if an argument does not fit, the check returns neither True nor False, or the folder has a
        search that is not resumed, or another one is
    :raises Unusable: if the check gives no verdict; the search can be resumed
    :raises Refused: if a file cannot be read or written
    """
    target = Target.open(against)
    list_path = None if mixlist is None else os.fspath(mixlist)
    model_path = None if model is None else os.fspath(model)
    named, suspects = tuple(among), tuple(evidence)
    options = SubjectOptions(
        target.text, model_path, list_path, mode, named, suspects, grow, "type", profile=tuple(profile)
    )
    require_sense(options)
    shapes_of = None if shapes is None else partial(stated_shapes, shapes)
    ready = prepare(read_graph(model_path, shapes_of=shapes_of), target) if model_path else None
    prices = None
    if ready is not None and profile:
        graph = ready.prepared.graph
        prices = Prices(graph, profile_of(map(Table, find_tables(options.profile).paths), {*graph.names}))
    base = Mixlist.read(list_path) if list_path else None
    if ready is not None:
        for text in ready.judge(mode, base).warnings:
            warn(text, stacklevel=2)
    problem = problem_of(options, target, base, ready, _Doubts(), prices=prices)
    folder = RunFolder(journal)
    command, place = _place(check)
    rules = Rules(command, lead, budget=Budget() if budget is None else Budget.read(str(budget)))
    folder.require(resume)
    folder.make()
    written = SearchJournal(folder.journal)
    try:
        past = begun(written, problem.facts(command, named_files(command)))
        session = SearchSession(problem.subject(), rules, place, folder, written, past)
        try:
            end = session.search(problem.weights)
        except OutOfBudget:
            end = session.so_far("budget")
        written.ended(end.ended)
        answer = answer_of(problem, session, end)
        if end.kept is None:
            return answer
        text = problem.text(problem.types(end.kept))
        return answer._replace(mixlist=os.path.relpath(folder.write(BEST, text.encode("utf-8"))))
    finally:
        written.close()


def _place(check: Check) -> tuple[Sequence[str], TrialPlace]:
    """Return the words that identify a check, and the place where it runs."""
    if not callable(check):
        require_placeholders(check, {"keep_dtype": "--by node", "device": "--devices"})
        if not names_list(check):
            warn("the command has no {mixlist}: it must read $OPSINFO_MIXLIST itself", stacklevel=3)
        return check, ManyPlace(os.environ, 1, [])

    def judge(trial: Trial) -> tuple[int, str]:
        return 0 if _verdict(check(os.path.join(trial.folder, trial.files["mixlist"][0]))) else 1, ""

    return [f"{check.__module__}.{getattr(check, '__qualname__', type(check).__name__)}"], HerePlace(judge, "python")


def _verdict(answer: object) -> bool:
    """Return the verdict of a check in Python.

    :raises UsageFault: if it is neither True nor False, of Python or of NumPy: a loss or None says nothing
    """
    kind, shape = getattr(getattr(answer, "dtype", None), "name", None), getattr(answer, "shape", None)
    if isinstance(answer, bool) or (kind, shape) == ("bool", ()):
        return bool(answer)
    message = f"the check returned {brief(repr(answer))}; True or False is required"
    raise UsageFault(message, name="no-verdict", hint="compare it with a bound: `return loss < 0.01`")
