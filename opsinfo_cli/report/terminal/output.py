"""Output: data to stdout, messages to stderr, in characters that the stream can show."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ...errors import OpsinfoError, Refused, brief
from ..escape import visible, visible_line

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import IO, Any, TextIO

    from .style import Look


SCHEMA_VERSION = 1


def prepare_streams() -> None:
    """Make both streams accept any character: those that a GBK or ASCII terminal lacks are escaped."""
    sys.stdout = sys.stdout or _closed()
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _closed() -> TextIO:
    """Return a stream that fails on write, for a standard output that the caller closed."""
    return open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")


def output_failed(error: OSError) -> Refused:
    """Return the error for a standard output that cannot be written."""
    why = "standard output is closed" if error.errno == errno.EBADF else error.strerror
    return Refused(f"cannot write the output: {why}", name="output-failed")


def terminal_size() -> os.terminal_size:
    """Return columns and lines of the terminal, 80 and 24 if unknown; COLUMNS and LINES override them."""
    from shutil import get_terminal_size  # importing it takes longer than all modules of opsinfo here

    columns, lines = get_terminal_size()
    return os.terminal_size((columns or 80, lines or 24))  # Python 3.10 returns 0 for what the terminal does not know


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")


_NARROW = 20
"""The narrowest width, in cells, to which text is wrapped."""


class Output:
    """The output of one command.

    :param color: auto, always or never
    :param verbose: the number of -v options
    :param to: a file for the data, instead of standard output
    :param pager: whether :meth:`paged` may start one
    """

    def __init__(
        self,
        command: str,
        format: str = "text",
        color: str = "auto",
        quiet: bool = False,
        verbose: int = 0,
        to: str | None = None,
        pager: bool = True,
    ) -> None:
        self.command = command
        self.format = format
        self.color = color
        self.quiet = quiet
        self.verbose = verbose
        self.to = to
        self.pager = pager
        self._sent = b""
        self._held: list[str] | None = None

    @property
    def on_terminal(self) -> bool:
        return self.to is None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"

    @property
    def columns(self) -> int:
        """The width of the terminal in cells; 0 off a terminal, where nothing is shortened or wrapped."""
        return terminal_size().columns if self.on_terminal else 0

    def wrapped(self, text: str, indent: int = 0, before: int = 0) -> list[str]:
        """Return a text in lines that fit the terminal, broken between words; one line off a terminal.

        :param indent: blanks before every line but the first
        :param before: cells of each line that the caller fills
        """
        if not self.on_terminal:
            return [text]
        from .cell_width import wrapped

        lead = " " * (len(text) - len(text.lstrip(" ")))
        first, *rest = wrapped(text.strip(" "), max(_NARROW, self.columns - before - max(indent, len(lead))))
        return [lead + first, *(" " * indent + line for line in rest)]

    def colored(self, stream: IO[str]) -> bool:
        """``--color``, then NO_COLOR, then whether the stream is a terminal."""
        if self.color != "auto":
            return self.color == "always"
        if os.environ.get("NO_COLOR"):
            return False
        return stream.isatty() and os.environ.get("TERM") != "dumb"

    def paint(self, text: str, color: str, stream: IO[str] | None = None) -> str:
        if not self.colored(stream or sys.stdout):
            return text
        from .style import painted

        return painted(text, color)

    def look(self, stream: TextIO) -> Look:
        """Return the capabilities of a stream; a pipe has the default width."""
        from .style import PLAIN, Look

        on_terminal = stream.isatty()
        width = terminal_size().columns if on_terminal else PLAIN.width
        return Look(self.colored(stream), width, stream.encoding or "utf-8", breaks=on_terminal)

    # data

    def lines(self, lines: Iterable[str]) -> None:
        text = "".join(f"{line}\n" for line in lines)
        self.data(text)

    def data(self, text: str, exact: bool = False) -> None:
        """:param exact: whether the text is a file's content: UTF-8 in a pipe, escaped on a terminal"""
        if self._held is not None and not exact:
            self._held.append(text)
            return
        if self.to is not None:
            from ..report_file import write_report

            self._sent += text.encode("utf-8", "surrogateescape")
            write_report(self.to, self._sent)
            return
        if not text:
            return
        try:
            if exact and sys.stdout.isatty():
                sys.stdout.write("".join(f"{visible_line(line)}\n" for line in text.splitlines()))
            elif exact:
                sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
            else:
                sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:
            # the reader has closed the pipe; the command's work is still done
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as error:
            raise output_failed(error) from None

    def diff(self, text: str) -> None:
        """Print a unified diff: exact in a pipe, coloured on a terminal with colours."""
        if not (self.to is None and self.colored(sys.stdout)):
            if self.to is None and os.environ.get("GITHUB_ACTIONS") == "true":
                from .runner_log import without_commands

                text = without_commands(text)
            self.data(text, exact=True)
            return
        from .style import painted

        self.lines(
            painted(visible_line(line), "title" if line.startswith(("---", "+++")) else line[:1])
            for line in text.splitlines()
        )

    def paged(self) -> AbstractContextManager[None]:
        """Collect the data written inside, and show it through a pager if it is longer than the terminal.

        Output to stderr meanwhile comes first.
        """
        from contextlib import contextmanager

        return contextmanager(self._paged)()

    def _paged(self) -> Iterator[None]:
        if not (self.pager and self._is_read_by_a_person()):
            yield
            return
        self._held = []
        try:
            yield
        finally:
            text, self._held = "".join(self._held), None
            self._show(text)

    def _is_read_by_a_person(self) -> bool:
        return self.on_terminal and self.format == "text" and not self.quiet and bool(sys.stdin and sys.stdin.isatty())

    def _show(self, text: str) -> None:
        if text.count("\n") >= terminal_size().lines:
            from .pager import page, pager_command

            command = pager_command(os.environ)
            encoded = text.encode(sys.stdout.encoding or "utf-8", "backslashreplace")
            if command and page(encoded, command, os.environ):
                return
        self.data(text)

    def document(self, content: dict[str, Any]) -> None:
        """Print a JSON document; on one line off a terminal.

        :param content: by key; an iterator becomes an array, whose items are created on writing
        """
        from .document_text import document_text

        self.data(document_text(self.headed(content), self.on_terminal) + "\n")

    def headed(self, content: dict[str, Any]) -> dict[str, Any]:
        return {"schema_version": SCHEMA_VERSION, "command": self.command, **content}

    # talk

    def say(self, text: str, kind: str = "note") -> None:
        """Print a message to stderr; -q hides notes, but not warnings and errors."""
        if self.quiet and kind == "note":
            return
        head = f"{kind}:"
        first, *rest = self._broken(f"{head} {visible(brief(text))}")
        self._stderr(self.paint(head, kind, sys.stderr) + first.removeprefix(head))
        for line in rest:
            self._stderr(line)

    def tell(self, text: str, prose: bool = False) -> None:
        """Print a plain line to stderr: a result or the next step.

        :param prose: whether it may be wrapped on a terminal; a command to copy may not
        """
        if self.quiet:
            return
        for line in self._broken(visible(text)) if prose else [visible(text)]:
            self._stderr(line)

    def _broken(self, text: str, indent: int = 0) -> list[str]:
        if not sys.stderr.isatty():
            return [text]
        from .cell_width import wrapped

        return wrapped(text, max(_NARROW, terminal_size().columns - indent))

    def detail(self, text: str) -> None:
        """Print a message if -v is given."""
        if self.verbose and not self.quiet:
            self._stderr(visible(text))

    def complain(self, line: str) -> None:
        """Print a line to stderr that -q does not hide."""
        self._stderr(line)

    def item(self, text: str) -> None:
        """Print an item below a warning; -q does not hide it either."""
        for line in self._broken(visible(text), indent=2):
            self._stderr(f"  {line}")

    def failure(self, error: OpsinfoError) -> None:
        """Report why a command failed, in the requested format."""
        from .failure import failure_document, failure_lines

        if self.format != "text":
            self.document({"error": failure_document(error)})
            return
        for line in failure_lines(error, self.look(sys.stderr)):
            self._stderr(line)

    def _stderr(self, line: str) -> None:
        try:  # noqa: SIM105  contextlib takes longer to import than most of our modules
            print(line, file=sys.stderr, flush=True)
        except OSError:  # stderr is closed: the exit status is still right
            pass
