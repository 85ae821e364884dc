"""The named tuples of `opsinfo_cli.typed` behave as those of `typing`."""

from __future__ import annotations

import copy
import pickle
import typing
from typing import Any

import pytest

from opsinfo_cli import typed


def declared(name: str, base: Any) -> Any:
    class Place(base):
        """A place."""

        new: str
        cls: int
        third: tuple[str, ...] = ()
        fourth: str | None = None

        def __bool__(self) -> bool:
            return self.cls > 0

        @property
        def twice(self) -> int:
            return 2 * self.cls

    Place.__name__ = Place.__qualname__ = name  # where pickle finds it
    return Place


Ours, Theirs = declared("Ours", typed.NamedTuple), declared("Theirs", typing.NamedTuple)
BOTH = pytest.mark.parametrize("kind", [Ours, Theirs])


def test_our_class_is_not_that_of_typing() -> None:
    assert typed.NamedTuple is not typing.NamedTuple


@BOTH
def test_fields_methods_and_defaults_are_as_declared(kind: Any) -> None:
    made = kind("a", cls=2, fourth="d")
    assert made == ("a", 2, (), "d")
    assert (made.new, made.cls, made.third, made.fourth, made.twice) == ("a", 2, (), "d", 4)
    assert made
    assert not kind("a", 0)
    assert hash(made) == hash(("a", 2, (), "d"))
    assert (kind._fields, kind.__match_args__) == (("new", "cls", "third", "fourth"),) * 2
    assert (kind.__doc__, kind.__module__) == ("A place.", __name__)
    assert not hasattr(made, "__dict__")


@BOTH
def test_a_named_tuple_is_shown_replaced_and_copied(kind: Any) -> None:
    made = kind("a", 2)
    assert repr(made) == f"{kind.__name__}(new='a', cls=2, third=(), fourth=None)"
    assert made._asdict() == {"new": "a", "cls": 2, "third": (), "fourth": None}
    assert made._replace(cls=3, fourth="d") == ("a", 3, (), "d")
    for same in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made)), made._replace()):
        assert (same, type(same)) == (made, kind)


@BOTH
@pytest.mark.parametrize("values", [{}, {"new": "a"}, {"new": "a", "cls": 1, "fifth": 1}])
def test_wrong_fields_are_refused(kind: Any, values: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        kind(**values)
    with pytest.raises((TypeError, ValueError)):
        kind("a", 1)._replace(fifth=1)
    with pytest.raises(AttributeError):
        kind("a", 1).new = "b"
