"""Fuzz the readers and the splicer, guided by coverage (needs atheris: `python -m pip install atheris`).

    python tests/long/fuzz_text.py -max_total_time=600             ten minutes, as once before a release
    python tests/long/fuzz_text.py -max_total_time=60              a minute, as in CI
    python tests/long/fuzz_text.py FOLDER -max_total_time=600      keep what was found interesting in FOLDER
    python tests/long/fuzz_text.py crash-1234                      run one input again

Options are libFuzzer's. What is asked of every input stands in `tests/hostile/hostile_invariants.py`: both readers
agree with each other and with the standard library, nothing but `Damaged` is raised, a flag that is set, put in or
taken out proves right, and what was mended is strict. Exit status 0: no promise was broken. An input that breaks one
is kept as `crash-...` where this was started.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORDS = ["precision_reduce", "flag", "true", "false", "Add", "input0", "dtype", "op", "pattern"]
WORDS += ["black-list", "white-list", "gray-list", "to-add", "to-remove"]
SIGNS = ["//", "/*", "*/", "#", "NaN", "-Infinity", "1e400", "\\ud83d\\ude00", "\\udc00", "\\u0041", "null", "[{", "}]"]
LONGEST = 2000
"""Characters of an input: what is wrong shows in short ones."""


def main() -> int:
    try:
        import atheris
    except ImportError:
        print("atheris is not installed: python -m pip install atheris", file=sys.stderr)
        return 3
    sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "hostile")]
    with atheris.instrument_imports(include=["opsinfo_cli"]):
        from hostile_invariants import check_bytes
    atheris.Setup(sys.argv, check_bytes)
    atheris.Fuzz()
    return 0


def seeds(folder: Path) -> None:
    """The fuzzer's seeds: the fixtures, the editor's cases, and a library of one entry."""
    texts = [path.read_bytes() for path in sorted((ROOT / "fixtures" / "mixlists").rglob("*.json"))]
    for path in sorted((ROOT / "tests" / "cases").rglob("*.case")):
        texts += path.read_bytes().replace(b"\r\n", b"\n").split(b"\n--- ")[1:]
    texts = [text.removeprefix(b"before\n").removeprefix(b"after\n") for text in texts]
    texts.append(b'{"Add":{"input0":{"name":"x","dtype":"float","paramType":"required"},"op":{"pattern":"reduce"}}}')
    for number, text in enumerate(texts):
        (folder / str(number)).write_bytes(text[:LONGEST])


def with_seeds() -> int:
    """libFuzzer ends without notifying Python, so another process removes its files."""
    with tempfile.TemporaryDirectory(prefix="opsinfo-fuzz-") as name:
        folder = Path(name, "seeds")
        folder.mkdir()
        seeds(folder)
        words = [f'"\\"{word}\\""' for word in WORDS] + ['"' + sign.replace("\\", "\\\\") + '"' for sign in SIGNS]
        Path(name, "words").write_text("\n".join(words) + "\n")
        given = sys.argv[1:]
        folders = [each for each in given if not each.startswith("-")]
        if any(os.path.isfile(each) for each in folders):
            command = given
        else:
            found = Path(name, "found")
            found.mkdir()
            command = [*(folders or [str(found)]), str(folder), f"-max_len={LONGEST}", f"-dict={Path(name, 'words')}"]
            command += [each for each in given if each.startswith("-")]
        environment = {**os.environ, "OPSINFO_FUZZ": "1"}
        return subprocess.run([sys.executable, __file__, *command], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main() if os.environ.get("OPSINFO_FUZZ") else with_seeds())
