"""The compiler's options in Python, as literals: arguments, dictionaries, attributes, and command lines in strings.

Nothing is computed: an option whose value is no literal is known to be set, and its value is unknown.
"""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from ..text.source import Source
from .settings import COMPILERS, OPTIONS, Setting, Settings
from .settings_in_text import CONVERTER, NAMES, string_settings

_CONVERSIONS = frozenset({"as_bytes", "as_str", "as_text", "as_str_any", "encode", "str", "bytes", "Path"})
_TELLS = frozenset({"print", "debug", "info", "warning", "warn", "error", "exception", "critical", "log"})
"""Calls whose strings are for people."""
_HELP = frozenset({"help", "description", "epilog", "usage"})
_QUOTES = re.compile(r"[a-zA-Z]{0,2}(\"\"\"|'''|\"|')")
_LONGEST = 4096
"""The most characters of a text that is computed: the longest path of the system."""
_CALLED_FOR_OPTION = re.compile(r"(?:ge\.(?:exec\.)?)?([A-Za-z_0-9]+)")


class _Assigned(NamedTuple):
    """An option that is assigned.

    :param holder: the text of the object that it is an option of
    :param block: the list of statements that the assignment is in
    """

    holder: str
    block: int
    setting: Setting


def python_settings(source: Source) -> list[Settings] | None:
    """Return what each call, dictionary, object and command line sets; None if it is not valid Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in strings
            tree = ast.parse(source.text)
        return list(_Script(source).settings(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class _Script:
    def __init__(self, source: Source) -> None:
        self._text = source.text
        self._starts = [0]
        for line in re.finditer(r"\r\n|\r|\n", source.text):  # the ends of lines for the parser
            self._starts.append(line.end())
        self._bytes: dict[int, list[int] | None] = {}
        self._defaults: dict[str, ast.expr] = {}
        self._names: dict[str, ast.expr] = {}
        self._assigned_names: dict[str, ast.expr] = {}
        self._parameters: dict[str, ast.expr | None] = {}
        self._texts: dict[ast.expr, tuple[str | None, bool]] = {}

    def settings(self, tree: ast.Module) -> Iterator[Settings]:
        self._defaults, self._assigned_names, self._parameters = _defaults(tree), _names(tree), _parameters(tree)
        self._names = {name: value for name, value in self._assigned_names.items() if _literal(value)}
        assigned: list[_Assigned] = []
        waiting: list[tuple[ast.AST, int]] = [(tree, 0)]
        while waiting:  # not recursive: a hostile script is as deep as the parser allows
            node, block = waiting.pop()
            if isinstance(node, ast.Call):
                yield from self._call(node)
            elif isinstance(node, ast.Dict):
                yield self._dictionary(node)
            elif isinstance(node, ast.List | ast.Tuple):
                yield self._words(node)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                assigned.extend(self._assigned(node, block))
            elif isinstance(node, ast.Constant | ast.JoinedStr):
                yield from self._string(node)
                continue
            waiting.extend(reversed(list(_children(node, block))))
        yield from _by_holder(assigned)

    def _call(self, node: ast.Call) -> Iterator[Settings]:
        """Yield the keyword arguments of a call: NPURunConfig of the TensorFlow adapter, and functions like it."""
        given = [
            self._setting(OPTIONS[word.arg], word.value) for word in node.keywords if word.arg in OPTIONS and word.value
        ]
        yield Settings(given, is_engine=_last_name(node.func) == "NPURunConfig")

    def _dictionary(self, node: ast.Dict) -> Settings:
        """Return the options that are keys; modes are the engine's beside a mixlist, or with its prefix."""
        given, is_engine = [], False
        for key, value in zip(node.keys, node.values, strict=True):
            name = key.value if isinstance(key, ast.Constant) else None
            if isinstance(name, str) and (option := _option(name)):
                given.append(self._setting(option, value))
                is_engine = is_engine or option == "modify_mixlist" or name.startswith(("ge.", "ACL_"))
        return Settings(given, is_engine)

    def _assigned(self, node: ast.Assign | ast.AnnAssign, block: int) -> Iterator[_Assigned]:
        """Yield ``config.modify_mixlist = ...`` and ``custom_op.parameter_map["modify_mixlist"].s = ...``."""
        if node.value is None:
            return
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            place = target
            if isinstance(place, ast.Attribute) and place.attr == "s" and isinstance(place.value, ast.Subscript):
                place = place.value
            name: object = None
            if isinstance(place, ast.Attribute):
                name = place.attr
            elif isinstance(place, ast.Subscript) and isinstance(place.slice, ast.Constant):
                name = place.slice.value
            option = _option(name) if isinstance(name, str) else None
            if option and isinstance(place, ast.Attribute | ast.Subscript):
                holder = self._text[slice(*self._span(place.value))]
                yield _Assigned(holder, block, self._setting(option, node.value))

    def _words(self, node: ast.List | ast.Tuple) -> Settings:
        """Return the options of a command as a list of words."""
        words = [each.value if isinstance(each, ast.Constant) else None for each in node.elts]
        given = []
        for number, word in enumerate(words[:-1]):
            option = _option(word.lstrip("-")) if isinstance(word, str) and word.startswith("-") else None
            if option:
                given.append(self._setting(option, node.elts[number + 1]))
        is_compiler = bool(words) and str(words[0]).rpartition("/")[2] in COMPILERS
        for each in node.elts if is_compiler else ():
            if isinstance(each, ast.Constant | ast.JoinedStr):
                given.extend(option for settings in self._string(each) for option in settings.options)
        return Settings(sorted(given, key=lambda each: each.span), is_compiler)

    def _string(self, node: ast.Constant | ast.JoinedStr) -> Iterator[Settings]:
        """Yield the options of a command line in a string."""
        parts = node.values if isinstance(node, ast.JoinedStr) else None
        texts = (part.value for part in parts or [node] if isinstance(part, ast.Constant))
        if any(isinstance(text, str) and (NAMES.search(text) or CONVERTER.search(text)) for text in texts):
            start, end = self._span(node)
            quote = _QUOTES.match(self._text, start, end)
            width = len(quote[1]) if quote else 0
            for settings in string_settings(self._text, quote.end() if quote else start, end - width):
                filled = [self._filled(each) for each in settings.options] if parts is not None else settings.options
                yield settings._replace(options=filled)

    def _filled(self, setting: Setting) -> Setting:
        """Return an option of an f-string with the texts of the names in its value, if all are known."""
        if setting.value is not None or "{" not in setting.text:
            return setting
        try:
            node = ast.parse(f"f{setting.text!r}", mode="eval").body
        except SyntaxError:
            return setting
        value, is_default = self._computed(node)
        return setting._replace(value=value, is_default=setting.is_default or is_default)

    def _computed(self, node: ast.expr, depth: int = 0) -> tuple[str | None, bool]:
        """Return the text that an expression of literals and known names gives, and whether it is a default."""
        if node not in self._texts:
            self._texts[node] = None, False  # while it is computed: a value that has itself has no text
            self._texts[node] = self._compute(node, depth)
        return self._texts[node]

    def _compute(self, node: ast.expr, depth: int) -> tuple[str | None, bool]:
        node, is_default = self._known(node)
        inner = _converted(node)
        if isinstance(inner, ast.Name) and inner.id in self._assigned_names:
            inner = self._assigned_names[inner.id]
        match inner:
            case _ if depth > 20:
                return None, False
            case ast.JoinedStr():
                parts = [each.value if isinstance(each, ast.FormattedValue) else each for each in inner.values]
                between = ""
            case ast.BinOp(op=ast.Add()):
                parts, between = [inner.left, inner.right], ""
            case ast.BinOp(op=ast.Div()):
                parts, between = [inner.left, inner.right], "/"
            case ast.Call(func=ast.Attribute(attr="join", value=ast.Attribute(attr="path")), args=[_, *_]):
                parts, between = inner.args, "/"
            case ast.Call(args=[_, default]) if ast.unparse(inner.func) in ("os.environ.get", "os.getenv", "getenv"):
                return self._computed(default, depth + 1)[0], True
            case _:
                return _literal(inner), is_default
        texts = [self._computed(each, depth + 1) for each in parts]
        if any(text is None for text, _ in texts) or sum(len(text or "") for text, _ in texts) > _LONGEST:
            return None, False
        return between.join(str(text) for text, _ in texts), any(default for _, default in texts)

    def _setting(self, option: str, node: ast.expr) -> Setting:
        computed = self._computed(node)
        node, is_default = self._known(node)
        value, literal = _literal(node), _constant(node)
        if literal is None:
            value, is_default = computed
        if literal is not None and literal.value is None:
            value = ""  # as if it were not given
        start, end = self._span(literal or node)
        written = self._text[start:end]
        if literal is not None and value is not None and value in written:
            start += written.index(value)
            end = start + len(value)
        return Setting(option, value, value if value is not None else written, (start, end), is_default)

    def _known(self, node: ast.expr) -> tuple[ast.expr, bool]:
        """Return the literal that an expression stands for, as far as the script shows it, and whether it is a default:
        ``args.mixlist``, ``FLAGS.mixlist``, a name that is assigned once, a parameter.
        """
        inner = _converted(node)
        if isinstance(inner, ast.Name) and inner.id in self._names:
            return self._names[inner.id], False
        if isinstance(inner, ast.Name) and inner.id in self._parameters:
            default = self._parameters[inner.id] or self._defaults.get(inner.id)
            return (node, False) if default is None else (default, True)
        if isinstance(inner, ast.Attribute) and inner.attr in self._defaults:
            return self._defaults[inner.attr], True
        return node, False

    def _span(self, node: ast.expr) -> tuple[int, int]:
        return self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno or 1, node.end_col_offset or 0)

    def _offset(self, line: int, column: int) -> int:
        """:param column: in bytes of UTF-8"""
        start = self._starts[line - 1]
        if line not in self._bytes:
            text = self._text[start : self._starts[line] if line < len(self._starts) else None]
            ends = None if text.isascii() else [0, *accumulate(len(each.encode()) for each in text)]
            self._bytes[line] = ends
        ends = self._bytes[line]
        return start + (column if ends is None else bisect_left(ends, column))


