"""TensorFlow's graph rewrite: reads `paintbuckets_*.txt`, writes environment variables."""

from __future__ import annotations

import shlex

from ..errors import Damaged, UsageFault
from ..text.source import Source
from .destinations import ConversionBase, Destination, WrittenLists, default_differences, sorted_by_list
from .systems import System, lists_of
from .vocabulary import ListEntry, Loss, OperatorClass, OperatorLists, ReadLists

_SECTIONS = {
    "Allow": OperatorClass.LOW,
    "White": OperatorClass.LOW,
    "Infer": OperatorClass.FOLLOW,
    "Gray": OperatorClass.FOLLOW,
}
_SECTIONS |= {"Deny": OperatorClass.HIGH, "Black": OperatorClass.HIGH, "Clear": OperatorClass.CLEAR}
_DESTINATIONS = {
    OperatorClass.LOW: Destination("ALLOWLIST"),
    OperatorClass.FOLLOW: Destination("INFERLIST", False),
    OperatorClass.HIGH: Destination("DENYLIST"),
    OperatorClass.CLEAR: Destination("CLEARLIST"),
    OperatorClass.PROMOTE: Destination("INFERLIST", False),
    OperatorClass.BANNED: Destination("DENYLIST", False),
}
_PREFIX = "TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE"


def read(sources: list[Source], system: System) -> ReadLists:
    """Return the lists that a run used.

    :raises Damaged: if a name comes before the first section
    """
    if len(sources) != 1:
        raise UsageFault(f"{system.name} takes exactly one paintbuckets file")
    (source,) = sources
    cls, section = None, ""
    entries = []
    for number, line in enumerate(source.text.splitlines(), 1):
        name = line.strip()
        if name.endswith("List:") and name[:-5] in _SECTIONS:
            cls, section = _SECTIONS[name[:-5]], name[:-1]
        elif name and cls is None:
            said = "expected a section: AllowList:, DenyList:, InferList: or ClearList:"
            raise Damaged(said, path=source.path, line=number, column=1)
        elif name and cls:
            entries.append(ListEntry(name, cls, origin=section))
    return ReadLists(lists_of(system.name)._replace(entries=tuple(entries), version=None))


def write(lists: OperatorLists, base: ConversionBase, system: System) -> WrittenLists:
    """Write ADD variables, each with a REMOVE from the current list: an operator on two lists fails the whole pass.

    The variables are differences from the lists of ``base``, else from the system's built-in lists.
    """
    own = base.lists or lists_of(system.name)
    nodes = {each.name: "rules on node names cannot be expressed" for each in lists.entries if each.scope == "node"}
    lists = lists._replace(entries=tuple(each for each in lists.entries if each.scope != "node"))
    found = sorted_by_list(lists, _DESTINATIONS, system.name)
    home = {name: _DESTINATIONS[each.cls].list for name, each in own.deciding().items()}
    changes: dict[tuple[str, str], list[str]] = {}
    for to, names in found.lists.items():
        for name in names:
            if "," in name:
                raise UsageFault(f"`{name}` contains a comma, which the variables cannot express")
            if home.get(name) == to:
                continue
            changes.setdefault((to, "ADD"), []).append(name)
            if name in home:
                changes.setdefault((str(home[name]), "REMOVE"), []).append(name)
    losses = [*found.losses, *default_differences(lists, "high", own.low, "TensorFlow")]
    if nodes:
        losses.append(Loss("node-rules", "rules on node names are left out", tuple(nodes), drops=True))
    lines = [f"# relative to the lists of {own.version}"]
    for (to, action), names in sorted(changes.items()):
        lines.append(f"export {_PREFIX}_{to}_{action}={shlex.quote(','.join(sorted(names)))}")
    return WrittenLists({"amp_lists.sh": "".join(f"{line}\n" for line in lines)}, losses, found.dropped | nodes)
