"""One run of `opsinfo bisect` on a console: its progress, the files that it writes, and how it ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

from ....core.change.fmt import build_jobs, require_no_library
from ....core.change.writer import require_writes
from ....core.terminal.answer import CommandAnswer
from ....core.terminal.console import Console
from ....core.terminal.params import WriteOptions, is_input, is_same
from ....core.terminal.write import settings_of, write_jobs
from ....core.text.source import Source
from ....errors import OpsinfoError, Stopped, WarningsFound
from ...bisect.bisect_mixlist import TrialCheck, best_texts, run_search
from ...bisect.placeholders import require_list
from ...bisect.problem import Problem
from ...bisect.run_folder import BEST, BEST_KEPT, RunFolder, last_lines
from ...bisect.session import SearchSession, Unusable
from .answer import bisect_answer, doubt_lines, overhead_line, plan_answer, price_line, progress_of
from .check import Check

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

_STOPPED = ("budget", "interrupted")
_STATUS = {"found": 0, "nothing-to-do": 0, "cannot-cure": 1, "budget": 1}


class BisectRun:
    """The listener of a search.

    :param out: the path of the list; None: in the run folder
    """

    def __init__(self, check: Check, out: str | None, writing: WriteOptions, console: Console) -> None:
        self.check = check
        self.out = out
        self.writing = writing
        self.console = console
        self.folder = RunFolder(check.options.journal)
        self.note, self.warn, self.detail, self.progress = console.note, console.warn, console.detail, console.progress
        self._signal = 0

    def require(self) -> None:
        """Check what is known before a model is read and ranked, which may take long.

        :raises UsageFault: if the check does not read the list, or a search is there that is not resumed
        :raises Refused: if the run folder cannot be used
        """
        if self.check.command and not self.writing.force:
            require_list(self.check.command)
        if self.writing.writes:
            self.folder.require(self.check.options.resume, self.check.options.restart)

    def search(self, problem: Problem) -> CommandAnswer:
        """Search, or say what a search would do.

        :raises UsageFault: as :meth:`require`, or if another search is there
        :raises WarningsFound: if there is a warning before the first run, and warnings count as errors
        :raises Refused: if the check is unusable, or a file or the system refuses
        """
        check, console = self.check, self.console
        self.require()
        console.note(price_line(problem.price(check.rules), len(problem.names), check.rules))
        if console.is_failed:
            raise WarningsFound("warnings count as errors (--strict); nothing was run", hint="correct what they name")
        if not self.writing.writes:
            return plan_answer(problem, check.rules)
        self._require_writable(problem)
        judge = TrialCheck(
            check.rules, check.words, check.files, lambda problem: check.place(problem, console, self.folder.path)
        )
        try:
            answer = run_search(
                problem,
                judge,
                self.folder,
                self,
                resume=check.options.resume,
                restart=check.options.restart,
                force=self.writing.force,
                write=lambda texts: self._write(texts, problem.options.base),
            )
        except Unusable as error:
            lines = last_lines(error.output)
            console.lines([*(["last lines of the check:"] if lines else []), *(f"  {line}" for line in lines)])
            raise
        console.detail(overhead_line(answer))
        for line in doubt_lines(answer):
            console.warn(line)
        if answer.failed:
            console.failure_text(answer.failed)
        ended = answer.nodes.ended if answer.nodes else answer.end.ended
        status = _STATUS.get(ended if ended in _STOPPED else answer.end.ended, 128 + self._signal)
        facts = [*_subject_facts(problem), ("Check", check.shown)]
        return bisect_answer(answer, facts, answer.failed.exit_code if answer.failed else status)

    @contextmanager
    def watch(self, what: str) -> Iterator[Callable[[SearchSession], None]]:
        """Show a line of progress; none if a person is asked, whose prompt it would cover."""
        is_hidden = self.check.options.interactive
        line: AbstractContextManager[Callable[[str, float], None]]
        line = nullcontext(lambda *_: None) if is_hidden else self.console.status()
        with line as show:
            yield progress_of(self.console, show, what)

    def interrupt(self, signalled: KeyboardInterrupt | Stopped) -> None:
        self._signal = signalled.number if isinstance(signalled, Stopped) else signal.SIGINT

    def _require_writable(self, problem: Problem) -> None:
        """Check before the search that the lists can be written: by trying it, up to the writing.

        :raises UsageFault: if another kind of file exists there, or it belongs to the journal
        :raises Refused: if a file cannot be written there, or the vault cannot be used
        """
        if self.out is None:
            return
        within = os.path.realpath(self.out).startswith(os.path.join(os.path.realpath(self.folder.trials), ""))
        if within or is_same(self.out, self.folder.journal):
            raise is_input("-o", self.out)
        texts = best_texts(problem, problem.types(frozenset(range(len(problem.names)))))
        if problem.options.by == "node":
            texts |= {BEST_KEPT: ""}
        for path, name in self._paths(texts).items():
            require_writes(build_jobs(path, texts[name], [], _requirement(name)), settings_of(self.writing))

    def _paths(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Return the names of files of an answer by their paths: the list as ``out``, the others beside it."""
        assert self.out is not None
        stem = os.path.splitext(self.out)[0]
        lists = {name: stem + name.removeprefix("best") for name in texts}
        if next(iter(texts)) != BEST_KEPT:
            lists[next(iter(texts))] = self.out
        return {path: name for name, path in lists.items()}

    def _write(self, texts: Mapping[str, str], base: str | None) -> str:
        """Write files to ``out`` and beside it, else into the run folder; files that exist are backed up.

        :returns: the path of the first
        :raises Refused: if one cannot be written; all are in the run folder then, if they can be written there
        """
        if self.out is None:
            return self._write_in_folder(texts)
        sources = [Source.read(base)] if base is not None else []
        try:
            for path, name in self._paths(texts).items():
                jobs = build_jobs(path, texts[name], sources, _requirement(name))
                for file in write_jobs("bisect", jobs, self.writing, self.console).files:
                    backup = "" if file.is_new else f"; backup {file.backup}"
                    wrote = f"{'made' if file.is_new else 'wrote'} {path}{backup}"
                    self.console.tell(wrote if file.patch else f"{path} already contains this list")
        except OpsinfoError:
            with suppress(OpsinfoError):
                self._write_in_folder(texts)
            raise
        return next(iter(self._paths(texts)))

    def _write_in_folder(self, texts: Mapping[str, str]) -> str:
        paths = self.folder.write_texts(texts)
        for path in paths:
            self.console.tell(f"wrote {path}")
        return paths[0]


def _requirement(name: str) -> Callable[[Source], None]:
    """Return what refuses to replace a file: nothing but a mixlist replaces none of another kind."""
    return require_no_library if name == BEST else lambda _: None


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
