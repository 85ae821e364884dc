"""The formats of logs that are read, one module each and nothing else; a new module is found by itself."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from ..log_format import LogFormat

_MODULES = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
FORMATS: list[type[LogFormat]] = sorted(
    (
        value
        for module in _MODULES
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, LogFormat) and value.__module__ == module.__name__
    ),
    key=lambda kind: (kind.strength, kind.name),
)
"""The best evidence first."""
