"""mindspore_to_ascend.json: the op types that MindSpore's adapters give its Primitives, and its Cells through them.

Read from a checkout of MindSpore: the registrations of ``op_declare/*.cc``, the constants and Primitives that name
them, the operators of ``op_def/yaml``, whose constants a build generates; the builders that expand Primitives without
a registration; and the Cells of ``nn/layer``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from .data_text import dumped
from .upstream import Upstream

ADAPTERS = "mindspore/ccsrc/plugin/res_manager/ascend/op_adapter"
_CONSTANTS = (ADAPTERS, "mindspore/ops", "mindspore/core", "mindspore/ccsrc/include")
_BUILDERS = "mindspore/ccsrc/backend/common/expander/fallback"
_PYTHON = "mindspore/python/mindspore"
_CELLS = f"{_PYTHON}/nn/layer"
_LOSSES = f"{_PYTHON}/nn/loss"
_MINT = f"{_PYTHON}/mint/nn"
_FUNCTIONS = f"{_PYTHON}/ops/function"
_REGISTERED = re.compile(
    r"^REG_ADPT_DESC\(\s*\w+,\s*([^,]+?),\s*(?:(CUST_)?ADPT_DESC\(\s*(\w+)(?:,\s*(\w+))?\s*\)\s*\)|"
    r"std::make_shared<OpAdapterDesc>\(\s*std::make_shared<OpAdapter<(\w+)>>\()",
    re.MULTILINE,
)
_CONSTANT = re.compile(r'\b(k[A-Z]\w*)(?:\[\])?\s*=\s*"(\w+)"')
_PRIMITIVE = re.compile(r"GVAR_DEF\(PrimitivePtr,\s*(kPrim\w+),\s*std::make_shared<Primitive>\(\s*([^,)\s]+)")
_LITE = re.compile(r"#ifdef BUILD_LITE\n.*?#else\n(.*?)#endif", re.DOTALL)
_MOVING = frozenset(
    """
    Shape DType Reshape Cast ExpandDims Squeeze Transpose Concat Split Stack Unstack Slice StridedSlice Tile Fill FillV2
    Pad Rank TensorShape TupleToArray ScalarToTensor Depend Identity Zeros ZerosLike OnesLike BroadcastTo Print
    MakeTuple TupleGetItem ShapeCalc Tensor Parameter GetShape Load Expand
    """.split()  # noqa: SIM905
)
"""Primitives that only move, reshape or make data: a list of a Cell is not about them."""


def mindspore_to_ascend(upstream: Upstream) -> str:
    """Return the data file.

    :raises SystemExit: if a registration is not read, or the name of one is unknown
    """
    registered = dict(_registrations(upstream))
    cells = dict(_cells(upstream, registered))
    composed = {**dict(_expansions(upstream, registered)), **cells}
    content = {
        "version": f"MindSpore {upstream.read('version.txt').strip()}, {upstream.version()}",
        "source": f"mindspore-ai/mindspore: {ADAPTERS}/op_declare/*.cc, REG_ADPT_DESC; "
        f"{_BUILDERS}/*.cc; {_PYTHON}: nn/layer, nn/loss, mint/nn, "
        "ops/function",
        "names": {name: op_types for name, op_types in sorted(registered.items()) if op_types},
        "composed": {name: primitives for name, primitives in sorted(composed.items()) if primitives},
        "internal": sorted(registered.keys() - _classes(upstream)),
        "losses": sorted(_loss_cells(upstream)),
        "custom": sorted(name for name, made in {**cells, **registered}.items() if not made),
    }
    return dumped(content)


def _registrations(upstream: Upstream) -> Iterator[tuple[str, list[str]]]:
    """Yield the op types of each Primitive, for training and for inference; none for a kernel of MindSpore's own.

    Of equal names the later one of a file wins, as in the map that they fill.
    """
    constants, primitives, generated = (
        _constants(upstream),
        _primitives(upstream),
        set(_generated_functions(upstream).values()),
    )
    for path in upstream.paths(f"{ADAPTERS}/op_declare", ".cc"):
        text = _LITE.sub(r"\1", re.sub(r"//[^\n]*", "", upstream.read(path)))
        found = _REGISTERED.findall(text)
        if len(found) != len(re.findall(r"^REG_ADPT_DESC\(", text, re.MULTILINE)):
            raise SystemExit(f"{path}: a registration has another form")
        for key, custom, common, inference, with_attributes in found:
            word = re.sub(r"^.*::|->name\(\)$", "", re.sub(r"->name\(\)$", "", key))
            word = primitives.get(word, word).rpartition("::")[2]
            name = (
                word.strip('"') if word.startswith('"') else constants.get(word) or re.sub("^k(?:Prim|Name)", "", word)
            )
            if not word.startswith('"') and word not in constants and name not in generated:
                raise SystemExit(f"{path}: what `{key}` names is unknown")
            op_types = [] if custom else [each for each in (common, inference, with_attributes) if each]
            yield name, op_types


def _constants(upstream: Upstream) -> dict[str, str]:
    return dict(_CONSTANT.findall(upstream.lines('k[A-Z].* = *"', _CONSTANTS)))


def _primitives(upstream: Upstream) -> dict[str, str]:
    paths = [*upstream.paths("mindspore/ops/op_def", "_ops.h"), "mindspore/core/include/ir/core_ops_primitive.h"]
    return dict(chain.from_iterable(_PRIMITIVE.findall(upstream.read(path)) for path in paths))


def _generated_functions(upstream: Upstream) -> dict[str, str]:
    """Return the classes of the operators that are written in YAML, by function."""
    classes = {}
    for path in upstream.paths("mindspore/ops/op_def/yaml", "_op.yaml"):
        text = upstream.read(path)
        stated = re.search(r"^\s+class\s*:\s*\n\s+name\s*:\s*(\w+)", text, re.MULTILINE)
        words = re.findall(r"^(\w+):", text, re.MULTILINE)[:1]
        usual = "".join(word[:1].upper() + word[1:] for word in words[0].split("_"))
        classes[words[0]] = stated[1] if stated else usual
    return classes


def _expansions(upstream: Upstream, registered: Mapping[str, list[str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield the Primitives that replace one without a registration (backend/ge_backend/pass/expander_fallback.cc)."""
    for path in upstream.paths(_BUILDERS, "_ops.cc"):
        for text in re.split(r"^REG_FALLBACK_BUILDER\(", upstream.read(path), flags=re.MULTILINE)[1:]:
            name, body = text.split('"')[1], _in_parentheses(text[text.index("(BODYFUNC") :])
            calls = re.findall(r'\bib->(?:Emit\((?:"|prim::kPrim|ops::kName))?([A-Z]\w*)|\b([A-Z]\w*)\(ib\b', body)
            made = dict.fromkeys(each for pair in calls for each in pair if each in registered)
            if name not in registered:
                yield name, [each for each in made if each not in _MOVING and registered[each]]


