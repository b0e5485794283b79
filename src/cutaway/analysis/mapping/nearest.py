"""The nearest rows of every row, on tensors: all pairs in blocks for few rows, by lists around centres for many.

The lists (k-means cells of which each query looks into the nearest few) find nearly all neighbours, which is what the
graph of a map needs, in a small part of the time. Exact search with its filters is the work of `neighbours`, not this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutaway.analysis.counting import Counter

if TYPE_CHECKING:
    import torch

__all__ = ["nearest_rows"]

# All pairs are compared up to here.
ALL_PAIRS = {"cpu": 8_000, "cuda": 100_000}
# How many distances are held at a time.
BLOCK = {"cpu": 4_000_000, "cuda": 256_000_000}
# What one list holds on average, and how many lists a query looks into.
LIST_ROWS = {"cpu": 200, "cuda": 1000}
PROBES = 10
# A list that is longer by this factor is cut up: rows that are all alike fill one without end.
LONGEST = 8
ROUNDS_OF_KMEANS = 4
ROWS_A_CENTRE_LEARNS_FROM = 40


@dataclass(frozen=True)
class _Lists:
    """Rows by nearest centre: list `i` holds `order[starts[i]:starts[i + 1]]`, and `points` lie in that order."""

    centres: torch.Tensor
    order: torch.Tensor
    starts: list[int]
    points: torch.Tensor
    squares: torch.Tensor


def nearest_rows(
    points: torch.Tensor,
    k: int,
    *,
    queries: torch.Tensor | None = None,
    seed: int = 0,
    counter: Counter | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return for each query the numbers of its `k` nearest points and the distances, nearest first.

    Without `queries` the points ask about each other, and none is its own neighbour; `k` is less than their number.
    """
    asked = points if queries is None else queries
    found = k + 1 if queries is None else k
    device = points.device.type
    if len(points) <= max(ALL_PAIRS[device], 4 * found):
        numbers = _of_all(points, asked, found, counter)
    else:
        numbers = _of_lists(_make_lists(points, seed), asked, found, counter)
        short = (numbers < 0).any(dim=1).nonzero()[:, 0]
        if len(short):
            numbers[short] = _of_all(points, asked.index_select(0, short), found, None)
    return _measured(points, asked, numbers, k, own=queries is None)


