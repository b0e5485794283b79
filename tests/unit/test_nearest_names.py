"""The nearest names: found among few, and never at the cost of comparing with all of many or long ones."""

from __future__ import annotations

from unittest import mock

from cutaway import errors
from cutaway.errors import did_you_mean


def test_the_nearest_are_found_among_thousands() -> None:
    known = [f"training/{number}" for number in range(2000)]
    assert "'training/17'" in did_you_mean("trainin/17", known)


def test_only_so_many_characters_are_compared() -> None:
    known = [f"validation/{number:0100d}" for number in range(100_000)]
    with mock.patch.object(errors, "get_close_matches", return_value=[]) as compared:
        did_you_mean("validation/x", known)
    assert 0 < sum(map(len, compared.call_args.args[1])) <= 50_000


def test_long_names_are_compared_with_none() -> None:
    assert did_you_mean("x" * 2000, ["x" * 1999]) == ""
    assert did_you_mean("weigths", ["w" * 5000, "weights"]) == " Did you mean 'weights'?"