def _classes(upstream: Upstream) -> set[str]:
    """Return the Primitives that Python has: written there, or generated from YAML."""
    texts = map(upstream.read, upstream.paths("mindspore/python/mindspore/ops/operations", ".py"))
    written = (re.findall(r"^class (\w+)\(", text, re.MULTILINE) for text in texts)
    return {*chain.from_iterable(written), *_generated_functions(upstream).values()}


def _in_parentheses(text: str) -> str:
    """Return a text from its first parenthesis to the one that closes it."""
    depth = 0
    for at, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if not depth:
            return text[: at + 1]
    return text


class _Cells:
    """The Cells of ``nn`` or ``mint.nn``: which Primitives their ``construct`` calls, itself or by what it calls.

    :param registered: the Primitives that have op types
    """

    def __init__(self, upstream: Upstream, folders: Sequence[str], registered: Mapping[str, list[str]]) -> None:
        self.registered = registered
        self.library = _Functions(upstream, registered)
        self.classes: dict[str, ast.ClassDef] = {}
        self.functions: dict[str, ast.FunctionDef] = {}
        self.imported: dict[str, str] = {}
        self.imported_functions: set[str] = set()
        self.public: set[str] = set()
        for path in (path for folder in folders for path in upstream.paths(folder, ".py")):
            tree = ast.parse(upstream.read(path))
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and "ops.operations" in (node.module or ""):
                    self.imported |= {each.asname or each.name: each.name for each in node.names}
                elif isinstance(node, ast.ImportFrom) and "ops" in (node.module or ""):
                    self.imported_functions |= {each.asname or each.name for each in node.names}
            for node in tree.body:
                if isinstance(node, ast.ClassDef):
                    self.classes[node.name] = node
                elif isinstance(node, ast.FunctionDef):
                    self.functions[node.name] = node
                elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                    self.public |= set(ast.literal_eval(node.value))

    def primitives(self, cell: str, with_functions: bool = False) -> list[str] | None:
        """Return the Primitives in the order of the calls; None if a function is called that is none of these files."""
        methods, attributes = self._members(cell)
        found: dict[str, None] = {}
        seen = {"construct"}
        bodies: list[ast.AST] = [methods["construct"]] if "construct" in methods else []
        while bodies:
            for node in sorted(ast.walk(bodies.pop()), key=lambda node: getattr(node, "lineno", 0)):
                name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
                owner = ast.unparse(node.value) if isinstance(node, ast.Attribute) else ""
                is_function = owner in ("F", "ops") or (not owner and name in self.imported_functions)
                if is_function and name[:1].islower() and name not in _ASKING:
                    called = self.library.primitives(name) if with_functions else None
                    if called is None and (owner or with_functions):
                        return None
                    found |= dict.fromkeys(called or ())
                if name in seen or owner not in ("", "self", "P", "ops", "F"):
                    continue
                seen.add(name)
                if owner == "self":
                    for made in attributes.get(name, ()):
                        inner = (
                            self.primitives(made.removeprefix("nn."), with_functions)
                            if made.startswith("nn.")
                            else [made]
                        )
                        if inner is None:
                            return None
                        found |= dict.fromkeys(inner)
                    bodies += [methods[name]] if name in methods else []
                elif owner or name in self.imported:
                    found |= dict.fromkeys([self.imported.get(name, name)] if name[:1].isupper() else [])
                elif name in self.functions:
                    bodies.append(self.functions[name])
        return [name for name in found if name not in _MOVING]

    def _members(self, cell: str) -> tuple[dict[str, ast.FunctionDef], dict[str, list[str]]]:
        """Return the methods of a class and its bases, and the Primitives and Cells that are assigned to attributes."""
        methods: dict[str, ast.FunctionDef] = {}
        attributes: dict[str, list[str]] = {}
        queue = [cell]
        while queue:
            node = self.classes.get(queue.pop(0))
            for each in node.body if node else ():
                if isinstance(each, ast.FunctionDef):
                    methods.setdefault(each.name, each)
            for each in ast.walk(node) if node else ():
                if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Attribute):
                    for call in ast.walk(each.value):
                        owner, _, name = (ast.unparse(call.func) if isinstance(call, ast.Call) else "").rpartition(".")
                        if owner in ("", "nn") and name in self.classes and name not in self.imported:
                            attributes.setdefault(each.targets[0].attr, []).append(f"nn.{name}")
                        elif self.imported.get(name, name)[:1].isupper():
                            attributes.setdefault(each.targets[0].attr, []).append(self.imported.get(name, name))
            queue += [ast.unparse(base) for base in node.bases] if node else []
        return methods, attributes


