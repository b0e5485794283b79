"""The map on the page of a population: where its points are on the screen, and how many pixels each one has."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tests.browser.looking import Pixels, parameters, settled
from tests.browser.studios import PATIENCE, Shown

__all__ = ["Points", "SeenMap", "read_points"]

Floats = npt.NDArray[np.float64]
# As the page fits a map into its place.
MARGIN = 0.06
# A pixel that differs so much from the ground is painted.
VISIBLE = 24


@dataclass(frozen=True)
class Points:
    """The points of an evaluation as the server gives them, with some columns in the same order."""

    x: Floats
    y: Floats
    columns: dict[str, list[Any]]

    def inside(self, left: float, bottom: float, right: float, top: float) -> int:
        """How many points lie in a box of the map."""
        return int(((self.x >= left) & (self.x <= right) & (self.y >= bottom) & (self.y <= top)).sum())


def read_points(shown: Shown, run: Path, *columns: str, evaluation: int | None = None) -> Points:
    """Ask for the points of an evaluation, by default of the last one."""
    chosen = {} if evaluation is None else {"evaluation": evaluation}

    def ask(path: str, **query: Any) -> pa.Table:
        url = f"{shown.url}/api/runs/{shown.id_of(run.name)}/population/{path}"
        answer = httpx.get(url, params={**chosen, **query}, timeout=PATIENCE)
        assert answer.status_code == 200, answer.text
        return pa.ipc.open_stream(io.BytesIO(answer.content)).read_all()

    places = ask("points.arrow")
    named = ask("columns.arrow", column=list(columns)) if columns else pa.table({})
    return Points(
        places["x"].to_numpy().astype(float),
        places["y"].to_numpy().astype(float),
        {name: named[name].to_pylist() for name in columns},
    )


@dataclass(frozen=True)
class SeenMap:
    """The map of a page and the points that it shows."""

    page: Any
    points: Points

    @property
    def part(self) -> Any:
        """The part of the page that is the map."""
        return self.page.get_by_role("application")

    def showing(self, points: Points) -> SeenMap:
        """The same map with other points."""
        return replace(self, points=points)

    def painted(self) -> tuple[Pixels, npt.NDArray[np.bool_]]:
        """What the map looks like once it is at rest, and which of its pixels are not its ground."""
        seen = settled(self.part)
        ground = np.median(seen.reshape(-1, 3), axis=0)
        return seen, np.abs(seen - ground).max(axis=-1) > VISIBLE

    def places(self) -> tuple[Floats, Floats]:
        """Where the points are, in pixels of the map."""
        box = self.part.bounding_box()
        x, y = self.points.x, self.points.y
        if "at" in (asked := parameters(self.page)):
            middle_x, middle_y, scale = (float(part) for part in asked["at"][0].split(","))
        else:
            across, up = (float(np.ptp(axis)) for axis in (x, y))
            scale = min(box["width"] * (1 - 2 * MARGIN) / across, box["height"] * (1 - 2 * MARGIN) / up)
            middle_x, middle_y = (x.min() + x.max()) / 2, (y.min() + y.max()) / 2
        return (x - middle_x) * scale + box["width"] / 2, (middle_y - y) * scale + box["height"] / 2

    def alone(self, reach: float) -> list[int]:
        """The points that have no other one in reach, and lie well inside of the map."""
        left, top = self.places()
        box = self.part.bounding_box()
        apart = np.hypot(left[:, None] - left, top[:, None] - top)
        np.fill_diagonal(apart, np.inf)
        within = (left > reach) & (left < box["width"] - reach) & (top > reach) & (top < box["height"] - reach)
        return [int(point) for point in np.flatnonzero((apart.min(axis=1) > reach) & within)]

    def sizes(self, points: list[int], reach: int) -> Floats:
        """How many painted pixels each of some points that are alone has around it."""
        _, painted = self.painted()
        left, top = self.places()
        return np.array(
            [
                painted[
                    max(0, round(top[one]) - reach) : round(top[one]) + reach + 1,
                    max(0, round(left[one]) - reach) : round(left[one]) + reach + 1,
                ].sum()
                for one in points
            ],
            dtype=float,
        )

    def drag(self, *corners: tuple[float, float]) -> None:
        """Draw with the mouse from corner to corner, given as shares of the map's width and height."""
        box = self.part.bounding_box()
        places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
        self.page.mouse.move(*places[0])
        self.page.mouse.down()
        for place in places[1:]:
            self.page.mouse.move(*place, steps=4)
        self.page.mouse.up()

    def point_at(self, point: int) -> None:
        """Lead the mouse to a point."""
        box = self.part.bounding_box()
        left, top = self.places()
        self.page.mouse.move(box["x"] + left[point] - 3, box["y"] + top[point])
        self.page.mouse.move(box["x"] + left[point], box["y"] + top[point])
