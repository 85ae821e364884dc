"""The words of a script in shell: what is certain is what bash passes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tables import rows

from opsinfo_cli.core.check.settings_in_scripts import script_settings
from opsinfo_cli.core.text.source import Source


def passed(top: Path, script: str) -> list[str]:
    """Return what bash passes as ``--p``, without and with an argument."""
    (top / "atc").write_text('#!/bin/bash\nprintf "%s\\0" "$@" end >> "$LOG"\n')
    (top / "atc").chmod(0o755)
    (top / "lib.sh").write_text("M=b\n")
    (top / "a.onnx").touch()
    found = set()
    for arguments in ([], ["yes"]):
        log = top / f"log{len(arguments)}"
        environment = {"PATH": f"{top}:/usr/bin:/bin", "LOG": str(log)}
        command = ["bash", "-c", script, "script", *arguments]
        subprocess.run(command, cwd=top, env=environment, capture_output=True, check=False, timeout=60)
        words = log.read_text().split("\0") if log.exists() else []
        for number, word in enumerate(words):
            if word.startswith("--p"):
                found.add(word.removeprefix("--p=") if "=" in word else words[number + 1])
    return sorted(found)


def read(script: str) -> str:
    source = Source(script.encode(), "run.sh", strict=False)
    for settings in script_settings(source) or []:
        for setting in settings.options:
            if setting.option == "p":
                return "?" if setting.value is None else setting.value + " ?" * setting.is_default
    return "?"


@pytest.mark.parametrize(("construct", "script", "wanted", "passes"), rows(__file__, "shell_values.toml"))
def test_a_value_is_known_only_if_bash_passes_no_other(
    tmp_path: Path, construct: str, script: str, wanted: str, passes: list[str]
) -> None:
    assert passed(tmp_path, script) == passes
    assert read(script) == wanted
    assert wanted.endswith("?") or passes in ([], [wanted])
