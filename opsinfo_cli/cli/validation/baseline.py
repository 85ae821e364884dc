"""`--baseline` and `--update-baseline` of `validate`."""

from __future__ import annotations

import os

from ...check.baseline import Baseline, Known
from ...check.checked import Checked
from ...check.finding import Finding
from ...check.narrowing import Narrowing
from ...errors import UsageFault
from ...report.file_writing import require_writable, write_file
from ...report.formats.summary import counted
from ...report.terminal.output import Output


def baseline_of(path: str | None, updates: bool) -> Baseline | None:
    """:raises UsageFault: where the options do not go together; :raises Refused: where the file cannot be used"""
    if path is None:
        if updates:
            raise UsageFault("--update-baseline needs to know the file", hint="say --baseline FILE too")
        return None
    if updates:
        require_writable(path)
        if not os.path.lexists(path):
            return Baseline()
    return Baseline.read(path)


def update_baseline(
    path: str, narrowing: Narrowing, selected: list[Finding], gone: list[Known], checked: Checked, output: Output
) -> Baseline:
    """Write down what is found now, and nothing where the file says so already.

    :raises Refused: where it cannot be written
    """
    old = narrowing.baseline or Baseline()
    new = old.updated(selected, gone, checked.relative)
    added = len(new.fingerprints - old.fingerprints)
    if new.text() != old.text() or not os.path.exists(path):
        write_file(path, new.text().encode())
        output.tell(f"wrote {path}: {counted(len(new.entries), 'finding')}, {added} new, {len(gone)} gone")
    else:
        output.tell(f"{path} is as it should be")
    return new


def say_baseline(path: str, known: int, gone: list[Known], output: Output) -> None:
    if known:
        said = "1 more finding is" if known == 1 else f"{known} more findings are"
        output.tell(f"{said} in the baseline {path}")
    if gone:
        verb = "occurs" if len(gone) == 1 else "occur"
        output.say(f"{len(gone)} of the baseline {path} no longer {verb}; --update-baseline takes them out")
        for entry in gone:
            output.detail(f"  gone: {entry.path}: {entry.code} {entry.name}: {entry.message}")
