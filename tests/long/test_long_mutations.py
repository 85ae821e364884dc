"""Files with random changes, of every kind that is read: no internal error, no hang, no status 0 for broken text.

    OPSINFO_MUTATIONS=10000 python -m pytest tests/long/test_long_mutations.py

``OPSINFO_MUTATIONS_SEED`` sets the seed, ``OPSINFO_MUTATIONS_KEEP`` names a folder for inputs that fail.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple
from zlib import crc32

import pytest
from cli_support import Run
from contract import STATUSES
from snapshot_texts import text_of_snapshot

from opsinfo_cli.core.cann.target import resolve
from opsinfo_cli.core.cann.targets.found import TargetOptions

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/lab/graph"))  # for the seeds of models

COUNT = int(os.environ.get("OPSINFO_MUTATIONS", "300"))
SEED = os.environ.get("OPSINFO_MUTATIONS_SEED", "1")
KEPT = os.environ.get("OPSINFO_MUTATIONS_KEEP")
SECONDS = 20
"""For one run; the longest takes less than one."""
FIXTURES = ROOT / "fixtures"
STORE = FIXTURES / "opp/built-in/op_impl/ai_core/tbe/config/ascend910b"
LIBRARY = STORE / "aic-ascend910b-ops-info-legacy.json"
PLACES = {"L": LIBRARY, "M": FIXTURES / "ops_info.json", "O": FIXTURES / "model.onnx"}
"""What stands for a file in command lines, and in the seed of a configuration."""

WORDS = [
    *(b"{", b"}", b"[", b"]", b'"', b",", b":", b"\n", b"\r", b"\t", b" ", b"\\", b"'", b"=", b";", b"#", b"//", b"/*"),
    *(b"\0", b"\xff", b"\x80", b"\xef\xbb\xbf", b"\xe2\x80\xae", b"\x1b[31m", b"\xed\xa0\x80", b"\\ud800", b"\\u0000"),
    *(b"null", b"true", b"NaN", b"-Infinity", b"1e999", b"-1", b"0", b"99999999999999999999", b"0x", b"1_0"),
    *(b"$", b"%s", b"{0}", b"../", b"/", b"@", b"*", b"::", b"<", b">", b"(", b")", b"\xc2\xb2", b"\xef\xbc\x91"),
]
NUMBERS = [b"0", b"-1", b"4294967296", b"9" * 30, b"1.5", b"nan"]
VALUES: list[Any] = [None, True, -1, 1.5, 10**30, "", "Add", "\ud800", "\0", [], {}, [[]], {"": {}}, ["Add", 1]]


def mutated(data: bytes, others: list[bytes], dice: random.Random) -> bytes:
    """Change bytes, ranges, lines and numbers, or put in words of the formats or a part of another file."""
    text = bytearray(data)
    for _ in range(dice.choice((1, 1, 1, 2, 3, 6))):
        at = dice.randrange(len(text) + 1)
        end = min(len(text), at + dice.choice((1, 1, 2, 4, 16, 200)))
        how = dice.choice(["flip", "cut", "repeat", "insert", "replace", "splice", "number", "swap", "end"])
        if how == "flip" and text:
            text[min(at, len(text) - 1)] ^= 1 << dice.randrange(8)
        elif how == "cut":
            del text[at:end]
        elif how == "repeat":
            text[at:at] = text[at:end] * dice.choice((1, 1, 2, 50))
        elif how == "insert":
            text[at:at] = dice.choice(WORDS)
        elif how == "replace":
            text[at:end] = dice.choice(WORDS)
        elif how == "splice":
            other = dice.choice(others)
            start = dice.randrange(len(other) + 1)
            text[at:end] = other[start : start + dice.choice((4, 40, 400))]
        elif how == "number" and (numbers := list(re.finditer(rb"\d+", text))):
            number = dice.choice(numbers)
            text[number.start() : number.end()] = dice.choice(NUMBERS)
        elif how == "swap":
            lines = text.split(b"\n")
            one, two = dice.randrange(len(lines)), dice.randrange(len(lines))
            lines[one], lines[two] = lines[two], lines[one]
            text = bytearray(b"\n".join(lines))
        elif how == "end" and dice.random() < 0.3:
            del text[at:]
    return bytes(text)


def mutated_json(data: bytes, others: list[bytes], dice: random.Random) -> bytes:
    """Half of the time change values and keys instead, so that what comes after the syntax is reached, too."""
    try:
        whole = json.loads(data)
    except ValueError:
        return mutated(data, others, dice)
    if dice.random() < 0.5:
        return mutated(data, others, dice)
    places: list[tuple[Any, Any]] = []
    todo = [whole]
    while todo:
        value = todo.pop()
        keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        places += [(value, key) for key in keys]
        todo += [value[key] for key in keys]
    for holder, key in [dice.choice(places) for _ in range(dice.choice((1, 1, 2, 4))) if places]:
        how = dice.choice(("remove", "rename", "replace", "replace"))
        if isinstance(holder, list):
            holder[key] = dice.choice(VALUES)
        elif key in holder and how == "remove":
            del holder[key]
        elif key in holder and how == "rename":
            holder[dice.choice([str(other) for _, other in places])] = holder.pop(key)
        else:
            holder[key] = dice.choice(VALUES)
    return json.dumps(whole, indent=dice.choice((None, 1))).encode()


def _never(_: bytes) -> bool:
    return False


def _constant(_: str) -> None:
    raise ValueError


def _not_json(data: bytes) -> bool:
    """Whether it is no JSON for the standard library; text after the end is the engine's business."""
    text = data.decode("utf-8-sig", "surrogateescape").lstrip(" \t\n\r")
    try:
        json.JSONDecoder(parse_constant=_constant).raw_decode(text)
    except (ValueError, RecursionError):
        return True
    return False


