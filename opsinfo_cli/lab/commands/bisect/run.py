"""One run of `opsinfo bisect`, from the journal to the answer."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress

from ....core.change.output_file import require_writable, write_file
from ....core.terminal.answer import Answer
from ....core.terminal.console import Console
from ....core.terminal.open import require_no_library
from ....core.terminal.params import WriteOptions, is_input, is_same
from ....core.terminal.write import built
from ....core.text.source import Source
from ....errors import OpsinfoError, Stopped, UsageFault, WarningsFound, counted
from ...bisect.culprits import BisectAnswer, KeptNode, NodesAnswer, answer_of
from ...bisect.curve import CurvePoint, curve_of
from ...bisect.journal import SearchJournal, begun
from ...bisect.problem import Problem, SubjectOptions, keep_dtype_text, node_name
from ...bisect.run_folder import BEST, BEST_KEPT, BEST_NAMES, RunFolder, last_lines
from ...bisect.search.protocol import SearchEnd
from ...bisect.session import OutOfBudget, SearchSession, Unusable
from .answer import Progress, Show, bisect_answer, doubt_lines, overhead_line, plan_answer, price_line
from .check import Check

_STOPPED = ("budget", "interrupted")
_STATUS = {"found": 0, "nothing-to-do": 0, "cannot-cure": 1, "budget": 1}


class BisectRun:
    """:param out: the path of the list; None: in the run folder"""

    def __init__(self, check: Check, out: str | None, writing: WriteOptions, console: Console) -> None:
        self.check = check
        self.out = out
        self.writing = writing
        self.console = console
        self.folder = RunFolder(check.options.journal)
        self._signal = 0
        self._failed: OpsinfoError | None = None

    def search(self, problem: Problem) -> Answer:
        """Search, or say what a search would do.

        :raises UsageFault: if there is a search that is not resumed, or another one is
        :raises WarningsFound: if there is a warning before the first run, and warnings count as errors
        :raises Refused: if the check is unusable, or a file or the system refuses
        """
        rules = self.check.rules
        self.console.note(price_line(problem.price(rules), len(problem.names), rules))
        self.check.report_doubts(self.console)
        if self.console.is_failed:
            raise WarningsFound("warnings count as errors (--strict); nothing was run", hint="correct what they name")
        if not self.writing.writes:
            return plan_answer(problem, rules)
        self.folder.require(self.check.options.resume)
        self._require_writable(problem.options.write_as == "mixlist")
        place = self.check.place(problem, self.console, self.folder.path)
        self.folder.make()
        _ = place.slots  # an unreachable cluster is an error before a journal is created
        journal = SearchJournal(self.folder.journal)
        try:
            past = begun(journal, problem.facts(self.check.words, self.check.files), self.writing.force)
            if past:
                self.console.note(f"resuming: {counted(len(past.trials), 'run')} in the journal")
            with self._shown() as show:
                progress = Progress(self.console, show)
                session = SearchSession(problem.subject(), rules, place, self.folder, journal, past, progress)
                end = self._end_of(session, problem.weights, problem.singles)
            answer = self._answer(problem, session, end)
            if problem.options.curve:
                answer = answer._replace(curve=self._curve(problem, session, end))
        except Unusable as error:
            lines = last_lines(error.output)
            self.console.lines([*(["last lines of the check:"] if lines else []), *(f"  {line}" for line in lines)])
            raise
        finally:
            journal.close()
        self.console.detail(overhead_line(answer))
        for line in doubt_lines(answer):
            self.console.warn(line)
        if self._failed:
            self.console.failure_text(self._failed)
        ended = answer.nodes.end.ended if answer.nodes else answer.end.ended
        status = _STATUS.get(ended if ended in _STOPPED else answer.end.ended, 128 + self._signal)
        facts = [*_subject_facts(problem), ("Check", self.check.shown)]
        return bisect_answer(answer, facts, self._failed.exit_code if self._failed else status, self._failed)

    def _shown(self) -> AbstractContextManager[Show]:
        """Return the line of progress; none if a person is asked, whose prompt it would cover."""
        return nullcontext(lambda *_: None) if self.check.options.interactive else self.console.status()

    def _end_of(self, session: SearchSession, weights: Sequence[float], singles: Sequence[int] = ()) -> SearchEnd:
        """Return the end of the search: by itself, by its budget, or by a signal."""
        try:
            end = session.search(weights, singles)
        except OutOfBudget:
            end = session.so_far("budget")
        except (KeyboardInterrupt, Stopped) as signalled:
            self._signal = signalled.number if isinstance(signalled, Stopped) else signal.SIGINT
            end = session.so_far("interrupted")
        self._written(lambda: session.journal.ended(end.ended))
        return end

    def _curve(self, problem: Problem, session: SearchSession, end: SearchEnd) -> list[CurvePoint]:
        """Return the lists that were run, after those of the most suspected op types were run, too."""
        if end.ended not in _STOPPED:
            with suppress(KeyboardInterrupt, Stopped), self._shown() as show:
                session.watch = Progress(self.console, show)
                session.run_prefixes()
        points = curve_of(problem, session)
        if not points:
            self.console.warn("the check printed no number: --curve needs the loss as the last number of its output")
        return points

    def _answer(self, problem: Problem, session: SearchSession, end: SearchEnd) -> BisectAnswer:
        answer = answer_of(problem, session, end)
        if end.kept is not None:
            texts = problem.lists(problem.types(end.kept))
            answer = answer._replace(mixlist=self._written(lambda: self._lists(texts, problem.options)))
        if problem.options.by == "node" and end.ended == "found":
            return self._among_nodes(problem, session, answer)
        return answer

    def _among_nodes(self, problem: Problem, session: SearchSession, answer: BisectAnswer) -> BisectAnswer:
        """Continue among the nodes of the culprit types."""
        assert problem.sets is not None
        types = [name for culprit in answer.culprits for name in (culprit.type, *culprit.same)]
        subject = problem.node_subject(types)
        names = [node_name(name) for name in subject.names]
        self.console.note(f"continuing among {counted(len(names), 'node')} of {counted(len(types), 'op type')}")
        with self._shown() as show:
            session.watch = Progress(self.console, show, "nodes")
            below = session.below(subject)
            end = self._end_of(below, [1.0] * len(names))
        kept = sorted(end.kept or ())
        path = None
        if end.kept is not None:
            path = self._written(lambda: self._keep_dtype([names[number] for number in kept]))
        type_of = {
            problem.sets.plain[index].name: name for name, nodes in problem.sets.types.items() for index in nodes
        }
        nodes = [
            KeptNode(names[number], type_of[names[number]], below.proof(frozenset(kept), number)) for number in kept
        ]
        return answer._replace(nodes=NodesAnswer(below, end, path, nodes))

    def _require_writable(self, is_mixlist: bool) -> None:
        """Check before the search that the list can be written.

        :raises UsageFault: if another kind of file exists there, or it belongs to the journal
        :raises Refused: if no file can be written there
        """
        if self.out is None:
            return
        within = os.path.realpath(self.out).startswith(os.path.join(os.path.realpath(self.folder.trials), ""))
        if within or is_same(self.out, self.folder.journal):
            raise is_input("-o", self.out)
        require_writable(self.out)
        if os.path.lexists(self.out) and is_mixlist:
            require_no_library(Source.read(self.out))

    def _written(self, write: Callable[[], str | None]) -> str | None:
        """Write; the answer is printed even if it cannot be written.

        :returns: the path
        """
        try:
            return write()
        except OpsinfoError as error:
            self._failed = error
            return None

    def _lists(self, texts: Mapping[str, str], options: SubjectOptions) -> str:
        """Write the files of the list; existing ones are backed up.

        :returns: the path of the first
        :raises Refused: if one cannot be written
        """
        (_, first), *more = texts.items()
        is_mixlist = options.write_as == "mixlist"
        path = self.out or (BEST if is_mixlist else BEST_NAMES)
        beside = {f"{os.path.splitext(path)[0]}.{name}": text for name, text in more}
        if self.out is None:
            path, *_ = [self._into_run_folder(name, text) for name, text in {path: first, **beside}.items()]
            return path
        sources = [Source.read(options.base)] if options.base is not None else []
        require = require_no_library if is_mixlist else lambda _: None
        for path, text in {self.out: first, **beside}.items():
            for file in built("bisect", path, text, sources, self.writing, self.console, require).files:
                backup = "" if file.is_new else f"; backup {file.backup}"
                wrote = f"{'made' if file.is_new else 'wrote'} {path}{backup}"
                self.console.tell(wrote if file.patch else f"{path} already contains this list")
        return self.out

    def _keep_dtype(self, nodes: Sequence[str]) -> str:
        """Write a keep_dtype file, beside ``out`` if it is given.

        :returns: its path
        :raises Refused: if it cannot be written
        """
        text = keep_dtype_text(nodes)
        if self.out is None:
            return self._into_run_folder(BEST_KEPT, text)
        path = os.path.splitext(self.out)[0] + ".keep_dtype.cfg"
        if os.path.lexists(path):
            kept = self._into_run_folder(BEST_KEPT, text)
            raise UsageFault(f"{path} exists and was not replaced; the file of this search is {kept}", name="exists")
        write_file(path, text.encode("utf-8"))
        self.console.tell(f"made {path}")
        return path

    def _into_run_folder(self, name: str, text: str) -> str:
        path = os.path.relpath(self.folder.write(name, text.encode("utf-8")))
        self.console.tell(f"wrote {path}")
        return path


def _subject_facts(problem: Problem) -> list[tuple[str, str]]:
    """Return the model, the target and the mode for the page, or the form of the lists."""
    target, options = problem.options.against, problem.options
    if target is None or problem.target is None:
        return [("Lists", options.write_as)]
    soc = problem.target.soc
    return [
        ("Model", options.model or "none"),
        ("Target", target if not soc or target.endswith(soc) else f"{target} {soc}"),
        ("Precision mode", options.mode),
    ]
