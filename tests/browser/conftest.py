"""The fixture of the tests in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser_support import Browser, opened


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    return lambda text, script: opened(text, script, tmp_path)
