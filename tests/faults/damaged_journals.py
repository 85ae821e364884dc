"""Vaults that are damaged in random ways, with fixed seeds."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path


def _flip(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def _cut(path: Path, chance: random.Random) -> None:
    path.write_bytes(path.read_bytes()[: chance.randrange(path.stat().st_size)])


def _zero(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    start = chance.randrange(len(data))
    end = chance.randrange(start, len(data)) + 1
    data[start:end] = bytes(end - start)
    path.write_bytes(data)


def _swap(path: Path, chance: random.Random) -> None:
    others = [each for each in path.parent.iterdir() if each != path]
    if not others:
        return path.unlink()
    other = chance.choice(sorted(others))
    mine, theirs = path.read_bytes(), other.read_bytes()
    path.write_bytes(theirs)
    other.write_bytes(mine)
    return None


def _delete(path: Path, _: random.Random) -> None:
    path.unlink()


DAMAGES: list[Callable[[Path, random.Random], None]] = [_flip, _cut, _zero, _swap, _delete]


def damage(vault: Path, seed: int) -> str:
    """Damage one file of a vault, a record, a head or a content.

    :returns: what was done
    """
    chance = random.Random(seed)
    files = sorted(path for path in vault.rglob("*") if path.is_file() and not path.name.startswith("."))
    path, how = chance.choice(files), chance.choice(DAMAGES)
    how(path, chance)
    return f"seed {seed}: {how.__name__[1:]} {path.relative_to(vault)}"