def _children(node: ast.AST, block: int) -> Iterator[tuple[ast.AST, int]]:
    """Yield the parts of a node with their block; strings for people are left out, docstrings too."""
    for name, field in ast.iter_fields(node):
        if isinstance(node, ast.Call) and name in ("args", "keywords") and _last_name(node.func) in _TELLS:
            continue
        if isinstance(field, list):
            inner = id(field) if field and isinstance(field[0], ast.stmt) else block
            yield from ((each, inner) for each in field if isinstance(each, ast.AST))
        elif isinstance(field, ast.AST):
            is_text = isinstance(node, ast.Expr) and isinstance(field, ast.Constant)
            if not is_text and not (isinstance(node, ast.keyword) and node.arg in _HELP):
                yield field, block


def _by_holder(assigned: list[_Assigned]) -> Iterator[Settings]:
    """Yield what is assigned to each object; its mode is known only if one block assigns all of it."""
    holders: dict[str, list[_Assigned]] = {}
    for each in assigned:
        holders.setdefault(each.holder, []).append(each)
    for holder, group in holders.items():
        options = sorted((each.setting for each in group), key=lambda each: each.span)
        is_known = "parameter_map" in holder or "global_options" in holder
        is_engine = is_known or any(each.option == "modify_mixlist" for each in options)
        yield Settings(options, is_engine and len({each.block for each in group}) == 1)


