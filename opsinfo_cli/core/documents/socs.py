"""The JSON of `opsinfo socs`."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import TypedDict

from ..document import Count, Schema


class Chip(TypedDict):
    """One chip folder."""

    name: Annotated[str, Schema(examples=["ascend910b"])]
    """The name of the folder."""
    products: list[str]
    """Product names that the engine maps to this folder."""
    operators: Count | None
    """Number of op types in its AI Core stores; null if the engine would refuse one of the stores."""


class Install(TypedDict):
    """One operator package root (OPP)."""

    path: Annotated[str, Schema(examples=["/usr/local/Ascend/ascend-toolkit/latest/opp"])]
    """The path where the install was found."""
    real_path: str
    """The path with symbolic links resolved."""
    version: str | None
    """The CANN version; null if unknown."""
    selected: bool
    """Whether chip names are looked up in this install."""
    found_by: Annotated[str, Schema(examples=["ASCEND_OPP_PATH", "ASCEND_HOME_PATH", "usual folder"])]
    """How the install was found: the name of an environment variable, or `usual folder`."""
    socs: list[Chip]
    """The chips of the install, sorted by name."""


class SocsDocument(TypedDict):
    """The installs on this machine and their chips. Later versions may add keys."""

    installs: list[Install]
    """The installs found, one for each real path."""
