"""The base of a change: a folder, or a revision of the checkout, whose findings and policies are no news.

Of a revision only the files that differ, and what they need to be read, are unpacked from git; nothing of the checkout
is touched.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import NamedTuple

from ...errors import Refused, UsageFault, quoted
from ...opening import is_below, open_file
from ..cann.file_kind import is_library_name
from ..cann.opdef.find import SUFFIXES
from ..cann.opdef.preprocessor import OF_CANN
from ..cann.repository import CONFIG_FILES, git_root
from ..change.output_file import temporary_folder, unpack_files
from .files import SKIPPED_FOLDERS, use_of
from .git import git

_NAMED = re.compile(rb'[<"]([^<>"\s]+)[>"]')
_OF_STORES = (".json", ".ini")
_LINK, _MODULE = "120000", "160000"
"""Modes of git: a symbolic link, a submodule."""


class Base:
    """A folder that is compared with.

    :param text: as given
    :param root: the folder in which its files lie
    :param head: the folder of the checkout that pairs with it
    :ivar commit: the revision; None for a folder
    """

    commit: str | None = None

    def __init__(self, text: str, root: str, head: str) -> None:
        self.text = text
        self.root = root
        self.head = head
        self._same: dict[str, bool] = {}
        self._header_changed: dict[str, bool] = {}
        self._includes: dict[str, set[str]] = {}

    def prepare(self, paths: Iterable[str], sources: Iterable[str], follow: bool) -> None:
        """Make ready what is read of the base.

        :param paths: that are checked
        :param sources: the OpDef sources of the checkout
        :param follow: whether scripts may name any other file
        """

    def pair(self, path: str) -> str:
        """Return the path in the base that pairs with one of the checkout."""
        return os.path.normpath(os.path.join(self.root, self.relative(path)))

    def relative(self, path: str) -> str:
        """Return a path of the checkout or of the base relative to its root, by which the two are compared."""
        for folder in (self.root, self.head):  # a base may lie in the checkout, and a checkout in the base
            for absolute in (os.path.abspath(path), os.path.realpath(path)):
                if absolute == folder or is_below(absolute, folder):
                    return os.path.relpath(absolute, folder)
        return os.path.abspath(path)

    def is_same(self, path: str) -> bool:
        """Return whether a file of the checkout, by its relative path, has the same content in the base."""
        if path not in self._same:
            self._same[path] = self._compare(path)
        return self._same[path]

    def _compare(self, path: str) -> bool:
        one, other = (_content(os.path.join(folder, path)) for folder in (self.head, self.root))
        return one is not None and one == other

    def is_unaffected(self, source: str) -> bool:
        """Return whether an OpDef source, by its relative path, and all that it includes are the same in the base."""
        return self.is_same(source) and not any(map(self._is_header_changed, self._included(source)))

    def _included(self, source: str) -> set[str]:
        """Return the base names of the headers that a source may include, directly or through others."""
        waiting, seen = [source], set[str]()
        while waiting:
            path = waiting.pop()
            if path not in self._includes:
                self._includes[path] = named_files(_content(os.path.join(self.head, path)) or b"")
            for name in self._includes[path] - seen:
                seen.add(name)
                waiting += self._head_files.get(name, ())
        return seen

    def _is_header_changed(self, name: str) -> bool:
        if name not in self._header_changed:
            here = self._head_files.get(name, [])
            self._header_changed[name] = here != self._base_files.get(name, []) or not all(map(self.is_same, here))
        return self._header_changed[name]

    @cached_property
    def _head_files(self) -> Mapping[str, list[str]]:
        return _by_name(_walk(self.head))

    @cached_property
    def _base_files(self) -> Mapping[str, list[str]]:
        return _by_name(_walk(self.root))


class _Entry(NamedTuple):
    """A file of a revision.

    :param owner: the folder of the checkout, or of its submodule, that has the object
    """

    mode: str
    oid: str
    owner: str


class Revision(Base):
    """A revision of the checkout; ``root`` gets the files that differ from it."""

    def __init__(self, text: str, root: str, head: str, commit: str) -> None:
        super().__init__(text, root, head)
        self.commit = commit
        self._entries: dict[str, _Entry] = {}
        self._doubtful: set[str] = set()
        self._touched: set[str] = set()
        self._list("", commit)

    def _list(self, prefix: str, commit: str) -> None:
        """Note the files of a commit, and which of them git does not know to be the same."""
        owner = os.path.join(self.head, prefix)
        for record in self._ask(owner, "ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0"):
            if record:
                facts, _, name = record.partition(b"\t")
                mode, _, oid = facts.decode("ascii").split(" ")
                self._entries[prefix + os.fsdecode(name)] = _Entry(mode, oid, owner)
        words = ("diff-index", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=dirty", "--name-only")
        for name in self._ask(owner, *words, commit, "--").split(b"\0"):
            self._doubtful.add(prefix + os.fsdecode(name))
        modules = {path: entry for path, entry in self._entries.items() if entry.mode == _MODULE}
        for path, entry in modules.items():
            del self._entries[path]
            inside = os.path.join(self.head, path)
            if os.path.lexists(os.path.join(inside, ".git")):  # else neither side has files of it
                found = git(inside, "cat-file", "-e", f"{entry.oid}^{{commit}}")
                if found.returncode:
                    hint = f"`git -C {quoted(path)} fetch origin {entry.oid}` fetches it"
                    message = f"the submodule is at {entry.oid[:12]} in the base, and that commit is not here"
                    raise UsageFault(message, name="no-base", path=path, hint=hint)
                self._list(f"{path}/", entry.oid)

    def _ask(self, folder: str, *words: str, stdin: bytes | None = None) -> bytes:
        try:
            answer = git(folder, *words, stdin=stdin)
        except (FileNotFoundError, subprocess.TimeoutExpired):
            raise Refused("git did not answer", name="no-git", path=folder) from None
        if answer.returncode:
            reason = os.fsdecode(answer.stderr).strip().partition("\n")[0]
            raise Refused(f"git failed: {reason}", name="no-git", path=folder, hint=_fetching(self.head, self.text))
        return answer.stdout

    def _compare(self, path: str) -> bool:
        if os.path.isdir(os.path.join(self.head, path)):
            return path not in self._touched and any(each.startswith(f"{path}/") for each in self._entries)
        entry = self._entries.get(path)
        if entry is None or path not in self._doubtful:
            return entry is not None
        place = os.path.join(self.head, path)
        if os.path.islink(place) or entry.mode == _LINK:
            return False
        content = _content(place)
        if content is None:
            return False
        digest = hashlib.sha1 if len(entry.oid) == 40 else hashlib.sha256
        return digest(b"blob %d\0" % len(content) + content).hexdigest() == entry.oid  # unless git converts its lines

    @cached_property
    def _base_files(self) -> Mapping[str, list[str]]:
        return _by_name(sorted(self._entries))

    def prepare(self, paths: Iterable[str], sources: Iterable[str], follow: bool) -> None:
        """Unpack the files that differ, and what they are read or checked together with."""
        below = [self.relative(path) for path in paths]
        own = [path for path in self._entries if _is_of(path, below) and _is_read(path, follow)]
        changed = {path for path in own if not self.is_same(path)}
        here = {self.relative(os.path.join(self.head, path)) for path in self._here(below)}
        new = {path for path in here if path not in self._entries}
        self._touched = {os.path.dirname(path) for path in changed | new if path.lower().endswith(_OF_STORES)}
        wanted = {
            path
            for path in own
            if path in changed
            or (follow and not path.endswith(SUFFIXES) and (changed or new))  # whatever a script may name
            or (path.lower().endswith(_OF_STORES) and os.path.dirname(path) in self._touched)
        }
        wanted |= {
            path for path in map(self.relative, sources) if path in self._entries and not self.is_unaffected(path)
        }
        for name in CONFIG_FILES:
            wanted |= set(self._base_files.get(name, ()))
        contents = self._contents(wanted)
        waiting = [content for path, content in contents.items() if path.endswith(SUFFIXES)]
        seen: set[str] = set()
        while waiting:
            names = set().union(*map(named_files, waiting)) - seen
            seen |= names
            headers = {path for name in names for path in self._base_files.get(name, ()) if path not in contents}
            read = self._contents(headers)
            contents.update(read)
            waiting = list(read.values())
        links = {path: content for path, content in contents.items() if self._entries[path].mode == _LINK}
        unpack_files(self.root, {path: contents[path] for path in contents if path not in links}, links)

    def _here(self, paths: Sequence[str]) -> Iterator[str]:
        """Yield libraries and inis of the checkout that the base may lack: with these a store has other entries."""
        for name, files in self._head_files.items():
            if is_library_name(name) or name.lower().endswith(".ini"):
                yield from (path for path in files if _is_of(path, paths))

    def _contents(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of files of the revision."""
        by_owner: dict[str, list[str]] = {}
        for path in paths:
            by_owner.setdefault(self._entries[path].owner, []).append(path)
        found: dict[str, bytes] = {}
        for owner, own in by_owner.items():
            stdin = "".join(f"{self._entries[path].oid}\n" for path in own).encode("ascii")
            answer, start = self._ask(owner, "cat-file", "--batch", stdin=stdin), 0
            for path in own:
                end = answer.index(b"\n", start)
                words = answer[start:end].split(b" ")
                if len(words) != 3:  # `<id> missing`: a partial or damaged clone
                    message = f"git has no content of {path} in the base"
                    raise Refused(message, name="no-base", path=path, hint=_fetching(self.head, self.text))
                size = int(words[2])
                found[path] = answer[end + 1 : end + 1 + size]
                start = end + 2 + size
        return found


