"""Installs: operator packages (OPP), their SoCs, and their stores for one SoC in the engine's order.

Source: hicann/ge at ffdcbc9f
- compiler/engines/nn_engine/utils/common/configuration.cc
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias, get_args

from ...arguments import checked
from ...errors import Refused, UsageFault
from ...opening import folders_above
from ..text.members import Members, read_members
from ..text.source import Source, encoded, read_bytes
from .chips import folder_of, likeliest_chip, unknown_chip
from .library import Operators, Store
from .load_order import library_files
from .policy import BLANKS

Core: TypeAlias = Literal["ai", "vector", "dsa"]
CORES = get_args(Core)

BUILT_IN = {
    "ai": ("built-in/op_impl/ai_core/tbe/config/{soc}", "op_impl/built-in/ai_core/tbe/config/{soc}"),
    "vector": ("built-in/op_impl/vector_core/tbe/config", "op_impl/built-in/vector_core/tbe/config"),
    "dsa": ("built-in/op_impl/dsa_core/config/{soc}", "op_impl/built-in/dsa_core/config/{soc}"),
}
"""Directory of the built-in store: the current layout, then the one of CANN before 5.1."""

CUSTOM = {"ai": "op_impl/ai_core/tbe", "vector": "op_impl/vector_core/tbe"}
_INSTALLED = "`opsinfo socs` lists the chips that are installed"
LEGACY_CUSTOM = "op_impl/custom/ai_core/tbe/config/{soc}"


def opp_root(path: str) -> str | None:
    """Return the OPP root at or under a directory: the path itself, or ``opp`` in a toolkit; None if there is none."""
    for candidate in (path, os.path.join(path, "opp"), os.path.join(path, "latest", "opp")):
        if any(os.path.isdir(os.path.join(candidate, mark)) for mark in _ROOT_MARKS):
            return candidate
    return None


_ROOT_MARKS = ("built-in/op_impl", "op_impl/built-in", "op_impl/custom", "vendors")


def is_complete(path: str) -> bool:
    """Return whether there is more than custom packages in an OPP root at or under a directory."""
    root = opp_root(path)
    return root is not None and any(os.path.isdir(os.path.join(root, mark)) for mark in _ROOT_MARKS[:-1])


def root_above(path: str) -> str | None:
    """Return the OPP root that contains a file or directory; None if there is none."""
    for folder in folders_above(os.path.realpath(path)):
        if any(os.path.isdir(os.path.join(folder, mark)) for mark in _ROOT_MARKS):
            return folder
    return None


def matching(folder: str, pattern: str) -> list[str]:
    """Return paths below a folder that match a pattern; wildcards in the folder's own name are escaped."""
    from glob import escape, glob

    return sorted(glob(os.path.join(escape(folder), pattern), recursive=True))


def socs_of(root: str, core: str = "ai", soc: str | None = None) -> list[str]:
    """Return SoC folders of an OPP root that contain libraries.

    :param soc: look for this one only
    """
    from glob import escape

    folder = "*" if soc is None else escape(soc)
    patterns = [*BUILT_IN[core], f"vendors/*/{CUSTOM['ai']}/config/{{soc}}", LEGACY_CUSTOM]
    found = set()
    for pattern in patterns:
        if "{soc}" in pattern:
            for path in matching(root, pattern.format(soc=folder)):
                if os.path.isdir(path) and library_files(path):
                    found.add(os.path.basename(path))
    return sorted(found)


def version_at(path: str) -> str | None:
    """Return the CANN version of the install that contains a file; None if there is none."""
    root = root_above(path)
    return version_of(root) if root else None


def version_of(root: str) -> str | None:
    """Return the CANN version of an OPP root: ``version_dir`` of ``version.info``, else ``Version``."""
    above = os.path.dirname(os.path.realpath(root))
    paths = [
        os.path.join(root, "version.info"),
        *matching(above, "*-linux/ascend_toolkit_install.info"),
        os.path.join(above, "compiler", "version.info"),
    ]
    for path in paths:
        facts = _facts(path)
        version = facts.get("version_dir") or facts.get("version")
        if version:
            return version
    return None


