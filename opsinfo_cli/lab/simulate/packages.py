"""Packages that only simulations need; they are imported on use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ...errors import MissingPackage, installing

if TYPE_CHECKING:
    from typing import Any


def load_package(name: str) -> Any:
    """Return the package ``numpy``, ``onnx``, ``onnxruntime``, or ``ml_dtypes``, on which ``onnx`` depends.

    :raises MissingPackage: if it is not installed
    """
    try:
        return import_module(name)
    except ImportError:
        raise MissingPackage(
            f"a simulation requires the packages onnx, onnxruntime and numpy; not installed: {name}", hint=installing()
        ) from None
