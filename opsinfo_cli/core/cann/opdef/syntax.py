"""Expressions, statements and definitions of C++, as far as OpDef sources use them.

``place`` is that of the word that a person looks for: of a call of a member its name, of a declaration the variable.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from .tokens import SourceFault

INTEGERS = frozenset(
    (
        *("int", "long", "short", "unsigned", "size_t"),
        *("int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"),
    )
)
"""Types of integers, by their last word."""


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
        """:raises SourceFault: if it is none"""

    @property
    def type(self) -> TypeName:
        """:raises SourceFault: if it is none"""


class TypeName(NamedTuple):
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


class Literal(NamedTuple):
    value: object
    place: int


class Name(NamedTuple):
    """``ge::DT_FLOAT``: parts ``ge`` and ``DT_FLOAT``.

    :param arguments: the template's: ``std::get<0>``
    """

    parts: tuple[str, ...]
    arguments: tuple[Fragment, ...]
    place: int


class Braces(NamedTuple):
    items: list[Expression]
    place: int


class Call(NamedTuple):
    """``f(a)``, ``object.f(a)`` and ``T{a}``.

    :param is_braced: ``T{a}``
    """

    function: Expression
    items: list[Expression]
    is_braced: bool
    place: int


class Member(NamedTuple):
    object: Expression
    name: str
    place: int


class Index(NamedTuple):
    object: Expression
    inside: Expression
    place: int


class Unary(NamedTuple):
    operator: str
    operand: Expression
    place: int


class Increment(NamedTuple):
    """``++x``, ``x--``."""

    by: int
    operand: Expression
    is_before: bool
    place: int


class Binary(NamedTuple):
    operator: str
    left: Expression
    right: Expression
    place: int


class Assign(NamedTuple):
    """:param operator: of ``x += y`` it is ``+``; of ``x = y`` it is empty"""

    operator: str
    target: Expression
    value: Expression
    place: int


class Conditional(NamedTuple):
    condition: Expression
    then: Expression
    otherwise: Expression
    place: int


class Lambda(NamedTuple):
    """:param captures: the words of each: ``&``, ``=``, ``& x``, ``x``, ``this``"""

    captures: list[list[str]]
    function: FunctionDefinition
    place: int


Expression = (
    Literal | Name | Braces | Call | Member | Index | Unary | Increment | Binary | Assign | Conditional | Lambda
)


# Statements


class Declare(NamedTuple):
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


class Unpack(NamedTuple):
    """``auto [a, b] = value``."""

    names: list[str]
    is_reference: bool
    value: Expression
    place: int


class Evaluate(NamedTuple):
    expression: Expression
    place: int


class Return(NamedTuple):
    value: Expression | None
    place: int


class Jump(NamedTuple):
    """:param word: ``break`` or ``continue``"""

    word: str
    place: int


class Throw(NamedTuple):
    place: int


class If(NamedTuple):
    condition: Expression
    then: Statement
    otherwise: Statement | None
    place: int


class Loop(NamedTuple):
    """``for (first; condition; step) body``, ``while (condition) body`` and ``do body while (condition)``."""

    first: Statement | None
    condition: Expression | None
    steps: list[Expression]
    body: Statement
    runs_first: bool
    place: int


class ForEach(NamedTuple):
    """``for (T name : values) body``; several names for ``auto& [a, b]``."""

    names: list[str]
    is_reference: bool
    values: Expression
    body: Statement
    place: int


class Switch(NamedTuple):
    """:param labels: a value, or None for ``default``, and the index of the statement it leads to"""

    value: Expression
    labels: list[tuple[Expression | None, int]]
    statements: list[Statement]
    place: int


class Block(NamedTuple):
    """:param is_scope: False for ``int a, b;``, whose names belong to the block around it"""

    statements: list[Statement]
    is_scope: bool
    place: int


class Unparsed(NamedTuple):
    """A statement that is not understood, which matters only if it is run.

    :param name: what it declares, if it looks like a declaration
    """

    fault: SourceFault
    name: str | None
    place: int


Statement = Declare | Unpack | Evaluate | Return | Jump | Throw | If | Loop | ForEach | Switch | Block | Unparsed


# Definitions


class Parameter(NamedTuple):
    type: TypeName
    name: str | None
    is_reference: bool
    default: Expression | None


class FunctionDefinition(NamedTuple):
    """:param initializers: of a constructor: what it gives to bases and members"""

    name: str
    parameters: list[Parameter]
    body: Fragment
    initializers: list[tuple[str, list[Expression]]]
    place: int


class ClassDefinition(NamedTuple):
    """:param body: the text between its braces"""

    name: str
    bases: list[str]
    body: Fragment
    place: int


class Alias(NamedTuple):
    """``using name = type``."""

    name: str
    type: TypeName
    place: int


class Enumeration(NamedTuple):
    members: list[tuple[str, Expression | None]]
    place: int


class Undecided(NamedTuple):
    """Definitions under a condition that the sources do not decide."""

    fault: SourceFault
    place: int


class Register(NamedTuple):
    """``OP_ADD(name)``, or ``REGISTER_OP_AICORE_CONFIG(name, chip, function)``, which declares a chip.

    :param chip: None for ``OP_ADD``
    """

    name: str
    chip: str | None
    place: int


Definition = FunctionDefinition | ClassDefinition | Alias | Enumeration | Undecided | Register | Statement
"""What stands in a namespace or class."""
