"""Options that one command, section or object has together: modes, mixlists, keep_dtype."""

from __future__ import annotations

from pathlib import Path

import pytest

from opsinfo_cli import validate

ATC = "atc --model=a.onnx --framework=5 --soc_version=Ascend310P3"
LIST = "--modify_mixlist=ops_info.json"
FORCE = [("mode-refuses-mixlist", "force_fp16")]


def found(top: Path, name: str, text: str) -> list[tuple[str, str]]:
    """Return the findings on a file as rule and marked text; the files that it may name exist."""
    (top / "ops_info.json").write_text('{"black-list": {"to-add": ["ReduceMean"]}}')
    (top / "keep.cfg").write_text("OpType::Mul\n")
    (top / name).write_text(text)
    outcome = validate(str(top), follow=True)
    assert outcome.failures == []
    lines = text.split("\n")
    return [
        (finding.rule.name, lines[finding.start.line - 1][finding.start.column - 1 : finding.end.column - 1])
        for finding in outcome.findings
        if finding.start and finding.end
    ]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (f"{ATC} --precision_mode=force_fp16 {LIST}", FORCE),
        (
            f"{ATC} --precision_mode=allow_mix_precision --precision_mode_v2=mixed_float16 {LIST}",
            [("both-modes", "mixed_float16")],
        ),
        (
            f"{ATC} --precision_mode=allow_mix_precision_bf16 {LIST}",
            [("mode-not-on-soc", "allow_mix_precision_bf16")],
        ),
        (f"{ATC} --precision_mode_v2=allow_mix_precision {LIST}", [("unknown-mode", "allow_mix_precision")]),
        (f"{ATC} --precision_mode=must_keep_origin_dtype --keep_dtype=keep.cfg", [("no-effect-with-mode", "keep.cfg")]),
        (f"{ATC} {LIST}", [("mode-refuses-mixlist", "ops_info.json")]),
        (f"{ATC} --precision_mode= {LIST}", [("mode-refuses-mixlist", "ops_info.json")]),
        (f"{ATC} --precision_mode=mixed_float16 {LIST}", [("unknown-mode", "mixed_float16")]),
        (f"{ATC} --precision_mode_v2=origin --keep_dtype keep.cfg", [("no-effect-with-mode", "keep.cfg")]),
        (f"{ATC} -precision_mode force_fp32 -modify_mixlist ops_info.json", [("mode-refuses-mixlist", "force_fp32")]),
        (f"{ATC} \\\n  --precision_mode='fp16' \\\n  {LIST}", [("unknown-mode", "fp16")]),
        (f'{ATC} --input_shape="a:1;b:2" --precision_mode=force_fp16 {LIST}', FORCE),
        (f"M=force_fp16\n{ATC} --precision_mode=$M {LIST}", [("mode-refuses-mixlist", "$M")]),
        (f'cmd="{ATC} --precision_mode=force_fp16 {LIST}"', FORCE),
        (f"/usr/local/bin/{ATC} --precision_mode=origin {LIST}", [("unknown-mode", "origin")]),
        (f"aoe --job_type=2 --precision_mode=force_fp16 {LIST}", FORCE),
        (f"sudo -E {ATC} --precision_mode=force_fp16 {LIST}", FORCE),
        (f"docker run --rm image {ATC} {LIST}", [("mode-refuses-mixlist", "ops_info.json")]),
        (f"{ATC} --precision_mode=${{1:-force_fp16}} {LIST}", FORCE),
        (
            f'args=("--precision_mode=force_fp16" "{LIST}")\natc "${{args[@]}}"',
            [("mode-refuses-mixlist", "force_fp16")],
        ),
        (f'a=(--model=m)\na+=({LIST})\natc "${{a[@]}}"', [("mode-refuses-mixlist", "ops_info.json")]),
        (f'O="--precision_mode=force_fp16 {LIST}"\natc --model=m $O', FORCE),
        (f'O="--precision_mode=origin"\nO="$O {LIST}"\natc --model=m $O', [("unknown-mode", "origin")]),
        (f"run() {{\n local o=({LIST})\n {ATC} ${{o[@]}}\n}}\nrun", [("mode-refuses-mixlist", "ops_info.json")]),
        (f'bash -c "{ATC} --precision_mode=origin {LIST}"', [("unknown-mode", "origin")]),
        (f"M=force_fp16\nif [ $1 ]; then M=$1; fi\n{ATC} --precision_mode=$M {LIST}", [("mode-refuses-mixlist", "$M")]),
        (f"ATC=/opt/atc\n$ATC --model=m --precision_mode=origin {LIST}", [("unknown-mode", "origin")]),
        ("atc --model=m --precision_mode=force_fp32", [("not-all-in-float32", "force_fp32")]),
        (
            f'a=(--precision_mode=force_fp16)\nif x; then a+=({LIST}); fi\natc "${{a[@]}}"',
            [("mode-refuses-mixlist", "force_fp16")],
        ),
        (f"M=force_fp16\nrun() {{ {ATC} --precision_mode=$M {LIST}; }}\nM=allow_mix_precision\nrun", []),
        (f'if x; then a=({LIST}); else a=(--precision_mode=force_fp16); fi\natc "${{a[@]}}"', []),
        (f"{ATC} $OPTIONS {LIST}", []),
        (f"M=\nwhile getopts m: o; do case $o in m) M=$OPTARG ;; esac; done\n{ATC} --precision_mode=$M {LIST}", []),
        (f"M=\n{ATC} --precision_mode=$M {LIST}", [("mode-refuses-mixlist", "ops_info.json")]),
        (f"{ATC} --precision_mode=force_fp16 --modify_mixlist=$LIST", []),
        (f'{ATC} {LIST} "$@"', []),
        (f'CMD="{ATC} {LIST}"', []),
        (f"aoe --job_type=2 {LIST}", []),
        (f"{ATC} --precision_mode=allow_mix_precision {LIST}", []),
        (f"{ATC} --precision_mode=allow_mix_precision --keep_dtype=keep.cfg {LIST}", []),
        (f"{ATC} --precision_mode=force_fp16 && {ATC} --precision_mode_v2=mixed_float16 {LIST}", []),
        (f"{ATC} --precision_mode=allow_mix_precision # --precision_mode_v2=fp16\n", []),
        (f"{ATC} \\\n # --precision_mode=force_fp16 \\\n {LIST}", []),
        (f"# {ATC} --precision_mode=force_fp16 {LIST}", []),
        (f"M=force_fp16\nM=$1\n{ATC} --precision_mode=$M {LIST}", []),
        (f"if [ -n $1 ]; then\nM=force_fp16\nfi\n{ATC} --precision_mode=$M {LIST}", []),
        (f"for M in force_fp16; do\n{ATC} --precision_mode=$M {LIST}\ndone", []),
        ('python train.py --precision_mode=O1 --keep_dtype="keep.cfg"', []),
        (f"python train.py --precision_mode=force_fp16 {LIST}", []),
        (f"echo {ATC} --precision_mode=force_fp16 {LIST}", []),
        ('precision_mode="amp"', []),
        (f"{ATC.replace('310P3', '${chip}')} --precision_mode=allow_mix_precision_bf16 {LIST}", []),
        (f"{ATC.replace('310P3', '910B1')} --precision_mode=allow_mix_precision_bf16 {LIST}", []),
    ],
)
def test_a_command_is_one_thing(tmp_path: Path, command: str, expected: list[tuple[str, str]]) -> None:
    assert found(tmp_path, "run.sh", command) == expected