def _of_all(points: torch.Tensor, asked: torch.Tensor, k: int, counter: Counter | None) -> torch.Tensor:
    import torch

    squares = points.square().sum(1)
    rows = max(1, BLOCK[points.device.type] // len(points))
    numbers = torch.empty((len(asked), k), dtype=torch.int64, device=points.device)
    for start in range(0, len(asked), rows):
        block = asked[start : start + rows]
        apart = torch.addmm(squares, block, points.T, alpha=-2)
        numbers[start : start + rows] = apart.topk(k, dim=1, largest=False, sorted=False).indices
        if counter is not None:
            counter.advance(len(block))
    return numbers


def _make_lists(points: torch.Tensor, seed: int) -> _Lists:
    import torch

    count = max(2, len(points) // LIST_ROWS[points.device.type])
    centres = _centres(points, count, seed)
    cell = _nearest_centres(points, centres, 1)[:, 0]
    order = torch.argsort(cell, stable=True)
    sizes = torch.bincount(cell, minlength=count)
    longest = LONGEST * -(-len(points) // count)
    pieces = (sizes + longest - 1) // longest
    lengths: list[int] = []
    for size, parts in zip(sizes.tolist(), pieces.tolist(), strict=True):
        lengths += [size * (part + 1) // parts - size * part // parts for part in range(parts)]
    starts = [0]
    for length in lengths:
        starts.append(starts[-1] + length)
    ordered = points.index_select(0, order)
    return _Lists(centres.repeat_interleave(pieces, dim=0), order, starts, ordered, ordered.square().sum(1))


def _centres(points: torch.Tensor, count: int, seed: int) -> torch.Tensor:
    """k-means of a part of the points, a few rounds long. A centre that nothing is near to stays where it is."""
    import torch

    rows = torch.randperm(len(points), generator=torch.Generator().manual_seed(seed))
    rows = rows[: count * ROWS_A_CENTRE_LEARNS_FROM].to(points.device)
    learned = points.index_select(0, rows)
    centres = learned[:count].clone()
    for _ in range(ROUNDS_OF_KMEANS):
        cell = _nearest_centres(learned, centres, 1)[:, 0]
        order = torch.argsort(cell, stable=True)
        sizes = torch.bincount(cell, minlength=count)
        # Sums over runs of sorted rows, since adding at an index is in no fixed order on a GPU.
        sums = torch.segment_reduce(learned.index_select(0, order), "sum", lengths=sizes, unsafe=True, initial=0)
        centres = torch.where(sizes[:, None] > 0, sums / sizes.clamp_min(1)[:, None], centres)
    return centres


def _nearest_centres(points: torch.Tensor, centres: torch.Tensor, count: int) -> torch.Tensor:
    import torch

    squares = centres.square().sum(1)
    rows = max(1, BLOCK[points.device.type] // len(centres))
    parts = []
    for start in range(0, len(points), rows):
        apart = torch.addmm(squares, points[start : start + rows], centres.T, alpha=-2)
        if count == 1:
            parts.append(apart.argmin(dim=1, keepdim=True))
        else:
            parts.append(apart.topk(count, dim=1, largest=False, sorted=False).indices)
    return torch.cat(parts)


def _of_lists(lists: _Lists, asked: torch.Tensor, k: int, counter: Counter | None) -> torch.Tensor:
    """Each list answers all who look into it at once, so that the distances are products of matrices."""
    import torch

    device = asked.device
    probes = min(PROBES, len(lists.centres))
    looked = _nearest_centres(asked, lists.centres, probes).flatten()
    visits = torch.argsort(looked, stable=True)
    visitors = torch.bincount(looked, minlength=len(lists.centres)).tolist()
    near = torch.full((len(asked) * probes, k), float("inf"), device=device)
    numbers = torch.full((len(asked) * probes, k), -1, dtype=torch.int32, device=device)
    start = 0
    for cell, count in enumerate(visitors):
        first, last = lists.starts[cell], lists.starts[cell + 1]
        stop, held = start + count, min(k, last - first)
        if held:
            points, squares = lists.points[first:last], lists.squares[first:last]
            rows = max(1, BLOCK[device.type] // (last - first))
            for begin in range(start, stop, rows):
                visit = visits[begin : min(stop, begin + rows)]
                apart = torch.addmm(squares, asked.index_select(0, visit // probes), points.T, alpha=-2)
                best = apart.topk(held, dim=1, largest=False, sorted=False)
                near[visit, :held] = best.values
                numbers[visit, :held] = (best.indices + first).int()
        if counter is not None:
            counter.advance(stop // probes - start // probes)
        start = stop
    chosen = near.view(len(asked), -1).topk(k, dim=1, largest=False, sorted=False).indices
    places = numbers.view(len(asked), -1).gather(1, chosen).long()
    return torch.where(places < 0, places, lists.order[places.clamp_min(0)])


def _measured(
    points: torch.Tensor, asked: torch.Tensor, numbers: torch.Tensor, k: int, *, own: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Sort what was found by true distances: differences keep the digits that products of matrices lose."""
    import torch

    found = numbers.shape[1]
    distances = torch.empty(numbers.shape, device=points.device)
    rows = max(1, BLOCK[points.device.type] // max(1, found * points.shape[1]))
    for start in range(0, len(asked), rows):
        of = numbers[start : start + rows]
        apart = points.index_select(0, of.flatten()).view(*of.shape, -1).sub_(asked[start : start + rows, None])
        distances[start : start + rows] = torch.linalg.vector_norm(apart, dim=2)
    if own:
        # A row among many that are the same may not have found itself: then its last goes.
        itself = numbers == torch.arange(len(points), device=points.device)[:, None]
        distances.masked_fill_(itself, float("inf"))
    distances, order = distances.sort(dim=1, stable=True)
    return numbers.gather(1, order)[:, :k].contiguous(), distances[:, :k].contiguous()
