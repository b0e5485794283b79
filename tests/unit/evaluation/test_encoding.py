"""Batches in the making: whole slices, single samples, and threads that go on where one does not come back."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from cutaway.arrays import Array
from cutaway.dataset import Dataset
from cutaway.dataset.content import content_hash
from cutaway.dataset.enums import Role
from cutaway.dataset.functions import Field
from cutaway.errors import EvaluationError
from cutaway.evaluation.encoding import Encoding, Turn, begin_batch, encode_batch
from cutaway.evaluation.preparing import MOST_LEFT_BEHIND, Preparing
from cutaway.evaluation.wiring import first_sample, shapes_of


def arrays(count: int = 10) -> Dataset:
    x = np.arange(count * 2, dtype=np.float32).reshape(count, 2)
    return Dataset.from_arrays({"x": x}, {"y": np.arange(count)}, metadata={"m": list(range(count))})


class Singly:
    """The samples of an array subset, asked for one at a time; `wait` may hold one up."""

    name = "training"

    def __init__(self, dataset: Dataset, wait: Any = None) -> None:
        self._inner, self._wait = dataset.subsets["training"], wait
        self.threads: set[int] = set()

    def __len__(self) -> int:
        return len(self._inner)

    def encode(self, role: Role, name: str, index: int) -> Array:
        self.threads.add(threading.get_ident())
        if self._wait is not None:
            self._wait(index)
        return self._inner.encode(role, name, index)

    def encode_many(self, *_: object) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def singly(count: int = 10, wait: Any = None) -> Dataset:
    whole = arrays(count)
    return Dataset({"training": Singly(whole, wait)}, whole.inputs, whole.ground_truths, whole.metadata)


def encoding(dataset: Dataset) -> Encoding:
    return Encoding(dataset, shapes_of(first_sample(dataset)))


def made(dataset: Dataset, start: int, stop: int) -> Any:
    underway = begin_batch(dataset.subsets["training"], start, stop)
    return encode_batch(encoding(dataset), underway, Turn(underway))


def test_slices_and_single_samples_make_the_same_batch() -> None:
    one, other = made(arrays(), 2, 7), made(singly(), 2, 7)
    assert one.ids == other.ids == [f"training/{i}" for i in range(2, 7)]
    assert one.hashes == other.hashes
    assert one.metadata == other.metadata
    assert np.array_equal(one.inputs["x"], other.inputs["x"])
    assert np.array_equal(one.truths["y"], other.truths["y"])


def test_the_hash_is_that_of_the_sample_alone() -> None:
    batch = made(arrays(), 0, 3)
    assert batch.hashes[1] == content_hash({"x": arrays().subsets["training"].encode(Role.INPUT, "x", 1)})


def test_an_unlabeled_subset_has_no_ground_truths_encoded() -> None:
    x = np.zeros((3, 2), np.float32)
    dataset = Dataset.from_arrays({"x": x}, subset="unlabeled")
    unlabeled = Dataset(dataset.subsets, dataset.inputs, (Field("y"),))
    underway = begin_batch(unlabeled.subsets["unlabeled"], 0, 3)
    assert encode_batch(encoding(unlabeled), underway, Turn(underway)).truths == {}


class TestPreparing:
    def batches(self, dataset: Dataset, **options: Any) -> list[Any]:
        preparing = Preparing(encoding(dataset), **{"workers": 2, "sample_timeout": 30.0, **options})
        try:
            return list(preparing.batches([("training", i, min(i + 4, 10)) for i in range(0, 10, 4)]))
        finally:
            preparing.close()

    def test_batches_come_in_their_order_whoever_is_faster(self) -> None:
        first = threading.Event()

        def wait(index: int) -> None:
            # The first batch waits until a later one has begun.
            if index == 1:
                first.wait(10)
            if index == 5:
                first.set()

        found = self.batches(singly(wait=wait))
        assert [batch.start for batch in found] == [0, 4, 8]
        assert [batch.errors for batch in found] == [[None] * 4, [None] * 4, [None] * 2]

    def test_what_somebody_raises_in_a_thread_arrives_where_the_batch_is_waited_for(self) -> None:
        def finish(batch: Any) -> None:
            raise MemoryError("no room")

        with pytest.raises(MemoryError, match="no room"):
            self.batches(arrays(), finish=finish)

    def test_two_sleepers_in_one_batch_cost_two_samples(self) -> None:
        awake = threading.Event()
        dataset = singly(wait=lambda index: awake.wait(20) if index in (1, 2) and armed else None)
        armed = False
        prepared = encoding(dataset)
        armed = True
        preparing = Preparing(prepared, workers=1, sample_timeout=0.1)
        [batch] = preparing.batches([("training", 0, 4)])
        awake.set()
        preparing.close()
        assert batch.encoded.tolist() == [True, False, False, True]
        assert np.array_equal(batch.inputs["x"], [[0, 1], [6, 7]])
        assert all("did not come back within 0.1 s" in batch.errors[i] for i in (1, 2))

    def test_too_many_sleepers_end_it(self) -> None:
        awake = threading.Event()
        armed = False
        dataset = singly(count=MOST_LEFT_BEHIND + 10, wait=lambda index: awake.wait(30) if armed else None)
        prepared = encoding(dataset)
        armed = True
        preparing = Preparing(prepared, workers=1, sample_timeout=0.01)
        with pytest.raises(EvaluationError, match="cannot be ended"):
            list(preparing.batches([("training", 0, MOST_LEFT_BEHIND + 10)]))
        awake.set()
        preparing.close()