@pytest.mark.parametrize("name", ["runtime.config", "runtime.ini", "runtime.cfg"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[ascend_context]\nprecision_mode=enforce_fp16\nmixprecision_list_path=ops_info.json",
            [("mode-refuses-mixlist", "enforce_fp16")],
        ),
        (
            "[acl_init_options]\nge.exec.precision_mode=force_fp32\nge.exec.modify_mixlist=./ops_info.json",
            [("mode-refuses-mixlist", "force_fp32")],
        ),
        (
            "[ascend_context]\nmixprecision_list_path=ops_info.json\n[ge_graph_options]\nge.exec.precision_mode_v2=fp16",
            [("mode-refuses-mixlist", "fp16")],
        ),
        (
            "[ge_graph_options]\nge.exec.precision_mode=allow_mix_precision\nge.exec.precision_mode_v2=mixed_float16",
            [("both-modes", "mixed_float16")],
        ),
        ("[ge_global_options]\nge.exec.precision_mode=mixed_float16", [("unknown-mode", "mixed_float16")]),
        ("[ascend_context]\nprecision_mode=preferred_optimal\nmixprecision_list_path=ops_info.json", []),
        (
            "[acl_init_options]\nge.exec.precision_mode=preferred_optimal\nge.exec.modify_mixlist=ops_info.json",
            [("unknown-mode", "preferred_optimal")],
        ),
        ("[acl_build_options]\nge.exec.precision_mode=enforce_fp32", [("unknown-mode", "enforce_fp32")]),
        ("[acl_option_cfg_param]\nprecision_mode=enforce_fp16", []),
        ("[ascend_context]\nprecision_mode=preferred_optimum", [("unknown-mode", "preferred_optimum")]),
        ("[ascend_context]\nmixprecision_list_path=ops_info.json", []),
        ("[trainer]\nprecision_mode=O1\nmodify_mixlist=ops_info.json", []),
    ],
)
def test_an_ini_is_one_thing(tmp_path: Path, name: str, text: str, expected: list[tuple[str, str]]) -> None:
    assert found(tmp_path, name, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'op.parameter_map["precision_mode"].s = tf.compat.as_bytes("force_fp16")\n'
            'op.parameter_map["modify_mixlist"].s = tf.compat.as_bytes("ops_info.json")',
            [("mode-refuses-mixlist", "force_fp16")],
        ),
        (
            'npu.global_options().modify_mixlist = "ops_info.json"\n'
            'npu.global_options().precision_mode = "allow_fp32_to_fp16"',
            [("mode-refuses-mixlist", "allow_fp32_to_fp16")],
        ),
        ('NPURunConfig(precision_mode="mixed_float16")', [("unknown-mode", "mixed_float16")]),
        (
            'NPURunConfig(precision_mode_v2="fp16", modify_mixlist="ops_info.json")',
            [("mode-refuses-mixlist", "fp16")],
        ),
        (
            '{"ge.exec.precision_mode": "force_fp16", "ge.exec.modify_mixlist": b"ops_info.json"}',
            [("mode-refuses-mixlist", "force_fp16")],
        ),
        (f'os.system("{ATC} --precision_mode=force_fp16 {LIST}")', FORCE),
        (f'run(f"atc --model={{path}} --precision_mode=origin {LIST}")', [("unknown-mode", "origin")]),
        (f'run("{ATC} {LIST} " + options)', []),
        ('run(["atc", "--precision_mode=force_fp16", "--keep_dtype", "none.cfg"])', [("missing-file", "none.cfg")]),
        (
            'run(["/opt/atc", "--precision_mode", "force_fp32", "--modify_mixlist=ops_info.json"])',
            [("mode-refuses-mixlist", "force_fp32")],
        ),
        ('é = 1; NPURunConfig(customize_dtypes="none.cfg")', [("missing-file", "none.cfg")]),
        ('NPURunConfig(precision_mode=args.mode, modify_mixlist="ops_info.json")', []),
        (
            'add_argument("--mode", default="force_fp16")\n'
            'NPURunConfig(precision_mode=args.mode, modify_mixlist="ops_info.json")',
            [("mode-refuses-mixlist", "force_fp16")],
        ),
        (
            'DEFINE_string("m", "allow_mixed", "")\nnpu.global_options().precision_mode = FLAGS.m',
            [("unknown-mode", "allow_mixed")],
        ),
        (
            'flags.DEFINE_string(name="f", default="none.json", help="")\n'
            'op.parameter_map["modify_mixlist"].s = tf.compat.as_bytes(FLAGS.f)',
            [("missing-file", "none.json")],
        ),
        ('LIST = "none.json"\nNPURunConfig(modify_mixlist=LIST)', [("missing-file", "none.json")]),
        ('LIST = "none.json"\nLIST = x\nNPURunConfig(modify_mixlist=LIST)', []),
        ('def f(LIST):\n    LIST = "none.json"\n    NPURunConfig(modify_mixlist=LIST)', []),
        ('add_argument("--f", default=None)\nNPURunConfig(modify_mixlist=args.f)', []),
        (
            '@click.option("--list", default="none.json")\ndef f(list):\n    NPURunConfig(modify_mixlist=list)',
            [("missing-file", "none.json")],
        ),
        (
            '@click.option("--list", "f", default="none.json")\ndef main(f):\n    NPURunConfig(modify_mixlist=f)',
            [("missing-file", "none.json")],
        ),
        (
            'def main(f: str = typer.Option("none.json")):\n    NPURunConfig(modify_mixlist=f)',
            [("missing-file", "none.json")],
        ),
        ('def f(a, m="none.json"):\n    NPURunConfig(modify_mixlist=m)', [("missing-file", "none.json")]),
        ('class A:\n    f: str = "none.json"\nNPURunConfig(modify_mixlist=args.f)', [("missing-file", "none.json")]),
        ('p.set_defaults(f="none.json")\nNPURunConfig(modify_mixlist=a.f)', [("missing-file", "none.json")]),
        ('NPURunConfig(modify_mixlist=os.getenv("F", "none.json"))', [("missing-file", 'os.getenv("F", "none.json")')]),
        ('D = "d"\nNPURunConfig(modify_mixlist=f"{D}/none.json")', [("missing-file", 'f"{D}/none.json"')]),
        ('D = "d"\nNPURunConfig(modify_mixlist=D + "/none.json")', [("missing-file", 'D + "/none.json"')]),
        (
            'D = "d"\nL = os.path.join(D, "none.json")\nNPURunConfig(modify_mixlist=L)',
            [("missing-file", "L")],
        ),
        ('L = "none.json"\nos.system(f"atc --model=m --keep_dtype={L}")', [("missing-file", "{L}")]),
        ('L = "keep.cfg"\nos.system(f"atc --model=m --keep_dtype={L}")', []),
        ('L = x\nos.system(f"atc --model=m --keep_dtype={L}")', []),
        ('def f(m="a.json"): pass\ndef g(m="b.json"):\n    NPURunConfig(modify_mixlist=m)', []),
        (
            'option = {"ACL_MODIFY_MIXLIST": "none.json"}\ntorch_npu.npu.set_option(option)',
            [("missing-file", "none.json")],
        ),
        (
            'o = {}\no["ACL_PRECISION_MODE"] = "force_fp16"\no["ACL_MODIFY_MIXLIST"] = "ops_info.json"',
            [("mode-refuses-mixlist", "force_fp16")],
        ),
        (
            'config.set_nnadapter_context_properties("A=1;HUAWEI_ASCEND_NPU_PRECISION_MODE=mixed_float16;")',
            [("unknown-mode", "mixed_float16")],
        ),
        (
            'c.set_nnadapter_context_properties("HUAWEI_ASCEND_NPU_PRECISION_MODE=force_fp16;'
            'HUAWEI_ASCEND_NPU_MODIFY_MIXLIST_FILE_PATH=ops_info.json")',
            [("no-effect-with-mode", "ops_info.json")],
        ),
        (
            'os.environ["AUTOFUSE_FLAGS"] = "--enable_autofuse=true;--autofuse_enhance_precision_blacklist=Le,Sum"',
            [("autofuse-list", "Sum"), ("autofuse-list", "Le,Sum")],
        ),
        *(
            (f'{binding}\nMODE = "force_fp16"\nNPURunConfig(precision_mode=MODE, modify_mixlist="ops_info.json")', [])
            for binding in (
                *("from settings import MODE", "import settings as MODE", "class MODE: pass", "def MODE(): pass"),
                *("try: f()\nexcept E as MODE: pass", "match x:\n    case [*MODE]: pass"),
            )
        ),
        ('NPURunConfig(modify_mixlist="ops_info.json")', []),
        ('NPURunConfig(precision_mode="force_fp16", modify_mixlist=None)', []),
        ('NPURunConfig(precision_mode="force_fp16", modify_mixlist=args.mixlist)', []),
        ('NPURunConfig(precision_mode="force_fp16", precision_mode_v2=args.mode)', []),
        ('NPURunConfig(precision_mode=None, precision_mode_v2="fp16")', []),
        (
            'if mixed:\n    op.parameter_map["modify_mixlist"].s = b"ops_info.json"\n'
            'op.parameter_map["precision_mode"].s = b"force_fp16"',
            [],
        ),
        ('config = {"precision_mode": "O1"}\nargs.precision_mode = "bf16"', []),
        ('"""atc --keep_dtype=none.cfg"""\nprint("atc --keep_dtype=none.cfg")', []),
        ('add_argument("--mixlist", help="atc --modify_mixlist=none.json")', []),
        ('os.system("atc --modify_mixlist=%s/none.json --precision_mode={}".format(x))', []),
        ('os.system("atc --keep_dtype=" + path)', []),
    ],
)
def test_python_is_read_by_its_literals(tmp_path: Path, text: str, expected: list[tuple[str, str]]) -> None:
    assert found(tmp_path, "train.py", text) == expected