_ASKING = frozenset(
    """
    shape rank dtype cast reshape typeof print_ depend shape_ size range make_range tuple_reversed canonicalize_axis
    check_dim_valid rank_ reshape_ transpose_ dtype_ cast_ isconstant is_const
    """.split()  # noqa: SIM905
)
"""Functions of ``ops`` that read a shape or a dtype, or do what ``_MOVING`` does."""


def _cells(upstream: Upstream, registered: Mapping[str, list[str]]) -> Iterator[tuple[str, list[str]]]:
    nn, mint = _Cells(upstream, [_CELLS, _LOSSES], registered), _Cells(upstream, [_CELLS, _MINT], registered)
    public = {f"nn.{name}": (nn, name) for name in nn.public & nn.classes.keys()}
    public |= {f"nn.{name}": (nn, name) for name in _loss_cells(upstream)}
    imported = "\n".join(upstream.read(path) for path in upstream.paths(_MINT, "/__init__.py"))
    for node in ast.walk(ast.parse(imported)):
        for each in node.names if isinstance(node, ast.ImportFrom) and "nn" in (node.module or "") else ():
            public[f"mint.nn.{each.asname or each.name}"] = (mint, each.name)
    for node in ast.parse(imported).body:
        if isinstance(node, ast.ClassDef):
            public[f"mint.nn.{node.name}"] = (mint, node.name)
    for cell, (cells, name) in sorted(public.items()):
        primitives = cells.primitives(name) or cells.primitives(name, True) if name in cells.classes else []
        if primitives and all(each in registered for each in primitives):
            yield cell, [each for each in primitives if registered[each]]


