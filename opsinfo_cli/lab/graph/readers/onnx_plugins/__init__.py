"""The plugins of CANN that build several nodes, or refuse some, of an ONNX operator: a function each, by family.

Source: the plugins ``*_onnx_plugin.cpp`` of hicann/ops-nn e5c3fa93, ops-math c4193324 and ops-cv 6ae87653
(``ParseOpToGraphFn``). Their keys and the op types of all operators are in ``core/cann/data/onnx_opsets.json``. Each
module has its functions in ``PLUGINS``, by the operator, whatever its domain.
"""
