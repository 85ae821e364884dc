"""What the calls of ``OpDef`` and its parts set.

Source: hicann/metadef at 786891c, ``inc/external/asc/register/op_def.h`` and ``base/asc/opdef/op_def_impl.cc``. Calls
that set nothing of an operator's entry (``SetTiling``, ``Comment``, ``AutoContiguous``, those of other versions) have
no effect here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from .tokens import SourceFault
from .values import Arguments, EnumConstant, Unknown
from .words import DTYPE_NUMBERS

PRECISION_REDUCE = "precision_reduce.flag"
FLAGS = {
    "DynamicCompileStaticFlag": "dynamicCompileStatic.flag",
    "DynamicFormatFlag": "dynamicFormat.flag",
    "DynamicRankSupportFlag": "dynamicRankSupport.flag",
    "DynamicShapeSupportFlag": "dynamicShapeSupport.flag",
    "NeedCheckSupportFlag": "needCheckSupport.flag",
    "PrecisionReduceFlag": PRECISION_REDUCE,
}
"""Methods of a configuration, and the keys that they set (op_def_impl.cc:1353-1391)."""

DEFAULTS = {key: "false" if key == "needCheckSupport.flag" else "true" for key in FLAGS.values()}
"""What ``OpAICoreConfig(chip)``, and with it ``AddConfig(chip)``, sets (op_def_impl.cc:1325-1333)."""

MOST_PORTS, MOST_CHIPS = 1000, 100
"""Of one operator. The most that one of 2,600 real op types has are 90 ports and 7 chips."""


def known(arguments: Arguments) -> Arguments:
    """Return the arguments.

    :raises SourceFault: the reason why one of them is not known
    """
    for argument in arguments:
        if isinstance(argument, Unknown):
            raise argument.fault
    return arguments


def text_of(value: object, place: int) -> str:
    """:raises SourceFault: if a value is no text"""
    if isinstance(value, Unknown):
        raise value.fault
    if not isinstance(value, str) or isinstance(value, EnumConstant):
        raise SourceFault("a text expected", place)
    return value


def column_of(value: object, place: int) -> list[str]:
    """Return a vector of dtypes or formats; one in further braces, ``{{...}}``, is the vector itself.

    :raises SourceFault: if it is none
    """
    if isinstance(value, Unknown):
        raise value.fault
    while isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    values = value if isinstance(value, list) else [value]
    known(values)
    words = [each for each in values if isinstance(each, EnumConstant)]
    if len(words) != len(values):
        raise SourceFault("a vector of dtypes or formats expected", place)
    return [str(word) for word in words]


@dataclass(slots=True, eq=False, repr=False)
class PortColumns:
    """The dtypes or the formats of a port.

    :param plain: one for each column
    :param axis: values that are combined with all others (``DataTypeList``)
    :param form: which of the two was given
    :param given: the plain columns before they are combined with axes
    :param for_binary: ``DataTypeForBinQuery``
    :param place: of the last call that set them
    """

    plain: list[str] = field(default_factory=list)
    axis: list[str] = field(default_factory=list)
    form: Literal["plain", "axis"] | None = None
    given: list[str] = field(default_factory=list)
    for_binary: list[str] = field(default_factory=list)
    place: int = 0

    @property
    def written(self) -> list[str]:
        """What opbuild writes: the axis if there are no columns (``GetDataTypes``)."""
        return self.plain or self.axis

    def set_plain(self, values: list[str], place: int) -> None:
        """Ignored after the other form, if empty, or if not as long as ``for_binary`` (op_def_impl.cc:826-846)."""
        if self.form != "axis" and values and len(self.for_binary) in (0, len(values)):
            self.form, self.plain, self.given, self.place = "plain", values, values, place

    def set_axis(self, values: list[str], place: int) -> None:
        """Ignored after the other form, if empty, or with an element that repeats (op_def_impl.cc:848-905)."""
        is_set = bool(values) and len(set(values)) == len(values)
        if self.form != "plain" and is_set and len(self.for_binary) in (0, len(values)):
            self.form, self.axis, self.place = "axis", values, place

    def set_for_binary(self, values: list[str]) -> None:
        """Ignored if empty or of another length than what is set (op_def_impl.cc:914-951)."""
        length = {"plain": len(self.plain), "axis": len(self.axis), None: len(values)}[self.form]
        if values and len(values) == length:
            self.for_binary = values

    def copy(self) -> PortColumns:
        return replace(self)  # its lists are replaced, never changed


@dataclass(slots=True, eq=False, repr=False)
class OpDefPort:
    """An input or output (``OpParamDef``).

    A field is set by :meth:`call`, merged from a configuration by ``chip_ports`` (always, or only if it is given), and
    written by ``section``.

    :param param_type: the constant of ``Option``
    :param unknown_shape: ``UnknownShapeFormat``; None if it was not called
    :param to_dtype: ``To`` with a dtype
    :param to_port: ``To`` with the name of an input
    :param follow: ``Follow``: a port, and what of it: ``ALL``, ``DTYPE``, ``FORMAT`` or ``SHAPE``
    :param initial: ``InitValue``: a number, or pairs of a type and a number
    :param unread: why something of it could not be read
    """

    name: str
    param_type: str = "REQUIRED"
    dtypes: PortColumns = field(default_factory=PortColumns)
    formats: PortColumns = field(default_factory=PortColumns)
    unknown_shape: list[str] | None = None
    unknown_shape_place: int = 0
    value_depend: str = ""
    is_scalar: bool = False
    to_dtype: str | None = None
    to_port: str | None = None
    follow: tuple[str, str] | None = None
    initial: int | list[tuple[str, int | float]] | None = None
    depends_on_compute: bool = False
    unread: SourceFault | None = None

    def copy(self) -> OpDefPort:
        return replace(self, dtypes=self.dtypes.copy(), formats=self.formats.copy())

    def call(self, method: str, arguments: Arguments, place: int) -> OpDefPort:
        try:
            match method:
                case "ParamType":
                    option = known(arguments)[0]
                    if not isinstance(option, EnumConstant):
                        raise SourceFault("`ParamType` takes a constant", place)
                    self.param_type = str(option)
                case "DataType":
                    self.dtypes.set_plain(column_of(arguments[0], place), place)
                case "DataTypeList":
                    self.dtypes.set_axis(column_of(arguments[0], place), place)
                case "DataTypeForBinQuery":
                    self.dtypes.set_for_binary(column_of(arguments[0], place))
                case "Format":
                    self.formats.set_plain(column_of(arguments[0], place), place)
                case "FormatList":
                    self.formats.set_axis(column_of(arguments[0], place), place)
                case "FormatForBinQuery":
                    self.formats.set_for_binary(column_of(arguments[0], place))
                case "UnknownShapeFormat":
                    self.unknown_shape, self.unknown_shape_place = column_of(arguments[0], place), place
                case "ValueDepend":
                    words = {"REQUIRED": "required", "OPTIONAL": "optional"}
                    self.value_depend = words.get(str(known(arguments)[0]), "")
                case "Scalar" | "ScalarList":
                    self.is_scalar = True
                case "To":
                    self._set_to(known(arguments)[0], place)
                case "Follow":
                    self._set_follow(known(arguments), place)
                case "InitValue":
                    self._set_initial(known(arguments)[0], place)
                case "OutputShapeDependOnCompute":
                    self.depends_on_compute = True
        except SourceFault as fault:
            self.unread = self.unread or fault
        return self

    def _set_to(self, value: object, place: int) -> None:
        """Ignored for other ports than scalars, and after ``Follow`` (op_def_impl.cc:979-1011)."""
        if not self.is_scalar or self.follow is not None:
            return
        if isinstance(value, EnumConstant):
            self.to_dtype = str(value)
        else:
            self.to_port = text_of(value, place)

    def _set_follow(self, arguments: Arguments, place: int) -> None:
        """Ignored after ``To`` (op_def_impl.cc:1044-1069)."""
        if self.to_dtype is None and self.to_port is None:
            what = str(arguments[1]) if len(arguments) > 1 else "ALL"
            self.follow = text_of(arguments[0], place), what

    def _set_initial(self, value: object, place: int) -> None:
        if isinstance(value, int):
            self.initial = int(value)
        elif isinstance(value, list) and value:
            pairs = [value] if isinstance(value[0], EnumConstant) else value
            self.initial = []
            for pair in pairs:
                match pair:
                    case [EnumConstant() as word, (int() | float()) as number] if abs(number) < math.inf:
                        self.initial.append((str(word), number))
                    case _:
                        raise SourceFault("a type and a number expected", place)
        else:
            raise SourceFault("`InitValue` takes a number or scalars", place)


@dataclass(slots=True, eq=False, repr=False)
class Ports:
    """Inputs and outputs, in the order in which they are first named."""

    inputs: list[OpDefPort] = field(default_factory=list)
    outputs: list[OpDefPort] = field(default_factory=list)

    def port(self, kind: str, name: str, place: int) -> OpDefPort:
        """Return the port of a name, made if there is none (op_def_impl.cc:1091-1130).

        :param kind: ``Input`` or ``Output``
        :raises SourceFault: if there are too many
        """
        ports = self.inputs if kind == "Input" else self.outputs
        for port in ports:
            if port.name == name:
                return port
        if len(ports) >= MOST_PORTS:
            raise SourceFault(f"more than {MOST_PORTS:,} ports", place)
        ports.append(OpDefPort(name))
        return ports[-1]

    @property
    def every(self) -> list[OpDefPort]:
        return [*self.inputs, *self.outputs]

    def by_section(self) -> Iterator[tuple[str, OpDefPort]]:
        """Yield the ports with their sections in a library: ``input0``."""
        for kind, ports in (("input", self.inputs), ("output", self.outputs)):
            for at, port in enumerate(ports):
                yield f"{kind}{at}", port

    def copy(self) -> Ports:
        return Ports([port.copy() for port in self.inputs], [port.copy() for port in self.outputs])


@dataclass(slots=True, eq=False, repr=False)
class ConfigSetting:
    """A key of a configuration.

    :param place: of the call that set it
    :param is_default: set by ``OpAICoreConfig(chip)`` or ``AddConfig(chip)``, not by a call about this key
    """

    text: str
    place: int
    is_default: bool = False


@dataclass(slots=True, eq=False, repr=False)
class CoreConfig:
    """``OpAICoreConfig``.

    :param settings: in the order in which the keys were first set, which a later value keeps
    :param variable: the name under which it was declared
    :param origin: what it was copied from
    :param is_passed: whether it, or a copy, was given to ``AddConfig``
    """

    ports: Ports = field(default_factory=Ports)
    settings: dict[str, ConfigSetting] = field(default_factory=dict)
    variable: str = ""
    place: int = 0
    origin: CoreConfig | None = None
    is_passed: bool = False

    @classmethod
    def of_chip(cls, place: int) -> CoreConfig:
        """Return ``OpAICoreConfig(chip)``. The chip is not used (op_def_impl.cc:1325)."""
        return cls(settings={key: ConfigSetting(text, place, True) for key, text in DEFAULTS.items()}, place=place)

    @property
    def size(self) -> int:
        """What a copy costs, in steps."""
        return 1 + len(self.settings) + 10 * (len(self.ports.inputs) + len(self.ports.outputs))

    @property
    def is_filled(self) -> bool:
        """Whether something was set by a call."""
        own = any(not setting.is_default for setting in self.settings.values())
        return own or bool(self.ports.inputs or self.ports.outputs)

    def copy(self) -> CoreConfig:
        return CoreConfig(self.ports.copy(), dict(self.settings), self.variable, self.place, self)

    def mark_passed(self) -> None:
        config: CoreConfig | None = self
        while config is not None and not config.is_passed:
            config.is_passed = True
            config = config.origin

    def call(self, method: str, arguments: Arguments, place: int) -> CoreConfig | OpDefPort:
        """:raises SourceFault: if an argument is not known"""
        if method in FLAGS:
            known(arguments)
            if not isinstance(arguments[0], int):
                raise SourceFault(f"`{method}` takes true or false", place)
            self.settings[FLAGS[method]] = ConfigSetting("true" if arguments[0] else "false", place)
        elif method == "ExtendCfgInfo":
            key, text = (text_of(each, place) for each in arguments)
            self.settings[key] = ConfigSetting(text, place)
        elif method in ("Input", "Output"):
            return self.ports.port(method, text_of(arguments[0], place), place)
        return self


@dataclass(slots=True, eq=False, repr=False)
class ChipConfig:
    """One ``AddConfig`` in force.

    :param place: of the call
    """

    config: CoreConfig
    place: int


@dataclass(slots=True, eq=False, repr=False)
class AICore:
    """:param chips: by chip; a second ``AddConfig`` replaces the first (op_def_impl.cc:1443-1448)"""

    chips: dict[str, ChipConfig] = field(default_factory=dict)

    def call(self, method: str, arguments: Arguments, place: int) -> AICore:
        """:raises SourceFault: if a chip or configuration is not known"""
        if method != "AddConfig":
            return self
        name = text_of(arguments[0], place)
        if len(arguments) == 1:
            config = CoreConfig.of_chip(place)
        else:
            known(arguments)
            if not isinstance(arguments[1], CoreConfig):
                raise SourceFault("`AddConfig` takes an `OpAICoreConfig`", place)
            arguments[1].mark_passed()
            config = arguments[1].copy()  # later changes do not reach it
        self.chips.pop(name, None)
        if len(self.chips) >= MOST_CHIPS:
            raise SourceFault(f"more than {MOST_CHIPS} chips", place)
        self.chips[name] = ChipConfig(config, place)
        return self


AttributeType = Literal["bool", "float", "int", "str", "listBool", "listFloat", "listInt", "listListInt"]
_ATTRIBUTE_TYPES: dict[str, AttributeType] = {
    "Bool": "bool",
    "Float": "float",
    "Int": "int",
    "String": "str",
    "ListBool": "listBool",
    "ListFloat": "listFloat",
    "ListInt": "listInt",
    "ListListInt": "listListInt",
}


def _attribute_value(value: object, place: int, is_whole: bool, depth: int = 2) -> object:
    """Return the default of an attribute, a dtype as its number.

    :param is_whole: whether its numbers are whole ones
    :param depth: of lists that it may hold
    :raises SourceFault: if it is not known
    """
    if isinstance(value, list) and depth > 0:
        return [_attribute_value(each, place, is_whole, depth - 1) for each in value]
    if isinstance(value, EnumConstant):
        if value not in DTYPE_NUMBERS:
            raise SourceFault(f"the number of `{value}` is not known", place)
        return DTYPE_NUMBERS[value]
    known([value])
    if not isinstance(value, bool | int | float | str) or (is_whole and value in (math.inf, -math.inf)):
        raise SourceFault("a number, a text or a list of them expected", place)
    return value


@dataclass(slots=True, eq=False, repr=False)
class Attribute:
    """``OpAttrDef`` (op_def_impl.cc:475-676).

    :param defaults: by type: a later call of another type does not take the value of an earlier one
    :param unread: why something of it could not be read
    """

    name: str
    type: AttributeType = "bool"
    is_required: bool = True
    defaults: dict[str, object] = field(default_factory=dict)
    unread: SourceFault | None = None

    def call(self, method: str, arguments: Arguments, place: int) -> Attribute:
        try:
            known(arguments)
            if method in _ATTRIBUTE_TYPES:
                self.type = _ATTRIBUTE_TYPES[method]
                if arguments:
                    self.defaults[self.type] = _attribute_value(arguments[0], place, is_whole="Int" in method)
            elif method == "AttrType" and arguments[0] == "OPTIONAL":
                self.is_required = False
        except SourceFault as fault:
            self.unread = self.unread or fault
        return self


@dataclass(slots=True, eq=False, repr=False)
class Collective:
    """``OpMC2Def``: groups of collective communication."""

    groups: dict[str, None] = field(default_factory=dict)

    def call(self, method: str, arguments: Arguments, place: int) -> Collective:
        if method == "HcclGroup":
            names = arguments[0] if isinstance(arguments[0], list) else [arguments[0]]
            self.groups |= dict.fromkeys(text_of(name, place) for name in names)
        return self


@dataclass(slots=True, eq=False, repr=False)
class OtherCore:
    """``AICPU()`` and ``HostCPU()``: whatever is called on them is not of AI Core."""

    def call(self, method: str, arguments: Arguments, place: int) -> OtherCore:
        return self


@dataclass(slots=True, eq=False, repr=False)
class OpDefinition:
    """``OpDef``: what the constructor of an op type has set.

    :param falls_back: ``EnableFallBack``
    """

    name: str
    ports: Ports = field(default_factory=Ports)
    attributes: dict[str, Attribute] = field(default_factory=dict)
    core: AICore = field(default_factory=AICore)
    collective: Collective = field(default_factory=Collective)
    falls_back: bool = False

    METHODS: ClassVar[frozenset[str]] = frozenset(
        {
            *("Input", "Output", "Attr", "AICore", "AICPU", "HostCPU", "MC2", "EnableFallBack", "Comment"),
            *("SetInferShape", "SetInferShapeRange", "SetInferDataType", "FormatMatchMode"),
        }
    )
    """Methods that a constructor may call without ``this``."""

    def call(self, method: str, arguments: Arguments, place: int) -> Part | None:
        """:raises SourceFault: if the name of a port or attribute is not known"""
        match method:
            case "Input" | "Output":
                return self.ports.port(method, text_of(arguments[0], place), place)
            case "Attr":
                name = text_of(arguments[0], place)
                return self.attributes.setdefault(name, Attribute(name))
            case "AICore":
                return self.core
            case "MC2":
                return self.collective
            case "AICPU" | "HostCPU":
                return OtherCore()
            case "EnableFallBack":
                self.falls_back = True
        return None


Part = OpDefPort | CoreConfig | AICore | Attribute | Collective | OtherCore
"""What the calls of an ``OpDef`` return, and ``OpAICoreConfig``."""
