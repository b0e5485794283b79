"""The table of operator calls that tests compare: at least one of every operator that can be run on torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import TensorProto, helper

from tests.frameworks.onnx.single import Case

RANDOM = np.random.default_rng(7)


def floats(*shape: int) -> npt.NDArray[np.float32]:
    return RANDOM.normal(size=shape).astype(np.float32)


def positive(*shape: int) -> npt.NDArray[np.float32]:
    return RANDOM.uniform(0.2, 0.9, size=shape).astype(np.float32)


def ints(*values: Any) -> npt.NDArray[np.int64]:
    return np.array(values, np.int64)


def bools(*shape: int) -> npt.NDArray[np.bool_]:
    return RANDOM.random(shape) > 0.5


def scalar(value: Any, dtype: str = "int64") -> npt.NDArray[Any]:
    return np.array(value, dtype)


X = floats(2, 3, 4)
IMAGE = floats(2, 4, 7, 8)

OF_ONE = [
    Case(kind, (X,))
    for kind in (
        *("Abs", "Atan", "Ceil", "Celu", "Cos", "Cosh", "Elu", "Erf", "Exp", "Floor", "HardSigmoid", "HardSwish"),
        *("Identity", "LeakyRelu", "Mish", "Neg", "Reciprocal", "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign"),
        *("Sin", "Sinh", "Softplus", "Softsign", "Tan", "Tanh", "ThresholdedRelu", "Asinh", "IsNaN", "Size"),
    )
]
OF_ONE += [Case(kind, (positive(3, 4),)) for kind in ("Acos", "Asin", "Atanh", "Log", "Sqrt")]
OF_ONE += [
    Case("Acosh", (positive(3, 4) + 1,)),
    Case("Celu", (X,), {"alpha": 0.6}),
    Case("Elu", (X,), {"alpha": 0.5}),
    Case("LeakyRelu", (X,), {"alpha": 0.3}),
    Case("HardSigmoid", (X,), {"alpha": 0.4, "beta": 0.3}),
    Case("Selu", (X,), {"alpha": 1.2, "gamma": 0.9}),
    Case("Shrink", (X,), {"bias": 0.2, "lambd": 0.3}),
    Case("ThresholdedRelu", (X,), {"alpha": 0.3}),
    Case("Gelu", (X,), opset=20),
    Case("Gelu", (X,), {"approximate": "tanh"}, opset=20),
    Case("Swish", (X,), {"alpha": 1.5}, opset=24, reference=True),
    Case("PRelu", (X, positive(4))),
    Case("PRelu", (IMAGE, positive(4, 1, 1))),
    Case("Clip", (X, scalar(-0.5, "float32"), scalar(0.4, "float32"))),
    Case("Clip", (X, None, scalar(0.4, "float32"))),
    Case("Clip", (X,), {"min": -0.3, "max": 0.2}, opset=6),
    Case("Dropout", (X,)),
    Case("Dropout", (X,), {"ratio": 0.5}, opset=7),
    *(Case(kind, (X,), {"axis": axis}) for kind in ("Softmax", "LogSoftmax", "Hardmax") for axis in (-1, 1)),
    *(Case(kind, (X,), {"axis": axis}, 11) for kind in ("Softmax", "LogSoftmax", "Hardmax") for axis in (1, 2)),
    Case("Softmax", (X,)),
    Case("Softmax", (X,), opset=11),
    Case("Cast", (X,), {"to": TensorProto.INT64}),
    Case("Cast", (X,), {"to": TensorProto.DOUBLE}),
    Case("Cast", (X,), {"to": TensorProto.BOOL}),
    Case("CastLike", (X, ints(1)), opset=19),
    Case("IsInf", (np.array([1, np.inf, -np.inf], np.float32),)),
    Case("IsInf", (np.array([1, np.inf, -np.inf], np.float32),), {"detect_negative": 0}),
    Case("Not", (bools(3, 4),)),
]

OF_TWO = [
    Case(kind, (X, floats(3, 1)))
    for kind in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Sum", "Mean", "Less", "Greater", "Equal")
]
OF_TWO += [Case(kind, (X, floats(4))) for kind in ("LessOrEqual", "GreaterOrEqual")]
OF_TWO += [Case(kind, (bools(3, 4), bools(4))) for kind in ("And", "Or", "Xor")]
OF_TWO += [
    Case("Max", (X, floats(3, 1), floats(4))),
    Case("Sum", (X,)),
    Case("Div", (ints(7, -7, 9), ints(2, 2, -4))),
    Case("Pow", (positive(2, 3), floats(3))),
    Case("Pow", (X, scalar(2.0, "float32"))),
    Case("Pow", (X, scalar(3))),
    Case("Pow", (ints(2, 3), ints(3, 2))),
    Case("Mod", (ints(7, -7, 9), ints(3, 3, -4))),
    Case("Mod", (ints(7, -7, 9), ints(3, 3, -4)), {"fmod": 1}),
    Case("Mod", (X, positive(4)), {"fmod": 1}),
    Case("Where", (bools(3, 4), X, floats(2, 1, 4))),
]

PRODUCTS = [
    Case("MatMul", (X, floats(4, 5))),
    Case("MatMul", (floats(2, 1, 3, 4), floats(3, 4, 2))),
    Case("MatMul", (floats(4), floats(4, 5))),
    Case("Gemm", (floats(3, 4), floats(4, 5), floats(5))),
    Case("Gemm", (floats(4, 3), floats(5, 4), floats(3, 5)), {"transA": 1, "transB": 1, "alpha": 0.5, "beta": 2.0}),
    Case("Gemm", (floats(3, 4), floats(4, 5))),
    Case("Einsum", (X, floats(4, 5)), {"equation": "bij,jk->bik"}),
    Case("Einsum", (floats(2, 3, 4), floats(2, 5, 4)), {"equation": "bid,bjd->bij"}),
]

REDUCTIONS = [
    Case(kind, (positive(2, 3, 4),), settings, opset)
    for kind in (
        *("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin"),
        *("ReduceProd", "ReduceSumSquare"),
    )
    for settings, opset in (({}, 18), ({"axes": [1, -1]}, 13), ({"axes": [1], "keepdims": 0}, 11))
]
REDUCTIONS += [
    *(Case(kind, (X, ints(-1)), {"keepdims": 0}) for kind in ("ReduceMean", "ReduceMax", "ReduceSum", "ReduceL2")),
    Case("ReduceSum", (X,), {"noop_with_empty_axes": 1}),
    Case("ReduceSum", (X, ints(0, 2))),
    Case("ReduceSum", (X,), {"axes": [1]}, 11),
    Case("ReduceMean", (ints(1, 2, 4),)),
    *(Case(kind, (X,), {"axis": 1}) for kind in ("ArgMax", "ArgMin")),
    *(
        Case(kind, (ints([1, 5, 5], [2, 2, 0]),), {"axis": -1, "keepdims": 0, "select_last_index": 1})
        for kind in ("ArgMax", "ArgMin")
    ),
    *(
        Case("CumSum", (X, scalar(1)), {"exclusive": exclusive, "reverse": reverse})
        for exclusive in (0, 1)
        for reverse in (0, 1)
    ),
]

SHAPING = [
    Case("Reshape", (X, ints(4, 6))),
    Case("Reshape", (X, ints(0, -1))),
    Case("Reshape", (floats(0, 3), ints(3, 0)), {"allowzero": 1}, 19),
    *(Case("Flatten", (X,), {"axis": axis}) for axis in (0, 1, 2, 3, -1)),
    Case("Transpose", (X,)),
    Case("Transpose", (X,), {"perm": [1, 0, 2]}),
    Case("Squeeze", (floats(1, 3, 1),)),
    Case("Squeeze", (floats(1, 3, 1), ints(-1))),
    Case("Squeeze", (floats(1, 3, 1),), {"axes": [0]}, 11),
    Case("Unsqueeze", (X, ints(0, -1))),
    Case("Unsqueeze", (X,), {"axes": [1]}, 11),
    Case("Expand", (floats(3, 1), ints(2, 1, 4))),
    Case("Expand", (floats(2, 3, 4), ints(3, 1))),
    Case("Tile", (floats(2, 3), ints(2, 3))),
    Case("Concat", (X, floats(2, 1, 4)), {"axis": 1}),
    Case("Concat", (X, floats(2, 3, 2)), {"axis": -1}),
    Case("Split", (X, ints(1, 3)), {"axis": 2}, outputs=2),
    Case("Split", (floats(2, 5),), {"axis": -1, "num_outputs": 3}, outputs=3),
    Case("Split", (X,), {"axis": 2, "split": [3, 1]}, 11, outputs=2),
    Case("Split", (X,), {"axis": 2}, 11, outputs=2),
    *(Case("DepthToSpace", (floats(2, 8, 2, 3),), {"blocksize": 2, "mode": mode}) for mode in ("DCR", "CRD")),
    Case("SpaceToDepth", (floats(2, 3, 4, 6),), {"blocksize": 2}),
    Case("Trilu", (floats(2, 4, 5),)),
    Case("Trilu", (floats(4, 5), scalar(-1)), {"upper": 0}),
    Case("Shape", (X,)),
    Case("Shape", (X,), {"start": 1, "end": -1}),
    Case("Shape", (X,), {"start": -2}),
    Case("ConstantOfShape", (ints(2, 3),)),
    Case("ConstantOfShape", (ints(2, 3),), {"value": helper.make_tensor("v", TensorProto.INT64, [1], [7])}),
    Case("Range", (scalar(1), scalar(9), scalar(3))),
    Case("Range", (scalar(5.0, "float32"), scalar(1.0, "float32"), scalar(-1.5, "float32"))),
    Case("DequantizeLinear", (np.array([[1, 5], [9, 250]], np.uint8), scalar(0.1, "float32"), scalar(3, "uint8"))),
    Case(
        "DequantizeLinear", (np.array([[1, 5], [9, 120]], np.int8), positive(2), np.array([3, 4], np.int8)), {"axis": 0}
    ),
    Case("DequantizeLinear", (np.array([[1, 5], [9, 120]], np.int8), scalar(0.5, "float32"))),
]

INDEXING = [
    Case("Gather", (X, ints(2, -1)), {"axis": 1}),
    Case("Gather", (X, scalar(1)), {"axis": -1}),
    Case("Gather", (X, ints([0, 1], [1, 0]))),
    Case("GatherElements", (X, RANDOM.integers(-3, 3, (2, 2, 4))), {"axis": 1}),
    Case("GatherND", (X, ints([0, 1], [1, -1]))),
    Case("GatherND", (X, ints([[1], [2]], [[0], [-1]])), {"batch_dims": 1}),
    Case("GatherND", (X, ints([0, 1, 2], [1, 2, 0]))),
    Case("ScatterElements", (floats(3, 4), ints([0, 2], [1, -1]), floats(2, 2)), {"axis": 1}),
    *(
        Case("ScatterElements", (floats(3, 4), ints([0, 2]), floats(1, 2)), {"axis": 0, "reduction": reduction})
        for reduction in ("add", "mul", "max", "min")
    ),
    Case("ScatterND", (X, ints([0, 1], [1, -1]), floats(2, 4))),
    Case("ScatterND", (floats(5), ints([1], [3]), floats(2)), {"reduction": "add"}),
    *(
        Case("ScatterND", (floats(5), ints([1], [3]), floats(2)), {"reduction": reduction})
        for reduction in ("mul", "max", "min")
    ),
    Case("NonZero", (np.array([[0, 1], [2, 0]], np.float32),)),
    Case("OneHot", (ints(0, 2, -1, 5), scalar(4), np.array([0.5, 2], np.float32))),
    Case("OneHot", (ints([0, 2], [1, 1]), scalar(3), np.array([0, 1], np.float32)), {"axis": 1}),
    Case("Slice", (X, ints(0, 1), ints(1, 3))),
    Case("Slice", (X, ints(-3), ints(2**62), ints(-1), ints(2))),
    Case("Slice", (X, ints(2**62), ints(-(2**62)), ints(1), ints(-1))),
    Case("Slice", (X, ints(3, 1), ints(0, 3), ints(2, 1), ints(-2, 1))),
    Case("Slice", (X,), {"starts": [1], "ends": [-1], "axes": [2]}, 9),
    Case("TopK", (X, ints(2)), {"axis": 1}, outputs=2),
    Case("TopK", (X, ints(2)), {"largest": 0}, outputs=2),
    Case("TopK", (X,), {"k": 3, "axis": 2}, 9, outputs=2),
]

CONVOLUTIONS = [
    Case("Conv", (floats(2, 3, 9), floats(4, 3, 3), floats(4)), {"pads": [1, 2], "strides": [2]}),
    Case("Conv", (IMAGE, floats(5, 4, 3, 2))),
    Case("Conv", (IMAGE, floats(8, 2, 3, 3), floats(8)), {"group": 2, "pads": [1, 1, 1, 1], "dilations": [2, 1]}),
    Case("Conv", (floats(1, 2, 5, 6, 7), floats(3, 2, 2, 3, 2)), {"pads": [0, 1, 1, 1, 1, 0]}),
    *(
        Case("Conv", (IMAGE, floats(5, 4, 3, 2)), {"auto_pad": pad, "strides": [2, 3]})
        for pad in ("SAME_UPPER", "SAME_LOWER", "VALID")
    ),
    Case("ConvTranspose", (floats(2, 3, 5), floats(3, 4, 3), floats(4)), {"strides": [2], "pads": [1, 0]}),
    Case("ConvTranspose", (IMAGE, floats(4, 3, 3, 2), floats(3)), {"strides": [2, 3], "output_padding": [1, 2]}),
    Case("ConvTranspose", (IMAGE, floats(4, 3, 3, 3)), {"group": 2, "dilations": [2, 1], "pads": [1, 1, 2, 0]}),
    *(
        Case("ConvTranspose", (IMAGE, floats(4, 3, 3, 3), floats(3)), {"auto_pad": pad, "strides": [2, 2]})
        for pad in ("SAME_UPPER", "SAME_LOWER", "VALID")
    ),
    Case("ConvTranspose", (IMAGE, floats(4, 3, 3, 3), floats(3)), {"output_shape": [14, 16], "strides": [2, 2]}),
]

POOLS = [
    Case("MaxPool", (floats(2, 3, 9),), {"kernel_shape": [3], "strides": [2], "pads": [1, 1]}),
    Case("MaxPool", (IMAGE,), {"kernel_shape": [3, 2], "dilations": [2, 1], "pads": [1, 0, 0, 1]}),
    Case("MaxPool", (IMAGE,), {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    Case("MaxPool", (IMAGE,), {"kernel_shape": [2, 2], "strides": [3, 3], "ceil_mode": 1, "pads": [1, 1, 1, 1]}, 22),
    Case("MaxPool", (floats(1, 2, 4, 5, 6),), {"kernel_shape": [2, 2, 2]}),
    *(
        Case(kind, (IMAGE,), {"kernel_shape": [3, 2], "strides": [2, 3], "auto_pad": pad})
        for kind in ("MaxPool", "AveragePool", "LpPool")
        for pad in ("SAME_UPPER", "SAME_LOWER", "VALID")
    ),
    Case("AveragePool", (IMAGE,), {"kernel_shape": [2, 3]}),
    *(
        Case("AveragePool", (IMAGE,), {"kernel_shape": [3, 3], "pads": [1, 0, 1, 2], "count_include_pad": counted})
        for counted in (0, 1)
    ),
    *(
        Case(
            "AveragePool",
            (IMAGE,),
            {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "ceil_mode": 1, "count_include_pad": one},
            22,
        )
        for one in (0, 1)
    ),
    Case("AveragePool", (IMAGE,), {"kernel_shape": [3, 2], "dilations": [2, 2]}, 19),
    Case("LpPool", (IMAGE,), {"kernel_shape": [3, 2], "p": 3, "pads": [1, 0, 1, 1]}),
    *(Case(kind, (IMAGE,)) for kind in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")),
    Case("GlobalAveragePool", (floats(2, 3, 5),)),
]

NORMS = [
    Case("BatchNormalization", (IMAGE, floats(4), floats(4), floats(4), positive(4)), {"epsilon": 1e-3}),
    Case("BatchNormalization", (floats(3, 4), floats(4), floats(4), floats(4), positive(4))),
    Case("InstanceNormalization", (IMAGE, floats(4), floats(4)), {"epsilon": 1e-3}),
    Case("GroupNormalization", (IMAGE, floats(2), floats(2)), {"num_groups": 2}, 18),
    Case("GroupNormalization", (IMAGE, floats(4), floats(4)), {"num_groups": 2}, 21),
    Case("LayerNormalization", (X, floats(4), floats(4))),
    Case("LayerNormalization", (X, floats(3, 4)), {"axis": 1, "epsilon": 1e-3}),
    Case("RMSNormalization", (X, floats(4)), {"epsilon": 1e-3}, 23),
    Case("LpNormalization", (X,), {"axis": 1}),
    Case("LpNormalization", (X,), {"p": 1}),
    *(Case("LRN", (IMAGE,), {"size": size, "alpha": 0.1, "beta": 0.6, "bias": 1.5}) for size in (3, 1, 5)),
]

PADS = [Case("Pad", (X, ints(0, 1, 2, 1, 0, 1)), {"mode": mode}) for mode in ("constant", "edge", "reflect")]
PADS += [
    Case("Pad", (X, ints(0, 1, 2, 1, 0, 1)), {"mode": "wrap"}, 19),
    Case("Pad", (X, ints(0, -1, 2, 1, 0, -1), scalar(1.5, "float32"))),
    Case("Pad", (X, ints(1, 2), scalar(0.5, "float32"), ints(-1))),
    Case("Pad", (X,), {"pads": [0, 1, 2, 1, 0, 1], "value": 0.25}, 10),
]

SCALES = np.array([1, 1, 2.0, 1.5], np.float32)
RESIZES = [
    Case("Resize", (IMAGE, None, SCALES), {"mode": mode, "coordinate_transformation_mode": rule})
    for mode in ("nearest", "linear", "cubic")
    for rule in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
]
RESIZES += [
    *(
        Case("Resize", (IMAGE, None, None, ints(2, 4, *size)), {"mode": mode})
        for mode in ("nearest", "linear", "cubic")
        for size in ((5, 12), (14, 16))
    ),
    *(
        Case("Resize", (IMAGE, None, SCALES), {"nearest_mode": one, "coordinate_transformation_mode": "asymmetric"})
        for one in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    ),
    Case("Resize", (IMAGE, None, SCALES), {"mode": "cubic", "cubic_coeff_a": -0.5, "exclude_outside": 1}),
    Case(
        "Resize",
        (IMAGE, None, SCALES),
        {"mode": "linear", "coordinate_transformation_mode": "half_pixel_symmetric"},
        19,
    ),
    Case(
        "Resize",
        (IMAGE, floats(0), SCALES),
        {"coordinate_transformation_mode": "tf_half_pixel_for_nn", "nearest_mode": "floor"},
        11,
    ),
    Case(
        "Resize",
        (IMAGE, None, None, ints(10, 10)),
        {"axes": [2, 3], "keep_aspect_ratio_policy": "not_larger", "mode": "linear"},
    ),
    Case("Resize", (IMAGE, SCALES), {"mode": "linear"}, 10),
    Case("Upsample", (IMAGE, SCALES), {"mode": "nearest"}, 9),
    Case("Upsample", (IMAGE, SCALES), {"mode": "linear"}, 9),
    Case("Upsample", (IMAGE,), {"mode": "nearest", "scales": [1.0, 1.0, 2.0, 2.0]}, 7),
    *(
        Case(
            "GridSample",
            (IMAGE, RANDOM.uniform(-1.2, 1.2, (2, 5, 6, 2)).astype(np.float32)),
            {"mode": mode, "padding_mode": pad},
            20,
        )
        for mode in ("linear", "nearest", "cubic")
        for pad in ("zeros", "border")
    ),
]

Q, K, V = floats(2, 2, 5, 4), floats(2, 2, 6, 4), floats(2, 2, 6, 3)
ATTENTION = [
    Case("Attention", (Q, K, V), opset=23),
    Case("Attention", (Q, K, V, bools(5, 6) | np.eye(5, 6, dtype=bool)), {"scale": 0.3}, 23),
    Case("Attention", (Q, K, V, floats(2, 1, 5, 6)), {"softcap": 2.0}, 23),
    Case("Attention", (Q, K, V), {"is_causal": 1}, 23),
    Case("Attention", (floats(2, 5, 8), floats(2, 6, 4), floats(2, 6, 4)), {"q_num_heads": 4, "kv_num_heads": 2}, 23),
    Case("RotaryEmbedding", (floats(2, 3, 5, 8), floats(5, 4), floats(5, 4), RANDOM.integers(0, 5, (2, 5))), opset=23),
    Case(
        "RotaryEmbedding",
        (floats(2, 5, 24), floats(2, 5, 2), floats(2, 5, 2)),
        {"num_heads": 3, "rotary_embedding_dim": 4, "interleaved": 1},
        23,
    ),
]


def _recurrent(kind: str, gates: int) -> list[Case]:
    cases = []
    for direction, n in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
        w, r, b = floats(n, gates * 4, 3), floats(n, gates * 4, 4), floats(n, gates * 8)
        states = [floats(n, 2, 4) for _ in range(2 if kind == "LSTM" else 1)]
        settings = {"hidden_size": 4, "direction": direction}
        count = len(states) + 1
        cases += [
            Case(kind, (floats(5, 2, 3), w, r, b), settings, 14, count),
            Case(kind, (floats(5, 2, 3), w, r), settings, 14, count),
            Case(kind, (floats(5, 2, 3), w, r, b, np.array([5, 3], np.int32), *states), settings, 14, count),
        ]
    return cases


RECURRENT = [*_recurrent("LSTM", 4), *_recurrent("GRU", 3), *_recurrent("RNN", 1)]
RECURRENT += [
    Case(
        "GRU",
        (floats(5, 2, 3), floats(1, 12, 3), floats(1, 12, 4), floats(1, 24)),
        {"hidden_size": 4, "linear_before_reset": 1},
        14,
        2,
    ),
    Case(
        "RNN",
        (floats(5, 2, 3), floats(1, 4, 3), floats(1, 4, 4), floats(1, 8)),
        {"hidden_size": 4, "activations": ["Relu"]},
        14,
        2,
    ),
    Case(
        "LSTM",
        (floats(2, 5, 3), floats(1, 16, 3), floats(1, 16, 4), floats(1, 32)),
        {"hidden_size": 4, "layout": 1},
        14,
        1,
        reference=True,
    ),
]

CASES = [
    *OF_ONE, *OF_TWO, *PRODUCTS, *REDUCTIONS, *SHAPING, *INDEXING, *CONVOLUTIONS, *POOLS, *NORMS, *PADS, *RESIZES,
    *ATTENTION, *RECURRENT,
]  # fmt: skip
