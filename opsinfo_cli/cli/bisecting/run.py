"""One run of `opsinfo bisect`, from the journal to the exit status."""

from __future__ import annotations

import os

from ...bisect.answered import BisectAnswer, answered
from ...bisect.budget import price, span
from ...bisect.journal import Past, SearchJournal, require_readable, require_same
from ...bisect.orphans import end_orphans
from ...bisect.places.place import TrialPlace
from ...bisect.result import SearchEnd, searched, so_far
from ...bisect.session import OutOfBudget, SearchSession
from ...bisect.trial import RunFolder
from ...errors import UsageFault
from ...report.formats.summary import counted
from ...report.terminal.output import Output
from ...report.views.bisect import BisectProgress, bisect_document, show_found
from ..shared.common_options import WriteOptions
from .delivery import delivered_list
from .options import RunOptions, rules_of
from .places import place_of
from .subject import Problem, facts_of

_STATUS = {"found": 0, "nothing-to-do": 0, "cannot-cure": 1, "budget": 1, "interrupted": 130}


class BisectRun:
    """:param check: the words of the command
    :param out: where the list goes; None: into the run folder
    """

    def __init__(
        self, options: RunOptions, check: tuple[str, ...], out: str | None, writing: WriteOptions, output: Output
    ) -> None:
        """:raises UsageFault: if options exclude each other"""
        self.options = options
        self.check = check
        self.out = out
        self.writing = writing
        self.output = output
        self.rules = rules_of(options, check)
        self.place: TrialPlace = place_of(options, check, output)

    def search(self, found: Problem) -> int:
        """Search, and report.

        :returns: the exit status
        """
        self._report_price(found)
        if not self.writing.writes:
            return 0
        folder = RunFolder(self.options.journal)
        self._require_folder(folder)
        folder.make()
        _ = self.place.slots  # a cluster that cannot be reached is an error before there is a journal
        journal = SearchJournal(folder.journal)
        try:
            past = self._past(journal, folder, found)
            return self._searched(found, folder, journal, past)
        finally:
            journal.close()

    def _searched(self, found: Problem, folder: RunFolder, journal: SearchJournal, past: Past | None) -> int:
        progress = BisectProgress(self.output, len(found.names))
        session = SearchSession(found.subject(), self.rules, self.place, folder, journal, past, progress)
        try:
            result = searched(session, found.weights)
        except OutOfBudget:
            result = so_far(session, "budget")
        except KeyboardInterrupt:
            result = so_far(session, "interrupted")
        finally:
            progress.done()
        journal.ended(result.ended)
        self._report(found, session, result, folder)
        return _STATUS[result.ended]

    def _report(self, found: Problem, session: SearchSession, result: SearchEnd, folder: RunFolder) -> None:
        path = None
        if result.kept is not None:
            text = found.opened.text(found.opened.types(found.names, result.kept))
            path = delivered_list(text, found.opened.options.base, self.out, folder, self.writing, self.output)
        answer = answered(session, result, path, found.opened.sets, found.opened.white, found.same)
        self._show(answer)

    def _show(self, answer: BisectAnswer) -> None:
        if self.output.format == "json":
            self.output.document(bisect_document(answer))
        else:
            show_found(self.output, answer)

    def _require_folder(self, folder: RunFolder) -> None:
        """:raises UsageFault: if there is a search already that is not resumed
        :raises Refused: if there is none to resume
        """
        if self.options.resume:
            require_readable(folder.journal)
        elif os.path.exists(folder.journal):
            hint = "--resume goes on with it; --journal DIR starts another one"
            raise UsageFault("there is a search in this folder already", name="exists", path=folder.path, hint=hint)

    def _past(self, journal: SearchJournal, folder: RunFolder, found: Problem) -> Past | None:
        """What the journal says of earlier processes; the facts of this one go into a new journal."""
        past = journal.past()
        facts = facts_of(found, self.check)
        if past is None:
            journal.begin(facts)
            return None
        if not self.options.force:
            require_same(past, facts, folder.path)
        ended = end_orphans(folder.trials)
        if ended:
            self.output.say(f"ended {counted(ended, 'process')} of a trial that an earlier search left running")
        self.output.say(f"resuming: {counted(len(past.trials), 'run')} in the journal")
        return past

    def _report_price(self, found: Problem) -> None:
        count = len(found.names)
        each = max(self.rules.counting.repeat // 2 + 1, self.rules.counting.lead or 1)
        said = price(count, each)
        what = f"{counted(count, 'candidate')}: "
        known = f"{said.one} runs if one is needed, {said.three} if three are, at most {said.most}"
        limit = self.rules.budget
        allowed = f"; allowed: {limit.runs} runs" if limit.runs is not None else ""
        allowed += f"; allowed: {span(limit.seconds)}" if limit.seconds is not None else ""
        self.output.say(what + known + allowed)
        for number, name in enumerate(found.names, 1):
            self.output.detail(f"  {number}. {name}")
