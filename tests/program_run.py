"""Two ways to run the program: inside the test's process, which is fast, and as a separate process."""

from __future__ import annotations

import gc
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

ROOT = Path(__file__).resolve().parent.parent

Words = Sequence["str | os.PathLike[str]"]


@dataclass(frozen=True)
class Ran:
    """The outcome of one run of the program."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run_as_process(
    words: Words,
    cwd: str | os.PathLike[str],
    env: Mapping[str, str | None],
    input: bytes | None,
    **options: Any,
) -> Ran:
    """Run ``python -m opsinfo_cli`` and wait for it.

    :param options: for :func:`subprocess.run`
    """
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL} if input is None else {"input": input}
    done = subprocess.run(
        [sys.executable, "-m", "opsinfo_cli", *(os.fspath(word) for word in words)],
        cwd=cwd,
        env=_environment({"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", **env}),
        capture_output=True,
        check=False,
        timeout=120,
        **streams,
        **options,
    )
    return Ran(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def run_here(
    words: Words,
    cwd: str | os.PathLike[str],
    env: Mapping[str, str | None],
    input: bytes | None,
    terminal: bool = False,
) -> Ran:
    """Run the program inside this process, with standard streams, folder and environment of its own.

    :param terminal: whether standard output and error say that they are one

    The streams are real files on the descriptors 0, 1 and 2, so that `/dev/stdout` and `fileno()` work. State
    that ends with a process is restored: signal handlers, the garbage collector, hooks, caches.
    """
    from opsinfo_cli.app import main

    arguments = [os.fspath(word) for word in words]
    with ExitStack() as stack:
        for each in (_signals(), _interpreter(arguments), _folder(cwd), _environ(env)):
            stack.enter_context(each)
        out, err = stack.enter_context(_streams(input or b"", _Terminal if terminal else io.TextIOWrapper))
        try:
            main(arguments)
        except SystemExit as left:
            code = left.code
        sys.stdout.flush()
        sys.stderr.flush()
        output = [_all_of(each) for each in (out, err)]
    assert isinstance(code, int)
    return Ran(code, *output)


def _environment(env: Mapping[str, str | None]) -> dict[str, str]:
    """Return the environment of this process with some variables set, or removed if the value is None."""
    return {name: value for name, value in {**os.environ, **env}.items() if value is not None}


@contextmanager
def _environ(env: Mapping[str, str | None]) -> Iterator[None]:
    before = dict(os.environ)
    _replace(_environment(env))
    try:
        yield
    finally:
        _replace(before)


def _replace(environment: dict[str, str]) -> None:
    for name in set(os.environ) - set(environment):
        del os.environ[name]
    for name, value in environment.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


@contextmanager
def _folder(cwd: str | os.PathLike[str]) -> Iterator[None]:
    before = os.open(".", os.O_RDONLY)
    os.chdir(cwd)
    try:
        yield
    finally:
        os.fchdir(before)
        os.close(before)


@contextmanager
def _signals() -> Iterator[None]:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


@contextmanager
def _interpreter(arguments: list[str]) -> Iterator[None]:
    collects, hook, argv = gc.isenabled(), sys.unraisablehook, sys.argv
    sys.argv = ["opsinfo", *arguments]
    try:
        yield
    finally:
        sys.unraisablehook, sys.argv = hook, argv
        if collects:
            gc.enable()


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


@contextmanager
def _streams(input: bytes, kind: type[io.TextIOWrapper]) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Separate standard streams for the program.

    :param kind: the class of standard output and error
    :returns: the files that hold its output and its errors
    """
    with ExitStack() as stack:
        files = [stack.enter_context(_memory(name)) for name in ("stdin", "stdout", "stderr")]
        files[0].write(input)
        files[0].seek(0)
        before = sys.stdin, sys.stdout, sys.stderr
        sys.stdout.flush()
        sys.stderr.flush()
        kept = [os.dup(number) for number in range(3)]
        for number, file in enumerate(files):
            os.dup2(file.fileno(), number)
        stack.callback(_put_back, kept, before)
        sys.stdin = stack.enter_context(_text(0, "rb"))
        sys.stdout = stack.enter_context(_text(1, "wb", kind))
        sys.stderr = stack.enter_context(_text(2, "wb", kind, errors="backslashreplace", line_buffering=True))
        yield files[1], files[2]


def _put_back(kept: list[int], before: tuple[Any, Any, Any]) -> None:
    sys.stdin, sys.stdout, sys.stderr = before
    for number, descriptor in enumerate(kept):
        os.dup2(descriptor, number)
        os.close(descriptor)


def _memory(name: str) -> BinaryIO:
    return open(os.memfd_create(name), "w+b", buffering=0)


def _text(number: int, mode: str, kind: type[io.TextIOWrapper] = io.TextIOWrapper, **options: Any) -> io.TextIOWrapper:
    return kind(open(number, mode, closefd=False), encoding="utf-8", **options)


def _all_of(file: BinaryIO) -> str:
    file.seek(0)
    return file.read().decode("utf-8")


Runner = Callable[..., Ran]


def runner(tmp_path: Path, in_process: bool) -> Runner:
    """The function of the fixtures: ``opsinfo("list", path, cwd=..., env={...}, input="...")``.

    ``env`` adds to the isolated environment; a value of None removes a variable. ``input`` may be str or bytes.
    ``terminal``: see :func:`run_here`.
    """

    def run(
        *words: str | os.PathLike[str],
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str | None] | None = None,
        input: str | bytes | None = None,
        terminal: bool = False,
        **options: Any,
    ) -> Ran:
        sent = input.encode("utf-8") if isinstance(input, str) else input
        if not in_process:
            return run_as_process(words, cwd or tmp_path, env or {}, sent, **options)
        early = [name for name in env or {} if name.startswith("PYTHON")]
        assert not early + list(options), f"{early + list(options)} need a process: mark the test with `process`"
        return run_here(words, cwd or tmp_path, env or {}, sent, terminal)

    return run
