"""Where the data files are."""

from __future__ import annotations

from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "opsinfo_cli/systems/data"
