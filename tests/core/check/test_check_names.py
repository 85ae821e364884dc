"""The pattern of names is the same in the walk, the file kind, and the pre-commit hooks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opsinfo_cli.core.cann.file_kind import is_library_name, is_mixlist_name, is_option_name

MIXLISTS = ["ops_info.json", "ops_info_bert.json", "OPS_INFO.json", "bert_ops_info.json", "my-mixlist-2.json"]
MIXLISTS += ["MixList.JSON", "mix_list.json", "a_mix_list_b.json", "op_fp32.json", "op_fp32_vae.json"]
LIBRARIES = ["aic-ascend910b-ops-info.json", "aic-ascend910b-ops-info-nn.json", "dsa-x-ops-info-legacy.json"]
LIBRARIES += ["vector_core_tbe_ops_info.json", "vector_core_tbe_ops_info-legacy.json"]
OPTIONS = ["keep_dtype.cfg", "keeptype-rcnn.cfg", "customize_dtypes.txt", "Customise_dtype.CFG", "op_precision.ini"]
OTHERS = ["keep_dtype.json", "keep.cfg", "op_precision.md", "op_fp16.json"]
OTHERS += [
    "ascend910b.opsinfo.json",
    "mixlist.schema.json",
    "mixlist.opsinfo.json",
    "ops_info.SCHEMA.json",
    "list.json",
]
OTHERS += ["ops_info.json.bak", "package.json", "ops-info.json", "opsinfo.json"]
HOOKS = (Path(__file__).parents[3] / ".pre-commit-hooks.yaml").read_text("utf-8")


def taken(hook: str, name: str) -> bool:
    part = HOOKS.partition(f"- id: {hook}\n")[2].partition("- id:")[0]
    files, exclude = (re.search(rf"^  {key}: (.*)$", part, re.MULTILINE) for key in ("files", "exclude"))
    assert files
    assert exclude
    return bool(re.search(files[1], f"a/{name}")) and not re.search(exclude[1], f"a/{name}")


@pytest.mark.parametrize("name", MIXLISTS + LIBRARIES + OPTIONS + OTHERS)
def test_the_names_are_those_of_the_hooks(name: str) -> None:
    assert is_mixlist_name(f"a/{name}") is (name in MIXLISTS) is taken("opsinfo-fmt", name)
    assert is_library_name(f"a/{name}") is (name in LIBRARIES)
    assert taken("opsinfo-validate", name) is (name in MIXLISTS + LIBRARIES + OPTIONS)
    assert is_option_name(f"a/{name}") is (name in OPTIONS)
