"""States of a disk after a power cut: the calls of a process are traced, and every legal state is built from them.

A file's bytes are certain after it was synced, a name in a folder after the folder was. Any part of everything else
may be there: each change of a name or not, in the order it was made; unsynced bytes as written, cut, zeroed or none.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_CALL = re.compile(r"(\w+)\((.*)\)\s*= (-?\d+)")
_CALLS = "%file,write,fsync,fdatasync,ftruncate"


@dataclass
class Event:
    """One call.

    :param kind: name (``path`` becomes a file, a folder with -1, nothing with None), rename, write (all bytes of a file
        so far), sync, sync folder
    :param file: number of a file; -1 for a folder
    :param source: the old path of a rename
    """

    kind: str
    path: str = ""
    file: int | None = None
    data: bytes = b""
    source: str = ""


def traced(command: Sequence[str], environment: Mapping[str, str], top: Path, log: Path) -> tuple[int, list[str]]:
    """Run a command under strace.

    :returns: its exit status, and its calls that succeeded on files below ``top``
    """
    options = ["-f", "-qq", "-y", "-xx", "-s", "1000000", "-e", f"trace={_CALLS}", "-o", str(log)]
    done = subprocess.run(["strace", *options, *command], env=environment, capture_output=True, check=False)
    lines = [re.sub(r"^\d+ +", "", line) for line in log.read_text().splitlines()]
    return done.returncode, lines


def _text(raw: str) -> bytes:
    return bytes.fromhex(raw.replace("\\x", ""))


def _path(folder: str | None, raw: str) -> str:
    name = os.fsdecode(_text(raw))
    return os.path.normpath(os.path.join(os.fsdecode(_text(folder)) if folder else "/", name)).rstrip("/")


_AT = r'(?:(?:AT_FDCWD(?:<([^>]*)>)?|\d+<([^>]*)>), )?"([^"]*)"'


class Recorder:
    """Turns traced calls into events on the files below a folder."""

    def __init__(self, top: Path) -> None:
        self.top = f"{top}/"
        self.events: list[Event] = []
        self.files: dict[str, int] = {}
        self.bytes: dict[int, bytes] = {}
        self.count = 0

    def number(self, path: str) -> int:
        if path not in self.files:
            self.count += 1
            self.files[path] = self.count
        return self.files[path]

    def record(self, lines: Sequence[str]) -> None:
        for line in lines:
            match = _CALL.match(line)
            if match and not match[3].startswith("-"):
                self._call(match[1], match[2])

    def _call(self, name: str, arguments: str) -> None:
        paths = [_path(each[0] or each[1], each[2]) for each in re.findall(_AT, arguments)]
        opened = re.match(r"\d+<([^>]*)>", arguments)
        if name in ("write", "fsync", "fdatasync", "ftruncate"):
            paths = [os.fsdecode(_text(opened[1]))] if opened and opened[1].startswith("\\x2f") else []
        if not paths or not (paths[0] + "/").startswith(self.top):
            return
        path = paths[0]
        if name.startswith("open") and "O_CREAT" in arguments:
            assert "O_EXCL" in arguments, "files are made under new names"
            self.files.pop(path, None)
            self.events.append(Event("name", path, self.number(path)))
        elif name == "write":
            number = self.number(path)
            data = _text(re.findall(r'"([^"]*)"', arguments)[0])
            self.bytes[number] = self.bytes.get(number, b"") + data
            self.events.append(Event("write", file=number, data=self.bytes[number]))
        elif name in ("fsync", "fdatasync"):
            is_file = path in self.files
            self.events.append(Event("sync", file=self.files[path]) if is_file else Event("sync folder", path))
        elif name.startswith("rename"):
            for each in [each for each in self.files if each == path or each.startswith(path + "/")]:
                self.files[paths[1] + each[len(path) :]] = self.files.pop(each)
            self.events.append(Event("rename", paths[1], self.files.get(paths[1], -1), source=path))
        elif name.startswith("link"):
            self.files[paths[1]] = self.number(path)
            self.events.append(Event("name", paths[1], self.files[path]))
        elif name.startswith(("unlink", "rmdir")):
            self.files.pop(path, None)
            self.events.append(Event("name", path))
        elif name.startswith("mkdir"):
            self.events.append(Event("name", path, -1))


@dataclass
class Disk:
    """Possible names and bytes after a cut."""

    names: dict[str, int] = field(default_factory=dict)
    data: dict[int, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, top: Path, recorder: Recorder) -> Disk:
        disk = cls()
        for path in sorted(top.rglob("*")):
            number = -1 if path.is_dir() else recorder.number(str(path))
            disk.names[str(path)] = number
            if number > 0:
                disk.data[number] = recorder.bytes[number] = path.read_bytes()
        return disk

    def lay(self, top: Path) -> None:
        shutil.rmtree(top, ignore_errors=True)
        top.mkdir(parents=True)
        for path, number in sorted(self.names.items()):
            if not os.path.isdir(os.path.dirname(path)):
                continue  # the folder above was lost with its content
            if number == -1:
                os.mkdir(path, 0o700 if "vault" in path else 0o755)
            else:
                Path(path).write_bytes(self.data.get(number, b""))
                os.chmod(path, 0o600 if "vault" in path else 0o644)


def states(
    before: Disk, events: list[Event], count: int, seed: int, at_end: bool = False
) -> Iterator[tuple[str, Disk]]:
    """Yield ``count`` states after a cut, at moments spread over a run or after its end, each with a description."""
    chance = random.Random(seed)
    for each in range(count):
        cut = len(events) if at_end else (each * (len(events) + 1)) // count
        style = ("nothing more", "everything", "names only", "any")[chance.randrange(4)]
        yield (
            f"cut after {cut} of {len(events)} calls, {style}, seed {seed}, number {each}",
            _state(before, events[:cut], chance, style),
        )


def _state(before: Disk, events: list[Event], chance: random.Random, style: str) -> Disk:
    disk = Disk(dict(before.names), dict(before.data))
    for number, event in enumerate(events):
        later = events[number + 1 :]
        if event.kind == "write":
            assert event.file is not None
            sure = any(each.kind == "sync" and each.file == event.file for each in later)
            disk.data[event.file] = event.data if sure else _unsure(event.data, chance, style)
        elif event.kind in ("name", "rename"):
            folder = os.path.dirname(event.path)
            sure = any(each.kind == "sync folder" and each.path == folder for each in later)
            kept = {"nothing more": False, "everything": True, "names only": True}.get(style, chance.random() < 0.5)
            if sure or kept:
                _apply(disk, event)
    return disk


def _apply(disk: Disk, event: Event) -> None:
    if event.kind == "rename" and event.file == -1:
        for path in [path for path in disk.names if path == event.source or path.startswith(event.source + "/")]:
            disk.names[event.path + path[len(event.source) :]] = disk.names.pop(path)
        return
    disk.names.pop(event.source, None)
    if event.file is None:
        disk.names.pop(event.path, None)
    else:
        disk.names[event.path] = event.file


def _unsure(data: bytes, chance: random.Random, style: str) -> bytes:
    if style == "everything":
        return data
    if style == "names only":
        return b""
    choices: list[Any] = [b"", data, bytes(len(data)), data[: len(data) // 2], data[: len(data) // 2] + bytes(9)]
    return chance.choice(choices)
