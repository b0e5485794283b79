"""What the training thread hands to the writer."""

from __future__ import annotations

import numpy as np

from cutaway.capture.records import Offer, StepRecord
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
