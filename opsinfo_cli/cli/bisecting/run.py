"""One run of `opsinfo bisect`, from the journal to the exit status."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from ...bisect.answered import BisectAnswer, KeptNode, NodesAnswer, answered, trial_counts
from ...bisect.journal import Past, SearchJournal, require_readable, require_same
from ...bisect.orphans import end_orphans
from ...bisect.result import SearchEnd, proof, searched, so_far
from ...bisect.session import OutOfBudget, SearchSession
from ...bisect.trial import RunFolder
from ...errors import Stopped, UsageFault
from ...report.formats.summary import counted
from ...report.terminal.output import Output
from ...report.views.bisect import BisectProgress, bisect_document, plan_document, say_price, show_found, show_plan
from ..shared.common_options import WriteOptions
from .delivery import Delivery
from .nodes import node_name, node_subject
from .options import RunOptions, rules_of
from .places import Check
from .subject import Problem, facts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_STATUS = {"found": 0, "nothing-to-do": 0, "cannot-cure": 1, "budget": 1}


class BisectRun:
    """:param out: the path of the list; None: in the run folder"""

    def __init__(
        self, options: RunOptions, check: Check, out: str | None, writing: WriteOptions, output: Output
    ) -> None:
        """:raises UsageFault: if options exclude each other"""
        self.options = options
        self.check = check
        self.out = out
        self.writing = writing
        self.output = output
        self.rules = rules_of(options, check.command)
        self._signal = 0

    def search(self, problem: Problem) -> int:
        """Search, and report.

        :returns: the exit status
        """
        say_price(self.output, len(problem.names), self.rules)
        if not self.writing.writes:
            self._show_plan(problem)
            return 0
        folder = RunFolder(self.options.journal)
        delivery = Delivery(self.out, problem.opened.options.base, folder, self.writing, self.output)
        self._require_folder(folder)
        delivery.require_possible()
        place = self.check.place(problem.opened, self.output)
        folder.make()
        _ = place.slots  # an unreachable cluster is an error before a journal is created
        journal = SearchJournal(folder.journal)
        try:
            past = self._past(journal, folder, problem)
            progress = BisectProgress(self.output, len(problem.names))
            session = SearchSession(problem.subject(), self.rules, place, folder, journal, past, progress)
            return self._searched(problem, session, delivery, progress)
        finally:
            journal.close()

    def _searched(self, problem: Problem, session: SearchSession, delivery: Delivery, progress: BisectProgress) -> int:
        found = self._end_of(session, problem.weights, progress)
        opened, path = problem.opened, None
        if found.kept is not None:
            path = delivery.mixlist(opened.text(opened.types(problem.names, found.kept)))
        answer = answered(session, found, path, opened.sets, opened.white, problem.same)
        if opened.options.by == "node" and found.ended == "found":
            answer = self._among_nodes(problem, session, answer, delivery, progress)
        self._show(answer)
        ended = found.ended
        if answer.keep_dtype is not None and answer.keep_dtype.ended in ("budget", "interrupted"):
            ended = answer.keep_dtype.ended
        return 128 + self._signal if ended == "interrupted" else _STATUS[ended]

    def _end_of(self, session: SearchSession, weights: Sequence[float], progress: BisectProgress) -> SearchEnd:
        """Return the end of the search: by itself, by its budget, or by a signal."""
        try:
            found = searched(session, weights)
        except OutOfBudget:
            found = so_far(session, "budget")
        except (KeyboardInterrupt, Stopped) as signalled:
            self._signal = signalled.number if isinstance(signalled, Stopped) else signal.SIGINT
            found = so_far(session, "interrupted")
        finally:
            progress.done()
        session.journal.ended(found.ended)
        return found

    def _among_nodes(
        self,
        problem: Problem,
        session: SearchSession,
        answer: BisectAnswer,
        delivery: Delivery,
        progress: BisectProgress,
    ) -> BisectAnswer:
        """Continue among the nodes of the culprit types."""
        assert problem.opened.sets is not None
        types = [name for each in answer.culprits for name in (each.type, *each.same)]
        subject = node_subject(problem.opened.sets, types, problem.opened.text(frozenset()))
        self.output.say(f"continuing among {counted(len(subject.names), 'node')} of {counted(len(types), 'op type')}")
        progress.restart(len(subject.names), "nodes")
        below = session.below(subject)
        found = self._end_of(below, [1.0] * len(subject.names), progress)
        names = [node_name(name) for name in subject.names]
        path = None if found.kept is None else delivery.keep_dtype([names[each] for each in sorted(found.kept)])
        type_of = {node.name: node.type for node in problem.opened.sets.graph}
        nodes = [
            KeptNode(names[each], type_of[names[each]], proof(below, found.kept, each))
            for each in sorted(found.kept or ())
            if found.kept is not None
        ]
        below_answer = NodesAnswer(found.ended, len(names), path, nodes, found.minimal)
        return answer._replace(keep_dtype=below_answer, counts=trial_counts(below), unsure=below.cannot_tell)

    def _show(self, answer: BisectAnswer) -> None:
        if self.output.format == "json":
            self.output.document(bisect_document(answer))
        elif self.output.format == "html":
            from ...report.views.bisect_page import bisect_page

            self.output.data(bisect_page(answer), exact=True)
        else:
            show_found(self.output, answer)

    def _show_plan(self, problem: Problem) -> None:
        if self.output.format == "json":
            self.output.document(plan_document(problem.names, problem.weights, self.rules))
        else:
            show_plan(self.output, problem.names, problem.weights)

    def _require_folder(self, folder: RunFolder) -> None:
        """:raises UsageFault: if a search exists that is not resumed
        :raises Refused: if there is no search to resume
        """
        if self.options.resume:
            require_readable(folder.journal)
        elif os.path.exists(folder.journal):
            hint = "--resume continues it; --journal DIR starts another one"
            raise UsageFault("there is a search in this folder already", name="exists", path=folder.path, hint=hint)

    def _past(self, journal: SearchJournal, folder: RunFolder, problem: Problem) -> Past | None:
        """Return the journal of earlier processes; a new journal gets the facts of this one."""
        past = journal.past()
        facts = facts_of(problem, self.check.facts)
        if past is None:
            journal.begin(facts)
            return None
        if not self.options.force:
            require_same(past, facts, folder.path)
        ended = end_orphans(folder.trials)
        if ended:
            self.output.say(f"ended {ended} processes of trials that an earlier search left running")
        self.output.say(f"resuming: {counted(len(past.trials), 'run')} in the journal")
        return past
