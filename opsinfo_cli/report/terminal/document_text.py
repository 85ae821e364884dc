"""A JSON document as text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


def document_text(content: dict[str, Any], indented: bool) -> str:
    """Return a JSON document, indented or on one line.

    :param content: by key; an iterator becomes an array, whose items are created on encoding
    """
    if not indented:
        return _inert(_on_one_line(content))
    whole = {key: list(value) if isinstance(value, Iterator) else value for key, value in content.items()}
    return _inert(json.dumps(whole, indent=2))


def _on_one_line(content: dict[str, Any]) -> str:
    """Return the text of `json.dumps`, with long lists encoded in parts, because it keeps every token in memory."""
    encode = json.JSONEncoder(check_circular=False).encode
    return "{" + ", ".join(f"{encode(key)}: {_encoded(value, encode)}" for key, value in content.items()) + "}"


def _encoded(value: Any, encode: Callable[[Any], str]) -> str:
    if not isinstance(value, (list, Iterator)):
        return encode(value)
    items = iter(value)
    return "[" + ", ".join(encode(some)[1:-1] for some in iter(lambda: list(islice(items, _SOME)), [])) + "]"


_SOME = 64


def _inert(text: str) -> str:
    """Return the same JSON without `##[`, which a CI runner takes for a command anywhere in a line."""
    return text.replace("##[", "\\u0023#[") if "##[" in text else text
