"""TensorRT's precisions of layers: commands and scripts, and what of them names nodes."""

from __future__ import annotations

import pytest

from opsinfo_cli.core.text.source import Source
from opsinfo_cli.errors import UsageFault
from opsinfo_cli.systems.conversion import convert_lists
from opsinfo_cli.systems.input_lists import read_lists
from opsinfo_cli.systems.list_text import ListText
from opsinfo_cli.systems.model_nodes import means
from opsinfo_cli.systems.registry import SYSTEMS, system_called
from opsinfo_cli.systems.system import ConversionOptions
from opsinfo_cli.systems.vocabulary import ReadLists

RUN = "trtexec --onnx=m.onnx --fp16 --precisionConstraints=obey "


def read(text: str, line: int | None = None) -> ReadLists:
    source = ListText(text.encode(), "f0")
    source.line = line
    return read_lists(SYSTEMS["tensorrt"], [source])


def classes(found: ReadLists) -> dict[str, str]:
    return {each.name: str(each.cls) for each in found.lists.entries}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("--layerPrecisions=/a/Softmax:fp32,/b/Div_1:fp32", {"/a/Softmax": "high", "/b/Div_1": "high"}),
        ("--layerPrecisions='/a/Mul':fp32,\"/b\":fp16", {"/a/Mul": "high", "/b": "low"}),
        ("--layerPrecisions=/a:fp32,/a:fp16", {"/a": "low"}),
        ("--layerPrecisions=/a:fp16,*:fp32,/b:fp16", {"/b": "low"}),
        ("--layerPrecisions=ns::a:fp32,/q:int8", {"ns::a": "high"}),
        ("\\\n  --layerPrecisions=*/Norm*:fp32", {"*/Norm*": "high"}),
    ],
)
def test_the_precisions_of_a_command_are_read(text: str, expected: dict[str, str]) -> None:
    found = read(RUN + text)
    assert classes(found) == expected
    assert found.lists.unlisted == ("high" if "*:fp32," in text and "Norm" not in text else "low")


@pytest.mark.parametrize(
    "name", ["PWN(a)", "{ForeignNode[a...b]}", "(Unnamed Layer* 12) [Shuffle]", "ONNXTRT_Broadcast_1"]
)
def test_names_that_the_engine_makes_are_no_nodes(name: str) -> None:
    found = read(f"{RUN}'--layerPrecisions={name}:fp32,/a:fp32'")
    assert classes(found) == {"/a": "high"}
    assert [loss.names for loss in found.losses] == [(name,)]


def test_without_constraints_trtexec_ignores_the_precisions() -> None:
    (loss,) = read("trtexec --onnx=m.onnx --fp16 --layerPrecisions=/a:fp32").losses
    assert (loss.kind, "--precisionConstraints" in loss.message) == ("ignored", True)


def test_of_two_commands_a_line_chooses_one() -> None:
    text = f"{RUN}--layerPrecisions=/a:fp32\n{RUN}--layerPrecisions=/b:fp32\n"
    with pytest.raises(UsageFault, match="in lines 1, 2") as caught:
        read(text)
    assert caught.value.hint == "give one as FILE:LINE"
    assert classes(read(text, 2)) == {"/b": "high"}


HEAD = "import tensorrt as trt\nKEEP = ['/a', '/b']\ndef build(network):\n  for layer in network:\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("    if layer.name in KEEP:\n      layer.precision = trt.float32", {"/a": "high", "/b": "high"}),
        ("    if layer.name == '/a':\n      layer.precision = trt.DataType.FLOAT", {"/a": "high"}),
        ("    if 'norm' in layer.name:\n      layer.precision = trt.float32", {"*norm*": "high"}),
        ("    if layer.name.startswith('/head'):\n      layer.precision = trt.float32", {"/head*": "high"}),
        ("    if any(part in layer.name for part in KEEP):\n      layer.precision = trt.float32",
         {"*/a*": "high", "*/b*": "high"}),
        ("    if layer.name not in KEEP:\n      continue\n    layer.precision = trt.float32",
         {"/a": "high", "/b": "high"}),
        ("    if layer.precision != trt.float32:\n      continue\n"
         "    if layer.name == '/a' or '/b' in layer.name:\n      layer.precision = trt.float16",
         {"/a": "low", "*/b*": "low"}),
        ("    if layer.type == trt.LayerType.SOFTMAX:\n      layer.precision = trt.float32", {"Softmax": "high"}),
        ("    if args.fp16 and 0:\n      pass\n    if layer.name in KEEP:\n      layer.precision = trt.float32",
         {"/a": "high", "/b": "high"}),
    ],
)  # fmt: skip
def test_the_layers_that_a_script_sets_are_read(body: str, expected: dict[str, str]) -> None:
    found = read(HEAD + body)
    assert (classes(found), found.losses) == (expected, [])


