"""Runtime parts of `typing`, whose import takes a tenth of a short command's time.

Type checkers see the real ones. Names used only in annotations are imported from `typing` under ``TYPE_CHECKING``.
"""

from __future__ import annotations

__all__ = ["TYPE_CHECKING", "Generic", "NamedTuple", "Protocol", "TypeVar", "overload"]

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Generic, NamedTuple, Protocol, TypeVar, overload
else:
    from collections import _tuplegetter

    class _Tuple(tuple):
        """The methods of every named tuple; `namedtuple` makes them anew for each class, in three times the time."""

        __slots__ = ()

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(map('{}={!r}'.format, self._fields, self))})"

        def __getnewargs__(self):
            return tuple(self)

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def _replace(self, /, **changed):
            return type(self)(**{**self._asdict(), **changed})

    class _Named(type):
        """Makes a named tuple of a class with annotated fields."""

        def __new__(cls, name, bases, body):
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = tuple(body["__annotations__"])
            defaults = tuple(body[field] for field in fields if field in body)
            names = ", ".join(fields)
            new = eval(f"lambda _cls, {names}: _new(_cls, ({names},))", {"_new": tuple.__new__})
            new.__defaults__ = defaults
            getters = {field: _tuplegetter(index, None) for index, field in enumerate(fields)}
            shape = {"__slots__": (), "__new__": new, "__match_args__": fields, "_fields": fields}
            return type(name, (_Tuple,), {**body, **getters, **shape})

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
