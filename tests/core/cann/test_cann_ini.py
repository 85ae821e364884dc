"""Inis of opbuild: what the vendor's script makes of a text, and what it drops or refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from corpus_place import CORPUS

from opsinfo_cli.core.cann.entry_rules import build_faults
from opsinfo_cli.core.cann.ini import ini_store, is_ini, soc_of_ini
from opsinfo_cli.core.cann.target import resolve
from opsinfo_cli.core.cann.targets.found import TargetOptions
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.errors import Refused, UsageFault

WHITE, BLACK = "precision_reduce.flag=true\n", "precision_reduce.flag=false\n"

READ = {
    # situation: (text, op type -> policy, lines that are dropped or replaced)
    "the three policies": (f"[A]\n{WHITE}[B]\n{BLACK}[C]\nopFile.value=c\n", "A white B black C gray", []),
    "blanks at the end of a line": (f"[A]  \t\n{WHITE[:-1]} \t\n", "A white", []),
    "a blank before the value": ("[A]\nprecision_reduce.flag= true\n", "A white", []),
    "a blank before the key": ("[A]\n precision_reduce.flag=true\n", "A white", []),
    "a comment without an equals sign": (f"[A]\n; white\n# white\n{WHITE}", "A white", []),
    "a comment with one dot before the equals sign": (f"[A]\n# precision_reduce.flag=false\n{WHITE}", "A white", []),
    "equals signs and dots in a value": (f'[A]\ninitValue.value={{"a": "b=c.d"}}\n{WHITE}', "A white", []),
    "a key of kernel sources, repeated": (f"[A]\nkernelSrc.value=a.cpp\nkernelSrc.value=b.cpp\n{WHITE}", "A white", []),
    "a line without an equals sign": (f"[A]\nprecision_reduce.flag: true\n{BLACK}", "A black", [2]),
    "a section that is replaced": (f"[A]\n{WHITE}[B]\n{WHITE}[A]\n{BLACK}", "A black B white", [1]),
    "a section that is replaced by one without a flag": (f"[A]\n{BLACK}[A]\nopFile.value=a\n", "A gray", [1]),
    "a section with text after the bracket": (f"[A]\nopFile.value=a\n[B] ; new\n{BLACK}", "A black", [3]),
    "a section that is not closed": (f"[A]\nopFile.value=a\n[B\n{BLACK}", "A black", [3]),
    "a section after a blank": (f"[A]\n [B]\n{BLACK}", "A black", [2]),
    "keys before the first section": (f"{BLACK}opFile.value=x\n[A]\n{WHITE}", "A white", [1]),
    "a bracket before an equals sign": (f"[A]\n[x=y\n{WHITE}", "A white", [2]),
    "a byte order mark": (f"\ufeff[A]\n{WHITE}[B]\n{BLACK}", "B black", [1, 2]),
    "a section with a bracket in its name": (f"[A]]\n{WHITE}", "A] white", []),
    "line ends of Windows": (f"[A]\r\n{WHITE[:-1]}\r\n[B]\r\n{BLACK[:-1]}\r\n", "A white B black", []),
    "line ends of old Macs": (f"[A]\r{WHITE[:-1]}\r", "A white", []),
    "no line end at the end": (f"[A]\n{WHITE[:-1]}", "A white", []),
    "a no-break space at the end": (f"[A]\n{WHITE[:-1]}\u00a0\n", "A white", []),
    "a line separator of Unicode in a value": (f"[A]\nopFile.value=a\u2028b\n{WHITE}", "A white", []),
    "a section in other letters": ("[A]\nPrecision_reduce.flag=true\n", "A gray", []),
    "a tensor without any output": (f"[A]\ninput0.name=x\ninput0.paramType=required\n{WHITE}", "A white", []),
    "a dtype that some scripts lack": (
        f"[A]\ninput0.name=x\ninput0.paramType=required\ninput0.dtype=int2\ninput0.format=ND\n{WHITE}",
        "A white",
        [],
    ),
    "the word float": (
        f"[A]\ninput0.name=x\ninput0.paramType=required\ninput0.dtype=float\ninput0.format=ND\n{WHITE}",
        "A white",
        [],
    ),
}

TENSOR = "[A]\ninput0.name=x\ninput0.paramType=required\ninput0.dtype=float16\ninput0.format=ND\n"
REFUSED = {
    # situation: (text, line of the error)
    "a blank before the equals sign": ("[A]\nprecision_reduce.flag =true\n", 2),
    "a flag with a capital": ("[A]\nprecision_reduce.flag=True\n", 2),
    "an empty flag": ("[A]\nprecision_reduce.flag=\n", 2),
    "a comment after the value": ("[A]\nprecision_reduce.flag=true ; why\n", 2),
    "a section of the flag without a flag": ("[A]\nprecision_reduce.value=true\n", 2),
    "a flag of another boolean section": ("[A]\nneedCheckSupport.flag=no\n", 2),
    "a key without a dot": (f"[A]\n{WHITE}flag=true\n", 3),
    "a key with two dots": (f"[A]\n{WHITE}a.b.c=true\n", 3),
    "a comment with an equals sign and no dot": (f"[A]\n; a=b\n{WHITE}", 2),
    "a key twice": (f"[A]\n{WHITE}{WHITE}", 3),
    "a key twice before the first section": (f"{WHITE}{WHITE}[A]\n", 2),
    "no section": (WHITE, 1),
    "nothing": ("", 1),
    "a byte order mark before the only section": (f"\ufeff[A]\n{WHITE}", 1),
    "only a section after a blank": (f" [A]\n{WHITE}", 1),
    "a tensor without paramType": ("[A]\ninput0.name=x\n", 2),
    "a tensor with a paramType of opbuild alone": ("[A]\ninput0.name=x\ninput0.paramType=ignore\n", 3),
    "a section that begins as an input": ("[A]\ninputMemContinues.flag=true\n", 2),
    "a format that no script has": (f"{TENSOR.replace('ND', 'NCL')}", 5),
    "a dtype that nothing has": (f"{TENSOR.replace('float16', 'bf16')}", 4),
    "more dtypes than formats": (f"{TENSOR.replace('float16', 'float16,float')}", 5),
    "an attribute that is missing": ("[A]\nattr.list=a\n", 2),
    "an attribute without a value": ("[A]\nattr.list=a\nattr_a.type=int\n", 3),
    "an attribute of an unknown type": ("[A]\nattr.list=a\nattr_a.type=Int\nattr_a.value=all\n", 3),
    "attributes without a list": ("[A]\nattr.lists=a\n", 2),
}


def source(text: str, path: str = "aic-ascend910b-ops-info.ini") -> Source:
    return Source(text.encode(), path)


@pytest.mark.parametrize("situation", READ)
def test_the_script_reads(situation: str) -> None:
    text, policies, dropped = READ[situation]
    store = ini_store([source(text)])
    names = iter(policies.split())
    assert {operator.name: str(operator.policy) for operator in store.operators} == dict(zip(names, names, strict=True))
    assert [remark.line for remark in store.remarks] == dropped


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            f"[A]\n[B\n{BLACK}",
            "does not end in `]`: the script drops the line, and the keys after it go to the section",
        ),
        (
            f"[A]\n [B]\n{BLACK}",
            "does not begin in the first column: the script drops the line, and the keys after it go",
        ),
        (
            f"[B\nopFile.value=a\n[A]\n{WHITE}",
            "does not end in `]`: the script drops the line, and the keys after it are",
        ),
        (f"\ufeff[A]\n{WHITE}[B]\n{BLACK}", "the byte order mark hides the first section from the script"),
    ],
)
def test_a_dropped_section_says_why(text: str, why: str) -> None:
    assert why in ini_store([source(text)]).remarks[0].message


@pytest.mark.parametrize("situation", REFUSED)
def test_the_script_refuses(situation: str) -> None:
    text, line = REFUSED[situation]
    with pytest.raises(Refused) as caught:
        ini_store([source(text)])
    assert caught.value.line == line


def test_the_place_of_an_entry_is_its_section() -> None:
    store = ini_store([source(f"[A]\n{WHITE}\n[B]\r\n{BLACK}")])
    assert [(operator.name, operator.entry.line) for operator in store.operators] == [("A", 1), ("B", 4)]


def test_a_section_of_a_later_file_replaces_one_of_an_earlier_file_wholly() -> None:
    files = [source(f"[A]\n{WHITE}[B]\n{WHITE}", "a/aic-x-ops-info.ini"), source("[A]\n", "a/exc/aic-x-ops-info.ini")]
    store = ini_store(files)
    assert {operator.name: str(operator.policy) for operator in store.operators} == {"A": "gray", "B": "white"}
    assert store.operators["A"].entry.path == "a/exc/aic-x-ops-info.ini"
    assert store.undecided() == {}
    assert store.contenders("A") == [store.operators["A"].entry]


def test_only_sections_that_are_left_are_checked() -> None:
    assert ini_store([source(f"[A]\nprecision_reduce.flag=True\n[A]\n{WHITE}")]).operators["A"].policy.name == "WHITE"


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("aic-ascend910b-ops-info.ini", "", True),
        ("ops.aic-ascend910b-ops-info-nn.ini", "[A]\n", True),
        ("x.ini", f"[A]\n{WHITE}", True),
        ("x.ini", "[A]\ninput0.paramType=required\n", True),
        ("aicpu.ini", "[A]\nopInfo.engine=DNN_VM_AICPU\ninput0.name=x\ninput0.type=DT_FLOAT\n", False),
        ("atb_ops_info.ini", "[A]\ninput0.name=x\ninput0.dtype=float,bf16\ninput0.format=nd,nd\n", False),
        ("X.INI", f"[A]\n{WHITE}", True),
        ("x.txt", f"[A]\n{WHITE}", False),
        ("x.ini", WHITE, False),
        ("op_precision.ini", "[ByOpType]\nMul=high_precision\n", False),
        ("fe.ini", "op.store.tbe-builtin=2|6\n", False),
        ("config.ini", "load_priority=acme\n", False),
        ("mat_mul_v3_simplified_key.ini", "[MatMulV3]\ndefault=0\n", False),
    ],
)
def test_which_files_are_operator_information(path: str, text: str, expected: bool) -> None:
    assert is_ini(path, text) is expected


def test_the_chip_is_in_the_name() -> None:
    names = ["aic-ascend910_93-ops-info.ini", "a/ops.aic-mc62-ops-info-nn.ini", "x.ini", "aic-a.b-ops-info.ini"]
    assert list(map(soc_of_ini, names)) == ["ascend910_93", "mc62", None, None]


def test_an_operator_needs_no_output() -> None:
    """opbuild writes operators without outputs; neither the script nor the engine requires ``output0``."""
    entry = {"input0": {"name": "x", "paramType": "required", "dtype": "float16", "format": "ND"}}
    assert build_faults(entry) == ()
    assert build_faults({"precision_reduce": {"flag": "true"}}) == ()


def test_a_folder_of_a_build_has_the_chips_of_its_inis(fixtures: Path) -> None:
    build = fixtures / "build"
    with pytest.raises(UsageFault, match="ascend910b, ascend950"):
        resolve(str(build), TargetOptions(), {})
    target = resolve(f"{build}@ascend910b", TargetOptions(), {})
    assert (target.kind, target.soc, target.operators.names) == (
        "ini",
        "ascend910b",
        ["AddCustom", "LogCustom", "ScatterCustom"],
    )
    assert resolve(str(build), TargetOptions(soc="Ascend910B3"), {}).soc == "ascend910b"
    with pytest.raises(UsageFault, match="unknown chip") as caught:
        resolve(f"{build}@ascend910c", TargetOptions(), {})
    assert caught.value.hint == "that is `ascend910_93` (Ascend910C); it has ascend910b, ascend950"


def test_an_ini_of_another_chip_is_refused(fixtures: Path) -> None:
    with pytest.raises(UsageFault, match="`ascend910` is none of its chips"):
        resolve(f"{fixtures}/build/aic-ascend950-ops-info.ini@ascend910", TargetOptions(), {})


VECTORS = CORPUS / "vectors/opdef"
real = pytest.mark.skipif(not VECTORS.is_dir(), reason="no corpus: OPSINFO_CORPUS is not set")


@real
def test_the_script_says_the_same_of_every_case_of_the_corpus() -> None:
    for line in (VECTORS / "ini_cases.jsonl").read_text("utf-8").rstrip("\n").split("\n"):
        case = json.loads(line)
        if case["case"] == "section with blanks inside":  # the script takes it, the engine refuses the store
            continue
        try:
            read = {entry.name: entry.value for entry in ini_store([source(case["ini"])]).winners()}
        except Refused:
            read = None
        assert read == case["json"], case["case"]


@real
@pytest.mark.parametrize(
    "path", sorted(VECTORS.glob("*.json")) or [VECTORS / "no-corpus.json"], ids=lambda path: path.stem
)
def test_an_ini_of_opbuild_is_the_json_that_the_script_makes(path: Path) -> None:
    store = ini_store([Source.read(str(path.with_suffix(".ini")))])
    assert {entry.name: entry.value for entry in store.winners()} == json.loads(path.read_text("utf-8"))
