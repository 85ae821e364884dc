"""NVIDIA's APEX: its levels, and a user's own lists as calls such as `amp.register_half_function` (apex/amp/amp.py)."""

from __future__ import annotations

from dataclasses import replace

from ...core.text.source import Source
from ...errors import Damaged, UsageFault
from ..facts import facts
from ..python_script import calls_of
from ..python_text import unread_losses
from ..python_values import CalledLibrary, Symbol, Unread, shown
from ..system import ConversionOptions, System, WrittenLists, default_differences, sort_names
from ..vocabulary import ListEntry, Loss, OperatorClass, OperatorLists, ReadLists, loss_of


def read(system: System, sources: list[Source]) -> ReadLists:
    """Return the registrations of a script, then the built-in lists of O1. The user's cast is innermost, so it wins."""
    functions = {name: OperatorClass(cls) for name, cls in facts("apex")["registers"].items()}
    library = CalledLibrary(dict.fromkeys(functions, ("module", "name")), has_symbols=True)
    own = system.lists("O1")
    entries: dict[str, ListEntry] = {}
    losses: tuple[Loss, ...] = ()
    for source in sources:
        unread: list[tuple[str, Unread]] = []
        for call in calls_of(source, library):
            module, name = call.arguments.get("module"), call.arguments.get("name")
            text = f"{shown(module)}, {shown(name)}"
            if isinstance(name, str) and isinstance(module, Symbol):
                cls = functions[call.function]
                entries.setdefault(name, ListEntry(name, cls=cls, origin=source.path, module=module.path))
                text = f"{name}: it runs only if a condition holds" if call.tests else ""
            if text:
                unread.append((call.function, Unread(call.line, call.column, text)))
        if unread and not entries:
            message = f"`{unread[0][0]}` is not called with a name that can be read without running the script"
            place = unread[0][1]
            hint = "write the names out as strings"
            raise Damaged(message, path=source.path, line=place.line, column=place.column, hint=hint)
        losses += unread_losses(source, unread)
    if not entries:
        message = "the file calls no amp.register_half_function, register_float_function or register_promote_function"
        raise UsageFault(message, path=sources[0].path if sources else None)
    return ReadLists(replace(own, entries=(*entries.values(), *own.as_defaults()), version=None), losses)


def write(system: System, lists: OperatorLists, options: ConversionOptions) -> WrittenLists:
    """Return a module that registers functions, those whose module a list of APEX or the source says."""
    classes = {cls: function for function, cls in facts("apex")["registers"].items()}
    to = {OperatorClass(cls): function for cls, function in classes.items()}
    sorted_ = sort_names(lists, {**to, OperatorClass.BANNED: to[OperatorClass.HIGH]}, frozenset(to), system.name)
    own, named = system.lists("O1").deciding(), lists.deciding()
    calls: list[str] = []
    unknown: list[str] = []
    for function, names in sorted_.lists.items():
        for name in names:
            module = named[name].module or (own[name].module if name in own else None)
            if module:
                calls.append(f'amp.{function}({module}, "{name}")\n')
            else:
                unknown.append(name)
    message = "no list of APEX says which module has these functions; they are left out"
    losses = [*sorted_.losses, *loss_of("unknown-name", message, unknown, drops=True)]
    losses += default_differences(lists, "inputs", "float16", f"{system.name}:O1")
    text = 'import torch\nfrom apex import amp\n\n# before amp.initialize(..., opt_level="O1")\n' + "".join(calls)
    return WrittenLists({"register_functions.py": text}, losses)


SYSTEMS = tuple(
    System(
        name, title, "torch", "register_* calls", "register_* calls", read, write,
        facts=name.replace("-", "_"), files=None, wraps_in_place=True,
    )
    for name, title in (("apex", "NVIDIA APEX on CUDA"), ("apex-npu", "APEX on an NPU"))
)  # fmt: skip