def _option(name: str) -> str | None:
    match = _CALLED_FOR_OPTION.fullmatch(name)
    return OPTIONS.get(match[1]) if match else None


def _literal(node: ast.expr) -> str | None:
    """Return the text of a string, of bytes, or of one of both that is only converted; None if it is computed."""
    constant = _constant(node)
    if constant is None:
        return None
    value = constant.value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else None


def _constant(node: ast.expr) -> ast.Constant | None:
    """Return the literal that an expression is, or converts."""
    inner = _converted(node)
    return inner if isinstance(inner, ast.Constant) else None


def _converted(node: ast.expr) -> ast.expr:
    """Return what an expression converts: ``x`` of ``tf.compat.as_bytes(x)`` and ``x.encode()``."""
    while isinstance(node, ast.Call) and _last_name(node.func) in _CONVERSIONS:
        if node.args:
            node = node.args[0]
        elif isinstance(node.func, ast.Attribute):
            node = node.func.value
        else:
            break
    return node


def _defaults(tree: ast.Module) -> dict[str, ast.expr]:
    """Return the texts that options of the script have by default, by their names: of argparse and click, and of the
    flags of absl and TensorFlow. A name with two defaults has none.
    """
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):  # a field of a dataclass
            fields = [
                each for each in node.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
            ]
            for field in fields:
                if default := _default_of(field.value):
                    found.setdefault(field.target.id, []).append(default)  # type: ignore[union-attr]
        if not isinstance(node, ast.Call):
            continue
        words = [word.value for word in node.args if isinstance(word, ast.Constant) and isinstance(word.value, str)]
        given = {word.arg: word.value for word in node.keywords}
        called = _last_name(node.func) or ""
        if called == "set_defaults":
            for word in node.keywords:
                found.setdefault(word.arg or "", []).append(word.value)
            continue
        if called in ("add_argument", "option") and words:
            plain = [word for word in words if word.isidentifier()]  # of click
            dest = _literal(given["dest"]) if "dest" in given else plain[-1] if plain else None
            long = next((word for word in words if word.startswith("--")), words[0])
            name, default = dest or long.lstrip("-").replace("-", "_"), given.get("default")
        elif called.startswith("DEFINE_") and words:
            name, default = words[0], given.get("default", node.args[1] if len(node.args) > 1 else None)
        elif called.startswith("DEFINE_") and "name" in given and _literal(given["name"]):
            name, default = _literal(given["name"]) or "", given.get("default")
        else:
            continue
        if default is not None:
            found.setdefault(name, []).append(default)
    return {name: values[0] for name, values in found.items() if len(values) == 1 and _literal(values[0])}