def _not_toml(data: bytes) -> bool:
    tomllib = pytest.importorskip("tomllib")
    try:
        tomllib.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return True
    return False


def _not_onnx(data: bytes) -> bool:
    import onnx
    from google.protobuf.message import DecodeError

    try:
        onnx.ModelProto.FromString(data)
    except DecodeError:
        return True
    return False


class Kind(NamedTuple):
    """:param name: of the file
    :param lines: command lines; ``F`` is the file, ``D`` its folder, others as in :data:`PLACES`
    :param seeds: returns whole files of this kind
    :param is_broken: whether no command may end with 0
    """

    name: str
    lines: list[str]
    seeds: Callable[[], list[bytes]]
    is_broken: Callable[[bytes], bool] = _never
    change: Callable[[bytes, list[bytes], random.Random], bytes] = mutated


def _files(*patterns: str) -> Callable[[], list[bytes]]:
    return lambda: [path.read_bytes() for pattern in patterns for path in sorted(FIXTURES.glob(pattern))]


def _texts(*texts: str | bytes) -> Callable[[], list[bytes]]:
    return lambda: [text.encode() if isinstance(text, str) else text for text in texts]


def _libraries() -> list[bytes]:
    cut = [path.read_bytes()[:4000].rpartition(b"\n    },")[0] + b"}}" for path in sorted(STORE.glob("*.json"))]
    return [*cut, *_files("custom/fastops/op_impl/ai_core/tbe/config/ascend910b/*.json")()]


def _snapshots() -> list[bytes]:
    target = resolve(str(STORE / "aic-ascend910b-ops-info-math.json"), TargetOptions(), {})
    return [text_of_snapshot(target).encode()]


def _baselines() -> list[bytes]:
    schema = json.loads((ROOT / "schemas/baseline.schema.json").read_text("utf-8"))
    return [json.dumps(example).encode() for example in schema["examples"]]


def _models(name: str, *patterns: str) -> Callable[[], list[bytes]]:
    def load() -> list[bytes]:
        from test_readers_hostile import SEEDS

        return [SEEDS[name], *_files(*patterns)()]

    return load


def _logs() -> dict[str, list[bytes]]:
    """The logs of the cases by the format that is found in them."""
    found: dict[str, list[bytes]] = {}
    for path in sorted((ROOT / "tests/logs/cases").glob("*.case")):
        parts = re.split(rb"^--- (\w+)[^\n]*\n", path.read_bytes(), flags=re.MULTILINE)
        sections = dict(zip(parts[1::2], parts[2::2], strict=True))
        evidence = json.loads(sections.get(b"evidence", b"null"))
        if evidence and b"log" in sections:
            found.setdefault(evidence["format"], []).append(sections[b"log"])
    return found


