"""The operators that can be run on torch, by family: one module each, imported when a graph has one of them.

The names stand here so that a model's support is known without torch; a test compares them with the modules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["FAMILIES", "WITHOUT_GRADIENT", "find", "known"]

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "activations": (
        "Celu", "Clip", "Dropout", "Elu", "Gelu", "HardSigmoid", "HardSwish", "Hardmax", "LeakyRelu", "LogSoftmax",
        "Mish", "PRelu", "Relu", "Selu", "Shrink", "Sigmoid", "Softmax", "Softplus", "Softsign", "Swish", "Tanh",
        "ThresholdedRelu",
    ),
    "arithmetic": (
        "Abs", "Acos", "Acosh", "Add", "And", "Asin", "Asinh", "Atan", "Atanh", "Cast", "CastLike", "Ceil", "Cos",
        "Cosh", "DequantizeLinear", "Div", "Equal", "Erf", "Exp", "Floor", "Greater", "GreaterOrEqual", "Identity",
        "IsInf", "IsNaN", "Less", "LessOrEqual", "Log", "Max", "Mean", "Min", "Mod", "Mul", "Neg", "Not", "Or", "Pow",
        "Reciprocal", "Round", "Sign", "Sin", "Sinh", "Sqrt", "Sub", "Sum", "Tan", "Where", "Xor",
    ),
    "indexing": (
        "Gather", "GatherElements", "GatherND", "NonZero", "OneHot", "ScatterElements", "ScatterND", "Slice", "TopK",
    ),
    "norms": (
        "BatchNormalization", "GroupNormalization", "InstanceNormalization", "LRN", "LayerNormalization",
        "LpNormalization", "RMSNormalization",
    ),
    "products": ("Attention", "Einsum", "Gemm", "MatMul", "RotaryEmbedding"),
    "recurrent": ("GRU", "LSTM", "RNN"),
    "reductions": (
        "ArgMax", "ArgMin", "CumSum", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
        "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare",
    ),
    "resizing": ("GridSample", "Resize", "Upsample"),
    "shaping": (
        "Concat", "ConstantOfShape", "DepthToSpace", "Expand", "Flatten", "Pad", "Range", "Reshape", "Shape", "Size",
        "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Trilu", "Unsqueeze",
    ),
    "windows": (
        "AveragePool", "Conv", "ConvTranspose", "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool", "LpPool",
        "MaxPool",
    ),
}  # fmt: skip

# Whole numbers, truth values, and steps: they are computed, but nothing can be differentiated through them.
WITHOUT_GRADIENT = frozenset(
    {
        *("And", "ArgMax", "ArgMin", "Ceil", "ConstantOfShape", "Equal", "Floor", "Greater", "GreaterOrEqual"),
        *("Hardmax", "IsInf", "IsNaN", "Less", "LessOrEqual", "NonZero", "Not", "OneHot", "Or", "Range", "Round"),
        *("Shape", "Sign", "Size", "Xor"),
    }
)
_FAMILY_OF = {kind: family for family, kinds in FAMILIES.items() for kind in kinds}


def known(kind: str) -> bool:
    """Whether an operator can be run on torch."""
    return kind in _FAMILY_OF


@cache
def find(kind: str) -> Callable[..., Any]:
    """Return the torch function of a known operator: it takes the node and then the node's inputs."""
    module = import_module(f"cutaway.frameworks.onnx.operators.{_FAMILY_OF[kind]}")
    operator: Callable[..., Any] = module.OPERATORS[kind]
    return operator
