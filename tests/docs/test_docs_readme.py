"""The blocks of both READMEs can be repeated as written, one after the other, in a checkout without CANN."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from program_run import ROOT


@pytest.mark.parametrize("page", ["README.md", "README.zh-CN.md"])
def test_the_blocks_can_be_repeated_in_a_checkout(tmp_path: Path, page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    outputs = re.findall(r"^<!-- output of: (.*?) -->$", text, re.MULTILINE)
    assert blocks
    assert len(outputs) > 3
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    tools = tmp_path / ".venv" / "bin"
    tools.mkdir(parents=True)
    (tools / "activate").write_text(f'PATH="{tools}:$PATH"\n')
    (tools / "opsinfo").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m opsinfo_cli "$@"\n')
    (tools / "opsinfo").chmod(0o755)
    dry = [line if "move" not in line else f"{line} --dry-run" for line in outputs]
    script = "\n".join(["set -e", *blocks, *(f"{line} > /dev/null || [ $? = 1 ]" for line in dry)])
    ran = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "ascend910b" in ran.stdout
