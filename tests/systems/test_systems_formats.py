"""Every format: written files are read back, and faults have a place."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from habana_lists import BF16, FP32

from opsinfo_cli.core.cann.library import Library, Operators, Store
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.errors import Damaged, OpsinfoError, UsageFault
from opsinfo_cli.systems.conversion import convert_lists
from opsinfo_cli.systems.input_lists import read_lists
from opsinfo_cli.systems.list_text import ListText
from opsinfo_cli.systems.registry import SYSTEMS, lists_of
from opsinfo_cli.systems.system import ConversionOptions
from opsinfo_cli.systems.translation import translate
from opsinfo_cli.systems.vocabulary import ListEntry, OperatorClass, OperatorLists, ReadLists, Unlisted


def read(system: str, *texts: str) -> ReadLists:
    return read_lists(SYSTEMS[system], [Source(text.encode(), f"f{number}") for number, text in enumerate(texts)])


def by_class(lists: OperatorLists, cls: OperatorClass) -> list[str]:
    return [each.name for each in lists.entries if each.cls is cls and each.origin.startswith(("f", "a", "h", "c"))]


def lines(names: str, newline: bool = True) -> str:
    return "\n".join(names.split()) + ("\n" if newline else "")


PAIRS = [(low, FP32.get(tag, "topk")) for tag, low in BF16.items()] + [("relu", high) for high in FP32.values()]


BY_FUNCTION = [(low, high) for low, high in PAIRS if "." not in low]
"""The pairs without overloads, which autocast never looks up."""


@pytest.mark.parametrize(
    ("system", "low", "high"),
    [("habana-hmp", *pair) for pair in PAIRS] + [("habana-autocast", *pair) for pair in BY_FUNCTION],
)
@pytest.mark.parametrize("newline", [True, False], ids=["newline", "no newline"])
def test_habana_lists_come_back_name_for_name(system: str, low: str, high: str, newline: bool) -> None:
    found = read(system, lines(low, newline), lines(high, newline))
    assert found.losses == ()
    written = convert_lists(found, SYSTEMS[system], ConversionOptions())
    assert written.losses == []
    assert written.texts == {"ops_bf16.txt": lines(low), "ops_fp32.txt": lines(high)}


def test_an_overload_in_an_autocast_list_matches_nothing_and_is_dropped() -> None:
    made = convert_lists(
        read("habana-autocast", "pow.Tensor_Scalar\nmm\n", "exp\n"), SYSTEMS["keep-dtype"], ConversionOptions()
    )
    assert "Square" not in made.texts["keep_dtype.cfg"]
    assert ("pow.Tensor_Scalar", "matches nothing") in [(each.name, each.reason[-15:]) for each in made.entries.dropped]


def test_a_line_with_cr_or_blanks_matches_nothing_and_is_reported() -> None:
    found = read("habana-autocast", "mm\r\nadd \n", "")
    assert by_class(found.lists, OperatorClass.LOW) == []
    assert [(loss.kind, loss.names) for loss in found.losses] == [("not-a-name", ("mm\r", "add "))]


def test_a_name_in_both_files_is_unknown_for_hmp_and_low_for_autocast() -> None:
    hmp, autocast = read("habana-hmp", "mm\n", "mm\n"), read("habana-autocast", "mm\n", "mm\n")
    assert "mm" not in hmp.lists.deciding()
    assert [loss.kind for loss in hmp.losses] == ["conflict"]
    assert autocast.lists.deciding()["mm"].cls is OperatorClass.LOW


def test_one_habana_file_keeps_the_built_in_fp32_list() -> None:
    assert read("habana-hmp", "mm\n").lists.deciding()["softmax"].cls is OperatorClass.HIGH
    assert "softmax" not in read("habana-hmp", "mm\n", "topk\n").lists.deciding()


@pytest.mark.parametrize(
    ("text", "low", "kinds"),
    [
        ({"autocast_bf16_ops": ["mm"], "autocast_fp32_ops": ["log"]}, ["mm"], []),
        ({"hmp_bf16_ops": ["mm"], "hmp_fp32_ops": []}, ["mm"], []),
        ({"autocast_bf16_ops": None, "autocast_fp32_ops": None}, "default", []),
        ({"autocast_bf16_ops": ["mm"]}, "default", ["ignored"]),
    ],
)
def test_gaudi_config_is_read_in_both_spellings(text: object, low: list[str] | str, kinds: list[str]) -> None:
    found = read("optimum-habana", json.dumps(text))
    default = [each.name for each in lists_of("optimum-habana").entries if each.cls is OperatorClass.LOW]
    assert [e.name for e in found.lists.entries if e.cls is OperatorClass.LOW] == (default if low == "default" else low)
    assert [each.name for each in found.lists.own if each.cls is OperatorClass.LOW] == ([] if low == "default" else low)
    assert [loss.kind for loss in found.losses] == kinds


def test_a_level_that_is_not_documented_is_reported() -> None:
    text = {"hmp_bf16_ops": ["mm"], "hmp_fp32_ops": [], "hmp_opt_level": "O2"}
    assert [loss.message[:19] for loss in read("optimum-habana", json.dumps(text)).losses] == ["hmp_opt_level is O2"]


@pytest.mark.parametrize("path", ["m.json", '"m.json"', "'m.json'", '"a b.json" '])
def test_a_mixlist_path_of_an_ini_may_be_quoted(path: str) -> None:
    named = SYSTEMS["mindspore-lite"].mixlist_path
    assert named is not None
    source = Source(f"[ascend_context]\nmixprecision_list_path = {path}\n".encode(), "x.ini")
    assert named(source) == path.strip(" \"'")


@pytest.mark.parametrize(
    ("system", "text", "again"),
    [
        ("keep-dtype", "OpType::Add\nlayer1/conv\n", "OpType::Add\nlayer1/conv\n"),
    ],
)
def test_a_format_is_read_back_as_it_was_written(system: str, text: str, again: str) -> None:
    written = convert_lists(read(system, text), SYSTEMS[system], ConversionOptions())
    assert (list(written.texts.values()), written.losses) == ([again], [])


MINDSPORE = """from mindspore import nn, ops

