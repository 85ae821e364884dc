"""Checks of a conversion, computed from its input and output alone."""

from __future__ import annotations

import json

from opsinfo_cli.core.cann.library import Operators
from opsinfo_cli.core.cann.mixlist import Mixlist
from opsinfo_cli.core.cann.name_tables import forms_of, name_table
from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.core.text.scanner import scan
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.systems.conversion import Conversion

POLICIES = {"low": Policy.WHITE, "high": Policy.BLACK}


def names_in(text: str) -> list[str]:
    """The entries of a text list: every non-empty line, once."""
    return list(dict.fromkeys(line for line in text.split("\n") if line))


def unaccounted(made: Conversion, entries: dict[str, str], operators: Operators) -> list[str]:
    """The entries of torch lists that a mixlist neither expresses nor reports as dropped.

    An entry is expressed if a form of one of its op types has its policy after the mixlist.

    :param entries: by name ``low`` or ``high``
    """
    mixlist = Mixlist(scan(Source(made.texts["ops_info.json"].encode(), "made.json")))
    dropped = {each.name for each in made.entries.dropped if each.reason}
    table = name_table("torch")

    def is_expressed(name: str) -> bool:
        op_types = table.ops.get(name.partition(".")[0], ())
        for op in (form for op_type in op_types for form in (op_type, *forms_of(op_type))):
            if op in operators and mixlist.effective(op, operators[op].entry.policy) is POLICIES[entries[name]]:
                return True
        return False

    return [name for name in entries if name not in dropped and not is_expressed(name)]


def marks_in(text: str) -> set[str]:
    """Every op type that a mixlist marks, read as plain JSON."""
    content = json.loads(text)
    return {name for marks in content.values() for names in marks.values() for name in names}
