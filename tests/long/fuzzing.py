"""What the fuzzers share: a run of libFuzzer with seeds and words, guided by coverage."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
Check = Callable[[bytes], None]


def fuzz(
    script: str,
    instrumented: str,
    load: Callable[[], Check],
    seeds: Callable[[Path], None],
    words: Iterable[str],
    longest: int,
) -> int:
    """Run libFuzzer with the options of the command line.

    libFuzzer ends its process itself, so another process removes what is made for it.

    :param script: the file that is run again, in that process
    :param instrumented: the package whose branches guide the fuzzer
    :param load: imports that package and returns what checks an input
    :param seeds: writes the first inputs into a folder
    :param words: lines of libFuzzer's dictionary
    :param longest: bytes of an input
    :returns: the exit status
    """
    sys.path[:0] = [str(ROOT), *(str(ROOT / "tests" / name) for name in ("lab/graph", "hostile"))]
    if os.environ.get("OPSINFO_FUZZ"):
        return _fuzz(instrumented, load)
    with tempfile.TemporaryDirectory(prefix="opsinfo-fuzz-") as name:
        first, found, dictionary = (Path(name, each) for each in ("seeds", "found", "words"))
        first.mkdir()
        found.mkdir()
        seeds(first)
        dictionary.write_text("".join(f"{word}\n" for word in words))
        given = sys.argv[1:]
        folders = [each for each in given if not each.startswith("-")]
        if any(os.path.isfile(each) for each in folders):
            command = given
        else:
            options = [each for each in given if each.startswith("-")]
            own = [str(first), f"-max_len={longest}", f"-dict={dictionary}"]
            command = [*(folders or [str(found)]), *own, *options]
        environment = {**os.environ, "OPSINFO_FUZZ": "1"}
        return subprocess.run([sys.executable, script, *command], env=environment, check=False).returncode


def _fuzz(instrumented: str, load: Callable[[], Check]) -> int:
    try:
        import atheris
    except ImportError:
        print("atheris is not installed: python -m pip install atheris", file=sys.stderr)
        return 3
    with atheris.instrument_imports(include=[instrumented]):
        check = load()
    atheris.Setup(sys.argv, check)
    atheris.Fuzz()
    return 0
