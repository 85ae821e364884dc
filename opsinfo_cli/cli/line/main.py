"""The start of every run, and the one place where errors become exit codes."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
from collections.abc import Sequence
from itertools import pairwise
from types import FrameType

from ...errors import OpsinfoError, Refused
from ...typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["COMMANDS", "main"]

COMMANDS = {
    "list": "Show operators with their policy.",
    "show": "Tell everything known of an operator, and why it is on its list.",
    "move": "Put operators on a list, in a library or a mixlist.",
    "apply": "Bake a mixlist into libraries.",
    "validate": "Check mixlists and libraries as the engine would, and better.",
    "matrix": "Show operators by target, any number of them.",
    "diff": "Compare two targets, or two mixlists.",
    "convert": "Write one system's lists as another's.",
    "systems": "List other systems whose lists are understood.",
    "decide": "Tell what dtype a call runs in, and by which rule.",
    "modes": "List precision modes, and the lines that set them.",
    "fmt": "Mend a mixlist so that the engine accepts it.",
    "merge": "Make one mixlist of several.",
    "minimize": "Drop what changes nothing from a mixlist.",
    "snapshot": "Write down the facts of a target, for where there is no CANN.",
    "backups": "List what the vault holds.",
    "restore": "Undo the last change, or put back a backup.",
    "reapply": "Put moves back that an upgrade undid.",
    "socs": "List installs, versions and chips.",
    "doctor": "Look for what is wrong with an install.",
    "qualify": "Tell from training logs whether a mixed-precision baseline is sound.",
    "reduced": "List operators that MindSpore's log says ran reduced.",
    "numerics": "Show number formats, and what values and tensors become in them.",
    "explain": "Explain a finding or a topic.",
    "schema": "Print a published JSON schema.",
    "completion": "Print what completes a line in bash, zsh, fish or PowerShell.",
}
"""Every command with its short help, so that `--help` imports none of them."""


class _Stopped(BaseException):
    """A signal asked the process to end."""

    def __init__(self, number: int) -> None:
        self.number = number


def _stop(number: int, _: FrameType | None) -> NoReturn:
    raise _Stopped(number)


_missed: list[int] = []
"""Signals that came where Python can raise nothing: the work goes on, the exit status tells."""


def _note_missed(unraisable: Any) -> None:
    error = unraisable.exc_value
    if isinstance(error, KeyboardInterrupt):
        _missed.append(signal.SIGINT)
    elif isinstance(error, _Stopped):
        _missed.append(error.number)
    else:
        sys.__unraisablehook__(unraisable)


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run a command and leave with its exit status. A shell that completes a line is answered before click is there.

    :param args: the words of a caller who stays, and catches the exit; None for those of the process
    """
    stays = args is not None or bool(sys.getprofile() or sys.gettrace())  # whoever measures has a report to write
    try:
        if args is None and os.environ.get("_OPSINFO_COMPLETE"):
            from .complete import complete

            status = complete(os.environ)
        else:
            status = _prepared(list(sys.argv[1:] if args is None else args))
        _leave(status, stays)
    except KeyboardInterrupt:
        _leave(130, stays)
    except _Stopped as stopped:
        _leave(128 + stopped.number, stays)


def _leave(status: int, stays: bool) -> NoReturn:
    """With a signal that comes now still told by its own status: :func:`main` hears of it to the end."""
    _flush()
    if stays:
        sys.exit(status)
    os._exit(status)  # at once: to take apart a library in memory takes a third of the time that its reading took


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # nobody listens; that makes no exit status
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _prepared(words: list[str]) -> int:
    """Run a command with the process made ready for it."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup means it
            signal.signal(number, _stop)
    sys.unraisablehook = _note_missed
    gc.disable()  # a short life, and the libraries are all it has
    status = _run(words)
    if _missed:
        status = 128 + _missed[0]
    return status


def _run(words: list[str]) -> int:
    try:
        from ...report.terminal.output import prepare_streams

        prepare_streams()
        from .fast_path import plain_call

        call = plain_call(words)
        if call:
            return call()
        from .click_program import run

        return run(words)
    except BrokenPipeError:  # nobody reads
        return 0
    except OpsinfoError as error:
        return _fail(words, error)
    except Exception as error:
        if isinstance(error.__cause__, (KeyboardInterrupt, _Stopped)):  # Python wraps what comes while it makes a class
            raise error.__cause__ from None
        if isinstance(error, OSError) and error.errno in _OUTPUT_FAILED and error.filename is None:
            from ...report.terminal.output import output_failed

            return _fail(words, output_failed(error))
        if _is_short_of_memory(error):
            return _fail(words, Refused("there is not enough memory for this", name="out-of-memory"))
        # a fault of ours: say so, and leave what is needed to mend it
        from ...report.terminal.fault_trace import kept_trace

        said = f"opsinfo has a fault: {type(error).__name__}: {error}"
        hint = f"please report it with the trace; {kept_trace(error)}"
        return _fail(words, Refused(said, name="internal-fault", hint=hint))


_OUTPUT_FAILED = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""What a write to a stream fails with: the disk is full or broken, or the caller has closed the stream."""


def _is_short_of_memory(error: Exception) -> bool:
    """The system has other words for it too, and the loader of compiled modules its own."""
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return isinstance(error, MemoryError) or (isinstance(error, ImportError) and "failed to map" in str(error))


def _fail(words: list[str], error: OpsinfoError) -> int:
    from ...report.terminal.output import Output

    command = next((word for word in words if not word.startswith("-")), "")
    output = Output(command, format="json" if _wants_json(words) else "text", color=_wanted_color(words))
    try:
        output.failure(error)
    except OpsinfoError as worse:  # not even that could be written: then in plain words beside it
        Output(command, format="text", color=_wanted_color(words)).failure(worse)
        return worse.exit_code
    return error.exit_code


def _wants_json(words: list[str]) -> bool:
    words = words[: words.index("--")] if "--" in words else words
    return "--format=json" in words or ("--format", "json") in pairwise(words)


def _wanted_color(words: list[str]) -> str:
    pairs = dict(pairwise(words))
    chosen = pairs.get("--color") or next((w[8:] for w in words if w.startswith("--color=")), "auto")
    return chosen if chosen in ("auto", "always", "never") else "auto"
