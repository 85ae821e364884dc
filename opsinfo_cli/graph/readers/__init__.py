"""Readers of model files: one function, :func:`read_graph`; a folder for each family of formats.

``ge`` compiled models, dumps of the graph engine and ATC JSON; ``onnx``; ``tensorflow``.
"""

from __future__ import annotations

from .opening import read_graph as read_graph