{0} = [
{1}]
# network = mindspore.amp.custom_mixed_precision(network, {0}={0})
"""
APEX = """import torch
from apex import amp

# before amp.initialize(..., opt_level="O1")
amp.register_half_function(torch, "matmul")
amp.register_float_function(torch.nn.functional, "softmax")
amp.register_promote_function(torch, "add")
"""


@pytest.mark.parametrize(
    ("system", "text", "again"),
    [
        ("mindspore-white", "mindspore.nn.Dense\nops.MatMul\n", ("white_list", "    nn.Dense,\n    ops.MatMul,\n")),
        (
            "mindspore-white",
            "w = [P.MatMul]\nf(white_list=w + [ms.nn.GRU])",
            ("white_list", "    ops.MatMul,\n    nn.GRU,\n"),
        ),
        ("mindspore-white", "white_list = []\nwhite_list.append(nn.Dense)", ("white_list", "    nn.Dense,\n")),
        ("mindspore-black", "nn.LayerNorm\n", ("black_list", "    nn.LayerNorm,\n")),
        ("apex", APEX, None),
        ("apex-npu", APEX, None),
    ],
)
def test_python_is_read_back_as_it_was_written(system: str, text: str, again: tuple[str, str] | None) -> None:
    wanted = MINDSPORE.format(*again) if again else APEX
    for source in (text, wanted):
        written = convert_lists(read(system, source), SYSTEMS[system], ConversionOptions())
        assert (list(written.texts.values()), written.losses) == ([wanted], [])


def test_the_built_in_lists_of_mindspore_are_known_by_their_functions() -> None:
    names = {
        each.name for each in read("mindspore-white", "white_list = amp.get_white_list() + [nn.GRU]").lists.entries
    }
    assert names >= {"nn.GRU", "nn.Dense", "MatMul"}


def test_apex_registers_only_functions_whose_module_is_known() -> None:
    entries = (ListEntry("mm", cls=OperatorClass.HIGH), ListEntry("my_function", cls=OperatorClass.LOW))
    written = convert_lists(
        ReadLists(OperatorLists(system="some", names="torch", entries=entries, unlisted="inputs", low="float16")),
        SYSTEMS["apex"],
        ConversionOptions(),
    )
    assert 'amp.register_float_function(torch, "mm")' in written.texts["register_functions.py"]
    assert [each.name for each in written.entries.dropped] == ["my_function"]


@pytest.mark.parametrize("line", ["[ addmm, avg_pool2d ]", "[", "addmm, bmm", "addmm bmm", "# mine and yours"])
@pytest.mark.parametrize("system", ["habana-hmp", "habana-autocast"])
def test_a_line_of_a_habana_file_is_one_name(system: str, line: str) -> None:
    with pytest.raises(Damaged) as caught:
        read(system, f"relu\n{line}\n")
    assert (caught.value.line, "a line of its own" in str(caught.value.hint)) == (2, True)


def test_a_comment_in_a_keep_dtype_file_is_no_node() -> None:
    found = read("keep-dtype", "# mine\nOpType::Add\n")
    assert [each.name for each in found.lists.entries] == ["Add"]
    assert [(loss.kind, loss.names) for loss in found.losses] == [("not-a-name", ("# mine",))]


@pytest.mark.parametrize(
    "text",
    ["OpType::Add\r\n node \n", "a\u2028b\nOpType:: Mul\n", "conv\x0c\n\x1cfold\n   \n", "OpType::\nname\rmore"],
)
def test_keep_dtype_is_read_by_line_as_the_engine_and_graph_read_it(text: str) -> None:
    from opsinfo_cli.core.cann.option_files import KeepDtype

    lines = text.split("\n")
    engine = [(each.name, each.is_type) for each in KeepDtype(lines).names if each.name]
    assert [(each.name, each.scope == "operator") for each in read("keep-dtype", text).lists.entries] == engine


def test_rules_on_node_names_are_lost_in_a_list_of_op_types() -> None:
    found = read("modelopt", "autocast -ope Exp --nodes_to_exclude '/head/.*' --nodes_to_include=/body/mul")
    assert [(each.name, each.scope) for each in found.lists.entries[:3]] == [
        ("/body/mul", "node"),
        ("Exp", "operator"),
        ("/head/.*", "node"),
    ]
    (lost,) = [loss for loss in translate(found.lists, "ascend").losses if loss.kind == "node-rules"]
    assert set(lost.names) == {"/head/.*", "/body/mul"}


def test_the_low_dtype_of_modelopt_is_read() -> None:
    assert read("modelopt", "autocast --low_precision_type bf16 -ope Exp").lists.low == "bfloat16"
    assert read("modelopt", "autocast --low_precision_type=bf16 -ope Exp").lists.low == "bfloat16"


@pytest.mark.parametrize(
    ("cls", "listed", "kinds"),
    [
        (OperatorClass.HIGH, True, []),
        (OperatorClass.BANNED, True, ["no-class"]),
        (OperatorClass.LOW, False, []),
        (OperatorClass.FOLLOW, False, ["approximate"]),
    ],
)
def test_a_black_list_has_what_is_high_or_refused_in_low_precision(
    cls: OperatorClass, listed: bool, kinds: list[str]
) -> None:
    lists = OperatorLists(
        system="some", names="mindspore", entries=(ListEntry("nn.LayerNorm", cls=cls),), unlisted="low", low="float16"
    )
    written = convert_lists(ReadLists(lists), SYSTEMS["mindspore-black"], ConversionOptions())
    assert ("nn.LayerNorm," in written.texts["black_list.py"], [loss.kind for loss in written.losses]) == (
        listed,
        kinds,
    )
    own = replace(lists, system="mindspore-black")
    assert convert_lists(ReadLists(own), SYSTEMS["mindspore-black"], ConversionOptions()).losses == []


@pytest.mark.parametrize(
    ("system", "text", "entries"),
    [
        (
            "modelopt",
            "autocast -opi Conv Gemm --op_types_to_exclude Exp \\\n -ne 'a b' # end",
            {"Conv": "low", "Gemm": "low", "Exp": "high", "a b": "high"},
        ),
        (
            "paddle",
            "auto_cast(custom_white_list={'exp'}, custom_black_list=['mul'])",
            {"exp": "low", "mul": "high"},
        ),
        (
            "paddle",
            'python run.py \\\n --amp_custom_white_list "matmul" softmax --lr 1 --amp_custom_black_list=sin cos\n',
            {"matmul": "low", "softmax": "low", "sin": "high", "cos": "high"},
        ),
        (
            "apex",
            "amp.register_half_function(torch, 'bmm')\namp.register_float_function(torch, 'sigmoid')",
            {"bmm": "low", "sigmoid": "high"},
        ),
        (
            "tensorflow",
            "AllowList:\nConv2D\n\nBlackList:\nMean\n\nInferList:\nAdd\n\nClearList:\nRelu\n",
            {"Conv2D": "low", "Mean": "high", "Add": "follow", "Relu": "clear"},
        ),
    ],
    ids=["modelopt", "paddle", "paddle flags", "apex", "tensorflow"],
)
def test_a_users_own_lists_are_read(system: str, text: str, entries: dict[str, str]) -> None:
    assert {each.name: str(each.cls) for each in read(system, text).lists.own} == entries


@pytest.mark.parametrize("system", [each.name for each in SYSTEMS.values() if each.reads and not each.write])
def test_a_format_that_is_only_read_names_what_to_use(system: str) -> None:
    found = ReadLists(OperatorLists(system="keep-dtype", names="ascend", entries=(), unlisted="mode"))
    with pytest.raises(UsageFault, match="cannot be written") as caught:
        convert_lists(found, SYSTEMS[system], ConversionOptions())
    assert caught.value.hint


@pytest.mark.parametrize("system", [each for each in SYSTEMS if SYSTEMS[each].read and SYSTEMS[each].files])
def test_too_many_files_are_refused(system: str) -> None:
    with pytest.raises(UsageFault, match="takes"):
        read(system, "x", "y", "z")


@pytest.mark.parametrize("system", ["mixlist", "mindspore-lite"])
def test_a_format_of_differences_refuses_without_a_base(system: str) -> None:
    found = ReadLists(
        OperatorLists(
            system="library", names="ascend", entries=(ListEntry("Add", cls=OperatorClass.HIGH),), unlisted="library"
        )
    )
    with pytest.raises(UsageFault) as caught:
        convert_lists(found, SYSTEMS[system], ConversionOptions())
    assert caught.value.name == "needs-base"


@pytest.mark.parametrize(
    ("system", "text"),
    [
        ("optimum-habana", "[]"),
        ("optimum-habana", '{"autocast_bf16_ops": [1], "autocast_fp32_ops": []}'),
        ("tensorflow", "Conv2D\n"),
        ("paddle", "custom_white_list = {1}"),
        ("onnxconverter", "op_block_list = ["),
        ("modelopt", "-ope 'Exp"),
    ],
    ids=[
        "optimum-habana array",
        "optimum-habana number",
        "tensorflow",
        "paddle",
        "onnxconverter",
        "modelopt",
    ],
)
def test_a_damaged_file_is_refused_with_its_name(system: str, text: str) -> None:
    with pytest.raises(Damaged) as caught:
        read(system, text)
    assert caught.value.path == "f0"


@pytest.mark.parametrize(
    ("system", "text"),
    [("apex", "import torch"), ("paddle", "x = 1"), ("onnxconverter", ""), ("modelopt", "python x.py")],
)
def test_a_file_without_a_list_is_refused(system: str, text: str) -> None:
    with pytest.raises(OpsinfoError):
        read(system, text)


DEFAULT = [each.name for each in lists_of("onnxconverter").entries]


@pytest.mark.parametrize(
    ("text", "own", "defaults"),
    [
        ("f(op_block_list=DEFAULT_OP_BLOCK_LIST + ['Exp'])", ["Exp"], DEFAULT),
        ("op_block_list = float16.DEFAULT_OP_BLOCK_LIST + ['Exp', 'Log']", ["Exp", "Log"], DEFAULT),
        ("op_block_list = [*DEFAULT_OP_BLOCK_LIST, 'Exp']", ["Exp"], DEFAULT),
        ("blocked = list(DEFAULT_OP_BLOCK_LIST)\nblocked.append('Exp')\nf(op_block_list=blocked)", ["Exp"], DEFAULT),
        ("op_block_list = DEFAULT_OP_BLOCK_LIST.copy()\nop_block_list += ['Exp']", ["Exp"], DEFAULT),
        ("op_block_list = ['Exp']\nop_block_list.extend(('Log',))", ["Exp", "Log"], []),
        ("def f(op_block_list=None): g(op_block_list=op_block_list)\nf(op_block_list=['Exp'])", ["Exp"], []),
        ("losses = []\nlosses.append(loss.item())\nop_block_list = ['Exp']", ["Exp"], []),
    ],
    ids=[
        "sum",
        "sum of an attribute",
        "unpacked",
        "append",
        "copy and add",
        "extend",
        "default argument",
        "another list",
    ],
)
def test_a_block_list_is_read_from_the_python_that_builds_it(text: str, own: list[str], defaults: list[str]) -> None:
    found = read("onnxconverter", text).lists
    assert [each.name for each in found.own] == own
    assert [each.name for each in found.entries if each.is_default] == defaults


@pytest.mark.parametrize("value", ["load()", "args.blocked", "[name]", "[*load()]", "blocked"])
def test_a_computed_block_list_is_refused_with_its_place(value: str) -> None:
    with pytest.raises(Damaged, match="without running the script") as caught:
        read("onnxconverter", f"blocked = load()\n\nf(op_block_list={value})")
    assert (caught.value.line, caught.value.column is not None) == (1 if value == "blocked" else 3, True)


@pytest.mark.parametrize(
    ("system", "text", "names", "unread"),
    [
        ("onnxconverter", "f(op_block_list=['Exp'], node_block_list=[n.name for n in m])", ["Exp"], "1:42"),
        ("onnxconverter", "f(op_block_list=['Exp', name, 'Log'])", ["Exp", "Log"], "1:25"),
        ("onnxconverter", "f(op_block_list=['Exp'] + load(path))", ["Exp"], "1:27"),
        ("onnxconverter", "b = ['Exp']\nb += load()\nf(op_block_list=b)", ["Exp"], "2:6"),
        ("onnxconverter", "f(node_block_list=['conv1'], op_block_list=load())", ["conv1"], "1:44"),
        ("paddle", "custom_white_list = {'conv2d'}\ncustom_black_list = load()", ["conv2d"], "2:21"),
        ("apex", "amp.register_half_function(torch, 'bmm')\namp.register_half_function(torch, name)", ["bmm"], "2:1"),
        ("apex", "for f in x: amp.register_float_function(torch, f)\namp.register_half_function(a, name='mm')", ["mm"],
         "1:13"),
        ("modelopt", "echo it's\nautocast -ope Exp", ["Exp"], "line 1"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_does_not_refuse_the_rest(system: str, text: str, names: list[str], unread: str) -> None:
    found = read(system, text)
    assert [each.name for each in found.lists.own] == names
    (loss,) = found.losses
    assert (loss.kind, loss.lossy, unread in loss.details[0]) == ("unread", True, True)


def test_a_list_that_is_set_later_replaces_what_could_not_be_read() -> None:
    found = read("onnxconverter", "op_block_list = load()\nop_block_list = ['Exp']")
    assert ([each.name for each in found.lists.own], found.losses) == (["Exp"], ())


def test_a_computed_block_list_still_replaces_the_default_one() -> None:
    found = read("onnxconverter", "f(op_block_list=[name], node_block_list=['conv1'])")
    assert [each.name for each in found.lists.entries] == ["conv1"]


def test_a_computed_list_of_nodes_alone_leaves_the_default_list_of_operators() -> None:
    found = read("onnxconverter", "nodes = [n.name for n in graph.node]\nconvert(model, node_block_list=nodes)")
    assert [each.name for each in found.lists.entries] == DEFAULT
    assert all(each.is_default for each in found.lists.entries)
    assert [(loss.kind, loss.names) for loss in found.losses] == [("unread", ("node_block_list",))]


def test_lists_of_one_line_are_named_in_its_order() -> None:
    with pytest.raises(Damaged, match=r"gives 2 lists: \[A\] in line 1, \[B\] in line 1"):
        read("onnxconverter", "x = g(h(f(op_block_list=['A']))), f(op_block_list=['B'])")


def test_lines_before_the_first_section_of_tensorflows_lists_are_named() -> None:
    found = read("tensorflow", "2024 run\nAllowList:\nConv2D\n")
    assert [each.name for each in found.lists.entries] == ["Conv2D"]
    assert [(loss.kind, loss.names) for loss in found.losses] == [("not-a-name", ("2024 run",))]


@pytest.mark.parametrize("depth", [900, 5_000, 100_000])
def test_an_expression_that_is_nested_deeply_is_read_or_refused(depth: int) -> None:
    texts = {
        "onnxconverter": "op_block_list = ['Exp']" + depth * " + ['Log']",
        "apex": f"amp.register_half_function(torch{depth * '.nn'}, 'bmm')",
    }
    for system, text in texts.items():
        try:
            names = [each.name for each in read(system, text).lists.own]
        except Damaged as error:
            names = [error.message]
        assert names in (["Exp", "Log"], ["bmm"], ["an expression is nested too deeply"]) or "cannot parse" in names[0]


def test_python_is_read_and_never_run(capfd: pytest.CaptureFixture[str]) -> None:
    read("onnxconverter", "print('run')\nop_block_list = ['Exp']\n")
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(("unlisted", "kinds"), [("library", []), ("high", ["approximate"])])
def test_follow_is_exactly_gray_only_for_lists_of_ascend(unlisted: Unlisted, kinds: list[str]) -> None:
    entry = {"input0": {"name": "x", "paramType": "required", "dtype": "float16,float", "format": "ND,ND"}}
    text = json.dumps({"Add": {**entry, "precision_reduce": {"flag": "true"}}})
    operators = Operators([Store([Library.of(Source(text.encode(), "lib.json"))])])
    lists = OperatorLists(
        system="some", names="ascend", entries=(ListEntry("Add", cls=OperatorClass.FOLLOW),), unlisted=unlisted
    )
    written = convert_lists(
        ReadLists(lists), SYSTEMS["mixlist"], ConversionOptions(operators=operators, target="lib.json")
    )
    assert json.loads(written.texts["ops_info.json"]) == {"white-list": {"to-remove": ["Add"]}}
    assert [loss.kind for loss in written.losses] == kinds


@pytest.mark.parametrize(
    ("cls", "flag", "dtypes", "kinds"),
    [
        (OperatorClass.LOW, None, "float", ["no-kernel"]),
        (OperatorClass.HIGH, None, "float16", ["no-kernel"]),
        (OperatorClass.LOW, "true", "float", []),
        (OperatorClass.PROMOTE, None, "float", ["no-class"]),
        (OperatorClass.BANNED, None, "float", ["no-class"]),
    ],
)
def test_a_list_without_a_kernel_is_reported(
    cls: OperatorClass, flag: str | None, dtypes: str, kinds: list[str]
) -> None:
    tensor = {"name": "x", "paramType": "required", "dtype": dtypes, "format": "ND"}
    content = {"Op": {"input0": tensor, **({"precision_reduce": {"flag": flag}} if flag else {})}}
    operators = Operators([Store([Library.of(Source(json.dumps(content).encode(), "lib.json"))])])
    lists = OperatorLists(
        system="some",
        names="ascend",
        entries=(ListEntry("Op", cls=cls), ListEntry("Absent", cls=OperatorClass.LOW)),
        unlisted="library",
    )
    losses = convert_lists(
        ReadLists(lists), SYSTEMS["mixlist"], ConversionOptions(operators=operators, target="lib.json")
    ).losses
    assert [loss.kind for loss in losses if loss.kind != "not-in-base"] == kinds
    assert [loss.names for loss in losses if loss.kind == "not-in-base"] == [("Absent",)]


@pytest.mark.parametrize(
    ("system", "text", "names"),
    [
        ("onnxconverter", "f(op_block_list=['Pow'])\ng(op_block_list=['Exp'])", ["Exp"]),
        ("onnxconverter", "a = ['Pow']\nf(op_block_list=a)\na += ['Exp']\nf(op_block_list=a)", ["Pow", "Exp"]),
        ("paddle", "a(custom_white_list={'x'})\nb(custom_white_list={'y'})", ["y"]),
    ],
)
def test_of_two_calls_a_line_chooses_one(system: str, text: str, names: list[str]) -> None:
    with pytest.raises(Damaged, match="the script gives 2 lists") as caught:
        read(system, text)
    assert "FILE:LINE" in str(caught.value.hint)
    source = ListText(text.encode(), "f0")
    source.line = caught.value.line
    assert [each.name for each in read_lists(SYSTEMS[system], [source]).lists.own] == names


@pytest.mark.parametrize("system", [name for name, system in SYSTEMS.items() if system.read and system.files])
def test_too_many_files_are_refused_with_the_number_that_may_be_given(system: str) -> None:
    most = SYSTEMS[system].files or 0
    wanted = "exactly one file$" if most == 1 else f"at most {most} files"
    with pytest.raises(UsageFault, match=f"{system} takes {wanted}"):
        read(system, *["add\n"] * (most + 1))


def test_a_name_with_half_a_character_is_refused_since_it_cannot_be_written() -> None:
    with pytest.raises(Damaged, match="not called with a name that can be read"):
        read("apex", 'amp.register_half_function(torch, "\\ud800mm")\n')


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("python -m modelopt.onnx.quantization --op_types_to_exclude MatMul --op_types_to_exclude_fp16 Exp Softmax",
         ["Exp", "Softmax"]),
        ("python3 -m modelopt.onnx.autocast --onnx_path m --op_types_to_exclude=Exp", ["Exp"]),
        ("from modelopt.onnx.autocast import convert_to_f16\nconvert_to_f16(m, op_block_list=['Exp'])", ["Exp"]),
        ("import modelopt.onnx.autocast as a\na.convert_to_mixed_precision(p, 'fp16', None, ['Exp', 'Pow'])",
         ["Exp", "Pow"]),
        ("from modelopt.onnx.quantization import quantize\n"
         "quantize(p, op_types_to_exclude=['Conv'], op_types_to_exclude_fp16=['Exp'])", ["Exp"]),
    ],
)  # fmt: skip
def test_of_modelopt_the_lists_of_float16_are_read(text: str, names: list[str]) -> None:
    assert [each.name for each in read("modelopt", text).lists.own] == names


@pytest.mark.parametrize(
    "text",
    [
        "python -m modelopt.onnx.quantization --onnx_path m --op_types_to_exclude MatMul",
        "from modelopt.onnx.quantization import quantize\nquantize(onnx_path=p, op_types_to_exclude=['MatMul'])",
    ],
)
def test_lists_of_int8_are_refused_with_the_reason(text: str) -> None:
    with pytest.raises(UsageFault, match="says little about float16"):
        read("modelopt", text)


def test_of_two_commands_of_modelopt_a_line_chooses_one() -> None:
    text = "a=1\npython3 -m x.autocast -ope \\\n  Conv\npython3 -m x.autocast -ope Exp\n"
    with pytest.raises(UsageFault, match="2 commands, in lines 2, 4") as caught:
        read("modelopt", text)
    assert caught.value.hint == "give one as FILE:LINE"
    source = ListText(text.encode(), "f0")
    source.line = 4
    assert [each.name for each in read_lists(SYSTEMS["modelopt"], [source]).lists.own] == ["Exp"]


def test_of_two_commands_of_paddle_a_line_chooses_one() -> None:
    text = "run.py --amp_custom_black_list sin\nrun.py --amp_custom_black_list cos\n"
    with pytest.raises(UsageFault, match="2 commands, in lines 1, 2"):
        read("paddle", text)


def test_a_readable_white_list_stands_beside_a_black_list_that_is_not() -> None:
    text = "black = ['sin'] if args.x else None\nc.amp = {'custom_white_list': ['exp'], 'custom_black_list': black}"
    found = read("paddle", text)
    assert [each.name for each in found.lists.own] == ["exp"]
    assert [loss.names for loss in found.losses] == [("custom_black_list",)]
