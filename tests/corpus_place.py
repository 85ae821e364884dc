"""The place of the corpus of real files. A separate module, because several folders have a ``conftest``."""

from __future__ import annotations

import os
from pathlib import Path

CORPUS = Path(os.environ.get("OPSINFO_CORPUS") or Path(__file__).resolve().parents[2] / "shared" / "corpus")
"""Read before the fixtures clear the environment."""
