"""JSON objects with a checksum of their own bytes, the stored form of records and heads."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

_BEGIN = b'{\n "checksum": "'
_NO_SUM = b"0" * 64


class OldForm(ValueError):
    """A JSON object without a checksum, as written by opsinfo up to 0.1.

    :param content: the object
    """

    def __init__(self, content: dict[str, Any]) -> None:
        super().__init__("no checksum")
        self.content = content


def sealed(content: dict[str, Any]) -> bytes:
    """Return the stored bytes: JSON whose first member is the SHA-256 of the bytes with zeros in its place."""
    text = json.dumps({"checksum": _NO_SUM.decode(), **content}, indent=1, ensure_ascii=False)
    data = text.encode("utf-8", "surrogateescape")
    return _BEGIN + hashlib.sha256(data).hexdigest().encode() + data[len(_BEGIN) + 64 :]


def unsealed(data: bytes) -> dict[str, Any]:
    """Return the object in stored bytes.

    :raises OldForm: if the object has no checksum
    :raises ValueError: if it is damaged
    """
    start, end = len(_BEGIN), len(_BEGIN) + 64
    whole = data.startswith(_BEGIN)
    if whole and hashlib.sha256(_BEGIN + _NO_SUM + data[end:]).hexdigest().encode() != data[start:end]:
        raise ValueError("the checksum does not match")
    content = _parsed(data)
    if not whole:
        raise ValueError("the checksum is missing") if "order" in content else OldForm(content)
    del content["checksum"]
    return content


def _parsed(data: bytes) -> dict[str, Any]:
    try:
        content = json.loads(data.decode("utf-8", "surrogateescape"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(content, dict):
        raise ValueError("not an object")
    return content
