"""Rules on libraries."""

from __future__ import annotations

from ..engine_files import DTYPES, KERNEL_INFO, STORE, WORDS
from ..rule import Rule

RULES = (
    Rule(
        "L001",
        "bad-flag",
        "library",
        "error",
        "refuses",
        "precision_reduce.flag is true, false or empty, in any case and with blanks around it. Any other value fails "
        "the whole store, with every operator of the package.",
        '{"Log": {"precision_reduce": {"flag": "flase"}}}',
        '{"Log": {"precision_reduce": {"flag": "false"}}}',
        f"{KERNEL_INFO}:1383-1402",
    ),
    Rule(
        "L002",
        "blank-in-name",
        "library",
        "error",
        "refuses",
        "The engine trims an op type and looks up the trimmed name. It is not found if the key has blanks around it, "
        "which fails the whole store.",
        '{"Log ": {"precision_reduce": {"flag": "false"}}}',
        '{"Log": {"precision_reduce": {"flag": "false"}}}',
        f"{STORE}:150-163",
    ),
    Rule(
        "L003",
        "bad-value",
        "library",
        "error",
        "refuses",
        "A value that the engine cannot read: a word that is not in its list, a dtype such as `bf16` (it is "
        "`bfloat16`), a format in lower case, a missing name or paramType. The whole store fails.",
        '{"Log": {"input0": {"name": "x", "paramType": "required", "dtype": "bf16", "format": "ND"}}}',
        '{"Log": {"input0": {"name": "x", "paramType": "required", "dtype": "bfloat16", "format": "ND"}}}',
        f"{KERNEL_INFO}:314-995; {DTYPES}:91-105",
    ),
    Rule(
        "L004",
        "column-mismatch",
        "library",
        "error",
        "refuses",
        "Dtypes and formats are columns: every list of a tensor, and every tensor of an operator, must have the same "
        "number of them. Libraries of older CANN versions are known to break this, so opsinfo reads them "
        "with a warning.",
        '{"Log": {"input0": {"name": "x", "paramType": "required", "dtype": "float16,float", "format": "ND"}}}',
        '{"Log": {"input0": {"name": "x", "paramType": "required", "dtype": "float16,float", "format": "ND,ND"}}}',
        f"{KERNEL_INFO}:858-995",
    ),
    Rule(
        "L005",
        "unknown-value",
        "library",
        "warning",
        "accepts",
        "A dtype, format or attribute type that the known engine commit does not have. A newer engine may have it; "
        "this one refuses it, or skips the attribute.",
        '{"Log": {"input0": {"name": "x", "paramType": "required", "dtype": "float5_e2m2", "format": "ND"}}}',
        '{"Log": {"input0": {"name": "x", "paramType": "required", "dtype": "float8_e5m2", "format": "ND"}}}',
        f"{WORDS}:21-126",
    ),
    Rule(
        "L006",
        "unknown-section",
        "library",
        "warning",
        "accepts",
        "A section whose name is similar to one that the engine reads. The engine ignores it, so it has no effect.",
        '{"Log": {"precision_reduces": {"flag": "false"}}}',
        '{"Log": {"precision_reduce": {"flag": "false"}}}',
        f"{KERNEL_INFO}:320-334; {STORE}:144-182",
    ),
    Rule(
        "L007",
        "engine-crash",
        "library",
        "error",
        "crashes",
        "A formatAgnostic operator lists formats for one of its tensors but not the other, or fewer for the output "
        "than for the input. The engine reads past the end of the shorter list when it loads the store, and may crash.",
        '{"Log": {"op": {"pattern": "formatAgnostic"}, '
        '"input0": {"name": "x", "paramType": "required", "dtype": "float16", "format": "ND"}, '
        '"output0": {"name": "y", "paramType": "required", "dtype": "float16"}}}',
        '{"Log": {"op": {"pattern": "formatAgnostic"}, '
        '"input0": {"name": "x", "paramType": "required", "dtype": "float16"}, '
        '"output0": {"name": "y", "paramType": "required", "dtype": "float16"}}}',
        f"{KERNEL_INFO}:350-428",
    ),
)