@pytest.mark.parametrize(
    "body",
    [
        "    layer.precision = trt.float32",
        "    if layer.type == trt.LayerType.ELEMENTWISE:\n      layer.precision = trt.float32",
        "    if layer.name in load():\n      layer.precision = trt.float32",
        "    if layer.name in KEEP:\n      pass\n    else:\n      layer.precision = trt.float32",
        "    if layer.name[:2] == '/a':\n      layer.precision = trt.float32",
        "    if layer.name == '/a':\n      layer.precision = trt.float32\n"
        "    if layer.name == '/a':\n      layer.precision = trt.float16",
        "    if layer.name == '/a':\n      layer.precision = trt.int8",
        "    name = layer.name\n    if layer.type == trt.LayerType.SOFTMAX:\n      if '/a' in name:\n"
        "        layer.precision = trt.float32",
        "    is_late = '/b' in layer.name\n    if layer.type == trt.LayerType.SOFTMAX and 1:\n      pass\n"
        "    if is_late:\n      if layer.name in KEEP:\n        layer.precision = trt.float32",
    ],
)
def test_layers_that_only_the_running_script_knows_are_refused(body: str) -> None:
    with pytest.raises(UsageFault):
        read(HEAD + body)


SET = "if '/a' in layer.name:\n      layer.precision = trt.float32"
MADE = "import tensorrt as trt\nnetwork = trt.Builder(log).create_network(1)\n"


@pytest.mark.parametrize(
    "loop",
    [
        "for layer in network:\n    ",
        "for layer in reversed(network):\n    ",
        "for i, layer in enumerate(list(network), 1):\n    ",
        "for i in range(network.num_layers):\n    layer = network.get_layer(i)\n    ",
        "for i in range(len(network)):\n    layer = network[i]\n    ",
        "for layer in range(3):\n    i = layer\nfor i in range(len(network)):\n    layer = network[i]\n    ",
        "self.net = network\nfor layer in self.net:\n    for j in layer:\n      break\n    ",
        "for layer in network:\n    if layer.precision == trt.int8:\n      continue\n    ",
    ],
)
def test_loops_over_all_layers_are_read(loop: str) -> None:
    assert classes(read(f"{MADE}{loop}{SET}")) == {"*/a*": "high"}


