"""The formats of logs that are read, one module each and nothing else; a new module is found by itself."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from ..log_format import LogFormat


def _formats() -> list[type[LogFormat]]:
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    formats = [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, LogFormat) and value.__module__ == module.__name__
    ]
    return sorted(formats, key=lambda kind: (kind.strength, kind.name))


FORMATS = _formats()
"""The best evidence first."""
