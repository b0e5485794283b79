"""Writes the page of ONNX operators that have gradients, from their table. Renders text and touches no file."""

from cutaway.frameworks.onnx.operators import FAMILIES, WITHOUT_GRADIENT

__all__ = ["LIMITED", "onnx_page"]

_INTRODUCTION = """\
# ONNX operators with gradients

Predictions and layers of an ONNX model come from ONNX Runtime, which has all operators. Gradients come from running
the graph on torch, operator by operator; that needs `pip install 'cutaway[torch]'` and the operators below. Made by
`python -m scripts.make_reference`; each operator is compared with ONNX Runtime, and its gradient with small
differences, by `tests/frameworks/onnx/test_operators.py`.

A model with another operator between its input and an output still predicts and shows its layers. Its description
says which operator is in the way (`model.description.differentiable`, or `notes` where other outputs have gradients),
and `gradient` raises [GradientUnavailable](errors.md#gradientunavailable). Heat maps that need no gradients, such as
occlusion, work with every model.
"""

_ENDING = """\
`If` runs the branch that its condition takes, and functions that a file defines are put in place of their calls.
`Loop`, `Scan`, sequences, quantisation (`QuantizeLinear`, `QLinearConv`, ...) and the operators of `ai.onnx.ml` and
`com.microsoft` have no gradients. Half precision is computed in float32 when a gradient is asked for. Operators in
*italics* are computed, but are steps or whole numbers: nothing can be differentiated through them.
"""

# In words, what `cutaway.frameworks.onnx.support` refuses of an operator that is otherwise known.
LIMITED = {
    "Attention": "keys and values of earlier calls, sliding windows",
    "BatchNormalization": "training mode",
    "Cast": "8-bit and smaller floats, text",
    "DequantizeLinear": "blocks",
    "GRU": "activations other than Sigmoid and Tanh, clipping",
    "LSTM": "activations other than Sigmoid and Tanh, clipping, coupled gates, peepholes",
    "MaxPool": "its second output, the indices",
    "RNN": "activations other than Tanh or Relu, clipping",
    "Resize": "antialiasing, `tf_crop_and_resize`",
    **dict.fromkeys(
        ("Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor"),
        "the `broadcast` attribute of operator sets 1 to 6",
    ),
}


def onnx_page() -> str:
    """Return the page."""
    rows = [f"| {family} | {', '.join(_shown(kind) for kind in kinds)} |" for family, kinds in FAMILIES.items()]
    limits: dict[str, list[str]] = {}
    for kind, limit in LIMITED.items():
        limits.setdefault(limit, []).append(f"`{kind}`")
    limited = [f"| {', '.join(kinds)} | {limit} |" for limit, kinds in limits.items()]
    table = "\n".join(["| Family | Operators |", "|---|---|", *rows])
    missing = "\n".join(["| Operator | Not supported |", "|---|---|", *limited])
    return f"{_INTRODUCTION}\n{table}\n\n{_ENDING}\n## Not all of an operator\n\n{missing}\n"


def _shown(kind: str) -> str:
    return f"*{kind}*" if kind in WITHOUT_GRADIENT else f"`{kind}`"
