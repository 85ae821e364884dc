"""Files of the engine that rules and topics cite: paths in hicann/ge at commit ffdcbc9f (``docs/sources.md``).

A citation is a name of this module, a colon and line numbers.
"""

from __future__ import annotations

_ENGINE = "hicann/ge, compiler/engines/nn_engine"

CHECK_SUPPORT = f"{_ENGINE}/optimizer/ops_kernel_store/sub_ops_store.cc"
CONFIGURATION = f"{_ENGINE}/utils/common/configuration.cc"
CUSTOMIZE_DTYPES = f"{_ENGINE}/utils/common/config_parser/op_cust_dtypes_config_parser.cc"
DTYPES = f"{_ENGINE}/utils/common/fe_type_utils.cc"
GRAPH_OPTIMIZER = f"{_ENGINE}/optimizer/graph_optimizer/fe_graph_optimizer.cc"
IMPLEMENTATION_MODES = f"{_ENGINE}/utils/common/config_parser/op_impl_mode_config_parser.cc"
JSON_READER = f"{_ENGINE}/opskernel/ops_store/ops_kernel_utils.cc"
KEEP_DTYPE = "hicann/ge, compiler/api/aclgrph/attr_options/keep_dtype_option.cc"
KERNEL_INFO = f"{_ENGINE}/opskernel/ops_store/op_kernel_info_constructor.cc"
MIXED_PRECISION = (
    f"{_ENGINE}/optimizer/graph_optimizer/op_judge/format_and_dtype/strategy/dtype_strategy/"
    "op_dtype_selection_strategy_allow_mix_precision_base.cc"
)
MIXLIST = f"{_ENGINE}/utils/common/config_parser/modify_mixlist_config_parser.cc"
OPTIONS = "hicann/ge, compiler/api/aclgrph/option_utils.cc"
PREBUILD = "hicann/ge, compiler/opcompiler/op_compile_adapter/source/compile/prebuild_manager.cc"
PRECISION_MODE = f"{_ENGINE}/utils/common/fe_context_utils.cc"
STORE = f"{_ENGINE}/opskernel/ops_store/sub_op_info_store.cc"
STORES = f"{_ENGINE}/opskernel/ops_store/ops_kernel_manager.cc"
WORDS = "hicann/ge, graph_metadef/base/utils/type_utils_inner.cc"

_OPTION_MANUAL = "hicann/ge, docs/zh/user_guides/atc_tools/CLI_options"

MANUAL = f"{_OPTION_MANUAL}/--modify_mixlist.md"
MODES_MANUAL = f"{_OPTION_MANUAL}/--precision_mode_v2.md"
GENERATOR = "hicann/ops-nn, scripts/util/parse_ini_to_json.py"
