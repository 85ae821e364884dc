"""States of a disk after a power cut: the calls of a run are recorded, and every legal state is built from them.

A file's bytes are certain after it was synced, a name in a folder after the folder was. Any part of everything else
may be there: each change of a name or not, in the order it was made; unsynced bytes as written, cut, zeroed or none.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opsinfo_cli.change.filesystem import FileSystem


@dataclass
class Event:
    """One call: ``name`` sets ``path`` to a file or folder (None: takes it away), ``write`` gives a file its bytes.

    :param file: number of a file; -1 for a folder
    """

    kind: str
    path: str = ""
    file: int | None = None
    data: bytes = b""


class Recorder(FileSystem):
    """Makes all calls, and records what a power cut could undo."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Event] = []
        self.files: dict[str, int] = {}
        self.opened: dict[int, tuple[str, int | None]] = {}
        self.bytes: dict[int, bytes] = {}
        self.count = 0

    def _number(self, path: str) -> int:
        if path not in self.files:
            self.count += 1
            self.files[path] = self.count
        return self.files[path]

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        descriptor = super().open(path, flags, mode)
        path = path.rstrip("/")
        folder = bool(flags & os.O_DIRECTORY)
        if flags & os.O_CREAT:
            self.files.pop(path, None)
            self.events.append(Event("name", path, self._number(path)))
        self.opened[descriptor] = (path, None if folder else self._number(path))
        return descriptor

    def write(self, descriptor: int, data: memoryview) -> int:
        written = super().write(descriptor, data)
        number = self.opened[descriptor][1]
        assert number is not None
        self.bytes[number] = self.bytes.get(number, b"") + bytes(data[:written])
        self.events.append(Event("write", file=number, data=self.bytes[number]))
        return written

    def fsync(self, descriptor: int) -> None:
        path, number = self.opened[descriptor]
        self.events.append(Event("sync folder", path) if number is None else Event("sync", file=number))

    def _moved(self, source: str, target: str) -> None:
        for path in [path for path in self.files if path == source or path.startswith(source + "/")]:
            self.files[target + path[len(source) :]] = self.files[path]

    def replace(self, source: str, target: str) -> None:
        is_folder = os.path.isdir(source)
        super().replace(source, target)
        if is_folder:
            self.events.append(Event("rename folder", target, data=os.fsencode(source)))
        else:
            number = self._number(source)
            self._moved(source, target)
            self.events.append(Event("rename", target, number, os.fsencode(source)))

    def link(self, source: str, target: str) -> None:
        super().link(source, target)
        self._moved(source, target)
        self.events.append(Event("name", target, self._number(source)))

    def unlink(self, path: str) -> None:
        super().unlink(path)
        self.files.pop(path, None)
        self.events.append(Event("name", path))

    def mkdir(self, path: str, mode: int) -> None:
        super().mkdir(path, mode)
        self.events.append(Event("name", path.rstrip("/"), -1))


@dataclass
class Disk:
    """Possible names and bytes after a cut."""

    names: dict[str, int] = field(default_factory=dict)
    data: dict[int, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, top: Path, recorder: Recorder) -> Disk:
        disk = cls()
        for path in sorted(top.rglob("*")):
            number = -1 if path.is_dir() else recorder._number(str(path))
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
        elif event.kind in ("name", "rename", "rename folder"):
            folder = os.path.dirname(event.path)
            sure = any(each.kind == "sync folder" and each.path == folder for each in later)
            kept = {"nothing more": False, "everything": True, "names only": True}.get(style, chance.random() < 0.5)
            if sure or kept:
                _apply(disk, event)
    return disk


def _apply(disk: Disk, event: Event) -> None:
    source = os.fsdecode(event.data)
    if event.kind == "rename folder":
        for path in [path for path in disk.names if path == source or path.startswith(source + "/")]:
            disk.names[event.path + path[len(source) :]] = disk.names.pop(path)
    elif event.kind == "rename":
        disk.names.pop(source, None)
        assert event.file is not None
        disk.names[event.path] = event.file
    elif event.file is None:
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