def _default_of(node: ast.expr | None) -> ast.expr | None:
    """Return the text that a parameter or field has by default: ``"x"``, ``field(default="x")``, ``Option("x")``."""
    if isinstance(node, ast.Call) and _last_name(node.func) in ("field", "Field", "Option", "Argument"):
        given = [word.value for word in node.keywords if word.arg == "default"]
        node = given[0] if given else node.args[0] if node.args else None
    return node if node is not None and _literal(node) else None


def _parameters(tree: ast.Module) -> dict[str, ast.expr | None]:
    """Return the parameters of functions with the text that they have by default, if it is only one."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.arguments):
            named = [*node.posonlyargs, *node.args]
            defaults = dict(zip(named[len(named) - len(node.defaults) :], node.defaults, strict=True))
            defaults |= {each: value for each, value in zip(node.kwonlyargs, node.kw_defaults, strict=True) if value}
            for each in (*named, *node.kwonlyargs):
                default = _default_of(defaults.get(each))
                found.setdefault(each.arg, []).extend([default] if default is not None else [])
    return {name: values[0] if len(values) == 1 else None for name, values in found.items()}


def _names(tree: ast.Module) -> dict[str, ast.expr]:
    """Return the values of the names that are assigned once, and not in another way."""
    stored = Counter[str | None]()
    for each in ast.walk(tree):
        match each:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name) | ast.ExceptHandler(name=name):
                stored[name] += 1
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                stored[name] += 1
            case ast.MatchAs(name=name) | ast.MatchStar(name=name) | ast.MatchMapping(rest=name):
                stored[name] += 1
            case ast.alias(name=name, asname=other):
                stored[other or name.partition(".")[0]] += 1
    return {
        node.targets[0].id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and stored[node.targets[0].id] == 1
    }


def _last_name(node: ast.expr) -> str | None:
    """Return ``x`` for ``x`` and for ``module.x``."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None
