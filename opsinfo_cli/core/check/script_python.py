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
from .script_text import CONVERTER, NAMES, string_settings
from .settings import COMPILERS, OPTIONS, Setting, Settings

_CONVERSIONS = frozenset({"as_bytes", "as_str", "as_text", "as_str_any", "encode", "str", "bytes", "Path"})
_TELLS = frozenset({"print", "debug", "info", "warning", "warn", "error", "exception", "critical", "log"})
"""Calls whose strings are for people."""
_HELP = frozenset({"help", "description", "epilog", "usage"})
_QUOTES = re.compile(r"[a-zA-Z]{0,2}(\"\"\"|'''|\"|')")
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

    def settings(self, tree: ast.Module) -> Iterator[Settings]:
        self._defaults, self._names = _defaults(tree), _names(tree)
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
                is_engine = is_engine or option == "modify_mixlist" or name.startswith("ge.")
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
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        texts = (part.value for part in parts if isinstance(part, ast.Constant))
        if any(isinstance(text, str) and (NAMES.search(text) or CONVERTER.search(text)) for text in texts):
            start, end = self._span(node)
            quote = _QUOTES.match(self._text, start, end)
            width = len(quote[1]) if quote else 0
            yield from string_settings(self._text, quote.end() if quote else start, end - width)

    def _setting(self, option: str, node: ast.expr) -> Setting:
        node, is_default = self._known(node)
        value, literal = _literal(node), _constant(node)
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
        ``args.mixlist``, ``FLAGS.mixlist``, a name that is assigned once.
        """
        inner = _converted(node)
        if isinstance(inner, ast.Name):
            return self._names.get(inner.id, node), False
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
        if not isinstance(node, ast.Call):
            continue
        words = [word.value for word in node.args if isinstance(word, ast.Constant) and isinstance(word.value, str)]
        given = {word.arg: word.value for word in node.keywords}
        called = _last_name(node.func) or ""
        if called in ("add_argument", "option") and words:
            dest = _literal(given["dest"]) if "dest" in given else None
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


def _names(tree: ast.Module) -> dict[str, ast.expr]:
    """Return the texts of the names that are assigned once, and not in another way."""
    stored = Counter(
        each.id for each in ast.walk(tree) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
    )
    stored.update(each.arg for each in ast.walk(tree) if isinstance(each, ast.arg))
    return {
        node.targets[0].id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and stored[node.targets[0].id] == 1
        and _literal(node.value)
    }


def _last_name(node: ast.expr) -> str | None:
    """Return ``x`` for ``x`` and for ``module.x``."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None
