"""What the training thread hands to the writer."""

from __future__ import annotations

import threading

import numpy as np

from cutaway.capture.records import MOST_SLABS, Layout, Offer, Slab, SlabPool, StepRecord
from cutaway.tensors.blocked_statistics import StatisticsPlan
from cutaway.tensors.modes import ModeKeys


def test_the_bits_of_bfloat16_become_the_numbers_that_they_mean() -> None:
    offer = Offer("x", np.array([0x3F80, 0xC000, 0x7FC0], np.uint16), "bfloat16")
    numbers = offer.numbers()
    assert numbers.dtype == np.float32
    assert numbers[:2].tolist() == [1.0, -2.0]
    assert np.isnan(numbers[2])


def test_complex_numbers_become_their_parts() -> None:
    assert Offer("x", np.array([1 + 2j]), "complex128").numbers().tolist() == [1.0, 2.0]
    assert Offer("x", np.array(1 + 2j, np.complex64), "complex64").numbers().tolist() == [1.0, 2.0]


def test_other_numbers_are_themselves() -> None:
    array = np.arange(3)
    assert Offer("x", array, "int64").numbers() is array


def test_the_likely_size_grows_with_what_is_recorded() -> None:
    plain = StepRecord(0, ModeKeys.TRAIN, 0, 0.0)
    tensors = StepRecord(0, ModeKeys.TRAIN, 0, 0.0, offers=[Offer("x", np.ones(1), "float64")] * 10)
    samples = StepRecord(0, ModeKeys.TRAIN, 0, 0.0, samples=["training/1", None])
    assert plain.likely_bytes < samples.likely_bytes < tensors.likely_bytes


def layout(size: int = 3) -> Layout:
    plan = StatisticsPlan([("a", size), ("b", 2)])
    return Layout(("a", "b"), ("float32", "float32"), ((size,), (2,)), 1, plan)


def all_of(pool: SlabPool) -> list[Slab]:
    slabs = []
    while (slab := pool.acquire(0.0)) is not None:
        slabs.append(slab)
    return slabs


def test_a_slab_holds_each_tensor_in_its_place() -> None:
    slab = SlabPool(layout()).acquire(0.0)
    assert slab is not None
    slab.values(0)[:] = [1, 2, 3]
    slab.values(1)[:] = [4, 5]
    assert slab.values(0).tolist() == [1, 2, 3]
    assert slab.values(1).tolist() == [4, 5]


def test_there_are_at_most_so_many_slabs() -> None:
    assert len(all_of(SlabPool(layout()))) == MOST_SLABS


def test_large_slabs_are_fewer_but_never_less_than_three() -> None:
    each = layout().plan.size * 4
    assert len(all_of(SlabPool(layout(), memory=5 * each))) == 5
    assert len(all_of(SlabPool(layout(), memory=1))) == 3


def test_a_slab_that_came_back_is_used_again() -> None:
    pool = SlabPool(layout())
    slabs = all_of(pool)
    pool.release(slabs[0])
    assert pool.acquire(0.0) is slabs[0]


def test_a_slab_of_another_layout_is_not_taken_in() -> None:
    pool, other = SlabPool(layout()), SlabPool(layout(5))
    all_of(pool)
    stranger = other.acquire(0.0)
    assert stranger is not None
    pool.release(stranger)
    assert pool.acquire(0.0) is None


def test_whoever_waits_gets_the_slab_that_comes_back() -> None:
    pool = SlabPool(layout())
    slabs = all_of(pool)
    pool.release(slabs.pop())
    slab = pool.acquire(0.0)
    assert slab is not None
    threading.Timer(0.05, pool.release, [slab]).start()
    assert pool.acquire(20.0) is slab


def test_after_one_wait_in_vain_nobody_waits_until_a_slab_has_come_back() -> None:
    pool = SlabPool(layout())
    slabs = all_of(pool)
    assert pool.acquire(0.01) is None
    # Whoever waited now would wait for longer than a test may take.
    assert pool.acquire(3600.0) is None
    pool.release(slabs[0])
    assert pool.acquire(20.0) is slabs[0]
