"""The one place that prints: answers to standard output, messages to standard error.

Off a terminal nothing of rich is imported. All text is made visible before it is drawn, and none is read as markup.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import IO, Any, Literal, TypeAlias

import click

from ...errors import OpsinfoError, Refused, brief, counted, join_some
from ..document import EditedHere, ErrorDocument, Failure, Unreadable, as_json
from ..text.escape import inert, inert_json, inert_lines, row, visible, visible_line, wrapped
from .answer import (
    Block,
    CommandAnswer,
    Diff,
    Either,
    Exact,
    Line,
    Lines,
    Names,
    Picture,
    Span,
    Style,
    Table,
    Tree,
    cell_text,
    spans,
)
from .styles import STYLES, is_terminal, terminal_width

ColorWhen: TypeAlias = Literal["auto", "always", "never"]


_RUNNERS = ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION")
"""What a CI runner that reads commands in a log sets; a repository may print such a command by the name of a file."""


def _for_log(text: str) -> str:
    """Return what goes to standard output: in the log of a CI runner without commands, elsewhere as it is."""
    return inert_lines(text) if any(map(os.environ.get, _RUNNERS)) else text


def _is_standard_output(path: str) -> bool:
    """Return whether a path, such as `/dev/stdout`, leads to where standard output goes."""
    with suppress(OSError, ValueError):
        return os.path.samestat(os.stat(path), os.fstat(sys.stdout.fileno()))
    return False


@dataclass(eq=False, repr=False)
class Console:
    """The streams of one command, and how it prints.

    :param command: its name, for the head of JSON documents
    :param format: text, json, or another format of the command
    :param verbose: the number of ``-v`` options
    :param out: a file for the answer instead of standard output
    :param strict: whether warnings count as errors
    :ivar has_warned: whether a warning was printed
    :ivar unreadable: what all documents say in their head, as ``edited_here``
    """

    command: str
    format: str = "text"
    color: ColorWhen = "auto"
    quiet: bool = False
    verbose: int = 0
    out: str | None = None
    strict: bool = False
    has_warned: bool = field(default=False, init=False)
    unreadable: list[Unreadable] = field(default_factory=list, init=False)
    edited_here: list[EditedHere] = field(default_factory=list, init=False)

    @property
    def is_failed(self) -> bool:
        """Whether a warning was printed, and warnings count as errors."""
        return self.strict and self.has_warned

    @property
    def on_terminal(self) -> bool:
        """Whether a person sees the answer; `TERM=dumb` gets what a pipe gets."""
        return self.out is None and is_terminal(sys.stdout)

    @property
    def width(self) -> int:
        """The cells of the terminal on standard output; 0 off a terminal, where nothing is shortened or broken."""
        return terminal_width() if self.on_terminal else 0

    @property
    def stderr_width(self) -> int:
        return terminal_width() if is_terminal(sys.stderr) else 0

    def colored(self, stream: IO[str]) -> bool:
        """``--color``, then NO_COLOR (no-color.org) and FORCE_COLOR, then whether the stream is a terminal."""
        if self.color != "auto":
            return self.color == "always"
        if os.environ.get("NO_COLOR"):
            return False
        return bool(os.environ.get("FORCE_COLOR")) or is_terminal(stream)

    # answers

    def print(self, answer: CommandAnswer) -> None:
        """Print an answer in the format of the line.

        :raises Refused: if the output cannot be written
        """
        drawn = self.on_terminal and self.format == "text"
        for caveat in answer.caveats if not drawn else ():
            self.note(caveat)
        if self.format == "json":
            self._send_document(answer.document())
        elif isinstance(made := answer.formats.get(self.format, answer.blocks)(), str):
            self._send_exact(made)
        else:
            self._print_blocks(made, answer.paged, answer.caveats)
            for detail in answer.details:
                self.detail(detail)
            for error in answer.failures:
                self.failure_text(error)
            for warning in answer.warnings:
                self.warn(warning)
            summary = [answer.summary] if answer.summary and self.on_terminal else []
            for note in [*summary, *answer.notes]:
                self.tell(note, wrap="opsinfo " not in note)
        if self.out is not None:
            self.tell(f"wrote {answer.content} to {self.out}" if answer.content else f"wrote {self.out}")
        if answer.fault is not None:
            self.failure_text(answer.fault)

    def _send_document(self, document: Mapping[str, object]) -> None:
        self._send(document_text(self.headed(document), self.on_terminal) + "\n")

    def headed(self, document: Mapping[str, object]) -> dict[str, object]:
        """Return a document with the head of all documents, which it may have of another command."""
        head = {"schema_version": 1, "command": self.command}
        unread = {"unreadable": as_json(self.unreadable)} if self.unreadable else {}
        edited = {"edited_here": as_json(self.edited_here)} if self.edited_here else {}
        return {**head, **document, "command": self.command, **unread, **edited}

    def _print_blocks(self, blocks: Iterable[Block], paged: bool, caveats: Sequence[str]) -> None:
        if self.on_terminal:
            from .drawing import draw, page

            encoding = sys.stdout.encoding or "utf-8"
            text = draw(self._flat(blocks), encoding, self.colored(sys.stdout), () if self.quiet else caveats)
            if not (paged and not self.quiet and page(text)):
                self._send(text)
            return
        texts: list[str] = []
        for block in self._flat(blocks):
            if isinstance(block, (Diff, Exact)):
                self._send("".join(f"{line}\n" for line in texts))
                texts.clear()
                self._send_exact(
                    block.text, _inert_diff if isinstance(block, Diff) else str if block.is_for_runner else _for_log
                )
            elif not isinstance(block, Picture):
                texts += self._plain(block)
        self._send("".join(f"{line}\n" for line in texts))

    def _flat(self, blocks: Iterable[Block]) -> Iterator[Any]:
        for block in blocks:
            if isinstance(block, Either):
                yield from self._flat(block.terminal() if self.on_terminal else block.elsewhere())
            else:
                yield block

    def _plain(self, block: Table | Lines | Names | Tree) -> Iterator[str]:
        """Yield the lines of a block off a terminal."""
        if isinstance(block, Table):
            rows = block.fields() if block.fields else (tuple(map(cell_text, cells)) for cells in block.rows)
            yield from (row(*fields) for fields in rows)
        elif isinstance(block, Names):
            yield from (row(name) for name in block.names)
        elif isinstance(block, Tree):
            yield from self._plain_tree(block, "")
        else:
            yield from (inert(self.style(line, sys.stdout)) for line in block.lines)

    def _plain_tree(self, tree: Tree, indent: str) -> Iterator[str]:
        yield inert(indent + self.style(tree.label, sys.stdout))
        for branch in tree.branches:
            yield from self._plain_tree(branch, indent + "  ")

    def style(self, line: Line, stream: IO[str]) -> str:
        """Return a visible line, with colours if the stream has them."""
        parts = spans(line)
        if not self.colored(stream) or self.out is not None:
            return "".join(visible_line(text) for text, _ in parts)
        return "".join(
            click.style(visible_line(text), **STYLES[style]) if style else visible_line(text) for text, style in parts
        )

    def _send(self, text: str) -> None:
        if text and self.out is not None:
            self._write_file(text)
        elif text:
            self._write(lambda: sys.stdout.write(_for_log(text)))

    def _send_exact(self, text: str, for_log: Callable[[str], str] = _for_log) -> None:
        """Print the content of a file: UTF-8 in a pipe, escaped on a terminal.

        :param for_log: makes it safe for the log of a CI runner
        """
        if self.out is None and sys.stdout.isatty():
            self._send("".join(f"{visible_line(line)}\n" for line in text.splitlines()))
        elif self.out is not None:
            self._write_file(text)
        else:
            data = for_log(text).encode("utf-8", "surrogateescape")
            sys.stdout.flush()
            self._write(lambda: sys.stdout.buffer.write(data))

    def _write_file(self, text: str) -> None:
        from .report_file import write_report

        assert self.out is not None
        if _is_standard_output(self.out):
            text = _for_log(text)
        write_report(self.out, text.encode("utf-8", "surrogateescape"))

    def _write(self, write: Callable[[], Any]) -> None:
        try:
            write()
            sys.stdout.flush()
        except BrokenPipeError:  # the reader has closed the pipe; the command's work is still done
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as error:
            raise output_failed(error) from None

    # messages

    def edited(self, edits: Sequence[EditedHere], what: str) -> None:
        """Note once that policies are not the vendor's; the JSON document has them.

        :param what: what was edited: "this library"
        """
        new = [edit for edit in edits if edit not in self.edited_here]
        self.edited_here += new
        if new:
            names = join_some([*dict.fromkeys(f"{edit.name} {edit.before} -> {edit.now}" for edit in new)])
            op_types = {edit.name for edit in new}  # one may be in several stores
            are = "was" if len(op_types) == 1 else "were"
            self.note(
                f"{counted(len(op_types), 'op type')} of {what} {are} changed by opsinfo, unlike the vendor's: {names}"
            )

    def unread(self, unreadable: Sequence[Unreadable]) -> None:
        """Report op types and files of a source that could not be read, each once; JSON documents have them, too."""
        for each in unreadable:
            if each not in self.unreadable:
                self.unreadable.append(each)
                what = f"`{each.name}`" if each.name else "the file"
                self.warn(f"{each.file}:{each.line}: {what} could not be read: {each.reason}")

    def note(self, text: str) -> None:
        """Print a note to standard error; ``-q`` hides it."""
        if not self.quiet:
            self._message("note", text)

    def warn(self, text: str) -> None:
        self.has_warned = True
        self._message("warning", text)

    def error(self, text: str) -> None:
        """Print an error that does not end the command; see :meth:`failure` for one that does."""
        self._message("error", text)

    def tell(self, text: str, wrap: bool = False) -> None:
        """Print a plain line to standard error: a result, the next step.

        :param wrap: whether a terminal breaks it between words; a command to copy must stay on one line
        """
        if self.quiet:
            return
        for line in self._wrap(visible(text)) if wrap else [visible(text)]:
            self._stderr(line)

    def _wrap(self, text: str) -> list[str]:
        return wrapped(text, max(20, self.stderr_width)) if self.stderr_width else [text]

    def detail(self, text: str) -> None:
        """Print a line to standard error if ``-v`` is given."""
        if self.verbose and not self.quiet:
            self._stderr(visible(text))

    def lines(self, lines: Iterable[Line]) -> None:
        """Print lines to standard error that ``-q`` does not hide, such as findings."""
        for line in lines:
            self._stderr(self.style(line, sys.stderr))

    def failure(self, error: OpsinfoError) -> None:
        """Report why a command failed: as a JSON document if the line asks for JSON, else on standard error."""
        if self.format == "json":
            self._send_document(as_json(ErrorDocument(Failure.of(error))))
            return
        self.failure_text(error)

    def failure_text(self, error: OpsinfoError) -> None:
        """Print an error to standard error in any format, for one file of many."""
        self._message("error", error.message)
        if error.path:
            self._stderr(f"  --> {error_place(error)}")
        if error.hint:
            self._stderr("")
            self._message("hint", error.hint)

    def _message(self, kind: Style, text: str) -> None:
        first, *rest = self._wrap(f"{kind}: {visible(brief(text))}")
        self._stderr(self.style([Span(f"{kind}:", kind), Span(first.removeprefix(f"{kind}:"))], sys.stderr))
        for line in rest:
            self._stderr(line)

    def _stderr(self, line: str) -> None:
        with suppress(OSError):  # standard error is closed: the exit status is still right
            print(inert(line), file=sys.stderr, flush=True)

    def progress(self, description: str, total: float | None = None) -> AbstractContextManager[Callable[[float], None]]:
        """Show a bar with elapsed and remaining time on a terminal while work lasts for more than a moment.

        :param description: what is done, such as "reading"
        :param total: how much there is to do; None if it is unknown
        :returns: a context manager whose value is called with each part that is done
        """
        if self.quiet or not is_terminal(sys.stderr):
            return nullcontext(lambda _: None)
        from .drawing import progress

        return progress(description, total)

    def status(self) -> AbstractContextManager[Callable[[str, float], None]]:
        """Show a bar with a changing text on a terminal, for work whose amount is only guessed.

        :returns: a context manager whose value is called with the text, and the share that is done
        """
        if self.quiet or not is_terminal(sys.stderr):
            return nullcontext(lambda *_: None)
        from .drawing import status

        return status()


def prepare_streams() -> None:
    """Make both streams accept any character: those that a GBK or ASCII terminal lacks are escaped."""
    if sys.stdout is None:  # closed by the caller: a stream that fails on write
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  kept until the end
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def output_failed(error: OSError) -> Refused:
    reason = "standard output is closed" if error.errno == errno.EBADF else error.strerror
    return Refused(f"cannot write the output: {reason}", name="output-failed")


def error_place(error: OpsinfoError) -> str:
    """Return `path:line:column`, without the unknown parts."""
    place = visible(error.path) if error.path else ""
    if error.line:
        place += f":{error.line}" + (f":{error.column}" if error.column else "")
    return place


def document_text(document: Mapping[str, object], indented: bool) -> str:
    """Return a JSON document, indented or on one line, in which a CI runner finds no command.

    :param document: an iterator as a value becomes an array, whose items are created on encoding
    """
    if indented:
        whole = {key: list(value) if isinstance(value, Iterator) else value for key, value in document.items()}
        return inert_json(json.dumps(whole, indent=2))
    encode = json.JSONEncoder(check_circular=False).encode
    members = (f"{encode(key)}: {_encode(value, encode)}" for key, value in document.items())
    return inert_json("{" + ", ".join(members) + "}")


def _encode(value: Any, encode: Callable[[Any], str]) -> str:
    """Encode a long array in parts, because the encoder keeps every token in memory."""
    if not isinstance(value, (list, Iterator)):
        return encode(value)
    items, parts = iter(value), []
    while part := list(islice(items, 64)):
        parts.append(encode(part)[1:-1])
    return f"[{', '.join(parts)}]"


def _inert_diff(diff: str) -> str:
    """Return a unified diff in which a GitHub runner finds no command.

    Escaping its lines would change what `patch` writes, so it is enclosed in `stop-commands` with a random word;
    `patch` skips lines around the hunks. Source: actions/runner, src/Runner.Worker/ActionCommandManager.cs.
    """
    if os.environ.get("GITHUB_ACTIONS") != "true" or all(inert(line) == line for line in diff.splitlines()):
        return diff
    import secrets

    word = secrets.token_hex(16)
    return f"::stop-commands::{word}\n{diff}{'' if diff.endswith(chr(10)) else chr(10)}::{word}::\n"
