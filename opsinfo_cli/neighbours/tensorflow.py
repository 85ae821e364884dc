"""TensorFlow's graph rewrite: `paintbuckets_*.txt` in, environment variables out (interop.md 4.1)."""

from __future__ import annotations

import shlex

from ..errors import Damaged, UsageFault
from ..text.source import Source
from .homes import Base, Home, Written, sorted_into, unlike
from .placed import Class, Lists, Placed, Told
from .systems import System, lists_of

__all__ = ["read", "write"]

_SECTIONS = {"Allow": Class.LOW, "White": Class.LOW, "Infer": Class.FOLLOW, "Gray": Class.FOLLOW}
_SECTIONS |= {"Deny": Class.HIGH, "Black": Class.HIGH, "Clear": Class.CLEAR}
_HOMES = {
    Class.LOW: Home("ALLOWLIST"),
    Class.FOLLOW: Home("INFERLIST", False),
    Class.HIGH: Home("DENYLIST"),
    Class.CLEAR: Home("CLEARLIST"),
    Class.PROMOTE: Home("INFERLIST", False),
    Class.BANNED: Home("DENYLIST", False),
}
_PREFIX = "TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE"


def read(sources: list[Source], system: System) -> Told:
    """The lists as a run had them.

    :raises Damaged: where a name stands before any section
    """
    if len(sources) != 1:
        raise UsageFault(f"{system.name} is one paintbuckets file")
    (source,) = sources
    cls, section = None, ""
    placed = []
    for number, line in enumerate(source.text.splitlines(), 1):
        name = line.strip()
        if name.endswith("List:") and name[:-5] in _SECTIONS:
            cls, section = _SECTIONS[name[:-5]], name[:-1]
        elif name and cls is None:
            said = "a section is expected: AllowList:, DenyList:, InferList: or ClearList:"
            raise Damaged(said, path=source.path, line=number, column=1)
        elif name and cls:
            placed.append(Placed(name, cls, origin=section))
    return Told(lists_of(system.name)._replace(placed=tuple(placed), version=None))


def write(lists: Lists, base: Base, system: System) -> Written:
    """Every ADD is paired with the REMOVE from the list an operator is on: one on two lists fails the whole pass.

    :raises UsageFault: without the lists they are to differ from
    """
    if base.lists is None or base.lists.system != "tensorflow":
        said = "the variables say what differs from TensorFlow's own lists, and need to know which"
        raise UsageFault(said, name="needs-base", hint="say --base tensorflow")
    found = sorted_into(lists, _HOMES, system.name)
    home = {name: _HOMES[each.cls].list for name, each in base.lists.deciding().items()}
    changes: dict[tuple[str, str], list[str]] = {}
    for to, names in found.lists.items():
        for name in names:
            if "," in name:
                raise UsageFault(f"`{name}` holds a comma, which the variables cannot say")
            if home.get(name) == to:
                continue
            changes.setdefault((to, "ADD"), []).append(name)
            if name in home:
                changes.setdefault((str(home[name]), "REMOVE"), []).append(name)
    losses = [*found.losses, *unlike(lists, "high", base.lists.low, "TensorFlow")]
    lines = [f"# against the lists of {base.lists.version}"]
    for (to, action), names in sorted(changes.items()):
        lines.append(f"export {_PREFIX}_{to}_{action}={shlex.quote(','.join(sorted(names)))}")
    return Written({"amp_lists.sh": "".join(f"{line}\n" for line in lines)}, losses)
