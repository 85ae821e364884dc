"""Fingerprints identify a finding across runs, even if lines move or entries before it change."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from .finding import Finding

_MOVES = re.compile(r"(?<=\bline )[0-9]+|(?<=\boffset )[0-9]+|(?<=\.json:)[0-9]+|(?<= \()/[^()]*(?=\))")
"""Parts of a message that are places, in the file or on this machine."""

_INDEX = re.compile(r"/[0-9]+(?=/|$)")
"""The index of an item, which changes as a line number does; the message names the item."""


def fingerprinted(findings: Iterable[Finding], relative: Callable[[str], str]) -> list[Finding]:
    """Return the findings, each with a unique fingerprint of rule, file, JSON pointer and message.

    For findings equal in all of these, each fingerprint also hashes the previous one.

    :param relative: returns a path relative to the repository
    """
    last: dict[str, str] = {}
    paths: dict[str, str] = {}
    done = []
    for finding in findings:
        path = paths.get(finding.path)
        if path is None:
            path = paths[finding.path] = relative(finding.path)
        pointer = _INDEX.sub("/*", finding.pointer) if finding.pointer is not None else "none"
        same = "\0".join((finding.rule.name, path, pointer, _MOVES.sub("N", finding.message)))
        digest = _digest(same if same not in last else f"{same}\0{last[same]}")
        last[same] = digest
        done.append(replace(finding, fingerprint=digest))
    return done


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]
