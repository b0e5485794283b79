"""Products of matrices: plain ones, attention as one operator, and rotary position embeddings (operator set 23)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from cutaway.frameworks.onnx.graph import Node

__all__ = ["OPERATORS"]


def _gemm(node: Node, a: Tensor, b: Tensor, c: Tensor | None = None) -> Tensor:
    product = (a.T if node.flag("transA") else a) @ (b.T if node.flag("transB") else b)
    alpha, beta = node.number("alpha", 1.0), node.number("beta", 1.0)
    if alpha != 1:
        product = alpha * product
    if c is None:
        return product
    return product + (c if beta == 1 else beta * c)


def _einsum(node: Node, *xs: Tensor) -> Tensor:
    result: Tensor = torch.einsum(node.text("equation", ""), *xs)
    return result


def _attention(node: Node, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    flat = q.dim() == 3
    if flat:
        q = _in_heads(q, node.integer("q_num_heads", 1))
        k, v = (_in_heads(one, node.integer("kv_num_heads", 1)) for one in (k, v))
    repeats = q.shape[1] // k.shape[1]
    if repeats > 1:
        k, v = (one.repeat_interleave(repeats, dim=1) for one in (k, v))
    scores = (q @ k.transpose(-1, -2)) * node.number("scale", q.shape[-1] ** -0.5)
    softcap = node.number("softcap", 0.0)
    if softcap > 0:
        scores = softcap * torch.tanh(scores / softcap)
    scores = _masked(scores, mask, causal=node.flag("is_causal"))
    # A query that may look at nothing gets zeros, and must not make gradients NaN.
    blind = torch.isneginf(scores).all(-1, keepdim=True)
    y = torch.softmax(scores.masked_fill(blind, 0.0), -1).masked_fill(blind, 0.0) @ v
    return y.transpose(1, 2).flatten(2) if flat else y


def _in_heads(x: Tensor, heads: int) -> Tensor:
    return x.reshape(*x.shape[:2], heads, -1).transpose(1, 2)


def _masked(scores: Tensor, mask: Tensor | None, *, causal: bool) -> Tensor:
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else scores + mask
    if causal:
        later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later, -torch.inf)
    return scores


def _rotary(node: Node, x: Tensor, cos: Tensor, sin: Tensor, positions: Tensor | None = None) -> Tensor:
    flat = x.dim() == 3
    # Samples, positions, heads, features.
    heads = x.reshape(*x.shape[:2], node.integer("num_heads", 1), -1) if flat else x.transpose(1, 2)
    size = node.integer("rotary_embedding_dim", 0) or heads.shape[-1]
    if positions is not None:
        cos, sin = cos[positions], sin[positions]
    cos, sin = cos.unsqueeze(2), sin.unsqueeze(2)
    turned, rest = heads[..., :size], heads[..., size:]
    interleaved = node.flag("interleaved")
    first, second = (turned[..., 0::2], turned[..., 1::2]) if interleaved else turned.chunk(2, -1)
    real, imaginary = cos * first - sin * second, sin * first + cos * second
    turned = torch.stack((real, imaginary), -1).flatten(-2) if interleaved else torch.cat((real, imaginary), -1)
    whole = torch.cat((turned, rest), -1)
    return whole.reshape(x.shape) if flat else whole.transpose(1, 2)


OPERATORS: dict[str, Callable[..., Tensor]] = {
    "Attention": _attention,
    "Einsum": _einsum,
    "Gemm": _gemm,
    "MatMul": lambda _node, a, b: torch.matmul(a, b),
    "RotaryEmbedding": _rotary,
}
