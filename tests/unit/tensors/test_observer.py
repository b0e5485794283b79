"""The two protocols: what reads tensors, and what looks on from inside a hook."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cutaway.run.findings import Finding
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.observer import Observer
from cutaway.tensors.reader import TensorReader


class Memory:
    """A reader over two steps of one tensor."""

    def tensor_names(self, *, regex: str | None = None, collection: str | None = None) -> Sequence[str]:
        return ["w"]

    def steps(self, mode: ModeKeys = ModeKeys.GLOBAL) -> Sequence[int]:
        return [0, 1]

    def mode(self, global_step: int) -> ModeKeys:
        return ModeKeys.TRAIN

    def statistics_window(self, tensor: str, start: int, stop: int) -> Mapping[str, np.ndarray]:
        steps = np.array([step for step in self.steps() if start <= step < stop])
        return {"step": steps, "nonfinite": steps}

    def value(self, tensor: str, step: int) -> np.ndarray:
        return np.array([step])

    def samples(self, step: int) -> Sequence[str | None] | None:
        return None


class SeesNaN:
    """An observer of a dozen lines."""

    def observe(self, reader: TensorReader, step: int) -> Iterator[Finding]:
        for name in reader.tensor_names():
            if reader.statistics_window(name, step, step + 1)["nonfinite"].any():
                yield Finding("nan", "error", f"{name} has a NaN at step {step}.", where={"tensor": name})


def test_an_observer_reads_a_step_and_says_what_it_found() -> None:
    reader, observer = Memory(), SeesNaN()
    assert isinstance(reader, TensorReader)
    assert isinstance(observer, Observer)
    assert list(observer.observe(reader, 0)) == []
    assert [finding.where for finding in observer.observe(reader, 1)] == [{"tensor": "w"}]


def test_a_protocol_stays_small() -> None:
    def methods(protocol: type[Any]) -> list[str]:
        return [name for name, value in vars(protocol).items() if callable(value) and not name.startswith("_")]

    assert len(methods(TensorReader)) == 6
    assert methods(Observer) == ["observe"]
