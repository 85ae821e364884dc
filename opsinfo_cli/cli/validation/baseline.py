"""`--baseline` and `--update-baseline` of `validate`."""

from __future__ import annotations

import os

from ...change.output_file import require_writable, write_file
from ...check.baseline import Baseline
from ...check.run import CheckResult
from ...errors import UsageFault
from ...report.formats.summary import counted
from ...report.terminal.output import Output


def baseline_of(path: str | None, updates: bool) -> Baseline | None:
    """Return the baseline of ``--baseline``; None without it.

    :raises UsageFault: if the options contradict each other
    :raises Refused: if the file cannot be used
    """
    if path is None:
        if updates:
            raise UsageFault("--update-baseline requires --baseline", hint="add --baseline FILE")
        return None
    if updates:
        require_writable(path)
        if not os.path.lexists(path):
            return Baseline()
    return Baseline.read(path)


def update_baseline(path: str, old: Baseline | None, checked: CheckResult, output: Output) -> None:
    """Write the present findings to the baseline, unless it has them already.

    :raises Refused: if it cannot be written
    """
    old = old or Baseline()
    new = old.updated(checked.selected, checked.gone, checked.relative)
    added, gone = len(new.fingerprints - old.fingerprints), checked.gone
    if new.text() != old.text() or not os.path.exists(path):
        write_file(path, new.text().encode())
        output.tell(f"wrote {path}: {counted(len(new.entries), 'finding')}, {added} new, {len(gone)} gone")
    else:
        output.tell(f"{path} is up to date")


def say_baseline(path: str, checked: CheckResult, output: Output) -> None:
    known, gone = checked.known, checked.gone
    if known:
        output.tell(f"{known} known {'finding' if known == 1 else 'findings'} hidden by the baseline {path}")
    if gone:
        verb = "finding no longer occurs" if len(gone) == 1 else "findings no longer occur"
        output.say(f"{path}: {len(gone)} {verb}; --update-baseline removes {'it' if len(gone) == 1 else 'them'}")
        for entry in gone:
            output.detail(f"  gone: {entry.path}: {entry.code} {entry.name}: {entry.message}")
