"""Searches for the ten colours of classes: `python -m scripts.search_class_colours --seconds 300 --seed 1`.

Among vivid colours that stand out from a white ground and from a dark one (3 to 1), ten whose least distance is as
large as can be, to people with all cones and to people who lack a kind of them. A coarse grid of colours is searched
by exchanging one of the nearest two for whatever is farthest from the others; what comes out is refined byte by byte.
The best so far is printed whenever it gets better. Without `--seconds` the same seed gives the same colours.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
import numpy.typing as npt

from scripts.colour_differences import PETROFF, VISIONS, least_distances, linear, luminance, rgb_of, seen, ucs

__all__ = ["main"]

Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.int64]

COUNT = 10
CONTRAST = 3.0
# The grounds of the page and of figures, the lightest dark one and the darkest light one.
LIGHT, DARK = "#ffffff", "#141b21"
# Between the least distance of all and that to people with all cones, as between those of Petroff's ten.
EVERYBODY = 14.54 / 18.70
WALKS, EXCHANGES, STEPS, STEP = 20, 400, 4000, 9


class Search:
    """What may be a colour, and how good ten of them are."""

    def __init__(self, seed: int, least_chroma: float) -> None:
        self._random = np.random.default_rng(seed)
        self._chroma = least_chroma
        light, dark = (float(luminance(rgb_of(one))) for one in (LIGHT, DARK))
        self._range = CONTRAST * (dark + 0.05) - 0.05, (light + 0.05) / CONTRAST - 0.05

    def ten(self) -> Bytes:
        """Return the best ten of some walks over a new grid, refined."""
        grid = self._grid()
        apart = self._apart(grid)
        found = [grid[self._exchanged(apart)] for _ in range(WALKS)]
        return self._refined(max(found, key=self.score))

    def score(self, colours: Bytes) -> float:
        """Return the least distance; that to people with all cones counts less, since theirs are larger."""
        found = least_distances(colours / 255)
        return min(EVERYBODY * found["everybody"], found["deuteranopia"], found["protanopia"])

    def _allowed(self, colours: Bytes) -> npt.NDArray[np.bool_]:
        shown = luminance(colours / 255)
        chroma = np.hypot(*ucs(linear(colours / 255))[..., 1:].T)
        return np.asarray((shown >= self._range[0]) & (shown <= self._range[1]) & (chroma >= self._chroma))

    def _grid(self) -> Bytes:
        axes = [
            np.clip(np.append(np.arange(0, 256, STEP) + start, 255), 0, 255)
            for start in self._random.integers(0, STEP, 3)
        ]
        colours = np.unique(np.stack(np.meshgrid(*axes), -1).reshape(-1, 3), axis=0)
        return colours[self._allowed(colours)]

    def _apart(self, grid: Bytes) -> npt.NDArray[np.float32]:
        """Return the least distance of each two colours."""
        apart = np.full((len(grid), len(grid)), np.inf, np.float32)
        for vision in VISIONS:
            places = seen(grid / 255, vision).astype(np.float32)
            squares = (places**2).sum(axis=1)
            distances = np.sqrt(np.maximum(squares[:, None] + squares - 2 * places @ places.T, 0))
            np.minimum(apart, distances * (EVERYBODY if vision == "everybody" else 1), out=apart)
        return apart

    def _exchanged(self, apart: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
        """Return the places of the best ten of a grid on one walk from ten of chance."""
        chosen = self._random.choice(len(apart), COUNT, replace=False)
        best, least, resting = chosen.copy(), 0.0, np.zeros(len(apart))
        for turn in range(EXCHANGES):
            among = apart[np.ix_(chosen, chosen)] + np.diag(np.full(COUNT, np.inf, np.float32))
            if among.min() > least:
                best, least = chosen.copy(), float(among.min())
            offers = []
            for place in np.unravel_index(among.argmin(), among.shape):
                gains = np.where(resting > turn, -1, apart[np.delete(chosen, place)].min(axis=0))
                offers.append((gains.max() + 0.3 * self._random.normal(), place, gains.argmax()))
            _, place, comes = max(offers)
            resting[chosen[place]] = turn + self._random.integers(5, 25)
            chosen[place] = comes
        return best

    def _refined(self, colours: Bytes) -> Bytes:
        current = self.score(colours)
        for _ in range(STEPS):
            changed = colours.copy()
            place = self._random.integers(COUNT)
            step = np.rint(self._random.normal(size=3) * self._random.choice([1, 2, 4, 8]))
            changed[place] = np.clip(changed[place] + step.astype(int), 0, 255)
            if self._allowed(changed[place]) and (score := self.score(changed)) >= current:
                colours, current = changed, score
        return colours


def in_order(colours: Bytes) -> Bytes:
    """Return the colours so that the first few are those that differ most."""
    apart = np.min(
        [
            [[np.linalg.norm(a - b) for b in places] for a in places]
            for places in (seen(colours / 255, one) for one in VISIONS)
        ],
        axis=0,
    )
    order = [int(place) for place in np.unravel_index(apart.argmax(), apart.shape)]
    while len(order) < len(colours):
        left = [place for place in range(len(colours)) if place not in order]
        order.append(max(left, key=lambda place: apart[place, order].min()))
    return colours[order]


def main(arguments: list[str] | None = None) -> int:
    """Search, and print what is found."""
    parser = argparse.ArgumentParser(prog="python -m scripts.search_class_colours", description=__doc__)
    parser.add_argument("--seconds", type=float, default=np.inf, help="how long")
    parser.add_argument("--grids", type=int, default=20, help="how many grids, unless the time is over before")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--chroma", type=float, default=20.0, help="how vivid each must be")
    options = parser.parse_args(arguments)
    theirs = np.array([rgb_of(one) for one in PETROFF])
    print("Petroff", _said(theirs * 255), flush=True)
    search, best, end = Search(options.seed, options.chroma), 0.0, time.monotonic() + options.seconds
    for grid in range(options.grids):
        if time.monotonic() > end:
            break
        found = search.ten()
        if search.score(found) > best:
            best = search.score(found)
            print(grid, _said(in_order(found)), flush=True)
    return 0


def _said(colours: npt.ArrayLike) -> str:
    ten = np.asarray(colours, float)
    names = " ".join("#{:02x}{:02x}{:02x}".format(*map(int, one + 0.5)) for one in ten)
    return f"{names}  {', '.join(f'{vision} {value:.2f}' for vision, value in least_distances(ten / 255).items())}"


if __name__ == "__main__":
    sys.exit(main())
