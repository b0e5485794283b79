"""What a run holds, as plain dictionaries that tests can compare."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cutaway.run import Run
from cutaway.run.segments import RawPlace
from cutaway.tensors.statistics import Statistics, reference_statistics

Array = npt.NDArray[Any]


class Saved(NamedTuple):
    """A row of `trace/tensors`."""

    dtype: str
    shape: tuple[int, ...]
    reductions: dict[str, float] | None
    array: Array | None


class Recorded:
    """A run, read whole. A row that is there twice fails the test."""

    def __init__(self, path: Path | str | None) -> None:
        assert path is not None
        self.run = Run.open(path)

    def rows(self, table: str) -> list[dict[str, Any]]:
        reader = self.run.table(table)
        rows: list[dict[str, Any]] = reader.read().to_pylist()
        assert not reader.damage
        return rows

    @property
    def steps(self) -> list[dict[str, Any]]:
        rows = self.rows("trace/steps")
        listed = [(row["worker"], row["step"]) for row in rows]
        assert len(listed) == len(set(listed)), f"a step is listed twice: {listed}"
        return sorted(rows, key=lambda row: (row["worker"], row["step"]))

    def numbers(self, worker: str = "worker_0") -> list[int]:
        """The steps of a worker."""
        return [row["step"] for row in self.steps if row["worker"] == worker]

    def statistics(self, worker: str = "worker_0") -> dict[tuple[int, str], dict[str, Any]]:
        return _keyed((row for row in self.rows("trace/statistics") if row["worker"] == worker), "step", "tensor")

    def named(self, step: int | None = None) -> set[str]:
        """The tensors that have statistics, at one step or at any."""
        return {tensor for at, tensor in self.statistics() if step is None or at == step}

    def scalars(self, name: str) -> dict[int, float]:
        rows = [row for row in self.rows("scalars") if row["name"] == name]
        return {step: row["value"] for (step,), row in _keyed(rows, "step").items()}

    def tensors(self) -> dict[tuple[int, str], Saved]:
        reader = self.run.table("trace/tensors")
        reader.poll()
        found: dict[tuple[int, str], Saved] = {}
        for batch in reader.batches:
            for row in batch.rows.to_pylist():
                if not reader.visible(batch.segment, row["step"]):
                    continue
                array = None
                if row["offset"] is not None:
                    data = reader.raw(batch.segment, RawPlace(row["offset"], row["length"], row["crc"]))
                    array = np.frombuffer(data, _numpy(row["dtype"])).reshape(row["shape"])
                key = (row["step"], row["tensor"])
                assert key not in found, f"{key} is saved twice"
                reductions = None if row["reductions"] is None else dict(row["reductions"])
                found[key] = Saved(row["dtype"], tuple(row["shape"]), reductions, array)
        assert not reader.damage
        return found

    def saved_at(self, tensor: str) -> list[int]:
        """The steps at which a tensor was saved."""
        return sorted(step for step, name in self.tensors() if name == tensor)

    def values(self, name: str) -> dict[tuple[int, str], float]:
        rows = _keyed((row for row in self.rows("values") if row["name"] == name), "step", "sample")
        return {key: row["value"] for key, row in rows.items()}

    def findings(self) -> list[str]:
        return [finding.code for finding in self.run.findings()]


def _keyed(rows: Iterable[dict[str, Any]], *keys: str) -> dict[Any, dict[str, Any]]:
    found: dict[Any, dict[str, Any]] = {}
    for row in rows:
        key = tuple(row[name] for name in keys)
        assert key not in found, f"{key} is there twice"
        found[key] = row
    return found


def _numpy(dtype: str) -> np.dtype[Any]:
    return np.dtype("uint16" if dtype == "bfloat16" else dtype)


def assert_statistics(row: dict[str, Any], values: Array) -> None:
    """Check one row of statistics against the float64 reference, within what the product promises."""
    exact = reference_statistics(values)
    for name in ("size", "nonfinite", "zeros", "min", "max", "abs_min"):
        np.testing.assert_equal(row[name], getattr(exact, name), err_msg=f"{row['tensor']} at {row['step']}: {name}")
    _assert_close(row, exact)


def _assert_close(row: dict[str, Any], exact: Statistics) -> None:
    finite = exact.size - exact.nonfinite
    allowed = {
        "mean": 1e-6 * exact.l1 / max(finite, 1),
        "std": 1e-5 * max(exact.std, 1e-3 * abs(exact.mean)),
        "l1": 1e-5 * exact.l1,
        "l2": 1e-5 * exact.l2,
    }
    for name, tolerance in allowed.items():
        wanted = getattr(exact, name)
        where = f"{row['tensor']} at step {row['step']}: {name} is {row[name]}, not {wanted}"
        assert (np.isnan(wanted) and np.isnan(row[name])) or abs(row[name] - wanted) <= tolerance, where