@contextmanager
def open_base(text: str, paths: Sequence[str]) -> Iterator[Base]:
    """Open the base of a change, and pair it with the paths that are checked.

    :raises UsageFault: if it is neither a folder nor a revision, or both, or a path is outside the checkout
    :raises Refused: if git cannot read it
    """
    here = os.path.realpath(os.curdir)
    named = [os.path.realpath(path) for path in paths if path != "-"]
    head = git_root(here)
    if named and not (head and all(path == head or is_below(path, head) for path in named)):
        head = git_root(named[0] if os.path.isdir(named[0]) else os.path.dirname(named[0]))
    commit = _commit(head, text) if head else None
    if os.path.isdir(text):
        if commit and not re.match(r"\.{0,2}/|\.{1,2}$", text):
            hint = f"./{text} is the folder, {text}^0 the revision"
            raise UsageFault(f"`{text}` is a folder and a revision", name="ambiguous-base", hint=hint)
        root = os.path.realpath(text)
        base = Base(text, root, _pairing(root, here, head, named))
        _require_inside(base, paths)
        yield base
        return
    if commit is None:
        raise _no_base(text, head)
    assert head is not None
    with temporary_folder() as folder:
        base = Revision(text, folder, head, commit)
        _require_inside(base, paths)
        yield base


