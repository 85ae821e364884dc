"""`bisect` from the candidates to the answer: for the command, and for a program."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from ...core.cann.input_shapes import stated_shapes
from ...core.cann.mixlist import Mixlist
from ...core.cann.option_files import keep_dtype_text
from ...core.cann.target import Target
from ...errors import OpsinfoError, Stopped, UsageFault, brief, counted
from ..listener import Listener, PythonListener
from .culprits import KeptNode, ResultByNode, answer_of
from .curve import curve_of
from .journal import SearchJournal, begin
from .placeholders import named_files, require_list, require_placeholders
from .places.here import HerePlace
from .places.many import ManyPlace
from .problem import SubjectOptions, node_name, open_problem
from .run_folder import BEST_KEPT, RunFolder
from .search.minimal_set import price
from .session import OutOfBudget, Rules, RunBudget, SearchSession

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import TypeVar

    from ...core.cann.input_shapes import Shapes
    from ...core.cann.mixlist import AnyMixlist
    from ...core.cann.target import AnyTarget
    from .culprits import BisectAnswer
    from .problem import Problem
    from .search.minimal_set import SearchEnd
    from .trial import Trial, TrialPlace

    Written = TypeVar("Written")

Check: TypeAlias = "Callable[[str], bool] | Sequence[str]"
"""Called with the path of a mixlist, it returns whether the result is good enough; or a command."""


_MOST_JUDGED = 2_000_000
"""Nodes that are judged, in all, to know what each candidate costs: some 15 seconds. If it takes more, the latest nodes
are searched for first, and then the cheapest of those that they move.
"""


class SearchListener(Listener, Protocol):
    def watch(self, what: str) -> AbstractContextManager[Callable[[SearchSession], None]]:
        """:param what: the candidates, as a plural
        :returns: a context manager whose value is called whenever a run begins or ends
        """

    def interrupt(self, signal: KeyboardInterrupt | Stopped) -> None:
        """Called when a signal ends the search. Raises it, or returns if the best list known is the answer."""


class TrialCheck(NamedTuple):
    """What judges trials.

    :param words: identify it in a journal
    :param files: that it reads, as far as its words name them
    :param place: returns where trials run; called when nothing refuses the search
    """

    rules: Rules
    words: Sequence[str]
    files: Sequence[str]
    place: Callable[[Problem], TrialPlace]


def best_texts(problem: Problem, types: frozenset[str]) -> dict[str, str]:
    """Return the texts of the answer's files by their names in the run folder, the list itself first."""
    (name, text), *more = problem.lists(types).items()
    return {f"best{os.path.splitext(name)[1]}": text} | {f"best.{other}": text for other, text in more}


def run_search(
    problem: Problem,
    check: TrialCheck,
    folder: RunFolder,
    listener: SearchListener,
    *,
    resume: bool = False,
    restart: bool = False,
    force: bool = False,
    write: Callable[[Mapping[str, str]], str] | None = None,
) -> BisectAnswer:
    """Search for the smallest list that passes, and write it.

    :param folder: one that was found to be fit by :meth:`.RunFolder.require`
    :param restart: begin anew there; what it has is kept aside
    :param force: use the verdicts of the journal even if they are about something else
    :param write: writes the texts of files by their names in the run folder, and returns the path of the first one;
        None: writes them there
    :returns: the answer, also if a file could not be written
    :raises UsageFault: if the folder has another search
    :raises Refused: if the check gives no verdict, and the search can be resumed; if the check or the
        model cannot be run, or the system refuses
    """
    place = check.place(problem)
    folder.make()
    _ = place.slots  # an unreachable cluster is an error before a journal is created
    if restart and folder.has_search:
        SearchJournal(folder.journal).close()  # raises if another process searches there
        listener.note(f"the search that was there is kept in {folder.set_aside()}")
    journal = SearchJournal(folder.journal)
    try:
        past = begin(journal, problem.facts(check.words, check.files), force)
        if past:
            listener.note(f"resuming: {counted(len(past.trials), 'run')} in the journal")
        session = SearchSession(problem.subject(), check.rules, place, folder, journal, past)
        return _Search(problem, session, listener, write or (lambda texts: folder.write_texts(texts)[0])).answer()
    finally:
        journal.close()