def _loss_cells(upstream: Upstream) -> Iterator[str]:
    """Yield the public Cells of ``nn/loss``."""
    for path in upstream.paths(_LOSSES, "/__init__.py"):
        for node in ast.walk(ast.parse(upstream.read(path))):
            if isinstance(node, ast.ImportFrom) and "loss" in (node.module or ""):
                yield from (each.name for each in node.names if not each.name.startswith("_"))


class _Functions:
    """The functions of ``ops``: which Primitives they call."""

    def __init__(self, upstream: Upstream, registered: Mapping[str, list[str]]) -> None:
        self.registered = registered
        self.functions: dict[str, ast.FunctionDef] = {}
        self.instances: dict[str, str] = {}
        self.generated = _generated_functions(upstream)
        self.imported: set[str] = set()
        self._known: dict[str, list[str] | None] = {}
        for path in upstream.paths(_FUNCTIONS, ".py"):
            for node in ast.parse(upstream.read(path)).body:
                if isinstance(node, ast.FunctionDef):
                    self.functions.setdefault(node.name, node)
                elif isinstance(node, ast.ImportFrom) and "ops" in (node.module or ""):
                    self.imported |= {each.asname or each.name for each in node.names}
                elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                    name = ast.unparse(node.value.func).rpartition(".")[2]
                    if name[:1].isupper():
                        self.instances[ast.unparse(node.targets[0])] = name

    def primitives(self, name: str) -> list[str] | None:
        """Return the Primitives of a function in the order of the calls; None if it is none of these."""
        if name in self.instances:
            return [self.instances[name]] if self.instances[name] in self.registered else []
        if name not in self.functions:
            return [self.generated[name]] if self.generated.get(name) in self.registered else None
        if name not in self._known:
            self._known[name] = []  # while it is read
            found: dict[str, None] = {}
            body = self.functions[name]
            local = {
                each.id for each in ast.walk(body) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
            }
            for node in sorted(ast.walk(body), key=lambda node: getattr(node, "lineno", 0)):
                if isinstance(node, ast.Name | ast.Attribute):
                    text = ast.unparse(node).rpartition(".")[2]
                    found |= dict.fromkeys([text] if text[:1].isupper() and text in self.registered else [])
                    if (
                        len(text) > 1
                        and text[:1].isupper()
                        and text in self.imported - self.registered.keys() - _MOVING
                    ):
                        self._known[name] = None  # a Primitive whose op types nothing says
                        return None
                owner, _, called = (
                    ast.unparse(node.func).rpartition(".") if isinstance(node, ast.Call) else ("", "", "")
                )
                if not called[:1].islower() or called in (name, *_ASKING) or (not owner and called in local):
                    continue
                if owner in ("F", "ops") or (
                    not owner and called in {*self.functions, *self.instances, *self.imported}
                ):
                    inner = self.primitives(called)
                    if inner is None:
                        self._known[name] = None
                        return None
                    found |= dict.fromkeys(inner)
            self._known[name] = [each for each in found if each not in _MOVING]
        return self._known[name]
