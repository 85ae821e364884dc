"""Write the operator lists of other systems into opsinfo_cli/systems/data, each from a stated upstream version.

A source is a wheel, a file, or a git repository at a revision::

    python -m tools.neighbour_lists \\
        --source apex=CHECKOUTS/apex@4ef930c1 \\
        --source torch_amp=torch-2.15.0-...whl \\
        --source tensorflow=tensorflow_cpu-2.21.0-...whl

``--all`` requires every source; without it the lists of the sources given are written. ``--check`` writes nothing and
exits 1 if a file would change. Names of operators and their lists are facts; nothing else is taken from a source.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from .data_text import dumped
from .families import families
from .generated import Generated
from .op_declare import mindspore_to_ascend
from .paddle_kernels import paddle_to_ascend
from .places import DATA, NAMES
from .systems import (
    apex,
    habana_autocast,
    mindspore,
    modelopt,
    onnxconverter,
    optimum_habana,
    paddle,
    tensorflow,
    torch_amp,
    torch_npu,
)
from .upstream import Upstream

MAKERS: dict[str, Callable[[Upstream], Generated]] = {
    "apex": apex.read,
    "apex_npu": partial(apex.read, on_npu=True),
    "torch_amp": torch_amp.read,
    "torch_npu": torch_npu.read,
    "tensorflow": tensorflow.read,
    "paddle": paddle.read,
    "habana_autocast": habana_autocast.read,
    "optimum_habana": optimum_habana.read,
    "mindspore": mindspore.read,
    "onnxconverter": onnxconverter.read,
    "modelopt": modelopt.read,
}
"""By data file. habana_hmp.json is edited manually: Habana's HMP lists are published only on a web page."""


def fill(name: str, made: Generated) -> str:
    """The data file with its lists, version and source replaced; levels, properties and notes are edited manually."""
    content = json.loads((DATA / f"{name}.json").read_text("utf-8"))
    content["version"], content["source"] = made.version, made.source
    for level, lists in made.levels.items():
        content["levels"][level]["lists"] = lists
    return dumped(content)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", action="append", default=[], metavar="NAME=PATH[@REVISION]")
    parser.add_argument("--library", action="append", default=[], type=Path, metavar="FILE", help="for families.json")
    parser.add_argument("--mindspore", metavar="PATH[@REVISION]", help="a checkout, for mindspore_to_ascend.json")
    parser.add_argument("--paddle-kernels", metavar="PATH[@REVISION]", help="a checkout, for paddle_to_ascend.json")
    parser.add_argument("--all", action="store_true", help="require every source")
    parser.add_argument("--check", action="store_true", help="exit 1 if a file would change; write nothing")
    given = parser.parse_args()
    sources = dict(text.split("=", 1) for text in given.source)
    unknown = sorted(set(sources) - set(MAKERS))
    missing = sorted(set(MAKERS) - set(sources)) if given.all else []
    if unknown or missing:
        parser.error(f"unknown: {unknown}, missing: {missing}; there are {', '.join(MAKERS)}")
    changed = []
    for name in (each for each in MAKERS if each in sources):
        changed += _written(DATA / f"{name}.json", fill(name, MAKERS[name](Upstream(sources[name]))), given.check)
    if given.library:
        changed += _written(NAMES / "families.json", families(given.library), given.check)
    if given.mindspore:
        made = mindspore_to_ascend(Upstream(given.mindspore))
        changed += _written(NAMES / "mindspore_to_ascend.json", made, given.check)
    if given.paddle_kernels:
        made = paddle_to_ascend(Upstream(given.paddle_kernels))
        changed += _written(NAMES / "paddle_to_ascend.json", made, given.check)
    print("\n".join(changed) or "nothing changed")
    return 1 if changed and given.check else 0


def _written(path: Path, text: str, check: bool) -> list[str]:
    if path.exists() and path.read_text("utf-8") == text:
        return []
    if not check:
        path.write_text(text, "utf-8")
    return [path.name]


if __name__ == "__main__":
    sys.exit(main())
