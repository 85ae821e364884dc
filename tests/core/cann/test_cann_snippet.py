"""Lines for scripts: a path is written as it is given."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable

import pytest

from opsinfo_cli.core.cann.snippet import default_mode, snippet, snippet_names

PATH = "a{mode}{low}{option}{level}{manager}{loss_scale}{mixlist}.json"
SPELT: tuple[Callable[[str], str], ...] = (str, json.dumps, shlex.quote)


@pytest.mark.parametrize("name", snippet_names())
def test_a_path_is_no_template(name: str) -> None:
    lines = snippet(name, default_mode(name), PATH)
    plain = snippet(name, default_mode(name), "plain.json").text
    spelt = [plain.replace(how("plain.json"), how(PATH)) for how in SPELT]
    assert lines.text in spelt
    assert (lines.text != plain) == lines.takes_mixlist
