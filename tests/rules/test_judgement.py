"""Judgements and episodes: a sickness is told once, wherever the run is cut."""

from itertools import pairwise

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from cutaway.rules.judgement import Episodes, Judgement

SUBJECTS = ("a", "b")


def judgement(fires: npt.NDArray[np.bool_], start: int = 0) -> Judgement:
    steps = np.arange(start, start + fires.shape[1], dtype=np.int64) * 3  # steps need not be next to each other
    return Judgement(SUBJECTS[: len(fires)], steps, fires, fires.astype(float), 0.5, lambda *_: "sick.")


def onsets(fires: npt.NDArray[np.bool_], cuts: list[int], rest: int) -> list[tuple[str, int]]:
    """Return who begins to fire at which step, of a run that is judged in windows."""
    episodes, found = Episodes(rest), []
    edges = [0, *sorted(cuts), fires.shape[1]]
    for first, last in pairwise(edges):
        found += [(one.subject, one.step) for one in episodes.onsets(judgement(fires[:, first:last], first))]
    return sorted(found)


def brute_force(fires: npt.NDArray[np.bool_], rest: int) -> list[tuple[str, int]]:
    found = []
    for subject, row in zip(SUBJECTS, fires, strict=True):
        quiet = rest
        for place, sick in enumerate(row):
            if sick and quiet >= rest:
                found.append((subject, 3 * place))
            quiet = 0 if sick else quiet + 1
    return sorted(found)


@st.composite
def cut_runs(draw: st.DrawFn) -> tuple[npt.NDArray[np.bool_], list[int], int]:
    count = draw(st.integers(1, 40))
    row = st.lists(st.booleans(), min_size=count, max_size=count)
    fires = np.array([draw(row) for _ in SUBJECTS], bool)
    return fires, draw(st.lists(st.integers(0, count), max_size=8)), draw(st.integers(1, 10))


@given(cut_runs())
def test_onsets_are_the_same_however_a_run_is_cut(run: tuple[npt.NDArray[np.bool_], list[int], int]) -> None:
    fires, cuts, rest = run
    assert onsets(fires, cuts, rest) == onsets(fires, [], rest) == brute_force(fires, rest)


def test_a_sickness_is_told_again_after_a_rest_and_not_before() -> None:
    row = np.array([[1, 1, 0, 0, 1, 0, 0, 0, 1]], bool)
    assert onsets(row, [], rest=3) == [("a", 0), ("a", 24)]
    assert onsets(row, [], rest=4) == [("a", 0)]
    assert onsets(row, [], rest=2) == [("a", 0), ("a", 12), ("a", 24)]


def test_an_onset_carries_what_a_finding_needs() -> None:
    fires = np.array([[0, 0], [0, 1]], bool)
    (one,) = Episodes(100).onsets(judgement(fires, 4))
    assert (one.step, one.subject, one.value, one.row, one.column) == (15, "b", 1.0, 1, 1)


def test_a_judgement_of_one_subject_takes_lists() -> None:
    found = Judgement.of_one(
        "loss", [2, 5], [False, True], [0.1, 0.9], 0.5, lambda step: f"{step}.", lambda step: {"at": step}
    )
    assert found.fires.shape == found.value.shape == (1, 2)
    assert (found.fired_at(2), found.fired_at(5), found.fired_at(7)) == (False, True, False)
    assert found.evidence is not None
    assert (found.message(0, 1), found.evidence(0, 1)) == ("1.", {"at": 1})
    assert found.evidence(0, 0) == {"at": 0}


def test_without_evidence_there_is_none() -> None:
    found = Judgement.of_one("", [0], [True], [1.0], 0.0, lambda _: "sick.")
    assert found.evidence is None


def test_subjects_that_are_judged_at_different_steps_rest_for_themselves() -> None:
    episodes = Episodes(2)
    first = Judgement.of_one("a", [0], [True], [1.0], 0.0, lambda _: "sick.")
    other = Judgement.of_one("b", [1, 2, 3], [False] * 3, [0.0] * 3, 0.0, lambda _: "sick.")
    again = Judgement.of_one("a", [4], [True], [1.0], 0.0, lambda _: "sick.")
    assert [one.step for step in (first, other, again) for one in episodes.onsets(step)] == [0]
