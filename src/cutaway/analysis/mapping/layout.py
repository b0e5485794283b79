"""Lays a graph out in the plane: neighbours attract, chance pairs repel (the objective of UMAP), on whole tensors.

The same code runs on a CPU and on a GPU. With the seed the result repeats exactly on one device: chance is drawn on
the CPU, and sums are never taken in the order in which threads arrive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutaway.analysis.counting import Counter
from cutaway.analysis.mapping.graph import Graph

if TYPE_CHECKING:
    import torch

__all__ = ["Anchor", "lay_out"]

# The curve 1 / (1 + A d^2B) by which near in the map is near in the graph: UMAP's own for a smallest distance of 0.1.
A, B = 1.577, 0.895
# How strongly chance pairs repel, in pairs for each pair that attracts; and how many draws of them make a step. More
# draws mean less noise, more repulsion truer neighbourhoods: both were chosen on latents of MNIST for their trust.
REPULSION = 6.0
DRAWS = 4
# The first step goes this part of the way that the forces say: all rows move at once, and would overshoot.
RATE = 0.5
# One pair pushes and one step goes no farther than this.
STRONGEST, LONGEST_STEP = 4.0, 8.0
# Edges take part in turns that repeat after so many steps: an edge of weight w in w of them.
TURNS = 10


@dataclass(frozen=True)
class Anchor:
    """Where rows should stay: after each step a row is drawn to `places` by its part `pull` of the way.

    No row leaves the circle of its `radius` around its place; an infinite radius lets it go.
    """

    places: torch.Tensor
    pull: torch.Tensor
    radius: torch.Tensor


class _Turn:
    """The edges that take part in a step."""

    def __init__(self, heads: torch.Tensor, tails: torch.Tensor, rows: int) -> None:
        import torch

        self.heads, self.tails, self._rows = heads, tails, rows
        self._sorted = heads.device.type != "cpu"
        if self._sorted:
            self._order = torch.argsort(tails, stable=True)
            self._at_heads = torch.bincount(heads, minlength=rows)
            self._at_tails = torch.bincount(tails, minlength=rows)

    def collect(self, at_heads: torch.Tensor, at_tails: torch.Tensor) -> torch.Tensor:
        """Return for each row the sum of what its edges bring: those that begin there, and those that end there."""
        import torch

        if not self._sorted:
            return torch.zeros(self._rows).scatter_add_(0, self.heads, at_heads).scatter_add_(0, self.tails, at_tails)
        # On a GPU adding at an index is in no fixed order; sums over runs of sorted edges are.
        brought = at_tails.index_select(0, self._order)
        sums = torch.segment_reduce(at_heads, "sum", lengths=self._at_heads, unsafe=True, initial=0)
        return sums.add_(torch.segment_reduce(brought, "sum", lengths=self._at_tails, unsafe=True, initial=0))


def lay_out(
    graph: Graph,
    start: torch.Tensor,
    *,
    steps: int,
    seed: int,
    anchor: Anchor | None = None,
    counter: Counter | None = None,
) -> torch.Tensor:
    """Return positions (n, 2) for the rows of `graph`, beginning at `start`."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    # In an order of chance the row that follows at any distance is a chance row: repulsion needs no indices.
    order = torch.randperm(graph.rows, generator=generator).to(start.device)
    rank = torch.empty_like(order)
    rank[order] = torch.arange(graph.rows, device=start.device)
    turns = _turns(graph, rank, generator)
    repelled = _degrees(graph).index_select(0, order) * (REPULSION / (2 * DRAWS))
    held = None if anchor is None else _reordered(anchor, order)
    x, y = start[order, 0].contiguous(), start[order, 1].contiguous()
    for step in range(steps):
        push_x, push_y = _repulsion(x, y, _shifts(graph.rows, generator))
        pull_x, pull_y = _attraction(turns[step % len(turns)], x, y)
        move_x, move_y = pull_x.addcmul_(push_x, repelled), pull_y.addcmul_(push_y, repelled)
        now = RATE * (1 - step / steps)
        x.add_(move_x.clamp_(-LONGEST_STEP, LONGEST_STEP), alpha=now)
        y.add_(move_y.clamp_(-LONGEST_STEP, LONGEST_STEP), alpha=now)
        if held is not None:
            _hold(x, y, held)
        if counter is not None:
            counter.advance()
    return torch.stack([x, y], dim=1).index_select(0, rank)


