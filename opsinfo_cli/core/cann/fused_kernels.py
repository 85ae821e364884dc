"""Op types of kernels that are fused after dtypes are chosen: a list names what they were made of, and not them.

AutomaticBufferFusionOp: hicann/ge ffdcbc9f, automatic_buffer_fusion.cc:422, in OptimizeFusedGraph, after
OptimizeOriginalGraphJudgeInsert. The others: AutoFuse, hicann/ge ffdcbc9f, compiler/graph/optimize/autofuse; the set is
that of its runtime, kAutofuseNodeSet.
"""

from __future__ import annotations

FUSED_KERNELS = frozenset({"AutomaticBufferFusionOp", "AscBackend", "FusedAscBackend", "AscBackendNoKernelOp"})
"""Their names in the op types of a profile. msprof has what each was fused of in ``fusion_op_*.csv``."""