GRAPH = ["graph F --against L", "graph F --against L --by node --format json", "graph F"]
PROFILE = ["profile F --against L", "profile F --by kernel", "profile F --against L --mixlist M --format json"]
LISTS = {
    "apex": 'amp.register_half_function(torch, "mm")\namp.register_float_function(torch.nn.functional, "softmax")\n',
    "apex-npu": 'from apex import amp\namp.register_half_function(torch, "matmul")\n',
    "habana-autocast": "addmm\nbmm\nconv2d\nlinear\n",
    "habana-hmp": "addmm\nbatch_norm.Tensor\nmatmul\n",
    "keep-dtype": "OpType::Add\nlayer1/conv\n",
    "mindspore-black": "from mindspore import nn\n\nblack_list = [nn.Softmax, nn.LayerNorm]\n",
    "mindspore-lite": "[ascend_context]\nmixprecision_list_path = ops_info.json\n[other]\na=b\n",
    "mindspore-white": "from mindspore import nn, ops\n\nwhite_list = [\n    nn.Dense,\n    ops.MatMul,\n]\n",
    "modelopt": "python -m modelopt.onnx.autocast --op_types_to_exclude Softmax Add --nodes_to_exclude a.*\n",
    "onnxconverter": "op_block_list = ['Softmax', 'Add']\n",
    "optimum-habana": json.dumps({"autocast_bf16_ops": ["mm"], "autocast_fp32_ops": ["log"]}),
    "paddle": "custom_white_list = ['matmul_v2']\ncustom_black_list = {'softmax'}\n",
    "tensorflow": "AllowList:\nMatMul\n\nDenyList:\nExp\n\nInferList:\nAdd\n",
}
"""System -> a file that `systems convert` reads."""

