"""Scripts made at random run in bash: what the reader is certain of is what bash passes to atc.

``OPSINFO_SHELL_SCRIPTS`` sets how many, ``OPSINFO_SHELL_SEED`` the first seed.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from tables import tomllib

from opsinfo_cli.core.check.settings_in_text import text_settings

COUNT = int(os.environ.get("OPSINFO_SHELL_SCRIPTS", "1000"))
SEED = int(os.environ.get("OPSINFO_SHELL_SEED", "1"))
PIECES: dict[str, list[str]] = tomllib.loads(Path(__file__).with_name("shell_pieces.toml").read_text("utf-8"))
ATC = "#!/bin/sh\nprintf '%s\\0' \"$@\" '<end>' >> \"$LOG\"\n"
MAYBE = """#!/bin/sh
n=$(cat "$LOG.n" 2>/dev/null || echo 0)
echo $((n + 1)) > "$LOG.n"
exit $(( (BITS >> (n % 10)) & 1 ))
"""
"""Fails as the bits of its environment say: the branches that a script may take."""
DEEPEST = 3


def made(seed: int) -> str:
    """Return a script."""
    pick = random.Random(seed)
    tags = 0

    def piece(kind: str, depth: int) -> str:
        same = {
            name: pick.choice(PIECES[kind]) for name, kind in (("name", "NAME"), ("other", "NAME"), ("f", "FUNCTION"))
        }

        def filled(match: re.Match[str]) -> str:
            nonlocal tags
            if match[1] == "tag":
                tags += 1
                return str(tags)
            inner = "ASSIGN" if match[1] == "COMPOUND" and depth >= DEEPEST else match[1]
            return same.get(inner) or piece(inner, depth + (inner == "COMPOUND"))

        text = pick.choice(PIECES[kind])
        return re.sub(r"<(\w+)>", filled, text.replace("<HEAD>", pick.choice(PIECES["HEAD"])))

    return piece("SCRIPT", 0)


def passed(top: Path, script: str, seed: int) -> list[list[str]]:
    """Return the words of each command of atc that ran."""
    folder = top / "here"
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    (folder / "a.onnx").touch()
    (folder / "abc").touch()
    (folder / "lib.sh").write_text("M=lib\n" if seed & 1 else "O=lib\n")
    log = top / "log"
    log.unlink(missing_ok=True)
    (top / "log.n").unlink(missing_ok=True)
    environment = {
        "PATH": f"{top}/bin:/usr/bin:/bin",
        "LOG": str(log),
        "BITS": str(random.Random(seed).randrange(1024)),
    }
    environment |= {"M": "env", "N": "env"} if seed & 2 else {}
    # a program of its own, for it ends a script that calls itself without end also if this one is killed
    command = ["timeout", "--signal=KILL", "5", "bash", "-c", script, "script", *(["first"] if seed & 4 else [])]
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        process.wait()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # what it left in the background
    calls: list[list[str]] = [[]]
    for word in log.read_bytes().decode("utf-8", "replace").split("\0") if log.exists() else ():
        if word == "<end>":
            calls.append([])
        else:
            calls[-1].append(word)
    return [call for call in calls if call]


def wrong(script: str, calls: list[list[str]]) -> list[str]:
    """Return what is said of commands for certain, and is otherwise in one that ran."""
    found = []
    for settings in text_settings(script, is_shell=True):
        options = settings.options
        tag = next((each.value for each in options if each.option == "model" and not each.is_default), None)
        for call in calls:
            if call[0] != f"--model={tag}":
                continue
            words = f" {' '.join(call)} "
            for each in options:
                forms = (f" --{each.option}={each.value} ", f"-{each.option} {each.value} ")
                if each.value is not None and not each.is_default and not any(form in words for form in forms):
                    found.append(f"{forms[0]}: bash passes {call}")
            names = {word.lstrip("-").partition("=")[0] for word in call if word.startswith("-")}
            is_known = settings.is_whole and all(each.value is not None for each in options)
            if is_known and not {"--p", "-p"} & {*call} and not names <= {each.option for each in options}:
                found.append(f"whole: bash passes {call}")
    return found


def test_what_is_certain_is_what_bash_passes(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name, text in (("atc", ATC), ("maybe", MAYBE)):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    certain = 0
    for number in range(SEED, SEED + COUNT):
        script = made(number)
        certain += sum(
            each.value is not None and not each.is_default and each.option == "p"
            for settings in text_settings(script, is_shell=True)
            for each in settings.options
        )
        for seed in range(number, number + 8, 2):
            faults = wrong(script, passed(tmp_path, script, seed))
            assert not faults, f"script {number}, run {seed}:\n{script}\n{faults[0]}"
    assert certain > COUNT // 2
