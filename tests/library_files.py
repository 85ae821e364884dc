"""Small libraries that the engine accepts."""

from __future__ import annotations


def entry(flag: str | None = None, dtypes: str = "float16,float32") -> dict[str, dict[str, str]]:
    """A minimal operator of a library that the engine accepts."""
    tensor = {"dtype": dtypes, "format": ",".join("ND" for _ in dtypes.split(",")), "paramType": "required"}
    sections = {"input0": {**tensor, "name": "x"}, "output0": {**tensor, "name": "y"}}
    return {**sections, **({"precision_reduce": {"flag": flag}} if flag is not None else {})}


def library(flags: dict[str, str | None]) -> dict[str, dict[str, dict[str, str]]]:
    return {name: entry(flag) for name, flag in sorted(flags.items())}