def test_a_word_that_begins_with_an_unknown_value_assigns_nothing(tmp_path: Path) -> None:
    text = "MODE=allow_mix_precision\n{}MODE=force_fp16\natc --model=m --precision_mode=$MODE " + LIST
    assert found(tmp_path, "run.sh", text.format("${X}")) == []
    assert found(tmp_path, "run.sh", text.format("")) != []


def test_a_command_may_have_its_mode_in_a_raw_file(tmp_path: Path) -> None:
    refused = [("mode-refuses-mixlist", "ops_info.json")]
    assert found(tmp_path, "run.sh", f"{ATC} {LIST}") == refused
    assert found(tmp_path, "run.sh", f"{ATC} --raw_ge_options=raw.json {LIST}") == []


def test_the_chip_of_the_targets_counts_if_none_has_the_mode(tmp_path: Path, opp: Path) -> None:
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "run.sh").write_text("atc --model=a --precision_mode=allow_fp32_to_bf16 --keep_dtype=k.cfg\n")
    (folder / "k.cfg").write_text("OpType::Mul\n")

    def names(*socs: str) -> list[str]:
        outcome = validate(str(folder), follow=True, against=[f"{opp}@{soc}" for soc in socs])
        return [finding.rule.name for finding in outcome.findings]

    assert names("ascend910") == ["mode-not-on-soc"]
    assert names("ascend910b") == names("ascend910", "ascend910b") == []


