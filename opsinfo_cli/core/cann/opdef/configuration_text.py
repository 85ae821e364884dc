"""The lines of an OpDef source that give an operator its policy on one chip."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..entry_rules import Sections
from ..operator_rows import OperatorRow
from ..policy import BLANKS, Policy


def configuration_text(soc: str | None, operators: Sequence[tuple[OperatorRow, Sections]]) -> str:
    """Return the lines of a configuration for each operator, with its flags.

    :param soc: the chip; None if it is unknown
    :param operators: with the sections of the entry that decides
    """
    return "\n".join("".join(f"{line}\n" for line in _lines(soc, *operator)) for operator in operators)


def _lines(soc: str | None, row: OperatorRow, sections: Sections) -> Iterator[str]:
    from .op_definition import FLAGS, PRECISION_REDUCE

    chip = soc or "ascend..."
    why = ", by default" if row.by_default and row.policy is row.library_policy else ""
    yield f"// {row.name} on {chip}: {row.policy}{why} ({row.file}:{row.line})"
    yield "OpAICoreConfig config;"
    calls = [
        f".{method}({flag})"
        for method, key in FLAGS.items()
        if key != PRECISION_REDUCE
        and (flag := sections.get(key.removesuffix(".flag"), {}).get("flag", "").strip(BLANKS)) in ("true", "false")
    ]
    if row.policy and row.policy.flag:
        calls.append(f".PrecisionReduceFlag({row.policy.flag})")
    yield from (f"config{call};" for call in calls)
    if row.policy is Policy.GRAY:
        yield "// no PrecisionReduceFlag: gray"
    yield f'this->AICore().AddConfig("{chip}", config);'
