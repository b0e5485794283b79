"""Counts and lists are said the same way everywhere."""

from cutaway.wording import counted, listed


def test_one_thing_is_singular_and_all_other_numbers_are_plural() -> None:
    said = [counted(1, "step"), counted(2_000, "step"), counted(0, "loss"), counted(2, "entry", "entries")]
    assert said == ["1 step", "2,000 steps", "0 losses", "2 entries"]
    assert [counted(3, "epoch"), counted(3, "batch")] == ["3 epochs", "3 batches"]


def test_a_list_that_is_too_long_says_how_many_it_leaves_out() -> None:
    assert listed(["a", "b"], 2) == "a, b"
    assert listed(["a", "b", "c"], 2) == "a, b and 1 more"
    assert listed([1, 2, 3], 1, "others") == "1 and 2 others"