def _pairing(root: str, here: str, head: str | None, paths: Sequence[str]) -> str:
    """Return the folder that pairs with that of the base: the checkout, the working folder, or the one that is checked.

    :param head: the checkout of the paths
    """
    if head:
        below = os.path.relpath(here, head) if is_below(here, head) else os.curdir
        if os.path.lexists(os.path.join(root, ".git")) or os.path.isdir(os.path.join(root, below)):
            return head
    if len(paths) == 1 and os.path.isdir(paths[0]) and paths[0] != here:
        is_inside = is_below(paths[0], here) and os.path.lexists(os.path.join(root, os.path.relpath(paths[0], here)))
        return here if is_inside else paths[0]
    return here


def _commit(head: str, text: str) -> str | None:
    try:
        answer = git(head, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{text}^{{commit}}")
    except (FileNotFoundError, subprocess.TimeoutExpired, ValueError):
        return None
    return answer.stdout.decode("ascii", "replace").strip() if answer.returncode == 0 else None


def _no_base(text: str, head: str | None) -> UsageFault:
    if os.path.lexists(text):
        return UsageFault("a base is a folder or a revision of git, not a file", name="no-base", path=text)
    if head is None:
        message = f"`{text}` is no folder, and this is no git checkout, so it is no revision either"
        return UsageFault(message, name="no-base", hint="give the folder of the base: --base ../base")
    message = f"`{text}` is neither a folder nor a revision that this checkout has"
    return UsageFault(message, name="no-base", hint=_fetching(head, text))


def _fetching(head: str, text: str) -> str | None:
    name = re.sub(r"[~^@:].*$", "", text).removeprefix("refs/remotes/").removeprefix("origin/") or text
    is_shallow = git(head, "rev-parse", "--is-shallow-repository").stdout.strip() == b"true"
    if b"origin" not in git(head, "remote").stdout.split():
        return None
    if not is_shallow and not re.match(r"(refs/remotes/)?origin/|[0-9a-f]{7,40}$", text):
        return "`git log` shows the revisions that it has"
    if name == "HEAD":
        return "`git fetch --unshallow origin` fetches all of it"
    more = "; this clone is shallow, and `git fetch --unshallow origin` fetches all of it" if is_shallow else ""
    return f"`git fetch origin {quoted(name)}` fetches it{more}"


def _require_inside(base: Base, paths: Iterable[str]) -> None:
    for path in paths:
        real = os.path.realpath(path)
        if path != "-" and real != base.head and not is_below(real, base.head):
            message = f"the base pairs with {base.head}, and this path is outside"
            raise UsageFault(message, name="no-base", path=path, hint="run opsinfo in the checkout that is compared")


def named_files(text: bytes) -> set[str]:
    """Return the base names of the files that a source or header may include, but for those of CANN.

    These are all texts in quotes or angles: ``#include`` may stand behind a comment, and ``__has_include`` asks, too.
    """
    names = (os.fsdecode(name) for name in _NAMED.findall(text))
    return {name.rpartition("/")[2] for name in names if not name.startswith(OF_CANN)}


def _is_of(path: str, paths: Sequence[str]) -> bool:
    return any(each == os.curdir or path == each or path.startswith(f"{each}/") for each in paths)


def _is_read(path: str, follow: bool) -> bool:
    return not SKIPPED_FOLDERS.intersection(path.split("/")[:-1]) and use_of(path, follow) is not None


def _content(path: str) -> bytes | None:
    try:
        with open_file(path) as file:
            return file.read()
    except Refused:
        return None


def _walk(top: str) -> Iterator[str]:
    for parent, folders, files in os.walk(top):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        inside = os.path.relpath(parent, top)
        yield from (name if inside == os.curdir else f"{inside}/{name}" for name in files)


def _by_name(paths: Iterable[str]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in sorted(paths):
        found.setdefault(path.rpartition("/")[2], []).append(path)
    return found