def _facts(path: str) -> Mapping[str, str]:
    try:
        text = read_bytes(path).decode("utf-8", "replace")
    except Refused:
        return {}
    pairs = (re.fullmatch(r"\s*(\w+)\s*=\s*(.*?)\s*", line) for line in text[: 1 << 16].splitlines())
    return {match[1].lower(): match[2] for match in pairs if match}


def chips_at(root: str) -> Mapping[str, str]:
    """Return chip -> folder by the ini files of an install, which lie beside its OPP root; empty if it has none."""
    found = {}
    for base in (os.path.dirname(os.path.realpath(root)), root):
        for pattern in ("data/platform_config/*.ini", "*/data/platform_config/*.ini"):
            for facts in map(_facts, matching(base, pattern)):
                if facts.get("soc_version") and facts.get("short_soc_version"):
                    found[facts["soc_version"]] = facts["short_soc_version"].lower()
    return found


_OTHER_ENGINES = {
    "AI CPU": ("built-in/op_impl/aicpu/**/config/*.json", "op_impl/built-in/aicpu/**/config/*.json"),
    "DVPP": ("built-in/op_impl/dvpp/**/config/*.json",),
    "host CPU": ("built-in/op_impl/host_cpu/**/config/*.json",),
}


class Site(NamedTuple):
    """The place of a store, existing or not."""

    directory: str
    label: str
    core: str

    def store(self) -> Store:
        """Load it; its files may be links to other places in the operator package.

        :raises Refused: if the engine refuses it
        """
        return Store.read(self.directory, self.label, root_above(self.directory))


class Skipped(NamedTuple):
    """A custom path that the engine silently skips, with the reason."""

    path: str
    reason: str


NOT_NAMED = "load_priority in vendors/config.ini does not have it"
_MOST_LOOKED_UP = 20
"""Op types that are looked for in all other libraries of an install, which takes a tenth of a second each."""


def chips_of_package(path: str) -> list[str]:
    folders = matching(path, f"{CUSTOM['ai']}/config/*")
    return [os.path.basename(folder) for folder in folders if os.path.isdir(folder) and library_files(folder)]


def _defines(directory: str, name: str) -> bool:
    """Return whether a library of a config directory has an op type; a file without the word is not parsed."""
    for file in library_files(directory):
        try:
            data = read_bytes(os.path.join(directory, file), directory)
            members = read_members(Source(data, file)) if encoded(json.dumps(name)) in data else None
        except Refused:
            continue
        if isinstance(members, Members) and any(member.key == name for member in members.members or ()):
            return True
    return False


class LoadPriority(NamedTuple):
    """``vendors/config.ini`` (configuration.cc:812-850).

    :param bad_line: the line that prevents the start of the engine
    """

    path: str
    vendors: tuple[str, ...] = ()
    bad_line: int | None = None

    @classmethod
    def read(cls, root: str) -> LoadPriority:
        path = os.path.join(root, "vendors", "config.ini")
        if not os.path.lexists(path):
            return cls(path)
        lines = read_bytes(path).decode("utf-8", "replace").split("\n")
        for number, line in enumerate(lines, 1):
            line = line.strip(BLANKS)
            if "load_priority" in line and not line.startswith("#"):
                _, equals, value = line.partition("=")
                names = (name.strip(BLANKS) for name in value.split(","))
                return cls(path, tuple(name for name in names if name), None if equals else number)
        return cls(path)


