"""Checks of texts and folders in one process, as a run of `validate` makes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from opsinfo_cli.core.cann.file_kind import NamedKind
from opsinfo_cli.core.check.finding import Outcome
from opsinfo_cli.core.check.kinds import Asked, Context, ReadFile
from opsinfo_cli.core.check.run import CheckRun, Step, run_checks
from opsinfo_cli.errors import OpsinfoError
from opsinfo_cli.lab.graph.mixlist_check import open_models


class Checker:
    """Collects findings.

    :ivar outcome: what was found so far
    """

    def __init__(self, against: Any = (), **asked: Any) -> None:
        self.asked = Asked(against=against, open_models=open_models, **asked)
        self.run = CheckRun(Context(self.asked))
        self.outcome: Outcome = self.run.outcome

    @property
    def failures(self) -> list[OpsinfoError]:
        return self.outcome.failures

    def check_paths(self, paths: Iterable[str], step: Step = lambda done, total: None) -> None:
        self.outcome = run_checks(list(paths), self.asked, step=step).outcome

    def check_file(self, path: str, data: bytes, is_named: bool = True, kind: NamedKind | None = None) -> None:
        self.run.check(ReadFile(path, data, kind or self.asked.kind, None if is_named else "/"))
        self.run.check_together()

    check_named = check_file

    def check_folder(self, folder: str) -> None:
        self.run.check(ReadFile(folder, None))

    def check_modes(self) -> None:
        self.run.finish()
