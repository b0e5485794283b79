"""Recurrent layers, step by step: both directions, initial states, sequences of different lengths."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from cutaway.frameworks.onnx.graph import Node

__all__ = ["OPERATORS"]

States = tuple[Tensor, ...]
# From the parts of x, the states and one direction's recurrent weights and biases to the next states.
Step = Callable[[Tensor, States, Tensor, Tensor], States]


def _lstm_step(x: Tensor, states: States, weights: Tensor, bias: Tensor) -> States:
    h, c = states
    i, o, f, g = (x + h @ weights.T + bias).chunk(4, -1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def _gru_step(x: Tensor, states: States, weights: Tensor, bias: Tensor, *, reset_last: bool) -> States:
    (h,) = states
    size = h.shape[-1]
    gates = x[:, : 2 * size] + h @ weights[: 2 * size].T + bias[: 2 * size]
    z, r = torch.sigmoid(gates).chunk(2, -1)
    if reset_last:
        inner = r * (h @ weights[2 * size :].T + bias[2 * size :])
    else:
        inner = (r * h) @ weights[2 * size :].T + bias[2 * size :]
    return ((1 - z) * torch.tanh(x[:, 2 * size :] + inner) + z * h,)


def _rnn_step(x: Tensor, states: States, weights: Tensor, bias: Tensor, *, activation: str) -> States:
    total = x + states[0] @ weights.T + bias
    return (torch.relu(total) if activation == "Relu" else torch.tanh(total),)


def _run(
    node: Node, step: Step, x: Tensor, w: Tensor, r: Tensor, b: Tensor | None, lengths: Tensor | None, begin: States
) -> States:
    """Run every direction; returns all outputs, then the last states, in the layout that the node asks for."""
    direction = node.text("direction", "forward")
    outputs, lasts = [], []
    for k in range(w.shape[0]):
        both = x.new_zeros(2 * w.shape[1]) if b is None else b[k]
        bias_x, bias_h = both.chunk(2)
        parts = x @ w[k].T + bias_x
        backwards = direction == "reverse" or k == 1
        states, ys = tuple(one[k] for one in begin), []
        for t in reversed(range(len(x))) if backwards else range(len(x)):
            states, y = _held(step(parts[t], states, r[k], bias_h), states, lengths, t)
            ys.append(y)
        outputs.append(torch.stack(ys[::-1] if backwards else ys))
        lasts.append(states)
    return torch.stack(outputs, 1), *(torch.stack(one) for one in zip(*lasts, strict=True))


def _held(new: States, old: States, lengths: Tensor | None, t: int) -> tuple[States, Tensor]:
    """Behind the end of a sequence its states stay and its output is 0; backwards they begin at its end."""
    if lengths is None:
        return new, new[0]
    inside = (t < lengths)[:, None]
    kept = tuple(torch.where(inside, a, b) for a, b in zip(new, old, strict=True))
    return kept, torch.where(inside, new[0], torch.zeros_like(new[0]))


def _recurrent(
    node: Node, step: Step, x: Tensor, weights: tuple[Tensor, Tensor, Tensor | None], lengths: Tensor | None,
    begin: tuple[Tensor | None, ...],
) -> States:  # fmt: skip
    w, r, b = weights
    rows_first = node.integer("layout", 0) == 1
    if rows_first:
        x = x.transpose(0, 1)
    zeros = x.new_zeros(w.shape[0], x.shape[1], r.shape[-1])
    states = tuple(zeros if one is None else one.transpose(0, 1) if rows_first else one for one in begin)
    y, *lasts = _run(node, step, x, w, r, b, lengths, states)
    if rows_first:
        return y.permute(2, 0, 1, 3), *(one.transpose(0, 1) for one in lasts)
    return y, *lasts


def _lstm(
    node: Node, x: Tensor, w: Tensor, r: Tensor, b: Tensor | None = None, lengths: Tensor | None = None,
    h: Tensor | None = None, c: Tensor | None = None,
) -> States:  # fmt: skip
    return _recurrent(node, _lstm_step, x, (w, r, b), lengths, (h, c))


def _gru(
    node: Node, x: Tensor, w: Tensor, r: Tensor, b: Tensor | None = None, lengths: Tensor | None = None,
    h: Tensor | None = None,
) -> States:  # fmt: skip
    step = partial(_gru_step, reset_last=node.flag("linear_before_reset"))
    return _recurrent(node, step, x, (w, r, b), lengths, (h,))


def _rnn(
    node: Node, x: Tensor, w: Tensor, r: Tensor, b: Tensor | None = None, lengths: Tensor | None = None,
    h: Tensor | None = None,
) -> States:  # fmt: skip
    step = partial(_rnn_step, activation=(node.texts("activations") or ["Tanh"])[0])
    return _recurrent(node, step, x, (w, r, b), lengths, (h,))


OPERATORS: dict[str, Callable[..., States]] = {"GRU": _gru, "LSTM": _lstm, "RNN": _rnn}
