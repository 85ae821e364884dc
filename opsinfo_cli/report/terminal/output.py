"""Where output goes: data to stdout, talk to stderr, and nothing that a terminal or a pipe chokes on."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable

from ...errors import OpsinfoError, Refused, brief
from ...typed import TYPE_CHECKING
from .visible import visible

if TYPE_CHECKING:
    from typing import IO, Any, TextIO

    from .style import Look

__all__ = ["SCHEMA_VERSION", "Output", "prepare_streams", "terminal_size"]

SCHEMA_VERSION = 1


def prepare_streams() -> None:
    """No name in a file may crash a GBK or ASCII terminal, and a stream that is closed is nobody's."""
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def terminal_size() -> os.terminal_size:
    """Cells and lines of the terminal, or what COLUMNS and LINES say."""
    from shutil import get_terminal_size  # with the archives it can make it takes longer to load than all of ours here

    return get_terminal_size()


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")


def _on_one_line(content: dict[str, Any]) -> str:
    """What `json.dumps` says, with long lists some items at a time: it holds each word of what it is given."""
    encode = json.JSONEncoder(check_circular=False).encode
    return "{" + ", ".join(f"{encode(key)}: {_encoded(value, encode)}" for key, value in content.items()) + "}"


def _encoded(value: Any, encode: Callable[[Any], str]) -> str:
    if not isinstance(value, list):
        return encode(value)
    return "[" + ", ".join(encode(value[at : at + _SOME])[1:-1] for at in range(0, len(value), _SOME)) + "]"


_SOME = 64


class Output:
    """How one command speaks.

    :param color: auto, always or never
    :param verbose: how often -v was said
    :param to: a file for the data, instead of standard output
    """

    def __init__(
        self,
        command: str,
        format: str = "text",
        color: str = "auto",
        quiet: bool = False,
        verbose: int = 0,
        to: str | None = None,
    ) -> None:
        self.command = command
        self.format = format
        self.color = color
        self.quiet = quiet
        self.verbose = verbose
        self.to = to
        self._sent = b""

    @property
    def on_terminal(self) -> bool:
        return self.to is None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"

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
        """What a stream can show; a pipe is read by somebody with a window of the usual width."""
        from .style import PLAIN, Look

        width = terminal_size().columns if stream.isatty() else PLAIN.width
        return Look(self.colored(stream), width, stream.encoding or "utf-8")

    # data

    def lines(self, lines: Iterable[str]) -> None:
        text = "".join(f"{line}\n" for line in lines)
        self.data(text)

    def data(self, text: str, exact: bool = False) -> None:
        """:param exact: whether the text is a file's own: UTF-8 in a pipe, made harmless on a terminal"""
        if self.to is not None:
            from ..report_file import write_report

            self._sent += text.encode("utf-8", "surrogateescape")
            write_report(self.to, self._sent)
            return
        try:
            if exact and sys.stdout.isatty():
                text = "".join(f"{visible(line)}\n" for line in text.splitlines())
                sys.stdout.write(text)
            elif exact:
                sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
            else:
                sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:
            # the reader has what it wanted; what was done stays done
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as error:
            raise Refused(f"cannot write the output: {error.strerror}", name="output-failed") from None

    def pages(self, lines: Iterable[str], pager: bool) -> None:
        """Lines for people: through $PAGER where they are more than a terminal holds, and nobody minds.

        :param pager: whether that may be
        """
        text = [f"{line}\n" for line in lines]
        room = terminal_size().lines - 1
        somebody = self.on_terminal and sys.stdin is not None and sys.stdin.isatty() and not self.quiet
        if not (pager and somebody and len(text) > room):
            self.data("".join(text))
            return
        import click

        os.environ.setdefault("LESS", "FRX")  # colours as they are; what was read stays on the screen
        click.echo_via_pager(text, color=self.colored(sys.stdout))

    def document(self, content: dict[str, Any]) -> None:
        """One JSON document; on one line off a terminal."""
        headed = self.headed(content)
        self.data((json.dumps(headed, indent=2) if self.on_terminal else _on_one_line(headed)) + "\n")

    def headed(self, content: dict[str, Any]) -> dict[str, Any]:
        return {"schema_version": SCHEMA_VERSION, "command": self.command, **content}

    # talk

    def say(self, text: str, kind: str = "note") -> None:
        """A word on stderr; -q silences notes, never warnings and errors."""
        if self.quiet and kind == "note":
            return
        self._stderr(f"{self.paint(kind + ':', kind, sys.stderr)} {visible(brief(text))}")

    def tell(self, text: str) -> None:
        """A plain line on stderr: what was done, what to do next."""
        if not self.quiet:
            self._stderr(visible(text))

    def detail(self, text: str) -> None:
        """What only -v says."""
        if self.verbose and not self.quiet:
            self._stderr(visible(text))

    def complain(self, line: str) -> None:
        """A line on stderr that -q does not silence."""
        self._stderr(line)

    def failure(self, error: OpsinfoError) -> None:
        """Say why a command failed, in the format that was asked for."""
        from .failure import failure_document, failure_lines

        if self.format != "text":
            self.document({"error": failure_document(error)})
            return
        for line in failure_lines(error, self.look(sys.stderr)):
            self._stderr(line)

    def _stderr(self, line: str) -> None:
        from contextlib import suppress

        with suppress(OSError):  # where nobody listens, the exit status still speaks
            print(line, file=sys.stderr, flush=True)
