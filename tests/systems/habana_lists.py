"""The operator lists that HabanaAI/Model-References shipped, by tag and model, in files like ops_bf16_*.txt."""

from __future__ import annotations

BF16 = {
    "0.13.0 ResNet": "addmm avg_pool2d bmm conv2d dot max_pool2d mm mv relu t",
    "1.2.0 torchvision": "addmm avg_pool2d bmm conv2d dot max_pool2d mm mv relu t linear",
    "0.13.0 bert": "add addmm bmm div dropout gelu iadd linear layer_norm matmul mm rsub softmax truediv",
    "1.8.0 MLPERF2.1 bert": "add addmm bmm dropout gelu iadd linear layer_norm matmul mm rsub softmax log_softmax "
    "cross_entropy",
    "1.13.0 MLPERF3.1 bert": "add addmm bmm dropout gelu index_add linear layer_norm matmul mm rsub softmax "
    "log_softmax cross_entropy_loss",
    "1.2.0 Unet": "addmm avg_pool2d bmm conv_transpose1d conv_transpose2d conv_transpose3d conv1d conv2d conv3d dot "
    "leaky_relu linear matmul max_pool2d mm mv relu t",
    "1.2.0 mnist": "addmm conv2d max_pool2d sum relu mm bmm mv linear t",
    "1.8.0 stable-diffusion": "_convolution.deprecated _convolution conv1d conv2d conv3d conv_tbc conv_transpose1d "
    "conv_transpose2d.input conv_transpose3d.input convolution prelu addmm addmv addr matmul einsum mm mv linear "
    "addbmm baddbmm bmm chain_matmul linalg_multi_dot layer_norm group_norm",
    "0.13.0 dlrm": "addmm bmm dot mm mv linear",
    "1.8.0 yolox": "max_pool2d_with_indices max_pool2d conv2d bmm mul mm mv div batch_norm sigmoid",
    "bridge test": "add mm",
}
FP32 = {
    "0.13.0 ResNet": "cross_entropy log_softmax nll_loss softmax topk",
    "1.13.0 resnet": "cross_entropy_loss log_softmax nll_loss softmax topk",
    "0.13.0 bert": "embedding nll_loss log_softmax",
    "1.2.0 ssd": "cross_entropy log_softmax nll_loss softmax topk index_put index_fill smooth_l1_loss sort nonzero",
    "1.2.0 mnist": "log_softmax nll_loss",
    "0.13.0 dlrm": "binary_cross_entropy mse_loss embedding_bag_sum_fwd embedding_bag_sum_bwd",
    "bridge test": "matmul",
}