@dataclass(eq=False)
class _Search:
    problem: Problem
    session: SearchSession
    listener: SearchListener
    write: Callable[[Mapping[str, str]], str]
    failed: OpsinfoError | None = None

    def answer(self) -> BisectAnswer:
        problem, session = self.problem, self.session
        session.expected = problem.price(session.rules)
        with self.listener.watch("op types") as session.watch:
            end = self._end_of(session, problem.weights, problem.tried_alone(session.rules))
        answer = answer_of(problem, session, end)
        if end.kept is not None:
            texts = best_texts(problem, problem.types(end.kept))
            answer = answer._replace(mixlist=self._try_to_write(lambda: self.write(texts)), texts=texts)
        if problem.options.by == "node" and end.ended == "found":
            assert end.kept is not None
            answer = answer._replace(nodes=self._among_nodes(problem.types(end.kept)))
        if problem.options.curve:
            if not end.stopped:
                try:
                    with self.listener.watch("op types") as session.watch:
                        session.run_prefixes()
                except (KeyboardInterrupt, Stopped) as signal:
                    self.listener.interrupt(signal)
            points = curve_of(problem, session)
            if not points:
                message = "the check printed no number: --curve needs the loss as the last number of its output"
                self.listener.warn(message)
            answer = answer._replace(curve=points)
        return answer._replace(failed=self.failed)

    def _end_of(self, session: SearchSession, weights: Sequence[float], singles: Sequence[int] = ()) -> SearchEnd:
        """Return the end of a search: by itself, by its budget, or by a signal."""
        try:
            end = session.search(weights, singles)
        except OutOfBudget:
            end = session.so_far("budget")
        except (KeyboardInterrupt, Stopped) as signal:
            self.listener.interrupt(signal)
            end = session.so_far("interrupted")
        self._try_to_write(lambda: session.journal.record_end(end.ended))
        return end

    def _among_nodes(self, types: frozenset[str]) -> ResultByNode:
        """Continue among the nodes that the list of these op types moves to high."""
        sets = self.problem.sets
        assert sets is not None
        moved = sets.moved(types)
        is_costed = len(moved) * len(sets.base_answer) <= _MOST_JUDGED  # the cheapest are searched for, or the latest
        expected = price(len(moved), self.session.rules.lead or 1, is_costed, by_node=True)
        nodes = f"{counted(len(moved), 'node')} that the list moves"
        self.listener.note(f"continuing among {nodes}: expect {expected.between} more runs")
        with self.listener.progress("costs of nodes", len(moved)) as advance:
            subject = self.problem.node_subject(moved, is_costed, advance)
        with self.listener.watch("nodes") as self.session.watch:
            session = self.session.continue_with(subject)
            session.expected = expected
            end = self._end_of(session, [1.0] * len(moved))
        kept = {node_name(session.subject.names[number]): number for number in end.kept or ()}
        found = [
            KeptNode(name, sets.base_answer[moved[name]].type, session.proof(frozenset(kept.values()), kept[name]))
            for name in sorted(kept, key=moved.__getitem__)
        ]
        path, cost = None, None
        if end.kept is not None:
            text = keep_dtype_text([node.name for node in found])
            path = self._try_to_write(lambda: self.write({BEST_KEPT: text}))
            cost = sets.effect(frozenset(kept), by_node=True).cost
        return ResultByNode(end.ended, path, found, end.minimal, cost, session.runs, session)

    def _try_to_write(self, write: Callable[[], Written]) -> Written | None:
        """Write; the search has an answer even if it cannot be written."""
        try:
            return write()
        except OpsinfoError as error:
            self.failed = error
            return None