class Install:
    """One OPP root for one SoC.

    :param root: the OPP root, as given
    :param soc: a SoC folder name; None for vector-core stores only, which have no SoC folder
    :param customs: custom operator paths of the environment or ``--custom``; the first wins
    """

    def __init__(self, root: str, soc: str | None, core: str = "ai", customs: list[str] | None = None) -> None:
        self.root = root
        self.soc = soc
        self.core = core
        # the engine takes those with an operator API before run packages
        api = os.path.join("op_api", "lib", "libcust_opapi.so")
        self.customs = sorted(customs or [], key=lambda path: not os.path.isfile(os.path.join(path, api)))
        self._looked_up = 0

    @classmethod
    @checked
    def open(
        cls,
        root: str | os.PathLike[str],
        soc: str | None = None,
        core: Core = "ai",
        customs: list[str] | None = None,
    ) -> Install:
        """
        :param soc: a folder or product name; None for the only one
        :raises UsageFault: if the SoC is not found, or not given and there are several
        """
        root = os.fspath(root)
        if opp_root(root) is None:
            hint = "its root has `built-in/op_impl` or `vendors`"
            raise UsageFault("not an operator package", name="wrong-kind", path=root, hint=hint)
        folders_of = "ai" if core == "vector" else core  # the vector core has no folders of its own
        if soc and soc in socs_of(root, folders_of, soc):  # not in all of them, because all of them may be opened
            return cls(root, soc, core, customs)
        socs = socs_of(root, folders_of)
        if soc is not None:
            own = chips_at(root)
            folder = folder_of(soc, socs, own)
            if not folder:
                raise unknown_chip(soc, socs, own, root)
            return cls(root, folder, core, customs)
        if len(socs) > 1:
            message = f"the install has {len(socs)} chips: {', '.join(socs)}"
            hint = f"name one, as in {root}@{likeliest_chip(socs)}"
            raise UsageFault(message, name="ambiguous-target", path=root, hint=hint)
        return cls(root, socs[0] if socs else None, core, customs)

    def __repr__(self) -> str:
        return f"<Install {self.root}: {self.soc}, CANN {self.version or 'of unknown version'}>"

    @cached_property
    def load_priority(self) -> LoadPriority:
        return LoadPriority.read(self.root)

    @cached_property
    def version(self) -> str | None:
        return version_of(self.root)

    def sites(self, core: str | None = None) -> list[Site]:
        """Return all stores of a core in the engine's order: environment, vendors, built-in."""
        core = core or self.core
        custom = [site for site in self._custom_sites(core) if isinstance(site, Site)]
        built_in = [Site(os.path.join(self.root, self._soc(path)), "built-in", core) for path in BUILT_IN[core]]
        present = [site for site in built_in if os.path.isdir(site.directory)] or built_in[:1]
        generated = (site for each in CUSTOM for site in self._custom_sites(each))
        if core == "ai" and not any(isinstance(site, Site) for site in generated):
            # its key in fe.ini is free only if no generated store of any core took it (configuration.cc:736-744)
            legacy = os.path.join(self.root, self._soc(LEGACY_CUSTOM))
            custom = [Site(legacy, "vendor:custom", core)] if os.path.isdir(legacy) else custom
        return [*custom, *present]

    @property
    def missing_built_in(self) -> str | None:
        """The directory of the AI Core's built-in store, if the install lacks it for this SoC.

        No engine starts without it (E20002), so a SoC that only a vendor has cannot be used.

        Source: configuration.cc:1049-1068
        """
        if self.soc is None:
            return None
        directories = [os.path.join(self.root, self._soc(path)) for path in BUILT_IN["ai"]]
        return None if any(map(os.path.isdir, directories)) else directories[0]

    def skipped(self, core: str | None = None) -> list[Skipped]:
        """Return custom paths without effect, with the reason (configuration.cc:687-724)."""
        found = [site for site in self._custom_sites(core or self.core) if isinstance(site, Skipped)]
        unnamed = (path for label, path in self.packages.items() if self.nothing_from(label) == NOT_NAMED)
        return [*found, *(Skipped(path, NOT_NAMED) for path in unnamed)]

    def stores(self, core: str | None = None) -> list[Store]:
        """:raises Refused: if the engine would not start, or refuses a store"""
        if self.load_priority.bad_line:
            raise Refused(
                "the load_priority line has no `=`, so the engine does not start",
                name="bad-load-priority",
                path=self.load_priority.path,
                line=self.load_priority.bad_line,
                hint="write `load_priority=<vendor>,<vendor>`",
            )
        if self.missing_built_in:
            message = f"no built-in store for {self.soc}; the engine does not start (E20002)"
            raise Refused(message, name="no-store", path=self.missing_built_in, hint=_INSTALLED)
        sites = self.sites(core)
        present = [site for site in sites if os.path.isdir(site.directory)]
        if not present:
            message = f"no {sites[-1].core} store for {self.soc or 'any chip'}"
            raise Refused(message, name="no-store", path=sites[-1].directory, hint=_INSTALLED)
        return list(map(Site.store, present))

    @cached_property
    def operators(self) -> Operators:
        """Its op types, through all its stores.

        :raises Refused: if the engine would not start, or refuses a store
        """
        return Operators(self.stores(), self.elsewhere)

    @cached_property
    def packages(self) -> dict[str, str]:
        """Custom packages: label -> path, also those that load_priority lacks."""
        vendors = os.path.join(self.root, "vendors")
        names = sorted(os.listdir(vendors)) if os.path.isdir(vendors) else []
        found = {f"env:{path}": path for path in self.customs}
        for name in names:
            if os.path.isdir(os.path.join(vendors, name)):
                found[f"vendor:{name}"] = os.path.join(vendors, name)
        return found

    def nothing_from(self, label: str) -> str | None:
        """Return why a package adds nothing for this chip and core; None if it adds operators."""
        path = self.packages[label]
        if label.startswith("vendor:") and label.removeprefix("vendor:") not in self.load_priority.vendors:
            return NOT_NAMED
        site = self._custom_site(path, label, self.core)
        if isinstance(site, Skipped):
            return site.reason
        if site and os.path.isdir(site.directory) and library_files(site.directory):
            return None
        chips = chips_of_package(path) if self.core == "ai" else []
        return f"it has operators for {', '.join(chips)} only" if chips else "it has no operators"

    def elsewhere(self, name: str) -> str | None:
        """Return text about what has an op type that this chip lacks: packages and libraries of other chips."""
        if self.core != "ai" or self._looked_up >= _MOST_LOOKED_UP:
            return None
        self._looked_up += 1
        found = []
        for label, path in self.packages.items():
            chips = [
                chip
                for chip in chips_of_package(path)
                if _defines(os.path.join(path, CUSTOM["ai"], "config", chip), name)
            ]
            if self.soc in chips:
                found.append(f"`{os.path.basename(path)}` has it, but {self.nothing_from(label)}")
            elif chips:
                found.append(f"`{os.path.basename(path)}` has it for {', '.join(chips)} only")
        folders = [folder for pattern in BUILT_IN["ai"] for folder in matching(self.root, pattern.format(soc="*"))]
        if others := sorted({os.path.basename(folder) for folder in folders if _defines(folder, name)}):
            found.append(f"it is an operator of {', '.join(others)}")
        return "; ".join(found) or None

    def other_counts(self) -> dict[str, int]:
        """Return the number of op types in the stores of the other cores, by core."""
        counts = {}
        for core in CORES:
            directories = self._present(core)
            if core != self.core and any(map(library_files, directories)):
                counts[core] = len(Operators(self.stores(core)).names)
        return counts

    @cached_property
    def other_engines(self) -> dict[str, str]:
        """Return op types of other engines of this install: name -> engine."""
        engines = {}
        for engine, patterns in _OTHER_ENGINES.items():
            for pattern in patterns:
                for path in matching(self.root, pattern):
                    outcome = read_members(Source.read(path, self.root))
                    if isinstance(outcome, Members):
                        engines.update({member.key: engine for member in outcome.members or ()})
        for core, engine in (("vector", "vector core"), ("dsa", "DSA"), ("ai", "AI Core")):
            if core != self.core and self._present(core):
                engines.update(dict.fromkeys(Operators(self.stores(core)).names, engine))
        return engines

    def _present(self, core: str) -> list[str]:
        return [site.directory for site in self.sites(core) if os.path.isdir(site.directory)]

    def _soc(self, path: str) -> str:
        return path.format(soc=self.soc or "")

    def _custom_sites(self, core: str) -> Iterator[Site | Skipped | None]:
        if core not in CUSTOM:
            return
        for path in self.customs:
            yield self._custom_site(path, f"env:{path}", core)
        for vendor in self.load_priority.vendors:
            yield self._custom_site(os.path.join(self.root, "vendors", vendor), f"vendor:{vendor}", core)

    def _custom_site(self, path: str, label: str, core: str) -> Site | Skipped | None:
        base = os.path.join(path, CUSTOM[core])
        name = os.path.basename(path.rstrip("/"))
        if label.startswith("env:") and not path.startswith("/"):
            return Skipped(path, "the path is not absolute")
        if not os.path.isdir(path):
            return Skipped(path, "no such directory")
        for folder in ("config", f"{name}_impl"):
            if not os.path.isdir(os.path.join(base, folder)):
                reason = f"`{CUSTOM[core]}/{folder}` is missing"
                return Skipped(path, reason) if core == "ai" else None
        config = os.path.join(base, "config")
        return Site(os.path.join(config, self.soc or "") if core == "ai" else config, label, core)


