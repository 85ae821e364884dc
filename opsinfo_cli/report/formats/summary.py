"""A number with its word."""

from __future__ import annotations


def counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
