"""Resizing, axis by axis: each new place is a weighted sum of a few old ones, exactly by ONNX's formulas."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from cutaway.frameworks.onnx.graph import Node
from cutaway.frameworks.onnx.torch_values import integers

__all__ = ["OPERATORS"]


def _resize(
    node: Node, x: Tensor, roi: Tensor | None = None, scales: Tensor | None = None, sizes: Tensor | None = None
) -> Tensor:
    if node.opset < 11:
        # It had only the scales, and the rules of Upsample.
        return _upsample(node, x, roi)
    axes = [axis % x.dim() for axis in node.integers("axes", range(x.dim()))]
    if sizes is not None and sizes.numel():
        old = [x.shape[axis] for axis in axes]
        factors, new = _fitting(node.text("keep_aspect_ratio_policy", "stretch"), old, integers(sizes))
    else:
        factors = [] if scales is None else [float(scale) for scale in scales.flatten().tolist()]
        new = [int(x.shape[axis] * factor) for axis, factor in zip(axes, factors, strict=True)]
    rule = node.text("coordinate_transformation_mode", "half_pixel")
    for axis, factor, size in zip(axes, factors, new, strict=True):
        if factor != 1 or size != x.shape[axis]:
            x = _along(node, x, axis, _coordinates(rule, x.shape[axis], size, factor), node.text("nearest_mode", ""))
    return x


def _upsample(node: Node, x: Tensor, scales: Tensor | None = None) -> Tensor:
    factors = node.attributes["scales"] if scales is None else scales.flatten().tolist()
    for axis, factor in enumerate(factors):
        if factor != 1:
            places = _coordinates("asymmetric", x.shape[axis], int(x.shape[axis] * factor), factor)
            x = _along(node, x, axis, places, "floor")
    return x


def _fitting(policy: str, old: list[int], wanted: list[int]) -> tuple[list[float], list[int]]:
    factors = [new / size for new, size in zip(wanted, old, strict=True)]
    if policy == "stretch":
        return factors, wanted
    factor = min(factors) if policy == "not_larger" else max(factors)
    return [factor] * len(old), [int(factor * size + 0.5) for size in old]


def _coordinates(rule: str, size: int, new: int, factor: float) -> Tensor:
    """Where the new places lie among the old ones; in float32, since borders between neighbours depend on it."""
    places = torch.arange(new, dtype=torch.float32)
    scale = torch.tensor(factor, dtype=torch.float32)
    if rule == "align_corners":
        return places * (size - 1) / (new - 1) if new > 1 else torch.zeros(1)
    if rule == "asymmetric":
        return places / scale
    if rule == "tf_half_pixel_for_nn":
        return (places + 0.5) / scale
    if rule == "pytorch_half_pixel" and new == 1:
        return torch.zeros(1)
    centred = (places + 0.5) / scale - 0.5
    if rule == "half_pixel_symmetric":
        return centred + size / 2 * (1 - new / (size * factor))
    return centred


def _along(node: Node, x: Tensor, axis: int, places: Tensor, nearest: str) -> Tensor:
    size = x.shape[axis]
    mode = node.text("mode", "nearest")
    if mode == "nearest":
        return x.index_select(axis, _nearest(places, nearest).long().clamp(0, size - 1))
    if mode == "linear":
        places = places.clamp(0, size - 1)
        first = places.floor().long()
        rest = places - first
        taps = [(first, 1 - rest), ((first + 1).clamp(max=size - 1), rest)]
    else:
        taps = _cubic_taps(places, size, node.number("cubic_coeff_a", -0.75), strict=node.flag("exclude_outside"))
    fits = [-1 if i == axis else 1 for i in range(x.dim())]
    parts = [x.index_select(axis, where) * weight.to(x.dtype).reshape(fits) for where, weight in taps]
    return torch.stack(parts).sum(0)


def _nearest(places: Tensor, rule: str) -> Tensor:
    if rule == "floor":
        return places.floor()
    if rule == "ceil":
        return places.ceil()
    return (places + 0.5).floor() if rule == "round_prefer_ceil" else (places - 0.5).ceil()


def _cubic_taps(places: Tensor, size: int, a: float, *, strict: bool) -> list[tuple[Tensor, Tensor]]:
    first = places.floor()
    t = places - first
    weights = [
        ((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a,
        ((a + 2) * t - (a + 3)) * t * t + 1,
        ((a + 2) * (1 - t) - (a + 3)) * (1 - t) * (1 - t) + 1,
        ((a * (2 - t) - 5 * a) * (2 - t) + 8 * a) * (2 - t) - 4 * a,
    ]
    where = [first.long() + step for step in (-1, 0, 1, 2)]
    if strict:
        weights = [weight * ((place >= 0) & (place < size)) for weight, place in zip(weights, where, strict=True)]
        total = torch.stack(weights).sum(0)
        weights = [weight / total for weight in weights]
    return [(place.clamp(0, size - 1), weight) for place, weight in zip(where, weights, strict=True)]


def _grid_sample(node: Node, x: Tensor, grid: Tensor) -> Tensor:
    mode = {"linear": "bilinear", "cubic": "bicubic"}.get(node.text("mode", "linear"), node.text("mode", "linear"))
    padding = node.text("padding_mode", "zeros")
    return functional.grid_sample(x, grid, mode, padding, align_corners=node.flag("align_corners"))


OPERATORS: dict[str, Callable[..., Tensor]] = {"GridSample": _grid_sample, "Resize": _resize, "Upsample": _upsample}