FOR_ALL_USERS = "/usr/local/Ascend"
"""Where CANN's installer puts it if root runs it; a user's own is in ``~/Ascend``."""


class Root(NamedTuple):
    """An OPP root and how it was found: a variable's name, or ``usual folder``."""

    path: str
    by: str


def environment_root(environ: Mapping[str, str]) -> Root | None:
    """Return the root that the engine would take from its environment; None if it is not set.

    :raises Refused: if it is no operator package: the engine finds no built-in store and does not start (E20002)
    """
    path, home = (environ.get(name, "").strip() for name in ("ASCEND_OPP_PATH", "ASCEND_HOME_PATH"))
    if not path and not home:
        return None
    root = Root(path, "ASCEND_OPP_PATH") if path else Root(os.path.join(home, "opp"), "ASCEND_HOME_PATH")
    below = opp_root(root.path)
    if below == root.path:
        return root
    place, cost = (root.by, "fails with E20002") if path else (f"{root.by}/opp", "does not start")
    what = "no operator package, which has `built-in/op_impl`" if os.path.isdir(root.path) else "not a directory"
    hint = f"this is a toolkit; set {root.by} to {below}" if below else None
    raise Refused(f"{place} is {what}; the engine {cost}", name="no-install", path=root.path, hint=hint)


