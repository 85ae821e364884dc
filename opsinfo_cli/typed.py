"""Runtime parts of `typing`, whose import takes a tenth of a short command's time.

Type checkers see the real ones. Names used only in annotations are imported from `typing` under ``TYPE_CHECKING``.
"""

from __future__ import annotations

from collections import namedtuple

__all__ = ["TYPE_CHECKING", "Generic", "NamedTuple", "Protocol", "TypeVar", "overload"]

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Generic, NamedTuple, Protocol, TypeVar, overload
else:

    class _Named(type):
        """Makes a namedtuple of a class with annotated fields."""

        def __new__(cls, name, bases, body):
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = body["__annotations__"]
            defaults = [body.pop(field) for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body["__module__"])
            for word, value in body.items():
                setattr(made, word, value)
            return made

    class NamedTuple(metaclass=_Named):
        pass

    class Generic:
        def __class_getitem__(cls, _):
            return cls

    class Protocol:
        pass

    def TypeVar(name, **_):  # noqa: N802
        return name

    def overload(function):
        return function
