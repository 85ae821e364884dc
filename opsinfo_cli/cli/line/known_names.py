"""A cache of op type names for completion; it affects only speed.

One file for each store, named after its place. It is valid only while path, time and size of every file of
the store are unchanged; a cache that is damaged, owned by another user or not writable is ignored.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from zlib import crc32


def cache_folder(environ: Mapping[str, str]) -> str | None:
    """Return ``$XDG_CACHE_HOME/opsinfo``, else ``~/.cache/opsinfo``. A relative path is ignored (XDG)."""
    home = environ.get("HOME", "")
    for base in (environ.get("XDG_CACHE_HOME", ""), os.path.join(home, ".cache")):
        if os.path.isabs(base):
            return os.path.join(base, "opsinfo")
    return None


def known_names(files: list[str], read: Callable[[], Iterable[str]], environ: Mapping[str, str]) -> list[str]:
    """Return the op types of a store.

    :param files: the files of the store
    :param read: reads them, if the cache is missing or stale
    :raises OSError: if a file does not exist
    """
    stamps = [_stamp(path) for path in files]
    folder = cache_folder(environ)
    path = os.path.join(folder, f"names-{_place(files):08x}.json") if folder and files else None
    kept = _kept(path, stamps) if path else None
    if kept is None:
        kept = list(read())
        if path:
            with suppress(OSError, ValueError):
                _keep(path, {"files": stamps, "names": kept})
    return kept


def _stamp(path: str) -> list[str | int]:
    stat = os.stat(path)
    return [os.path.realpath(path), stat.st_mtime_ns, stat.st_size]


def _place(files: list[str]) -> int:
    """A number for a store: the same when its files change. If two stores have the same number, they only replace each
    other's cache.
    """
    lone = files[0] if len(files) == 1 else ""
    return crc32(os.fsencode(f"{os.path.dirname(os.path.realpath(files[0]))}\n{os.path.basename(lone)}"))


def _kept(path: str, stamps: list[list[str | int]]) -> list[str] | None:
    try:
        if not _private(os.path.dirname(path)):
            return None
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            content = json.load(file)
        names = content["names"]
        same = content["files"] == stamps and isinstance(names, list) and all(isinstance(name, str) for name in names)
        return names if same else None
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None


def _private(folder: str) -> bool:
    """Return whether the user owns a folder and nobody else can write to it."""
    stat = os.lstat(folder)
    return stat.st_uid == os.geteuid() and stat.st_mode & 0o170022 == 0o040000


def _keep(path: str, content: dict[str, object]) -> None:
    from ...change.output_file import make_private_folder, write_cache  # loaded only if the cache is stale

    folder = os.path.dirname(path)
    make_private_folder(folder)
    if _private(folder):
        write_cache(path, json.dumps(content).encode("utf-8", "surrogateescape"))
