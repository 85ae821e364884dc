"""Expressions, statements and definitions of C++, as far as OpDef sources use them.

``place`` is that of the word that a person looks for: of a call of a member its name, of a declaration the variable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from .tokens import Fault


class Fragment(Protocol):
    """A part of the text, parsed when it is asked for."""

    @property
    def words(self) -> list[str]: ...

    @property
    def statements(self) -> list[Statement]: ...

    @property
    def definitions(self) -> list[Definition]: ...

    @property
    def expression(self) -> Expression:
        """:raises Fault: if it is none"""

    @property
    def type(self) -> TypeName:
        """:raises Fault: if it is none"""


@dataclass(slots=True)
class TypeName:
    """``const std::vector<ge::DataType>``: name ``vector``, one argument.

    :param name: without namespaces; ``auto`` if it is deduced
    :param is_array: ``const char* chips[]``
    :param is_pointer: what it points to is shared, not copied
    """

    name: str
    arguments: tuple[Fragment, ...] = ()
    is_array: bool = False
    is_pointer: bool = False


# Expressions


@dataclass(slots=True)
class Literal:
    value: object
    place: int


@dataclass(slots=True)
class Name:
    """``ge::DT_FLOAT``: parts ``ge`` and ``DT_FLOAT``.

    :param arguments: the template's: ``std::get<0>``
    """

    parts: tuple[str, ...]
    arguments: tuple[Fragment, ...]
    place: int


@dataclass(slots=True)
class Braces:
    items: list[Expression]
    place: int


@dataclass(slots=True)
class Call:
    """``f(a)``, ``object.f(a)`` and ``T{a}``.

    :param is_braced: ``T{a}``
    """

    function: Expression
    items: list[Expression]
    is_braced: bool
    place: int


@dataclass(slots=True)
class Member:
    object: Expression
    name: str
    place: int


@dataclass(slots=True)
class Index:
    object: Expression
    index: Expression
    place: int


@dataclass(slots=True)
class Unary:
    operator: str
    operand: Expression
    place: int


@dataclass(slots=True)
class Step:
    """``++x``, ``x--``."""

    by: int
    operand: Expression
    is_before: bool
    place: int


@dataclass(slots=True)
class Binary:
    operator: str
    left: Expression
    right: Expression
    place: int


@dataclass(slots=True)
class Assign:
    """:param operator: of ``x += y`` it is ``+``; of ``x = y`` it is empty"""

    operator: str
    target: Expression
    value: Expression
    place: int


@dataclass(slots=True)
class Conditional:
    condition: Expression
    then: Expression
    otherwise: Expression
    place: int


@dataclass(slots=True)
class Lambda:
    function: FunctionDefinition
    place: int


Expression = Literal | Name | Braces | Call | Member | Index | Unary | Step | Binary | Assign | Conditional | Lambda


# Statements


@dataclass(slots=True)
class Declare:
    """``T name = value``, ``T name(items)``, ``T name{items}``, ``T name``.

    :param value: None without ``=``
    """

    type: TypeName
    name: str
    is_reference: bool
    value: Expression | None
    items: list[Expression]
    is_braced: bool
    place: int


@dataclass(slots=True)
class Unpack:
    """``auto [a, b] = value``."""

    names: list[str]
    is_reference: bool
    value: Expression
    place: int


@dataclass(slots=True)
class Evaluate:
    expression: Expression
    place: int


@dataclass(slots=True)
class Return:
    value: Expression | None
    place: int


@dataclass(slots=True)
class Jump:
    """:param word: ``break`` or ``continue``"""

    word: str
    place: int


@dataclass(slots=True)
class Throw:
    place: int


@dataclass(slots=True)
class If:
    condition: Expression
    then: Statement
    otherwise: Statement | None
    place: int


@dataclass(slots=True)
class Loop:
    """``for (first; condition; step) body``, ``while (condition) body`` and ``do body while (condition)``."""

    first: Statement | None
    condition: Expression | None
    steps: list[Expression]
    body: Statement
    runs_first: bool
    place: int


@dataclass(slots=True)
class ForEach:
    """``for (T name : values) body``; several names for ``auto& [a, b]``."""

    names: list[str]
    is_reference: bool
    values: Expression
    body: Statement
    place: int


@dataclass(slots=True)
class Switch:
    """:param labels: a value, or None for ``default``, and the index of the statement it leads to"""

    value: Expression
    labels: list[tuple[Expression | None, int]]
    statements: list[Statement]
    place: int


@dataclass(slots=True)
class Block:
    """:param is_scope: False for ``int a, b;``, whose names belong to the block around it"""

    statements: list[Statement]
    is_scope: bool
    place: int


@dataclass(slots=True)
class Unparsed:
    """A statement that is not understood, which matters only if it is run.

    :param name: what it declares, if it looks like a declaration
    """

    fault: Fault
    name: str | None
    place: int


Statement = Declare | Unpack | Evaluate | Return | Jump | Throw | If | Loop | ForEach | Switch | Block | Unparsed


# Definitions


@dataclass(slots=True)
class Parameter:
    type: TypeName
    name: str | None
    is_reference: bool
    default: Expression | None


@dataclass(slots=True)
class FunctionDefinition:
    """:param initializers: of a constructor: what it gives to bases and members"""

    name: str
    parameters: list[Parameter]
    body: Fragment
    initializers: list[tuple[str, list[Expression]]]
    place: int


@dataclass(slots=True)
class ClassDefinition:
    """:param body: the text between its braces"""

    name: str
    bases: list[str]
    body: Fragment
    place: int


@dataclass(slots=True)
class Alias:
    """``using name = type``."""

    name: str
    type: TypeName
    place: int


@dataclass(slots=True)
class Enumeration:
    members: list[tuple[str, Expression | None]]
    place: int


@dataclass(slots=True)
class Undecided:
    """Definitions under a condition that the sources do not decide."""

    fault: Fault
    place: int


@dataclass(slots=True)
class Register:
    """``OP_ADD(name)``; or another macro that registers, whose effect is not read.

    :param macro: ``OP_ADD``
    """

    macro: str
    name: str
    place: int


Definition = FunctionDefinition | ClassDefinition | Alias | Enumeration | Undecided | Register | Statement
"""What stands in a namespace or class."""
