"""MindSpore's levels, and the lists of `custom_mixed_precision` in Python; MindSpore itself has no list file."""

from __future__ import annotations

import re

from ...core.text.source import Source
from ...errors import UsageFault
from ..python_text import is_python, python_lists
from ..python_values import CalledLibrary, Symbol
from ..system import ConversionOptions, System, WrittenLists, default_differences, sort_names
from ..vocabulary import ListEntry, Loss, OperatorClass, OperatorLists, ReadLists, Unlisted, loss_of

_LOW, _HIGH = OperatorClass.LOW, OperatorClass.HIGH
_ROOTS = {"nn": "mindspore.nn", "ops": "mindspore.ops", "P": "mindspore.ops", "ms": "mindspore"}
_ROOTS["mint"] = "mindspore.mint"
"""What people import MindSpore's modules as."""
_MODULES = re.compile(r"(mindspore\.(?:nn|ops|mint\.nn))\.(?:\w+\.)+(?=[A-Z]\w*$)")
_LIST_NAMES = (("mindspore.nn.", "nn."), ("mindspore.mint.", "mint."), ("mindspore.ops.", ""))


def path_of(name: str) -> str:
    """Return where MindSpore has a class, such as ``mindspore.nn.Dense`` for ``nn.Dense``."""
    root, dot, rest = name.partition(".")
    return _MODULES.sub(r"\1.", f"{_ROOTS.get(root, root)}{dot}{rest}")


def class_name(text: str) -> str:
    """Return a name in the spelling of the built-in lists, such as ``nn.Dense`` for ``mindspore.nn.Dense``."""
    path = path_of(text)
    return next((name + path[len(module) :] for module, name in _LIST_NAMES if path.startswith(module)), path)


def _symbol(name: str) -> Symbol:
    """Return the class of a name of the built-in lists."""
    return Symbol(path_of(name) if name.startswith(("nn.", "mint.")) else f"mindspore.ops.{name}")


def _is_white(system: System) -> bool:
    return system.name == "mindspore-white"


def _unlisted(system: System) -> Unlisted:
    """Unlisted classes are float32 with a white list, low with a black list."""
    return "high" if _is_white(system) else "low"


def _cells_only(names: list[str]) -> tuple[list[str], tuple[Loss, ...]]:
    message = "MindSpore's black list takes Cells only; these are Primitives and are left out"
    primitives = [name for name in names if "." not in name]
    return [name for name in names if "." in name], loss_of("cells-only", message, primitives, drops=True)


def read(system: System, sources: list[Source]) -> ReadLists:
    """Read the list that a script sets, of classes or their names; else lines, each with the name of a class.

    :raises UsageFault: if a script sets no such list
    :raises Damaged: if it is not valid Python, or nothing of the list can be read
    """
    (source,) = sources
    key = "white_list" if _is_white(system) else "black_list"
    losses: tuple[Loss, ...] = ()
    if is_python(source) or re.search(rf"\b{key}\s*\+?=", source.text):
        constants = {"get_white_list": "O1", "get_black_list": "O2"}
        built_in = {
            name: [_symbol(entry.name) for entry in SYSTEMS[0].lists(level).entries]
            for name, level in constants.items()
        }
        parameters = ("network", "white_list", "black_list", "dtype")
        library = CalledLibrary(
            {"custom_mixed_precision": parameters[:1]}, {key}, built_in, has_symbols=True, canonical=path_of
        )
        lists, losses = python_lists(source, library)
        if key not in lists:
            raise UsageFault(f"the file sets no {key}", path=source.path)
        names = [class_name(name.path if isinstance(name, Symbol) else name) for name in lists[key].items]
    else:
        lines = [line.strip() for line in source.text.splitlines()]
        names = [class_name(line) for line in lines if line and not line.startswith("#")]
    if not _is_white(system):
        names, cells_only = _cells_only(names)
        losses += cells_only
    cls = _LOW if _is_white(system) else _HIGH
    entries = tuple(ListEntry(name, scope="class", cls=cls, origin=source.path) for name in dict.fromkeys(names))
    own = OperatorLists(
        system=system.name, names="mindspore", unlisted=_unlisted(system), low="float16", entries=entries
    )
    return ReadLists(own, losses)


def write(system: System, lists: OperatorLists, options: ConversionOptions) -> WrittenLists:
    white = _is_white(system)
    key = "white_list" if white else "black_list"
    to = {_LOW: key} if white else {_HIGH: key, OperatorClass.BANNED: key}
    sorted_ = sort_names(lists, to, frozenset({_LOW, _HIGH}), system.name)
    names = [class_name(name) for name in sorted_.lists[key]]
    losses = [*sorted_.losses, *default_differences(lists, _unlisted(system), "float16", system.name)]
    if not white:
        names, cells_only = _cells_only(names)
        losses += cells_only
    classes = "".join(f"    {name if name.startswith('nn.') else f'ops.{name}'},\n" for name in names)
    text = f"from mindspore import nn, ops\n\n{key} = [\n{classes}]\n"
    text += f"# network = mindspore.amp.custom_mixed_precision(network, {key}={key})\n"  # a script may import the file
    return WrittenLists({f"{key}.py": text}, losses)


SYSTEMS = (
    System(
        "mindspore", "MindSpore amp_level", "mindspore", facts="mindspore", knows_loss=True, spelled=class_name
    ),
    *(
        System(
            f"mindspore-{color}", f"MindSpore {color}_list", "mindspore", f"{color}_list", f"{color}_list", read, write,
            knows_loss=True, spelled=class_name,
        )
        for color in ("white", "black")
    ),
)  # fmt: skip
