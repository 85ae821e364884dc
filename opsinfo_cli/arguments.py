"""Arguments of the Python API, checked where they arrive, so that a wrong kind is said, not what fails later."""

from __future__ import annotations

import ast
import builtins
import math
import os
import sys
import types
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache, wraps
from importlib import import_module
from inspect import Parameter, Signature, getsource, signature
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from .errors import UsageFault
from .opening import has_folder, no_folder

Function = TypeVar("Function", bound=Callable[..., Any])


def checked(function: Function) -> Function:
    """Return a function that holds its arguments to their annotations.

    :raises TypeError: by the function returned, if an argument is missing or unknown, as of any function
    :raises UsageFault: by the function returned, if an argument is of a wrong kind, NaN, or text that no file can hold
    :raises Refused: by the function returned, if the current folder, to which paths are relative, was removed
    """

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        wanted, kinds = _parameters(function)
        for name, value in wanted.bind(*args, **kwargs).arguments.items():
            parameter = wanted.parameters[name].kind
            given = value if parameter is Parameter.VAR_KEYWORD else {name: value}
            for key, each in given.items():
                if key not in kinds:
                    raise TypeError(f"{function.__qualname__}() got an unexpected keyword argument {key!r}")
                kind = kinds[key]
                for one in each if parameter is Parameter.VAR_POSITIONAL else [each]:
                    if not _fits(one, kind):
                        message = f"`{key}` of {function.__qualname__} cannot be {_shown(one)}"
                        raise UsageFault(message, name="wrong-type")
        try:
            return function(*args, **kwargs)
        except FileNotFoundError:
            if has_folder():
                raise
            raise no_folder() from None

    return call  # type: ignore[return-value]


@cache
def _parameters(function: Callable[..., Any]) -> tuple[Signature, dict[str, Any]]:
    """Return the signature of a function, and the kind of each parameter by its name, as a caller writes it."""
    inner = getattr(function, "func", function)  # of a partial function
    names = _Names(sys.modules[inner.__module__])
    kinds: dict[str, Any] = {}
    for name, each in signature(function).parameters.items():
        kind = names.read(each.annotation)
        if each.kind is Parameter.VAR_KEYWORD and (keys := get_args(kind)):  # of Unpack[TypedDict]
            own = _Names(sys.modules[keys[0].__module__])
            kinds |= {key: own.read(of) for key, of in keys[0].__annotations__.items()}
        else:
            kinds[name] = kind
    return signature(function), kinds


class _Names(dict[str, Any]):
    """The names of a module for its annotations, those that it imports for type checkers only included."""

    def __init__(self, module: types.ModuleType) -> None:
        super().__init__(vars(module))
        self.module = module

    def read(self, annotation: Any) -> Any:
        text = getattr(annotation, "__forward_arg__", annotation)
        return eval(text, {}, self) if isinstance(text, str) else Any if text is Parameter.empty else text

    def __getitem__(self, name: str) -> Any:
        found = self.get(name, getattr(builtins, name, None))
        if found is not None and not isinstance(found, str):
            return found
        for node in ast.walk(ast.parse(getsource(self.module))):
            if isinstance(node, (ast.Import, ast.ImportFrom)) and name in [each.name for each in node.names]:
                if isinstance(node, ast.Import):
                    return import_module(name)
                return _Names(import_module("." * node.level + (node.module or ""), self.get("__package__")))[name]
        return self.read(found)  # an alias of this module


def _fits(value: Any, kind: Any) -> bool:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return any(_fits(value, each) for each in inner)
    if origin is Literal:
        return any(value == each and type(value) is type(each) for each in inner)
    if kind in (Any, None, types.NoneType):
        return kind is Any or value is None
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if kind is str:
        return isinstance(value, str) and _is_text(value)
    if not isinstance(origin or kind, type):
        return callable(value) if origin is Callable else True  # a type variable
    if not isinstance(value, origin or kind):
        return False
    if isinstance(value, os.PathLike):
        return _is_text(os.fspath(value))
    if isinstance(value, Mapping) and len(inner) == 2:
        return all(_fits(key, inner[0]) and _fits(each, inner[1]) for key, each in value.items())
    if inner and isinstance(value, Collection) and issubclass(origin or kind, Iterable):
        return all(_fits(each, inner[0]) for each in value)  # an iterator is not read twice
    return True


def _is_text(text: Any) -> bool:
    """Whether a text, or a path of bytes that are not UTF-8, can be the name or the content of a file."""
    return isinstance(text, str) and "\0" not in text and not any("\ud800" <= each < "\udc80" for each in text)


def _shown(value: Any) -> str:
    if isinstance(value, (str, int, float)):
        return f"{value!r}"[:60]
    return "None" if value is None else f"of type {type(value).__name__}"
