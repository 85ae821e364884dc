"""Readers of model files: one function, :func:`read_graph`; one module for each format.

``om`` compiled models, ``om2`` those in the zip form, ``ge_text`` and ``ge_onnx`` dumps of the graph engine,
``ge_json`` ATC JSON, ``onnx_graph`` ONNX, ``tensorflow`` TensorFlow.
"""

from __future__ import annotations

from .opening import read_graph as read_graph
