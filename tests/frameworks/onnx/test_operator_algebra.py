"""Slices, pads and windows against numpy, over whatever settings hypothesis thinks of."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.frameworks.onnx.graph import Node
from cutaway.frameworks.onnx.operators import find
from tests.frameworks.onnx.single import Case, expected

X = np.arange(2 * 5 * 7, dtype=np.float32).reshape(2, 5, 7)
bounds = st.one_of(st.integers(-9, 9), st.sampled_from([2**31 - 1, -(2**31), 2**63 - 1, -(2**63)]))
steps = st.integers(-4, 4).filter(bool)


def call(kind: str, attributes: dict[str, object], *inputs: np.ndarray | None) -> np.ndarray:
    node = Node(kind, "node", (), ("y",), attributes, 18)
    tensors = [None if one is None else torch.tensor(one) for one in inputs]
    return find(kind)(node, *tensors).numpy()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(bounds, bounds, steps), min_size=1, max_size=3), st.booleans())
def test_a_slice_is_numpys(cuts: list[tuple[int, int, int]], from_behind: bool) -> None:
    starts, ends, strides = (np.array(column, np.int64) for column in zip(*cuts, strict=True))
    axes = np.array([i - 3 if from_behind else i for i in range(len(cuts))], np.int64)
    wanted = X[tuple(slice(*cut) for cut in cuts)]
    assert np.array_equal(call("Slice", {}, X, starts, ends, axes, strides), wanted)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=3),
    st.sampled_from([("constant", "constant"), ("edge", "edge"), ("reflect", "reflect"), ("wrap", "wrap")]),
)
def test_padding_is_numpys(amounts: list[tuple[int, int]], modes: tuple[str, str]) -> None:
    ours, theirs = modes
    pads = np.array([low for low, _ in amounts] + [high for _, high in amounts], np.int64)
    assert np.array_equal(call("Pad", {"mode": ours}, X, pads), np.pad(X, amounts, mode=theirs))  # type: ignore[call-overload]


@settings(max_examples=100, deadline=None)
@given(
    kind=st.sampled_from(["MaxPool", "AveragePool"]),
    size=st.integers(1, 12),
    kernel=st.integers(1, 4),
    stride=st.integers(1, 4),
    dilation=st.integers(1, 3),
    pads=st.tuples(st.integers(0, 3), st.integers(0, 3)),
    ceil=st.booleans(),
)
def test_windows_are_those_of_onnx_runtime(
    kind: str, size: int, kernel: int, stride: int, dilation: int, pads: tuple[int, int], ceil: bool
) -> None:
    low, high = (min(pad, kernel - 1) for pad in pads)
    if (kernel - 1) * dilation + 1 > size + low + high:
        return
    attributes = {
        "kernel_shape": [kernel],
        "strides": [stride],
        "dilations": [dilation],
        "pads": [low, high],
        "ceil_mode": int(ceil),
    }
    x = np.random.default_rng(0).normal(size=(1, 2, size)).astype(np.float32)
    (wanted,) = expected(Case(kind, (x,), attributes, 22))
    got = call(kind, dict(attributes), x)
    assert got.shape == wanted.shape
    assert np.allclose(got, wanted, rtol=1e-5, atol=1e-6)
