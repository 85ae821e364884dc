"""APEX: `register_*` calls, which are all the user's lists it has (interop.md 2.3)."""

from __future__ import annotations

from ..errors import UsageFault
from ..text.source import Source
from .facts import facts
from .homes import Base, Home, Written, sorted_into, unlike
from .placed import Class, Lists, Loss, Placed, Told
from .python_text import calls
from .systems import System, lists_of

__all__ = ["read", "write"]

_HOMES = {
    Class.LOW: Home("register_half_function"),
    Class.HIGH: Home("register_float_function"),
    Class.PROMOTE: Home("register_promote_function"),
    Class.FOLLOW: Home(None),
    Class.CLEAR: Home(None, False),
    Class.BANNED: Home("register_float_function", False),
}
_IMPORTS = {"torch.nn.functional": "torch", "torch.Tensor": "torch"}


def read(sources: list[Source], system: System) -> Told:
    """The calls of a script, before the built-in lists of O1: the user's cast is the innermost and decides."""
    functions = {name: Class(cls) for name, cls in facts("apex")["registers"].items()}
    own = lists_of("apex:O1")
    given: dict[str, Placed] = {}
    for source in sources:
        for function, module, name in calls(source, frozenset(functions)):
            given.setdefault(name, Placed(name, functions[function], origin=source.path, module=module))
    if not given:
        raise UsageFault("no amp.register_half_function, _float_function or _promote_function is called there")
    return Told(own._replace(placed=(*given.values(), *own.placed), version=None))


def write(lists: Lists, base: Base, system: System) -> Written:
    own = lists_of("apex:O1")
    built_in = own.deciding()
    modules = _modules(lists)
    changed = [e for e in lists.placed if e.name not in built_in or built_in[e.name].cls is not e.cls]
    found = sorted_into(lists._replace(placed=tuple(changed)), _HOMES, system.name)
    losses = [*found.losses, *unlike(lists, own.unlisted, own.low, "apex:O1")]
    lines, unknown = [], []
    for function, names in found.lists.items():
        for name in names:
            if name not in modules:
                unknown.append(name)
            else:
                lines.append(f"amp.{function}({modules[name]}, {name!r})")
    if unknown:
        said = "no source gives the Python module of these functions, and a wrong one raises; they are left out"
        losses.append(Loss("unknown-name", said, tuple(unknown)))
    losses += _still_listed(lists, built_in)
    imported = {
        _IMPORTS.get(modules[name], modules[name]) for name in modules if any(f"({modules[name]}," in x for x in lines)
    }
    head = ["from apex import amp", *(f"import {name}" for name in sorted(imported)), ""]
    tail = ["", '# before amp.initialize(model, optimizer, opt_level="O1", loss_scale="dynamic")']
    return Written({"register_functions.py": "".join(f"{line}\n" for line in [*head, *lines, *tail])}, losses)


def _modules(lists: Lists) -> dict[str, str]:
    """Where functions live: as the source says, as APEX's own lists say, and of a few more."""
    found = {name: module for module, names in facts("apex")["modules"].items() for name in names}
    found |= {each.name: each.module for each in lists_of("apex:O1").placed if each.module}
    return found | {each.name: each.module for each in lists.placed if each.module}


def _still_listed(lists: Lists, built_in: dict[str, Placed]) -> list[Loss]:
    """Built-in entries that no call can take off their list."""
    named = lists.deciding()
    kept = [n for n, each in named.items() if each.cls in (Class.FOLLOW, Class.CLEAR) and n in built_in]
    kept = [name for name in kept if built_in[name].cls is not Class.FOLLOW]
    others = [n for n, each in built_in.items() if n not in named and each.cls is not Class.FOLLOW]
    losses = []
    if kept:
        losses.append(Loss("built-in-stays", "APEX lists these itself, and nothing takes them off", tuple(kept)))
    if others and lists.system != "apex":
        said = "APEX's own lists stay for what the source does not list"
        losses.append(Loss("built-in-stays", said, tuple(others)))
    return losses
