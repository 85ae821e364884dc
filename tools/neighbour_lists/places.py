"""Where the data files are: those of systems, and those of names, which other rooms read too."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[2] / "opsinfo_cli"
DATA = _PACKAGE / "systems/data"
NAMES = _PACKAGE / "core/cann/data"
