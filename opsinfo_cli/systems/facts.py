"""Facts stored as JSON in ``data``: built-in lists and rules, each with its source and version."""

from __future__ import annotations

from functools import partial

from ..core.package_data import package_data

facts = partial(package_data, __package__)
