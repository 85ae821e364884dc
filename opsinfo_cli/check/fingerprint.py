"""What a finding is known by from run to run, however lines move and entries come and go before it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from .finding import Finding

_MOVES = re.compile(r"(?<=\bline )[0-9]+|(?<=\boffset )[0-9]+|(?<=\.json:)[0-9]+|(?<= \()/[^()]*(?=\))")
"""What of a message says where something stands: in its file, or on this machine."""

_INDEX = re.compile(r"/[0-9]+(?=/|$)")
"""The index of an item is a line number by another name; the message names the item."""


def fingerprinted(findings: Iterable[Finding], relative: Callable[[str], str]) -> list[Finding]:
    """The findings, each with a fingerprint no other has: of rule, file, JSON pointer and message.

    Of findings that agree in all of these the second hashes the first one's fingerprint with it, and so on.

    :param relative: a path as it is called wherever the repository lies
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
