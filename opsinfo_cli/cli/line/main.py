"""The entry point, and the only place that maps errors to exit codes."""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...errors import OpsinfoError, Refused, Stopped

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any, NoReturn

    _Handler = Callable[[int, FrameType | None], None]


def _stop(number: int, _: FrameType | None) -> NoReturn:
    """Raise once: `timeout` sends its signal twice, and the second one must not interrupt what the first one ends."""
    _handle(_stop, _is_stopping)
    raise Stopped(number)


def _is_stopping(number: int, _: FrameType | None) -> None:
    """Do nothing: the process ends already."""


def _handle(before: _Handler, after: _Handler) -> None:
    import signal

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is before:
            signal.signal(number, after)


_missed: list[int] = []
"""Signals that arrived while Python could not raise: the work continues, and the exit status reports them."""


def _note_missed(unraisable: Any) -> None:
    import signal

    error = unraisable.exc_value
    if isinstance(error, KeyboardInterrupt):
        _missed.append(signal.SIGINT)
    elif isinstance(error, Stopped):
        _missed.append(error.number)
        _handle(_is_stopping, _stop)
    else:
        sys.__unraisablehook__(unraisable)


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit with its status. Completion is answered before click is imported.

    :param args: the words of a caller in the same process; None for ``sys.argv``
    """
    stays = args is not None or bool(sys.getprofile() or sys.gettrace())  # a profiler or coverage has a report to write
    try:
        if args is None and os.environ.get("_OPSINFO_COMPLETE"):
            from .complete import complete

            status = complete(os.environ)
        else:
            status = _prepared(list(sys.argv[1:] if args is None else args))
        _leave(status, stays)
    except KeyboardInterrupt:
        _leave(130, stays)
    except Stopped as stopped:
        _leave(128 + stopped.number, stays)


def _leave(status: int, stays: bool) -> NoReturn:
    """Exit; a signal that arrives now still decides the status, see :func:`main`."""
    _flush()
    if stays:
        sys.exit(status)
    os._exit(status)  # immediately: freeing a library takes a third of its reading time


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # a closed pipe does not change the exit status
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _prepared(words: list[str]) -> int:
    """Run a command after preparing the process for it."""
    gc.disable()  # the process is short-lived and keeps its libraries until the end
    import signal  # after that: it imports much, and the collector would run several times

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # ignored by nohup
            signal.signal(number, _stop)
    sys.unraisablehook = _note_missed
    status = _run(words)
    if _missed:
        status = 128 + _missed[0]
    return status


def _run(words: list[str]) -> int:
    try:
        from ...report.terminal.output import prepare_streams

        prepare_streams()
        from .reading import command_first, read_line

        words = command_first(words)
        reading = read_line(words)
        if reading.is_plain and reading.command:
            status: int = reading.command.call(reading.values)
            return status
        from .click_program import run

        return run(words)
    except BrokenPipeError:  # the pipe is closed
        return 0
    except OpsinfoError as error:
        return _fail(words, error)
    except Exception as error:
        if isinstance(error.__cause__, (KeyboardInterrupt, Stopped)):  # raised while Python creates a class
            raise error.__cause__ from None
        if isinstance(error, OSError) and error.errno in _OUTPUT_FAILED and error.filename is None:
            from ...report.terminal.output import output_failed

            return _fail(words, output_failed(error))
        if _is_short_of_memory(error):
            return _fail(words, Refused("out of memory", name="out-of-memory"))
        # an internal error: keep the trace for a report
        from ...change.fault_trace import kept_trace

        said = f"internal error: {type(error).__name__}: {error}"
        hint = f"please report it with the trace: {kept_trace(error)}"
        return _fail(words, Refused(said, name="internal-fault", hint=hint))


_OUTPUT_FAILED = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""Errors of a write to a stream: the disk is full or broken, or the caller has closed the stream."""


def _is_short_of_memory(error: Exception) -> bool:
    """Return whether memory ran out: the system and the loader of compiled modules have their own errors for it."""
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return isinstance(error, MemoryError) or (isinstance(error, ImportError) and "failed to map" in str(error))


def _fail(words: list[str], error: OpsinfoError) -> int:
    from ..shared.common_options import output_of
    from .reading import command_first, failure_options

    words = command_first(words)
    command = next((word for word in words if not word.startswith("-")), "")
    printing = failure_options(words)
    try:
        output_of(command, printing).failure(error)
    except OpsinfoError as worse:  # the failure cannot be written as JSON: print it as text
        output_of(command, printing._replace(format="text")).failure(worse)
        return worse.exit_code
    return error.exit_code