def test_a_mode_on_the_command_line_and_a_keep_dtype_file(tmp_path: Path) -> None:
    (tmp_path / "keep_dtype.cfg").write_text("OpType::Mul\n")
    outcome = validate(str(tmp_path), modes=["must_keep_origin_dtype"])
    assert [finding.rule.name for finding in outcome.findings] == ["no-effect-with-mode"]


@pytest.mark.parametrize(
    "text",
    [
        "atc --keep_dtype=" + "$(" * 20000,
        "atc " + "--keep_dtype=a.b " * 20000,
        "atc --keep_dtype='" + '"' * 20000,
        "x='" * 20000 + "--keep_dtype=a.b",
        "\\\n" * 20000 + "--keep_dtype=a.b",
        "if ;" * 20000 + "M=1\natc --keep_dtype=$M.b",
        "# keep_dtype " * 20000,
        "[" * 20000 + "keep_dtype",
        "read " * 20000 + "\nkeep_dtype=$x/b",
    ],
)
def test_a_hostile_script_costs_no_more_than_its_size(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.sh").write_text(text)
    (tmp_path / "run.config").write_text(text)
    validate(str(tmp_path), follow=True)


@pytest.mark.parametrize(
    "text",
    [
        "keep_dtype = " + "(" * 20000,
        "keep_dtype = " + "-" * 20000 + "1",
        'x = "keep_dtype=\\ud800"',
        "x = [" + '"atc --keep_dtype=a.b", ' * 20000 + "]",
        "x = [" + '"ü --keep_dtype=a.b", ' * 20000 + "]",
        "keep_dtype = \0",
        "f(" * 50 + "keep_dtype='a.b'" + ")" * 50,
    ],
)
def test_hostile_python_costs_no_more_than_its_size(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.py").write_text(text)
    validate(str(tmp_path), follow=True)


LISTS = "--autofuse_enhance_precision_blacklist="


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (f"--enable_autofuse=true;{LISTS}Le,Where,Sub", ["Le,Where,Sub"]),
        (f"--enable_autofuse=true;{LISTS}Exp", ["Exp"]),
        (f"--enable_autofuse=true;{LISTS}all", []),
        (f"--enable_autofuse=true;{LISTS}SoftmaxV2,Le", ["SoftmaxV2", "SoftmaxV2,Le"]),
        (f"--enable_autofuse=true;{LISTS}le, Where", ["le", " Where"]),
        (f"--enable_autofuse=true;{LISTS}Prod", ["Prod"]),
        (f"--enable_autofuse=true;{LISTS}all,Le", ["all,Le"]),
        (f"{LISTS}Le", ["Le"]),
        (f"--enable_autofuse=false;{LISTS}Le", ["Le"]),
        ("--autofuse_enable_pass=reduce,concat;--autofuse_disable_pass=concat", ["concat"]),
        ("--autofuse_enable_pass=reduce;--autofuse_disable_pass=concat", []),
        ("--enable_autofuse=true", []),
    ],
)
def test_the_list_of_autofuse_is_the_other_way_round(tmp_path: Path, value: str, expected: list[str]) -> None:
    wanted = [("autofuse-list", text) for text in expected]
    assert found(tmp_path, "run.sh", f'export AUTOFUSE_FLAGS="{value}"\n') == wanted
    assert found(tmp_path, "run.sh", f"AUTOFUSE_FLAGS='{value}' {ATC}\n") == wanted


