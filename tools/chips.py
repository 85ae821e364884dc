"""Write opsinfo_cli/core/cann/data/chips.json: the chips that are known, their folders and what they compute.

The names are facts of these files, each in a git repository at a revision; nothing else is taken from them::

    python -m tools.chips \\
        --toolkit leideng/CANN-8.1.RC1=CHECKOUT@551ed27c \\
        --runtime hicann/runtime=CHECKOUT@681ef761 \\
        --operators hicann/ops-nn=CHECKOUT@e5c3fa93 --operators hicann/ops-math=CHECKOUT@c4193324

- ``platform_config/*.ini`` of a released toolkit and of ``hicann/runtime``: ``SoC_version``, whose folder is
  ``Short_SoC_version`` in lower case; a core has bfloat16 if its ``Intrinsic_vconv`` converts float32 to it, and HF32
  if its ``Intrinsic_mmad`` multiplies it
- the build scripts of operators: virtual parts of a chip, chips of folders that the toolkit does not have, and folders.
  Their names of other chips are not taken: ``ascend910_9361`` is no chip, as the toolkit's own copy of them shows.

The names that people use are in :data:`PEOPLES_NAMES`, each with the page that says which folder it is.

``--check`` writes nothing and exits 1 if the file would change.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from .neighbour_lists.upstream import Upstream

TABLE = Path(__file__).resolve().parents[1] / "opsinfo_cli/core/cann/data/chips.json"
TOOLKIT = ("Ascend/ascend-toolkit/8.1.RC1/aarch64-linux/data/platform_config",)
RUNTIME = tuple(f"src/platform/platform_config/{part}" for part in ("cann", "cann-dev", "kirin", "kirin-dev"))
SCRIPT, BUILD = "scripts/util/opdesc_parser.py", "CMakeLists.txt"
_TO_BF16 = re.compile(r"^\d+=Intrinsic_vconv\|.*\bf322bf16[rfcaz]\b", re.MULTILINE)
"""What the engine looks for before it takes a bfloat16 mode (fe_context_utils.cc:43-46 and 109-137)."""
_OF_HF32 = re.compile(r"^\d+=Intrinsic_mmad\|.*\bh322f32\b", re.MULTILINE)
"""What the engine looks for before it computes in HF32 (platform_utils.cc:415)."""


_QUICKSTART = "hicann/ops-nn at e5c3fa93: docs/QUICKSTART.md:62-64"
_DEVICES = "vllm-project/vllm-ascend at 182b75ea: docs/source/faqs.md:17-28"
_BUILD_ACLNN = "vllm-project/vllm-ascend at 182b75ea: csrc/build_aclnn.sh"
_PRODUCTS = (
    "Ascend/mind-cluster at 22bb3d98: docs/zh/faultdiag/ascend-faultdiag-toolkit/01_introduction/"
    "02_supported_products.md:55-65"
)
_MANUAL = (
    "hiascend.com, CANN 9.0.0 (commercial) devaids/aoe/aoepar_16_060.html: Atlas 350, "
    "where the page of 9.1.0.beta3 has Ascend 950PR/Ascend 950DT"
)
PEOPLES_NAMES: dict[str, dict[str, Sequence[str]]] = {
    "ascend910b": {
        _QUICKSTART: ["Atlas A2"],
        _DEVICES: ["Atlas 800T A2", "Atlas 800I A2", "Atlas 900 A2 PoD", "Atlas 200T A2 Box16", "Atlas 300T A2"],
    },
    "ascend910_93": {
        _QUICKSTART: ["Atlas A3"],
        f"{_BUILD_ACLNN}:138": ["Ascend910C"],
        _DEVICES: ["Atlas 800T A3", "Atlas 800I A3", "Atlas 900 A3 SuperPoD", "Atlas 9000 A3 SuperPoD"],
    },
    "ascend950": {
        f"{_BUILD_ACLNN}:184": ["Atlas A5"],
        "hicann/ops-nn at e5c3fa93: docs/zh/develop/aicore_develop_guide.md:421": ["Ascend950PR", "Ascend950DT"],
        _MANUAL: ["Atlas 350"],
        _PRODUCTS: ["Atlas 850E", "Atlas 650E", "Atlas 950 SuperPoD"],
    },
    "ascend310p": {_DEVICES: ["Atlas 300I Duo", "Atlas 300I"]},
    "ascend310b": {_DEVICES: ["Atlas 200I A2"]},
}
"""Folder -> source -> names of products and chips, the best known first."""


class Chip(NamedTuple):
    """A chip of an ini file."""

    name: str
    folder: str
    bf16: bool
    hf32: bool

    @classmethod
    def of(cls, text: str) -> Chip:
        facts = dict(re.findall(r"^(SoC_version|Short_SoC_version)=(\S+)\s*$", text, re.MULTILINE))
        folder = facts["Short_SoC_version"].lower()
        return cls(facts["SoC_version"], folder, bool(_TO_BF16.search(text)), bool(_OF_HF32.search(text)))


def chips_of(upstream: Upstream, folders: Sequence[str]) -> list[Chip]:
    paths = [path for folder in folders for path in upstream.paths(folder, ".ini")]
    return [Chip.of(upstream.read(path)) for path in paths]


def named_by_scripts(upstream: Upstream) -> tuple[dict[str, str], list[str]]:
    """Return chips with their folders, and folders, of the build scripts of operators; all in lower case."""
    names = re.search(r"^SOC_TO_SHORT_SOC_MAP = (\{.*?^\})", upstream.read(SCRIPT), re.MULTILINE | re.DOTALL)
    folders = re.search(r"set\(ASCEND_ALL_COMPUTE_UNIT\s+\"([^\"]+)\"", upstream.read(BUILD))
    if names is None or folders is None:
        raise SystemExit(f"{upstream.path}: {SCRIPT if names is None else BUILD} has another form")
    return ast.literal_eval(names[1]), folders[1].split(";")


def table(toolkit: list[Chip], runtime: list[Chip], scripts: Sequence[tuple[dict[str, str], list[str]]]) -> dict:
    """Return folder -> ``bf16`` and ``hf32``, null without an ini file, and ``chips``."""
    known = {chip.name.lower(): chip for chip in [*runtime, *toolkit]}
    released = {chip.folder for chip in toolkit}
    names = {chip.name: chip.folder for chip in known.values()}
    for chips, _ in scripts:
        for name, folder in chips.items():
            virtual = re.fullmatch(r"(.+)vir\d+", name)
            if name not in known and (folder not in released or (virtual and virtual[1] in known)):
                names[_spelt(name, list(known.values()))] = folder
    facts = {chip.folder: {"bf16": chip.bf16, "hf32": chip.hf32} for chip in known.values()}
    folders = sorted({*names.values(), *(folder for _, given in scripts for folder in given)})
    unknown = {"bf16": None, "hf32": None}
    return {
        folder: {**facts.get(folder, unknown), "chips": sorted(name for name in names if names[name] == folder)}
        for folder in folders
    }


def _spelt(name: str, chips: Sequence[Chip]) -> str:
    """Return a name in lower case as the ini files spell its chip: ``Ascend950PR_958a``."""
    base, mark, rest = re.fullmatch(r"(.+?)(?:(_|vir)(.*))?", name).groups("")  # type: ignore[union-attr]
    bases = {each.casefold(): each for chip in chips for each in (chip.name, chip.name.partition("_")[0])}
    return bases.get(base, base) + mark.capitalize() + rest


def _lines(items: Iterable[str]) -> str:
    return ",\n".join(items)


def dumped(sources: list[str], folders: dict) -> str:
    """One folder, and one name, a line."""
    rows = (f"    {json.dumps(folder)}: {json.dumps(facts)}" for folder, facts in folders.items())
    listed = ",\n".join(f"    {json.dumps(source)}" for source in sources)
    names = (
        f"    {json.dumps({'name': name, 'folder': folder, 'source': source})}"
        for folder, named in PEOPLES_NAMES.items()
        for source, given in named.items()
        for name in given
    )
    whole = f'  "sources": [\n{listed}\n  ],\n  "folders": {{\n{_lines(rows)}\n  }},\n  "names": [\n{_lines(names)}'
    return f"{{\n{whole}\n  ]\n}}\n"


def _sources(given: argparse.Namespace) -> Iterator[str]:
    for texts, what in (
        (given.toolkit, f"{TOOLKIT[0]}/*.ini"),
        (given.runtime, "src/platform/platform_config/*/*.ini"),
        (given.operators, f"{SCRIPT} and {BUILD}"),
    ):
        for name, upstream in map(_named, texts):
            yield f"{name} at {upstream.version()}: {what}"


def _named(text: str) -> tuple[str, Upstream]:
    name, _, path = text.partition("=")
    return name, Upstream(path)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--toolkit", "--runtime", "--operators"):
        parser.add_argument(option, action="append", required=True, metavar="NAME=CHECKOUT[@REVISION]")
    parser.add_argument("--check", action="store_true", help="exit 1 if the file would change; write nothing")
    given = parser.parse_args()
    toolkit = [chip for text in given.toolkit for chip in chips_of(_named(text)[1], TOOLKIT)]
    runtime = [chip for text in given.runtime for chip in chips_of(_named(text)[1], RUNTIME)]
    scripts = [named_by_scripts(_named(text)[1]) for text in given.operators]
    text = dumped(list(_sources(given)), table(toolkit, runtime, scripts))
    changed = not TABLE.exists() or TABLE.read_text("utf-8") != text
    if changed and not given.check:
        TABLE.write_text(text, "utf-8")
    print(TABLE.name if changed else "nothing changed")
    return 1 if changed and given.check else 0


if __name__ == "__main__":
    sys.exit(main())
