"""The two protocols: what reads tensors, and what looks on from inside a hook."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from cutaway.capture.observer import Observer
from cutaway.run.findings import Finding
from cutaway.tensors.reader import TensorReader
from cutaway.tensors.recent_steps import HeldStep, RecentSteps, TensorRows
from cutaway.tensors.statistic_names import STATISTIC_COLUMNS


class SeesNaN:
    """An observer of a dozen lines."""

    def observe(self, reader: TensorReader, step: int) -> Iterator[Finding]:
        for name in reader.tensor_names():
            if reader.statistics_window(name, step, step + 1)["nonfinite"].any():
                yield Finding("nan", "error", f"{name} has a NaN at step {step}.", where={"tensor": name})


def test_an_observer_reads_a_step_and_says_what_it_found() -> None:
    reader, observer = RecentSteps(most=10), SeesNaN()
    for step, nonfinite in enumerate([0, 1]):
        reader.add(
            HeldStep(step, statistics=[TensorRows(("w",), {name: np.array([nonfinite]) for name in STATISTIC_COLUMNS})])
        )
    assert isinstance(reader, TensorReader)
    assert isinstance(observer, Observer)
    assert list(observer.observe(reader, 0)) == []
    assert [finding.where for finding in observer.observe(reader, 1)] == [{"tensor": "w"}]


def test_a_protocol_stays_small() -> None:
    def methods(protocol: type[Any]) -> list[str]:
        return [name for name, value in vars(protocol).items() if callable(value) and not name.startswith("_")]

    assert len(methods(TensorReader)) == 12
    assert methods(Observer) == ["observe"]