KINDS: dict[str, Kind] = {
    "library": Kind(
        "aic-ascend910b-ops-info.json",
        ["list F", "validate F", "show F Add MatMulV2", "move -n F Add --to black", "snapshot F", "diff F L"],
        _libraries,
        _not_json,
        mutated_json,
    ),
    "mixlist": Kind(
        "ops_info.json",
        ["validate F --against L", "list F", "fmt -n F", "merge F", "diff F M", "move -n F Add --to black"],
        _files("mixlists/good/*.json", "ops_info.json"),
        change=mutated_json,
    ),
    "commented mixlist": Kind(
        "team.jsonc",
        ["validate F --against L", "list F --as mixlist", "merge F", "move -n F Add --to black --as mixlist"],
        _files("team.jsonc"),
    ),
    "ini": Kind("aic-ascend910b-ops-info.ini", ["list F", "validate F", "show F Add"], _files("build/*.ini")),
    "OpDef source": Kind(
        "add_custom.cpp",
        ["list F", "validate F", "show F AddCustom --format opdef"],
        _files("custom-ops/op_host/*.cpp"),
    ),
    "snapshot": Kind(
        "s.json", ["list F", "validate M --against F", "diff F L", "show F STFT"], _snapshots, _not_json, mutated_json
    ),
    "keep_dtype": Kind(
        "keep_dtype.cfg",
        ["validate F --against L --as keep_dtype", "graph O --against L --keep-dtype F"],
        _texts("OpType::Add\nOpType::MatMulV2\nlayer1/conv\nsoftmax\n"),
    ),
    "customize_dtypes": Kind(
        "customize_dtypes.cfg",
        ["validate F --against L --as customize_dtypes", "graph O --against L --customize-dtypes F"],
        _texts(
            "OpType::Add::InputDtype:float16,float16,OutputDtype:float16\nOpName::softmax::InputDtype:float\n",
            "softmax::InputDtype:float16,OutputDtype:float16\n",
        ),
    ),
    "op_precision": Kind(
        "op_precision.ini",
        ["validate F --against L --as op_precision", "graph O --against L --op-precision-mode F"],
        _texts("[ByOpType]\nAdd=high_performance\nMatMulV2=enable_hi_float_32_execution\n[ByNodeName]\nsoftmax=x\n"),
    ),
    "configuration": Kind(
        "opsinfo.toml",
        ["validate M", "validate M --format json", "list M"],
        _texts(
            f'against = ["{LIBRARY}"]\nprecision-mode = ["mixed_float16", "mixed_bfloat16"]\nselect = ["M", "T006"]\n'
            'ignore = ["unknown-operator:/black-list/to-add"]\nstrict = true\nseverity = "warning"\nformat = "text"\n'
            f'baseline = "b.json"\nfollow = false\nshape = ["x=1,3"]\nmodel = "{PLACES["O"]}"\nsoc = []\n'
        ),
        _not_toml,
    ),
    "baseline": Kind(
        "baseline.json",
        ["validate M --against L --baseline F", "validate M --against L --baseline F --update-baseline -n"],
        _baselines,
        _not_json,
        mutated_json,
    ),
    "ONNX": Kind("m.onnx", [*GRAPH, "validate M --against L --model F"], _models("onnx", "model.onnx"), _not_onnx),
    "TensorFlow": Kind("m.pb", GRAPH, _models("tensorflow")),
    "TensorFlow as text": Kind("m.pbtxt", GRAPH, _models("tensorflow-text")),
    "compiled model": Kind("m.om", GRAPH, _models("om")),
    "large compiled model": Kind("m.om", GRAPH, _models("om-large")),
    "GE dump": Kind(
        "ge_proto_00001_a.txt",
        [*GRAPH, "graph O --against L --read-back F"],
        _models("ge-text", "graphs/*.txt"),
    ),
    "ATC JSON": Kind("m.json", GRAPH, _models("ge-json"), _not_json, mutated_json),
    "fusion_result.json": Kind(
        "fusion_result.json",
        ["graph O --against L --read-back F"],
        _texts(
            '[{"session_and_graph_id_0_0": {"graph_fusion": {"A": {"effect_times": "1", "match_times": "2"}},'
            ' "ub_fusion": {"U": {"effect_times": "1", "match_times": "1", "repository_hit_times": "0"}}}}]'
        ),
        change=mutated_json,
    ),
    "op_summary": Kind("op_summary_0.csv", PROFILE, _files("profiles/op_summary.csv")),
    "kernel_details": Kind("kernel_details.csv", PROFILE, _files("profiles/kernel_details.csv")),
    "tensor": Kind("Add.a.4.17.output.0.npy", ["numerics F", "numerics D --against L"], _files("dump/*.npy")),
    "dump.json": Kind("dump.json", ["numerics F --against L"], _files("dump/dump.json"), _not_json, mutated_json),
    **{
        f"log of {name}": Kind(
            "train.log", ["qualify F", "qualify F --format json", "qualify F --steps 1000"], _texts(*texts)
        )
        for name, texts in sorted(_logs().items())
    },
    **{
        f"list of {name}": Kind(
            "list.txt",
            [
                f"systems convert --from {name} --to mixlist --against L F",
                f"systems convert --from {name} --to apex F",
            ],
            _texts(text),
            change=mutated_json,
        )
        for name, text in LISTS.items()
    },
}


