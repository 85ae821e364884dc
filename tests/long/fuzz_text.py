"""Fuzz the readers and the splicer, guided by coverage (needs atheris: `python -m pip install atheris`).

    python tests/long/fuzz_text.py -max_total_time=600             ten minutes, as once before a release
    python tests/long/fuzz_text.py -max_total_time=30              as in CI
    python tests/long/fuzz_text.py FOLDER -max_total_time=600      keep interesting inputs in FOLDER
    python tests/long/fuzz_text.py crash-1234                      run one input again

Options are libFuzzer's. What every input must satisfy is in `tests/hostile/hostile_invariants.py`: both readers
agree with each other and with the standard library, only `Damaged` is raised, setting, adding or removing a flag passes
its proof, and fixed text is strict JSON. Exit status 0: no input broke this. An input that does is kept as `crash-...`
in the working directory.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fuzzing import ROOT, Check, fuzz

WORDS = ["precision_reduce", "flag", "true", "false", "Add", "input0", "dtype", "op", "pattern"]
WORDS += ["black-list", "white-list", "gray-list", "to-add", "to-remove"]
SIGNS = ["//", "/*", "*/", "#", "NaN", "-Infinity", "1e400", "\\ud83d\\ude00", "\\udc00", "\\u0041", "null", "[{", "}]"]
LONGEST = 2000
"""Characters of an input: short ones are enough to find faults."""


def load() -> Check:
    from hostile_invariants import check_bytes

    return check_bytes


def dictionary() -> list[str]:
    return [f'"\\"{word}\\""' for word in WORDS] + ['"' + sign.replace("\\", "\\\\") + '"' for sign in SIGNS]


def seeds(folder: Path) -> None:
    """The fuzzer's seeds: the fixtures, the editor's cases, and a library of one entry."""
    texts = [path.read_bytes() for path in sorted((ROOT / "fixtures" / "mixlists").rglob("*.json"))]
    for path in sorted((ROOT / "tests" / "cases").rglob("*.case")):
        texts += path.read_bytes().replace(b"\r\n", b"\n").split(b"\n--- ")[1:]
    texts = [text.removeprefix(b"before\n").removeprefix(b"after\n") for text in texts]
    texts.append(b'{"Add":{"input0":{"name":"x","dtype":"float","paramType":"required"},"op":{"pattern":"reduce"}}}')
    for number, text in enumerate(texts):
        (folder / str(number)).write_bytes(text[:LONGEST])


if __name__ == "__main__":
    sys.exit(fuzz(__file__, "opsinfo_cli", load, seeds, dictionary(), LONGEST))
