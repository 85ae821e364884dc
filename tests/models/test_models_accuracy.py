"""docs/accuracy.md: every command runs, in the order of the page, and prints what the page shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from trained import ROOT, TRAINED, path_of


def test_every_command_of_the_page_prints_the_output_on_the_page() -> None:
    (classifier,) = (model for model in TRAINED if model.name == "classifier")
    command = [sys.executable, "docs/accuracy_page.py", path_of(classifier), "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"write the page again with `{' '.join(command[:-1])}`\n{done.stderr}"


def test_the_page_leads_from_the_log_to_the_list() -> None:
    page = Path(ROOT, "docs/accuracy.md").read_text("utf-8")
    verbs = [line.split()[2] for line in page.splitlines() if line.startswith("$ opsinfo ")]
    order = ["qualify", "graph", "simulate", "bisect", "validate"]
    assert [verb for verb in dict.fromkeys(verbs) if verb in order] == order
