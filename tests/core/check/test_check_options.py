"""Files of compiler options beside a mixlist: their kind, findings with places, and fixes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from check_support import Checker
from corpus_place import CORPUS
from library_files import entry
from tables import rows

from opsinfo_cli.core.cann.file_kind import option_kind
from opsinfo_cli.core.cann.option_files import Customized, CustomizeDtypes
from opsinfo_cli.core.cann.target import resolve
from opsinfo_cli.core.cann.targets.found import TargetOptions
from opsinfo_cli.core.change.plan import Job, planned
from opsinfo_cli.core.check.finding import Finding
from opsinfo_cli.core.check.fixes import OptionFixPlan
from opsinfo_cli.core.check.mixlist import MixlistTarget
from opsinfo_cli.core.check.options import OptionCheck, OptionFile
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.lab.graph.judge.kernel_sources import Kernels
from opsinfo_cli.lab.graph.judge.support import refuses_all_nodes
from opsinfo_cli.lab.graph.mixlist_check import CheckedModels, OpenedModel, open_models

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
DUMP = FIXTURES / "graphs" / "ge_proto_00020_FeTopoSortingAfter.txt"


@pytest.fixture(scope="module")
def against() -> MixlistTarget:
    return MixlistTarget(resolve(str(FIXTURES / "opp"), TargetOptions(soc="ascend910b"), {}))


@pytest.fixture(scope="module")
def model() -> OpenedModel:
    return OpenedModel(str(DUMP))


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("[ByNodeName]\nx=1\n", "a", "op_precision"),
        ("\r\nGelu = high_performance\r\n", "a.ini", "op_precision"),
        ("a/b::InputDtype:float16", "a.cfg", "customize_dtypes"),
        ("x\nOpType::Pow", "keep.cfg", "keep_dtype"),
        ("a/b\n\nc_1 \r\n", "names.txt", "keep_dtype"),
        ("a b\n", "KeepType.cfg", "keep_dtype"),
        ("", "op_precision.ini", "op_precision"),
        ("a b\n", "names.txt", None),
        ("key=value\n", "setup.cfg", None),
        ("model\n", "names.ini", None),
        (" \n", "empty.txt", None),
        ('{"x": 1}', "keep_dtype.cfg", None),
        ('\n {"x": 1}', "keep_dtype.cfg", None),
        ("OpType::Pow", "keep.json", None),
    ],
)
def test_the_kind_is_found_by_content_then_by_name(text: str, name: str, kind: str | None) -> None:
    assert option_kind(text, name, is_named=True) == kind


def test_in_a_tree_names_of_nodes_alone_do_not_make_a_keep_dtype_file(tmp_path: Path) -> None:
    for name in ("words.txt", "words.cfg", "keep_dtype.txt"):
        (tmp_path / name).write_text("conv_1\n")
    (tmp_path / "modes.ini").write_bytes(b"Gelu=high_precision\n# \xd6\xd0\n")
    checker = Checker()
    checker.check_paths([str(tmp_path)])
    kinds = {Path(verdict.path).name: verdict.kind for verdict in checker.outcome.files}
    assert kinds == {"keep_dtype.txt": "keep_dtype", "modes.ini": "op_precision"}
    assert checker.failures == []


CASES = rows(__file__, "option_lines.toml")


@pytest.mark.parametrize(
    ("kind", "text", "expected", "fixed"), CASES, ids=[f"{kind} {text!r}" for kind, text, *_ in CASES]
)
def test_a_line_has_its_findings_and_fixes(
    kind: Any,
    text: str,
    expected: list[tuple[str, int, int, str]],
    fixed: str,
    against: MixlistTarget,
    model: OpenedModel,
) -> None:
    is_about_nodes = any(name in ("unknown-node", "not-in-model") for name, *_ in expected)

    def find(source: Source) -> list[Finding]:
        return list(
            OptionCheck(
                OptionFile(kind, source), [against], CheckedModels([model]) if is_about_nodes else None, open_models
            ).findings()
        )

    source = Source(text.encode(), "a.cfg")
    found = [(each.rule.name, each.start, each.fix.kind if each.fix else "none") for each in find(source)]
    assert sorted(found) == sorted((name, (line, column), fix) for name, line, column, fix in expected)
    plan = OptionFixPlan(find, True, kind)
    patch = plan.patch(source)
    result = Source(patch.apply(source), "a.cfg")
    assert result.text == fixed
    assert not result.bom
    plan.prove(source, result)


def test_a_similar_node_is_suggested_and_can_be_put_in(model: OpenedModel) -> None:
    check = OptionCheck(
        OptionFile("keep_dtype", Source(b"log\nfc/mat_mul\n", "keep.cfg")), [], CheckedModels([model]), open_models
    )
    (finding,) = check.findings()
    assert finding.hint == "did you mean `fc/matmul`?"
    assert finding.fix is not None
    assert finding.fix.kind == "unsafe"


def test_the_modes_of_an_install_win_over_the_public_ones(tmp_path: Path, against: MixlistTarget) -> None:
    root = shutil.copytree(FIXTURES / "opp", tmp_path / "opp")
    modes = root / "built-in" / "op_impl" / "ai_core" / "tbe" / "impl_mode" / "all_ops_impl_mode.ini"
    modes.parent.mkdir()
    modes.write_text("Gelu=keep_fp16\nTransData=optional\n")
    target = MixlistTarget(resolve(str(root), TargetOptions(soc="ascend910b"), {}))
    file = OptionFile("op_precision", Source(b"Gelu=keep_fp16\n", "a.ini"))
    assert [len(list(OptionCheck(file, [each], None, open_models).findings())) for each in (target, against)] == [0, 1]


def test_real_files_have_no_findings(against: MixlistTarget) -> None:
    if not (CORPUS / "graphs").is_dir():
        pytest.skip("the corpus is not here")
    graphs = CORPUS / "graphs"
    paths = [path for pattern in ("keeptype*", "customize*") for path in graphs.glob(pattern)]
    checker = Checker([MixlistTarget(resolve(str(CORPUS / "cann-910b" / "opp"), TargetOptions(), {}))])
    checker.check_paths(map(str, paths))
    assert len(checker.outcome.files) == len(paths) == 4
    assert checker.outcome.findings == checker.failures == []


def test_every_line_with_a_misspelt_mode_is_fixed(against: MixlistTarget) -> None:
    """More lines, and more misspellings of one mode, than there are passes."""
    modes = ["hihg_precision"] * 25 + ["high_" + "p" * count + "recision" for count in range(2, 7)] + ["high_precisio"]

    def find(source: Source) -> list[Finding]:
        return list(OptionCheck(OptionFile("op_precision", source), [against], None, open_models).findings())

    source = Source(("[ByOpType]\n" + "".join(f"Op{n}={mode}\n" for n, mode in enumerate(modes))).encode(), "a.ini")
    result = planned(Job("a.ini", OptionFixPlan(find, unsafe=True, kind="op_precision")), source).result
    assert result.text == "[ByOpType]\n" + "".join(f"Op{number}=high_precision\n" for number in range(len(modes)))


@pytest.mark.parametrize(
    ("line", "is_refused"),
    [
        ("OpType::Relu:InputDtype:float16,OutputDtype:int8", True),
        ("OpType::Relu:InputDtype:float16,OutputDtype:float16", False),
        ("OpType::Relu:OutputDtype:double", True),
        ("OpType::ReduceSum:InputDtype:float16,int64,OutputDtype:float16", False),
        ("OpType::ReduceSum:InputDtype:float16,int8,OutputDtype:float16", True),
        ("OpType::ReduceSum:InputDtype:,int64,OutputDtype:float16", False),
        ("OpType::MatMulV3:InputDtype:float16,float16,int8,OutputDtype:float16", False),  # input 2 may be absent
        ("OpType::AddN:InputDtype:float16,float32,OutputDtype:float16", False),  # as many inputs as a node has
        ("OpType::AddN:OutputDtype:int8", True),
        ("AddN:OutputDtype:int8", False),
        ("OpType::MatMulV2:InputDtype:int64,int64,OutputDtype:int8", False),  # the kernel decides at compile time
        ("OpType::IndexFill:InputDtype:float16,int32,float16,OutputDtype:float16", False),
        ("OpType::NoSuchOp:InputDtype:float16", False),
        ("relu:InputDtype:float16,OutputDtype:int8", False),  # of a node: not known without the model
    ],
)
def test_a_line_for_an_op_type_is_refused_where_the_columns_prove_it(
    against: MixlistTarget, line: str, is_refused: bool
) -> None:
    check = OptionCheck(OptionFile("customize_dtypes", Source(line.encode(), "c.cfg")), [against], None, open_models)
    found = [finding for finding in check.findings() if finding.rule.name == "refused-by-columns"]
    assert bool(found) is is_refused
    for finding in found:
        assert (finding.severity, finding.engine) == ("error", "refuses")
        assert line[finding.start.column - 1 : finding.end.column - 1] in line.split(":")
    without = OptionCheck(OptionFile("customize_dtypes", Source(line.encode(), "c.cfg")), [], None, open_models)
    assert list(without.findings()) == []


@pytest.mark.parametrize(
    ("line", "is_refused"),
    [
        ("{relu}:InputDtype:float16,OutputDtype:int8", True),
        ("{relu}:InputDtype:float16,OutputDtype:float16", False),
        ("OpType::Relu:InputDtype:float16,OutputDtype:int8", True),
        ("OpType::IndexFill:InputDtype:float16,int8,float16,OutputDtype:float16", False),  # no node has the type
        ("OpType::Relu:InputDtype:float16,OutputDtype:float16\n{relu}:InputDtype:float16,OutputDtype:int8", True),
    ],
)
def test_a_line_for_a_node_is_refused_as_the_graph_says(
    against: MixlistTarget, model: OpenedModel, line: str, is_refused: bool
) -> None:
    relu = next(node.name for node in model.graph if node.type == "Relu")
    text = line.format(relu=relu)
    check = OptionCheck(
        OptionFile("customize_dtypes", Source(text.encode(), "c.cfg")), [against], CheckedModels([model]), open_models
    )
    found = [
        finding.start and finding.start.line
        for finding in check.findings()
        if finding.rule.name == "refused-by-columns"
    ]
    assert found == ([text.count("\n") + 1] if is_refused else []), (
        "the line of the node counts before that of its type"
    )
    answer = (
        model.prepare(against).with_files(customize_dtypes=CustomizeDtypes(text.split("\n"))).judge("mixed_float16")
    )
    assert (answer[model.prepare(against).graph.find(relu).index].code == "refused-customized") is is_refused


def relu(folder: Path, label: str, dtypes: str) -> MixlistTarget:
    """A target whose Relu has these columns."""
    path = folder / label / "aic-ascend910b-ops-info.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"Relu" if dtypes else "Other": entry(dtypes=dtypes or "float16")}), "utf-8")
    return MixlistTarget(resolve(str(path), TargetOptions(), {}), label)


def test_a_refused_line_names_the_targets_that_refuse_it_and_the_columns_of_the_first(
    tmp_path: Path, model: OpenedModel
) -> None:
    columns = {"wide": "float16,float", "low": "float16", "brain": "bfloat16"}
    targets = [relu(tmp_path, *each) for each in columns.items()]
    unknown = relu(tmp_path, "unknown", "")
    node = next(node.name for node in model.graph if node.type == "Relu")
    why = "no column of `Relu` has the dtypes of this line: AI Core refuses"
    for line, models, where in (
        ("OpType::Relu", None, f"{why} its nodes in low, brain"),
        (node, CheckedModels([model]), f"{why} node `{node}` of {model.label} on low"),
    ):
        text = f"{line}:InputDtype:float32,OutputDtype:float32"
        file = OptionFile("customize_dtypes", Source(text.encode(), "c.cfg"))
        found = OptionCheck(file, targets, models, open_models).findings()
        (finding,) = [each for each in found if each.rule.name == "refused-by-columns"]
        assert (finding.message, finding.hint) == (where, "it has `InputDtype:float16,OutputDtype:float16`")
        found = OptionCheck(file, [unknown], models, open_models).findings()
        assert "refused-by-columns" not in {each.rule.name for each in found}


def test_a_node_whose_kernel_decides_at_compile_time_is_not_refused(against: MixlistTarget, model: OpenedModel) -> None:
    product = next(node.name for node in model.graph if node.type == "MatMulV2")
    text = f"{product}:InputDtype:int8,int8,OutputDtype:int8"
    answer = model.prepare(against).with_files(customize_dtypes=CustomizeDtypes([text])).judge("mixed_float16")
    assert answer[answer.graph.find(product).index].confidence == "kernel"
    file = OptionFile("customize_dtypes", Source(text.encode(), "c.cfg"))
    found = OptionCheck(file, [against], CheckedModels([model]), open_models).findings()
    assert "refused-by-columns" not in {finding.rule.name for finding in found}


def test_the_columns_of_real_libraries_refuse_what_no_column_has() -> None:
    """The truth from the text of the library alone: all columns of the inputs and outputs that every node has."""
    root = CORPUS / "cann-910" / "opp"
    if not root.is_dir():
        pytest.skip("the corpus is not here")
    (path,) = root.glob("built-in/op_impl/ai_core/tbe/config/ascend910/*.json")
    entries = json.loads(path.read_text("utf-8"))
    kernels = Kernels(resolve(str(root), TargetOptions(soc="ascend910"), {}).operators, "ascend910")
    compared = refused = 0
    for name, written in entries.items():
        sides = [leading(written, word) for word in ("input", "output")]
        columns = list(zip(*sides[0], *sides[1], strict=False))
        if not columns or "format" not in written.get("input0", {}):
            continue
        for dtype in ("float16", "float32", "int8"):
            truth = not any(set(column) == {dtype} for column in columns)
            asked = Customized(*((dtype,) * len(side) for side in sides))
            assert refuses_all_nodes(asked, kernels.of(name)) is truth, (name, dtype)
            compared += 1
            refused += truth
    assert (compared, refused) == (1182, 711)


def leading(entry: dict[str, dict[str, str]], word: str) -> list[list[str]]:
    """Return the dtypes of the required tensors before the first other one."""
    rows = []
    while (tensor := entry.get(f"{word}{len(rows)}")) and tensor.get("paramType") == "required":
        rows.append(
            [{"float": "float32"}.get(each.strip(), each.strip()) for each in tensor.get("dtype", "").split(",")]
        )
    return rows
