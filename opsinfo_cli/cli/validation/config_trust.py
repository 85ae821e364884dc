"""Trust in configuration files: the allowed owners, and the files that they may write.

A configuration from another user's folder or branch must not overwrite files of the user who runs opsinfo there.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from ...change.output_file import write_file_if
from ...errors import Refused, UsageFault
from ...model.repository import git_root
from ...text.source import Source
from .toml_text import parsed_toml

VARIABLE = "OPSINFO_SAFE_DIRECTORY"
_KEY = "safe-directory"


def require_owner(path: str, environ: Mapping[str, str]) -> None:
    """Refuse a configuration of another owner than the user or root, unless its folder is declared safe.

    :raises UsageFault: if another user owns it; the hint names the ways to allow it
    :raises Refused: if the owner cannot be determined
    """
    try:
        owners = {os.lstat(path).st_uid, os.stat(path).st_uid}
    except (OSError, ValueError) as error:
        raise Refused(getattr(error, "strerror", None) or str(error), name="unreadable", path=path) from None
    foreign = owners - _trusted(environ)
    if not foreign:
        return
    folder = os.path.dirname(os.path.realpath(path))
    if _is_safe(folder, environ):
        return
    raise UsageFault(
        f"this configuration belongs to another user (uid {min(foreign)}), so it is not used",
        name="config-owner",
        path=path,
        hint=f"if you trust it, set {VARIABLE}={folder}, or list the folder as `{_KEY}` in {_own_file(environ)}; "
        "--no-config ignores it",
    )


def _trusted(environ: Mapping[str, str]) -> set[int]:
    """Return the ids of the user, root, and the user who called sudo."""
    user = os.geteuid()
    sudo = environ.get("SUDO_UID", "")
    return {user, 0} | ({int(sudo)} if user == 0 and re.fullmatch("[0-9]{1,10}", sudo) else set())


def _own_file(environ: Mapping[str, str]) -> str:
    base = environ.get("XDG_CONFIG_HOME") or os.path.join(environ.get("HOME", "/"), ".config")
    return os.path.join(base, "opsinfo", "opsinfo.toml")


def _is_safe(folder: str, environ: Mapping[str, str]) -> bool:
    words = [word for word in environ.get(VARIABLE, "").split(":") if word]
    own = _own_file(environ)
    if os.path.isfile(own) and {os.lstat(own).st_uid, os.stat(own).st_uid} <= _trusted(environ):
        listed = parsed_toml(Source.read(own)).get(_KEY, [])
        words += [word for word in (listed if isinstance(listed, list) else [listed]) if isinstance(word, str)]
    return any(word == "*" or os.path.realpath(word) == folder for word in words if "\0" not in word)


def repository_of(config: str) -> str:
    """Return the real folder that a configuration may write to: the nearest above with `.git`, or its own."""
    own = os.path.dirname(os.path.realpath(config))
    return git_root(own) or own


def require_inside(config: str, path: str, what: str) -> str:
    """Return the real path of a file that a configuration requests to write.

    :raises UsageFault: if it is outside the configuration's repository
    """
    root, real = repository_of(config), os.path.realpath(path)
    if os.path.commonpath([root, real]) != root or ".git" in os.path.relpath(real, root).split(os.sep):
        raise UsageFault(
            f"a configuration file cannot name {what} outside its own repository ({root})",
            name="config-writes-outside",
            path=path,
            hint=f"choose a file inside, or give {what} on the command line",
        )
    return real


def require_report_place(config: str, format_: str, path: str) -> str:
    """Return the real path of a configuration's report: inside its repository, and new or a report of opsinfo.

    :raises UsageFault: if a configuration must not write it
    """
    real = require_inside(config, path, "a report")
    if os.path.lexists(real):
        require_our_report(_content(real), format_, path)
    return real


def write_report_of(config: str, format_: str, path: str, data: bytes) -> None:
    """Write a report that a configuration names, if that is still allowed when the file is replaced.

    :raises UsageFault: if a configuration must not have it written
    :raises Refused: if it cannot be written
    """
    real = require_inside(config, path, "a report")
    write_file_if(real, data, lambda content: require_our_report(content, format_, path))


def require_our_report(content: bytes | None, format_: str, path: str) -> None:
    """:raises UsageFault: if what is there, None for no regular file, is not a report of ours in the same format"""
    if content is None or not _is_our_report(content, format_):
        raise UsageFault(
            f"the file is not a {format_} report of opsinfo, so a configuration cannot overwrite it",
            name="config-overwrites",
            path=path,
            hint="remove it, or give the report on the command line",
        )


def _content(path: str) -> bytes | None:
    """Return the content of a regular file; None if it is not one or cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            return file.read() if os.path.isfile(descriptor) else None
    except OSError:
        return None


def _is_our_report(content: bytes, format_: str) -> bool:
    """Whether a content bears the mark of a format. Formats without one (concise, text, github) are never known."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return False
    if format_ == "junit":
        return re.match(r'<\?xml[^>]*\?>\s*<testsuites name="opsinfo"', text) is not None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return format_ in _MARKS and bool(_MARKS[format_](document))


def _is_our_json(document: Any) -> bool:
    return isinstance(document, dict) and document.get("command") == "validate" and "schema_version" in document


def _is_our_sarif(document: Any) -> bool:
    try:
        names = [run["tool"]["driver"]["name"] for run in document["runs"]]
    except (KeyError, TypeError):
        return False
    return bool(names) and set(names) == {"opsinfo"}


def _is_our_gitlab(document: Any) -> bool:
    """Return whether a document is an array of opsinfo's issues; an empty array is safe to overwrite."""
    from ...check.rules import RULES

    return isinstance(document, list) and all(
        isinstance(each, dict)
        and (each.get("check_name") in RULES or each.get("severity") == "blocker")
        and re.fullmatch("[0-9a-f]{32}", str(each.get("fingerprint"))) is not None
        for each in document
    )


_MARKS = {"json": _is_our_json, "sarif": _is_our_sarif, "gitlab": _is_our_gitlab}
