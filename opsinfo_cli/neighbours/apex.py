"""A user's lists for APEX: calls such as `amp.register_half_function` (apex/amp/amp.py)."""

from __future__ import annotations

from ..errors import UsageFault
from ..text.source import Source
from .destinations import ConversionBase, Destination, WrittenLists, default_differences, dropped_by, sorted_by_list
from .facts import facts
from .python_text import calls
from .systems import System, lists_of
from .vocabulary import ListEntry, Loss, OperatorClass, OperatorLists, ReadLists

_DESTINATIONS = {
    OperatorClass.LOW: Destination("register_half_function"),
    OperatorClass.HIGH: Destination("register_float_function"),
    OperatorClass.PROMOTE: Destination("register_promote_function"),
    OperatorClass.FOLLOW: Destination(None),
    OperatorClass.CLEAR: Destination(None, False),
    OperatorClass.BANNED: Destination("register_float_function", False),
}
_IMPORTS = {"torch.nn.functional": "torch", "torch.Tensor": "torch"}


def read(sources: list[Source], system: System) -> ReadLists:
    """Return the registrations of a script, then the built-in lists of O1. The user's cast is innermost, so it wins."""
    functions = {name: OperatorClass(cls) for name, cls in facts("apex")["registers"].items()}
    own = lists_of(f"{system.name}:O1")
    given: dict[str, ListEntry] = {}
    for source in sources:
        for function, module, name in calls(source, frozenset(functions)):
            given.setdefault(name, ListEntry(name, functions[function], origin=source.path, module=module))
    if not given:
        said = "the file calls no amp.register_half_function, register_float_function or register_promote_function"
        raise UsageFault(said, path=sources[0].path if sources else None)
    return ReadLists(own._replace(entries=(*given.values(), *own.as_defaults()), version=None))


def write(lists: OperatorLists, base: ConversionBase, system: System) -> WrittenLists:
    own = lists_of(f"{system.name}:O1")
    built_in = own.deciding()
    modules = _modules(lists, own)
    changed = [e for e in lists.entries if e.name not in built_in or built_in[e.name].cls is not e.cls]
    found = sorted_by_list(lists._replace(entries=tuple(changed)), _DESTINATIONS, system.name)
    losses = [*found.losses, *default_differences(lists, own.unlisted, own.low, own.title)]
    calls_of = [(function, name) for function, names in found.lists.items() for name in names]
    lines = [f"amp.{function}({modules[name]}, {name!r})" for function, name in calls_of if name in modules]
    unknown = tuple(name for _, name in calls_of if name not in modules)
    if unknown:
        said = "the Python module of these functions is unknown; they are left out"
        losses.append(Loss("unknown-name", said, unknown, drops=True))
    losses += _still_listed(lists, built_in)
    used = {_IMPORTS.get(modules[name], modules[name]) for _, name in calls_of if name in modules}
    removed = "# apex.amp is in NVIDIA's APEX before May 2025 (cb65b8ed), and in Ascend's patched one"
    head = [removed, "from apex import amp", *(f"import {name}" for name in sorted(used)), ""]
    tail = ["", '# before amp.initialize(model, optimizer, opt_level="O1", loss_scale="dynamic")']
    text = "".join(f"{line}\n" for line in [*head, *lines, *tail])
    return WrittenLists({"register_functions.py": text}, losses, found.dropped | dropped_by(losses))


def _modules(lists: OperatorLists, own: OperatorLists) -> dict[str, str]:
    """Return the Python module of each function: from the source, else APEX's own lists, else the stored facts."""
    found = {name: module for module, names in facts("apex")["modules"].items() for name in names}
    found |= {each.name: each.module for each in own.entries if each.module}
    return found | {each.name: each.module for each in lists.entries if each.module}


def _still_listed(lists: OperatorLists, built_in: dict[str, ListEntry]) -> list[Loss]:
    """Return the built-in entries that no call can remove from their list."""
    named = lists.deciding()
    neither = (OperatorClass.FOLLOW, OperatorClass.CLEAR)
    kept = [n for n, e in named.items() if e.cls in neither and n in built_in and built_in[n].cls not in neither]
    others = [n for n, each in built_in.items() if n not in named and each.cls not in neither]
    losses = []
    if kept:
        said = "these are on APEX's built-in lists and cannot be removed"
        losses.append(Loss("built-in-stays", said, tuple(kept), drops=True))
    if others and not lists.system.startswith("apex"):
        said = "names that the source does not list stay on APEX's built-in lists"
        losses.append(Loss("built-in-stays", said, tuple(others)))
    return losses