def usual_roots(environ: Mapping[str, str]) -> list[Root]:
    """Return OPP roots in the usual folders, one for each real path."""
    bases = [FOR_ALL_USERS, os.path.join(environ.get("HOME", "/"), "Ascend")]
    tails = [
        f"{package}{latest}" for package in ("ascend-toolkit", "nnae", "nnrt", "cann") for latest in ("/latest", "")
    ]
    found: dict[str, Root] = {}
    for base in bases:
        paths = [os.path.join(base, tail, "opp") for tail in tails] + [os.path.join(base, "opp")]
        paths += matching(base, "cann-*/opp")
        for path in paths:
            if os.path.isdir(path):
                found.setdefault(os.path.realpath(path), Root(path, "usual folder"))
    return list(found.values())


def select_root(environ: Mapping[str, str], asked: str) -> Root:
    """Return the root of the environment, else the only one in the usual folders.

    :param asked: the beginning of an error message: why a root is required
    :raises UsageFault: if there is no root, or more than one real path
    """
    root = environment_root(environ)
    if root is not None:
        return root
    roots = usual_roots(environ)
    if not roots:
        message = f"{asked}, and no CANN was found"
        hint = "set ASCEND_OPP_PATH, or give the path of a library, a snapshot, a store or an operator package"
        raise UsageFault(message, name="no-install", hint=hint)
    if len(roots) > 1:
        listed = "; ".join(f"{each.path} ({version_of(each.path) or 'version unknown'})" for each in roots)
        message = f"several CANN installs: {listed}"
        hint = "set ASCEND_OPP_PATH, or give the path of one"
        raise UsageFault(message, name="ambiguous-target", hint=hint)
    return roots[0]


def environment_customs(environ: Mapping[str, str]) -> list[str]:
    """Return custom operator paths, trimmed as in the engine; used only with a root from the environment."""
    paths = (path.strip(BLANKS) for path in environ.get("ASCEND_CUSTOM_OPP_PATH", "").split(":"))
    return [path for path in paths if path]