class PythonSearchListener(PythonListener):
    def watch(self, what: str) -> AbstractContextManager[Callable[[SearchSession], None]]:
        return nullcontext(lambda _: None)

    def interrupt(self, signal: KeyboardInterrupt | Stopped) -> None:
        raise signal


def bisect_mixlist(
    check: Check,
    against: AnyTarget,
    mode: str = "mixed_float16",
    mixlist: AnyMixlist | None = None,
    *,
    model: str | os.PathLike[str] | None = None,
    shapes: Shapes | None = None,
    among: Sequence[str] | str = (),
    evidence: Sequence[str | os.PathLike[str]] | str | os.PathLike[str] = (),
    grow: bool = False,
    profile: Sequence[str | os.PathLike[str]] | str | os.PathLike[str] = (),
    lead: int | None = None,
    budget: int | str | None = None,
    journal: str | os.PathLike[str] = ".opsinfo-bisect",
    resume: bool = False,
) -> BisectAnswer:
    """Find the smallest black list that makes a check pass, as ``opsinfo bisect``.

    :param check: called with the path of a mixlist, or a command with ``{mixlist}``; see ``docs/bisect.md``
    :param against: the target that supplies the policies
    :param mixlist: the mixlist that every list extends
    :param model: the path of a model, to search among its op types
    :param shapes: of its inputs, by name, as for :meth:`.Graph.read`
    :param among: op types to search among
    :param evidence: paths of a ``dump.json`` of msprobe, the JSON of a simulation, or compared tensors
    :param grow: search for the largest white list, not the smallest black one
    :param profile: tables of what ran, which say what the nodes of the model cost
    :param lead: run a list until one verdict has so many more runs than the other
    :param budget: a number of runs, or a time such as ``6h``; the best list known is returned when it is spent
    :param journal: the folder of the search, which holds the list as ``best.json``
    :param resume: continue the search in that folder
    :raises UsageFault: if an argument does not fit, a command does not read the list, the check returns neither True
        nor False, or the folder has a search that is not resumed, or another one is
    :raises Refused: if the check gives no verdict, and the search can be resumed; if a file cannot be read or written
    """
    target, listener = Target.open(against), PythonSearchListener()
    base = None if mixlist is None else Mixlist.open(mixlist)
    options = SubjectOptions(
        target.text,
        None if model is None else os.fspath(model),
        base.path if base else None,
        mode,
        _several(among),
        _several(evidence),
        grow,
        "type",
        profile=_several(profile),
    )
    shapes_of = None if shapes is None else partial(stated_shapes, shapes)
    folder = RunFolder(os.fspath(journal))
    folder.require(resume)
    problem = open_problem(options, target, base, listener, shapes_of=shapes_of)
    words, place = _place(check)
    rules = Rules(words, lead, budget=RunBudget() if budget is None else RunBudget.read(str(budget)))
    trial_check = TrialCheck(rules, words, named_files(words), lambda _: place)
    answer = run_search(problem, trial_check, folder, listener, resume=resume)
    if answer.failed is not None:
        raise answer.failed
    return answer


def _several(values: Sequence[str | os.PathLike[str]] | str | os.PathLike[str]) -> tuple[str, ...]:
    """Return names or paths; one is taken for a list of one."""
    given = (values,) if isinstance(values, (str, os.PathLike)) else values
    return tuple(os.fspath(value) for value in given)


def _place(check: Check) -> tuple[Sequence[str], TrialPlace]:
    """Return the words that identify a check, and the place where it runs."""
    if isinstance(check, str) or not (callable(check) or check):
        hint = f"{check.split()}" if isinstance(check, str) and check else None
        raise UsageFault("a check is a function or the words of a command", name="wrong-type", hint=hint)
    if not callable(check):
        require_placeholders(check, {"keep_dtype": "--by node", "device": "--devices"})
        require_list(check)
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