@contextmanager
def _deadline() -> Iterator[None]:
    def late(_: int, __: FrameType | None) -> None:
        raise TimeoutError(f"more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _complaint(opsinfo: Run, words: list[Any], **options: Any) -> tuple[int | None, str]:
    """Run a command; return its status, and what is wrong with any answer to a broken file."""
    try:
        with _deadline():
            ran = opsinfo(*words, **options)
    except UnicodeDecodeError:  # a diff has the bytes of the file
        return None, "" if "-n" in words else "the output is not UTF-8"
    says_why = ran.err or '"error"' in ran.out or "incomplete" in ran.out  # a verdict of qualify
    is_silent = ran.code in (2, 3) and not says_why
    is_fault = ran.code not in STATUSES or "internal" in ran.err or "Traceback" in ran.err + ran.out
    return ran.code, f"{ran.code}: {ran.err[-300:]}" if is_silent or is_fault else ""


@pytest.mark.parametrize("name", KINDS)
def test_a_changed_file_is_read_or_refused(opsinfo: Run, tmp_path: Path, name: str) -> None:
    kind = KINDS[name]
    path = tmp_path / "in" / kind.name
    path.parent.mkdir()
    places = {**PLACES, "F": path, "D": path.parent}
    seeds, dice, found = kind.seeds(), random.Random(f"{name} {SEED}"), []
    for number in range(COUNT):
        data = kind.change(dice.choice(seeds), seeds, dice)
        path.write_bytes(data)
        line = dice.choice(kind.lines)
        code, wrong = _complaint(opsinfo, [places.get(word, word) for word in line.split()], cwd=path.parent)
        if code == 0 and kind.is_broken(data):
            wrong = "0 for a broken file"
        if wrong:
            found.append(f"{number}: {line}: {wrong}")
            if KEPT:
                Path(KEPT, f"{name.replace(' ', '-')}-{number}").write_bytes(data)
    assert not found, f"{len(found)} of {COUNT}\n" + "\n".join(found[:40])


def test_a_changed_vault_is_reported(opsinfo: Run, tmp_path: Path) -> None:
    library, vault = tmp_path / "aic-ascend910b-ops-info.json", tmp_path / "vault"
    library.write_bytes(LIBRARY.read_bytes())
    for to in ("black", "gray", "white", "black"):
        assert opsinfo("move", library, "Add", "--to", to, "--backup-dir", vault).code == 0
    assert opsinfo("restore", library, "--backup-dir", vault).code == 0
    assert opsinfo("backups", "--prune", "1", "--backup-dir", vault).code == 0
    files = {path: path.read_bytes() for path in sorted(vault.rglob("*")) if path.is_file()}
    before, dice, found = library.read_bytes(), random.Random(f"vault {SEED}"), []
    lines = ["backups", "restore F -n", "doctor L", "restore F --to pristine -n", "reapply F -n", "show F Add"]
    places = {"F": library, "L": FIXTURES / "opp"}
    for number in range(COUNT):
        path = dice.choice(list(files))
        data = mutated_json(files[path], list(files.values()), dice)
        path.write_bytes(data)
        line = dice.choice(lines)
        words = [places.get(word, word) for word in line.split()]
        code, wrong = _complaint(opsinfo, words, env={"OPSINFO_BACKUP_DIR": str(vault)})
        is_record = path.name in ("record.json", "pruned.json")
        if line == "backups" and is_record and data != files[path] and code != 1:
            wrong = f"{code} for a damaged vault"
        if wrong:
            found.append(f"{number}: {path.name}: {line}: {wrong}")
        path.write_bytes(files[path])
    assert library.read_bytes() == before
    assert not found, f"{len(found)} of {COUNT}\n" + "\n".join(found[:40])


def test_a_changed_journal_is_resumed_or_refused(opsinfo: Run, tmp_path: Path) -> None:
    words: list[Any] = ["bisect", "--against", LIBRARY, "--journal", tmp_path / "j"]
    words += [word for name in ("Add", "Mul", "BiasAdd", "Conv2D") for word in ("--among", name)]
    check = ["--", "/bin/sh", "-c", 'grep -q Mul "$OPSINFO_MIXLIST"']
    assert opsinfo(*words, *check).code == 0
    path = tmp_path / "j" / "journal.jsonl"
    data, dice, found = path.read_bytes(), random.Random(f"journal {SEED}"), []
    lines = data.splitlines(keepends=True)
    for number in range(COUNT):
        changed = mutated(data, lines, dice)
        if number % 2:  # a record with another content and a right sum
            at = dice.randrange(len(lines))
            record = mutated_json(lines[at].rpartition(b', "sum": "')[0] + b"}", lines, dice)[:-1]
            changed = b"".join([*lines[:at], b'%s, "sum": "%08x"}\n' % (record, crc32(record)), *lines[at + 1 :]])
        path.write_bytes(changed)
        _, wrong = _complaint(opsinfo, [*words, "--resume", *check])
        if wrong:
            found.append(f"{number}: {wrong}")
    assert not found, f"{len(found)} of {COUNT}\n" + "\n".join(found[:40])