def _turns(graph: Graph, rank: torch.Tensor, generator: torch.Generator) -> list[_Turn]:
    """Return the turns: each edge in as many as its weight says, spread evenly, beginning by chance."""
    import torch

    heads, tails = rank.index_select(0, graph.heads), rank.index_select(0, graph.tails)
    if heads.device.type != "cpu":
        heads, order = heads.sort(stable=True)
        tails, weights = tails.index_select(0, order), graph.weights.index_select(0, order)
    else:
        weights = graph.weights
    passed = torch.rand(len(weights), generator=generator).to(heads.device)
    turns = []
    for _ in range(TURNS):
        passed += weights
        taken = (passed >= 1).nonzero()[:, 0]
        passed -= (passed >= 1).to(passed.dtype)
        turns.append(_Turn(heads.index_select(0, taken), tails.index_select(0, taken), graph.rows))
    return turns


def _degrees(graph: Graph) -> torch.Tensor:
    """Return for each row the sum of the weights of its edges."""
    return _Turn(graph.heads, graph.tails, graph.rows).collect(graph.weights, graph.weights)


def _reordered(anchor: Anchor, order: torch.Tensor) -> Anchor:
    return Anchor(anchor.places[order], anchor.pull[order], anchor.radius[order])


def _shifts(rows: int, generator: torch.Generator) -> list[int]:
    import torch

    return [int(one) for one in torch.randint(1, rows, (DRAWS,), generator=generator)] if rows > 1 else []


def _attraction(turn: _Turn, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    across = x.index_select(0, turn.heads).sub_(x.index_select(0, turn.tails))
    along = y.index_select(0, turn.heads).sub_(y.index_select(0, turn.tails))
    squared = across.square().addcmul_(along, along).clamp_min_(1e-12)
    power = squared.pow(B)
    strength = power.div(squared).mul_(-2 * A * B).div_(power.mul_(A).add_(1))
    across.mul_(strength)
    along.mul_(strength)
    return turn.collect(across, across.neg()), turn.collect(along, along.neg())


def _repulsion(x: torch.Tensor, y: torch.Tensor, shifts: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the sums of pushes between each row and those that follow and precede it at the shifts."""
    import torch

    push_x, push_y = torch.zeros_like(x), torch.zeros_like(y)
    for shift in shifts:
        across, along = x - x.roll(-shift), y - y.roll(-shift)
        squared = across.square().addcmul_(along, along)
        strength = squared.pow(B).mul_(A).add_(1).mul_(squared.add_(1e-3)).reciprocal_().mul_(2 * B)
        across.mul_(strength).clamp_(-STRONGEST, STRONGEST)
        along.mul_(strength).clamp_(-STRONGEST, STRONGEST)
        push_x.add_(across).sub_(across.roll(shift))
        push_y.add_(along).sub_(along.roll(shift))
    return push_x, push_y


def _hold(x: torch.Tensor, y: torch.Tensor, anchor: Anchor) -> None:
    """Draw rows to their places, and back into their circles."""
    home_x, home_y = anchor.places[:, 0], anchor.places[:, 1]
    across, along = x - home_x, y - home_y
    left = 1 - anchor.pull
    away = across.hypot(along).mul_(left).clamp_min_(1e-12)
    left = left * (anchor.radius / away).clamp_max_(1)
    x.copy_(home_x).addcmul_(across, left)
    y.copy_(home_y).addcmul_(along, left)
