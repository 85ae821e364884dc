"""Rules on mixlists."""

from __future__ import annotations

from ..engine_files import CHECK_SUPPORT, CONFIGURATION, GRAPH_OPTIMIZER, MIXED_PRECISION, MIXLIST
from ..rule import Rule

RULES = (
    Rule(
        "M001",
        "unknown-list",
        "mixlist",
        "error",
        "refuses",
        "The engine accepts exactly the keys black-list, white-list and gray-list, and refuses a file with any other "
        "key, such as `grey-list`, `white_list` or a `$schema` for the editor.",
        '{"grey-list": {"to-add": ["Log"]}}',
        '{"gray-list": {"to-remove": ["Log"]}, "black-list": {"to-add": ["Log"]}}',
        f"{MIXLIST}:26-27, 133-184; error E21002",
    ),
    Rule(
        "M002",
        "unknown-action",
        "mixlist",
        "error",
        "refuses",
        "Inside a list the engine accepts only `to-add` and `to-remove`.",
        '{"black-list": {"to_add": ["Log"]}}',
        '{"black-list": {"to-add": ["Log"]}}',
        f"{MIXLIST}:26-27, 147-168; error E21002",
    ),
    Rule(
        "M003",
        "contradiction",
        "mixlist",
        "error",
        "refuses",
        "Of the 63 combinations of the six marks on one op type the engine accepts eleven. Adding to two lists, adding "
        "to and removing from the same list, removing from two lists, and removing from gray alone are refused.",
        '{"black-list": {"to-add": ["Log"]}, "white-list": {"to-add": ["Log"]}}',
        '{"black-list": {"to-add": ["Log"]}, "white-list": {"to-remove": ["Log"]}}',
        f"{MIXLIST}:46-60, 233-249; error E20003",
    ),
    Rule(
        "M004",
        "duplicate-operator",
        "mixlist",
        "warning",
        "accepts",
        "An op type appears twice in one array. That has no effect; often another op type was meant.",
        '{"black-list": {"to-add": ["Log", "Log"]}}',
        '{"black-list": {"to-add": ["Log"]}}',
        f"{MIXLIST}:208-231",
    ),
    Rule(
        "M005",
        "unknown-operator",
        "mixlist",
        "error",
        "ignores",
        "Op types are compared exactly with those of the graph after fusion. A name that no library has "
        "is silently ignored: training continues with the library's policy. With a near name it is an "
        "error, otherwise a warning: its package may not be installed here.",
        '{"black-list": {"to-add": ["MatMu1V2"]}}',
        '{"black-list": {"to-add": ["MatMulV2"]}}',
        f"{MIXLIST}:265-270; fusion runs first: {GRAPH_OPTIMIZER}:364-402",
    ),
    Rule(
        "M006",
        "not-in-ai-core",
        "mixlist",
        "warning",
        "ignores",
        "The install knows this op type, but for another engine (AI CPU, vector core, DSA, host). The mixlist is read "
        "by the AI Core engine and has no effect on it.",
        '{"black-list": {"to-add": ["DSAGenBitMask"]}}',
        '{"black-list": {"to-add": ["Log"]}}',
        f"{CONFIGURATION}:927-934",
    ),
    Rule(
        "M007",
        "sibling-type",
        "mixlist",
        "warning",
        "accepts",
        "The graph may hold another form of this operator when its dtype is decided: fusion turns `X` into `XD` or "
        "`XV2` and back. That form ends with another policy, so the entry may miss the operator that is "
        "meant.",
        '{"black-list": {"to-add": ["MatMulV2"]}}',
        '{"black-list": {"to-add": ["MatMul", "MatMulV2", "MatMulV3"]}}',
        f"{GRAPH_OPTIMIZER}:364-402; {MIXLIST}:265-270",
    ),
    Rule(
        "M008",
        "no-effect",
        "mixlist",
        "warning",
        "ignores",
        "The entry changes nothing: the engine ignores a gray-list `to-add` alone, and a `to-add` for the list that "
        "the op type is already on changes nothing.",
        '{"gray-list": {"to-add": ["MatMulV2"]}}',
        '{"white-list": {"to-remove": ["MatMulV2"]}}',
        f"{MIXLIST}:265-294",
    ),
    Rule(
        "M009",
        "remove-mismatch",
        "mixlist",
        "warning",
        "ignores",
        "A `to-remove` from a list that the op type is not on. The engine logs a warning and continues; other "
        "marks of the op type still apply.",
        '{"black-list": {"to-remove": ["MatMulV2"]}}',
        '{"white-list": {"to-remove": ["MatMulV2"]}}',
        f"{MIXLIST}:274-294",
    ),
    Rule(
        "M010",
        "black-without-fp32",
        "mixlist",
        "warning",
        "accepts",
        "The library lists half precision for this operator's inputs and no float32. Black forbids the reduction, so "
        "with float32 input the AI Core engine reports it unsupported: it falls back to AI CPU, or the build fails.",
        '{"black-list": {"to-add": ["AvgPoolGradD"]}}',
        '{"black-list": {"to-add": ["BiasAddGrad"]}}',
        f"{CHECK_SUPPORT}:130-156",
    ),
    Rule(
        "M011",
        "white-without-low",
        "mixlist",
        "warning",
        "accepts",
        "The library lists no column of the mode's low precision for this operator. The engine logs a "
        "warning and keeps the dtype: white has no effect.",
        '{"white-list": {"to-add": ["Cholesky"]}}',
        '{"white-list": {"to-add": ["Add"]}}',
        f"{MIXED_PRECISION}:126-132",
    ),
)