@pytest.mark.parametrize("listed", ["Le,Where", "Exp", "Le,Sum,Where,SoftmaxV2"])
def test_where_the_list_of_autofuse_acts_is_said_once(tmp_path: Path, listed: str) -> None:
    (tmp_path / "run.sh").write_text(f"export AUTOFUSE_FLAGS='--enable_autofuse=true;{LISTS}{listed}'\n")
    (note,) = (finding for finding in validate(str(tmp_path), follow=True).findings if finding.severity == "note")
    low = ", ".join(name for name in listed.split(",") if name not in ("Sum", "SoftmaxV2"))
    assert note.message.startswith(f"{low} stay low only in a fused graph whose other nodes are all listed or built in")


def test_what_rests_on_a_default_is_a_warning_and_a_literal_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        'add_argument("--f", default="none.json")\nNPURunConfig(modify_mixlist=args.f)\n'
        'NPURunConfig(modify_mixlist="gone.json")\n'
        'add_argument("--l", default="a.json")\nNPURunConfig(precision_mode="force_fp16", modify_mixlist=args.l)\n'
        'NPURunConfig(precision_mode="force_fp16", modify_mixlist="a.json")\n'
    )
    (tmp_path / "a.json").write_text('{"black-list": {"to-add": ["ReduceMean"]}}')
    findings = validate(str(tmp_path), follow=True).findings
    refused = "the engine accepts a mixlist only with a mixed mode, not with `force_fp16` (E10001)"
    assert {finding.message: finding.severity for finding in findings} == {
        "`none.json` does not exist": "warning",
        "`gone.json` does not exist": "error",
        f"{refused}, by default": "warning",
        refused: "error",
    }


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        (f"{ATC} {LIST}", "error"),
        (f"cd models\n{ATC} {LIST}", "error"),
        (f'cd "$(dirname "$0")"\n{ATC} {LIST}', "error"),
        (f'cd "$models"\n{ATC} {LIST}', "warning"),
        (f"echo {{}} > ops_info.json\n{ATC} {LIST}", None),
        (f"python make.py -o ops_info.json\n{ATC} {LIST}", None),
        (f"cp a.json ./ops_info.json\n{ATC} {LIST}", None),
        ("python train.py --keep_dtype=none.cfg", "warning"),
    ],
)
def test_a_missing_list_is_an_error_where_its_folder_is_known(tmp_path: Path, text: str, severity: str | None) -> None:
    (tmp_path / "run.sh").write_text(text)
    outcome = validate(str(tmp_path), follow=True)
    severities = [each.severity for each in outcome.findings if each.rule.name == "missing-file"]
    assert severities == ([severity] if severity else [])
    assert [verdict.kind for verdict in outcome.files] == ["script"]


def test_a_script_that_only_sets_a_mode_is_a_file_that_was_checked(tmp_path: Path) -> None:
    for name, text in {"a.sh": f"{ATC} --precision_mode_v2=mixed_float16", "b.sh": "train --precision_mode=O1"}.items():
        (tmp_path / name).write_text(text)
    outcome = validate(str(tmp_path), follow=True)
    assert (outcome.failures, outcome.findings) == ([], [])
    assert [(verdict.path, verdict.kind) for verdict in outcome.files] == [(str(tmp_path / "a.sh"), "script")]


def test_strings_of_cpp_are_read(tmp_path: Path) -> None:
    text = (
        'config.set_nnadapter_context_properties(\n  "HUAWEI_ASCEND_NPU_PRECISION_MODE=allow_mix_precision;"\n'
        '  "HUAWEI_ASCEND_NPU_MODIFY_MIXLIST_FILE_PATH=./none.json");'
    )
    assert found(tmp_path, "run.cc", text) == [("missing-file", "./none.json")]
