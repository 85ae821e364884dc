"""NVIDIA's APEX: its levels, and a user's own lists as calls such as `amp.register_half_function` (apex/amp/amp.py)."""

from __future__ import annotations

from ...core.text.source import Source
from ...errors import UsageFault
from ..facts import facts
from ..python_text import calls
from ..system import System
from ..vocabulary import ListEntry, Loss, OperatorClass, ReadLists


def read(system: System, sources: list[Source]) -> ReadLists:
    """Return the registrations of a script, then the built-in lists of O1. The user's cast is innermost, so it wins."""
    functions = {name: OperatorClass(cls) for name, cls in facts("apex")["registers"].items()}
    own = system.lists("O1")
    entries: dict[str, ListEntry] = {}
    losses: list[Loss] = []
    for source in sources:
        registered, computed = calls(source, frozenset(functions))
        losses += computed
        for function, module, name in registered:
            entries.setdefault(name, ListEntry(name, functions[function], origin=source.path, module=module))
    if not entries:
        message = "the file calls no amp.register_half_function, register_float_function or register_promote_function"
        raise UsageFault(message, path=sources[0].path if sources else None)
    return ReadLists(own._replace(entries=(*entries.values(), *own.as_defaults()), version=None), losses)


SYSTEMS = tuple(
    System(
        name, title, "torch", "register_* calls", read=read, facts=name.replace("-", "_"), files=None,
        instead="call amp.register_half_function(module, 'name') and the like before amp.initialize",
        wraps_in_place=True, call_options=frozenset({"disabled"}),
    )
    for name, title in (("apex", "NVIDIA APEX on CUDA"), ("apex-npu", "APEX on an NPU"))
)  # fmt: skip
