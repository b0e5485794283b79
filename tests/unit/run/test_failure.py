"""The exception that ended a training, written down and read back."""

from __future__ import annotations

from typing import Any

import pytest

from cutaway.run.failure import MOST_TRACEBACK, TrainingFailure


def _raised(error: BaseException) -> BaseException:
    with pytest.raises(type(error)) as caught:
        raise error
    return caught.value


def test_it_is_told_as_python_prints_it() -> None:
    found = TrainingFailure.of(_raised(ValueError("shapes differ\nby far")))
    assert (found.type, found.message, found.headline) == (
        "ValueError",
        "shapes differ\nby far",
        "ValueError: shapes differ",
    )
    assert found.traceback.startswith("Traceback (most recent call last):")
    assert "test_failure.py" in found.traceback
    assert found.traceback.endswith("by far")
    assert TrainingFailure.in_lease({"error": found._asdict()}) == found


def test_what_caused_it_is_told_too() -> None:
    error = ValueError("second")
    error.__cause__ = _raised(KeyError("first"))
    assert "direct cause" in TrainingFailure.of(_raised(error)).traceback


def test_an_exception_without_words_has_its_type() -> None:
    assert TrainingFailure.of(_raised(KeyboardInterrupt())).headline == "KeyboardInterrupt"


def test_an_exception_whose_words_fail_is_told_all_the_same() -> None:
    class Broken(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    found = TrainingFailure.of(_raised(Broken()))
    assert found.message == ""
    assert found.type.endswith("Broken")


def test_of_a_long_traceback_the_end_is_kept() -> None:
    found = TrainingFailure.of(_raised(ValueError("x" * 3 * MOST_TRACEBACK + "end")))
    assert len(found.traceback) <= MOST_TRACEBACK + 2
    assert found.traceback.endswith("end")


@pytest.mark.parametrize("lease", [{}, {"error": None}, {"error": "ValueError"}, {"error": {"type": 3}}])
def test_a_lease_that_tells_none_has_none(lease: dict[str, Any]) -> None:
    assert TrainingFailure.in_lease(lease) is None