@pytest.mark.parametrize(
    ("loop", "line"),
    [
        ("for layer in network[:10]:\n    ", 3),
        ("for layer in layers:\n    ", 3),
        ("net = network[:10]\nfor layer in net:\n    ", 4),
        ("self.net = pick(network)\nfor layer in self.net:\n    ", 4),
        ("for layer in islice(network, 10):\n    ", 3),
        ("for layer in filter(is_late, network):\n    ", 3),
        ("for layer in (each for each in network if late(each)):\n    ", 3),
        ("for layer in sorted(network, key=late)[1:]:\n    ", 3),
        ("for i, layer in enumerate(network[1:]):\n    ", 3),
        ("for layer, keep in zip(network, KEEP):\n    ", 3),
        ("for i, (layer, keep) in enumerate(zip(network, KEEP)):\n    ", 3),
        ("def list(network):\n  return network[1:]\nfor layer in list(network):\n    ", 5),
        ("for i in range(1, network.num_layers):\n    layer = network.get_layer(i)\n    ", 3),
        ("for i in range(network.num_layers - 1):\n    layer = network[i]\n    ", 3),
        ("for i in range(other.num_layers):\n    layer = network[i]\n    ", 3),
        ("for i in range(network.num_layers):\n    layer = network[i // 2]\n    ", 3),
        ("for i in range(network.num_layers):\n    i = 0\n    layer = network[i]\n    ", 3),
        ("while more():\n    layer = network[next(numbers)]\n    ", 6),
        ("layer = network[0]\nif 1:\n    ", 6),
        ("for layer in network:\n    layer = layer.next\n    ", 3),
        ("for layer in network:\n    if '/b' in layer.name:\n      break\n    ", 5),
        ("for layer in network:\n    if late(layer):\n      pass\n    else:\n      continue\n    ", 7),
        ("for layer in network:\n    if late(layer):\n      pass\n    elif 1:\n      continue\n    ", 7),
        ("for layer in network:\n    if 1:\n      if late(layer):\n        continue\n    ", 6),
        ("for layer in network:\n    if late(layer):\n      print(layer)\n      continue\n    ", 8),
        ("for layer in network:\n    continue\n    ", 4),
        ("for layer in network:\n    if done:\n      continue\n    done.append(1)\n    ", 4),
        ("for layer in network:\n    if layer.dtype == trt.int8 and done:\n      continue\n    ", 7),
        ("for layer in network:\n   if layer.type == trt.LayerType.SOFTMAX:\n    ", 6),
        ("for layer in network:\n   if next(flags):\n    ", 4),
        ("for layer in network:\n   try:\n    check(layer)\n   except E:\n    ", 4),
        ("for layer in network:\n   with suppress(E):\n    check(layer)\n    ", 4),
        ("for layer in network:\n  match 1:\n   case 1:\n    ", 4),
        ("for layer in network:\n  pass\nelse:\n    ", 3),
        ("for layer in network:\n    for j in layer:\n      pass\n    else:\n      break\n    ", 4),
        (
            "for i in range(network.num_layers):\n    if layer.dtype == trt.int8:\n      continue\n"
            "    layer = network[i]\n    ",
            3,
        ),
        ("for network in networks:\n  for layer in network:\n    ", 6),
        ("def mark(layer):\n    ", 5),
        ("def mark(network):\n  for layer in network:\n    if '/b' in layer.name:\n      return\n    ", 6),
    ],
)
def test_loops_over_some_layers_are_refused_with_their_line(loop: str, line: int) -> None:
    with pytest.raises(UsageFault) as caught:
        read(f"{MADE}{loop}{SET}")
    assert f"(f0:{line}:" in str(caught.value.hint)


def test_of_a_layer_that_ends_its_loop_others_are_not_known() -> None:
    with pytest.raises(UsageFault):
        read(f"{MADE}for layer in network:\n    {SET}\n      break")


def test_literal_strings_of_a_script_are_commands() -> None:
    text = "import os\nos.system('trtexec --fp16 ' + '--layerPrecisions=/a:fp32,'\n '/b:fp32')"
    assert classes(read(text)) == {"/a": "high", "/b": "high"}
    with pytest.raises(UsageFault, match="line 2 computes"):
        read("import os\nos.system(f'trtexec --layerPrecisions={names}:fp32')")


def test_node_names_become_lines_of_keep_dtype() -> None:
    found = read(RUN + "--layerPrecisions=/a:fp32,/b*:fp32,/c:fp16")
    made = convert_lists(found, SYSTEMS["keep-dtype"], ConversionOptions())
    assert made.texts == {"keep_dtype.cfg": "/a\n"}
    assert {each.name for each in made.entries.dropped} == {"/b*", "/c"}


@pytest.mark.parametrize(
    ("pattern", "name", "expected"), [("/a[0]*", "/a[0]/b", True), ("*x", "ax", True), ("/a", "/ab", False)]
)
def test_a_star_stands_for_anything(pattern: str, name: str, expected: bool) -> None:
    (entry,) = read(f"{RUN}--layerPrecisions={pattern}:fp32").lists.entries
    assert means(entry, name) is expected


@pytest.mark.parametrize("name", ["nncf", "Quark", "aimet"])
def test_tools_for_int8_are_refused_with_the_reason(name: str) -> None:
    with pytest.raises(UsageFault, match="says little about float16"):
        system_called(name)


@pytest.mark.parametrize(
    "text",
    ["import nncf\nnncf.quantize(m, d, ignored_scope=nncf.IgnoredScope(names=['/a']))", "from quark.onnx import Config",
     '{"activation_encodings": {}, "param_encodings": {}}'],
)  # fmt: skip
@pytest.mark.parametrize("system", ["onnxconverter", "tensorrt", "modelopt"])
def test_lists_for_int8_are_refused_with_the_reason(system: str, text: str) -> None:
    with pytest.raises(UsageFault, match="says little about float16"):
        read_lists(SYSTEMS[system], [Source(text.encode(), "f0")])
