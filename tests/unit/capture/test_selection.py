"""Which tensors are wanted, and what of each is kept at a step."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.capture.selection import NOTHING_DUE, Keep, Selection
from cutaway.tensors.collections import Collections
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.reduction_config import ReductionConfig
from cutaway.tensors.save_config import SaveConfig, SaveConfigMode

WEIGHT, BIAS, LOSS = "Net_fc.weight", "Net_fc.bias", "CrossEntropyLoss_output_0"


def selection(
    *included: str,
    collections: Collections | None = None,
    save: SaveConfig | None = None,
    reductions: ReductionConfig | None = None,
) -> Selection:
    return Selection(collections or Collections(), included, save or SaveConfig(save_interval=10), reductions)


@pytest.mark.parametrize(
    ("tensor", "wanted"),
    [(WEIGHT, True), (BIAS, True), (f"gradient/{WEIGHT}", True), (LOSS, True), ("fc_output_0", False), ("x", False)],
)
def test_statistics_are_wanted_of_parameters_gradients_and_losses(tensor: str, wanted: bool) -> None:
    assert selection("losses").wants(tensor) is wanted


def test_statistics_are_wanted_of_whatever_is_included_and_whatever_is_watched() -> None:
    assert selection("outputs").wants("fc_output_0")
    watching = selection("weights", save=SaveConfig(when_nan=["fc_output"]))
    assert watching.wants("fc_output_0")
    assert not watching.wants("fc_input_0")


def test_only_included_collections_are_kept_and_only_when_they_are_due() -> None:
    found = selection("weights", "losses")
    assert found.due(ModeKeys.TRAIN, 10) == {"weights", "losses"}
    assert found.due(ModeKeys.TRAIN, 11) == NOTHING_DUE
    assert found.keep(WEIGHT, found.due(ModeKeys.TRAIN, 10)) == Keep(raw=True, reductions=())
    assert found.keep(BIAS, found.due(ModeKeys.TRAIN, 10)) is None
    assert found.keep(WEIGHT, NOTHING_DUE) is None


def test_a_collection_is_due_by_its_own_schedule_filled_from_the_hooks() -> None:
    collections = Collections()
    collections.get("weights").save_config = {ModeKeys.EVAL: SaveConfigMode(save_interval=2)}
    found = selection("weights", "losses", collections=collections)
    assert found.due(ModeKeys.EVAL, 4) == {"weights"}
    assert found.due(ModeKeys.TRAIN, 4) == NOTHING_DUE
    assert found.due(ModeKeys.TRAIN, 20) == {"weights", "losses"}


def test_a_tensor_of_two_collections_keeps_what_either_asks() -> None:
    collections = Collections()
    collections.get("mine").include("weight")
    collections.get("mine").reduction_config = ReductionConfig(reductions=["max"])
    collections.get("yours").include("weight")
    collections.get("yours").reduction_config = ReductionConfig(norms=["l2"], save_raw_tensor=True)
    found = selection("mine", "yours", collections=collections)
    assert found.keep(WEIGHT, frozenset({"mine"})) == Keep(raw=False, reductions=(("max", False),))
    both = found.keep(WEIGHT, frozenset({"mine", "yours"}))
    assert both == Keep(raw=True, reductions=(("max", False), ("l2", False)))


def test_scalar_collections_are_never_reduced() -> None:
    found = selection("losses", "weights", reductions=ReductionConfig(reductions=["max"]))
    due = frozenset({"losses", "weights"})
    assert found.keep(LOSS, due) == Keep(raw=True, reductions=())
    assert found.keep(WEIGHT, due) == Keep(raw=False, reductions=(("max", False),))


def test_a_tensor_that_is_not_finite_makes_only_its_watchers_due() -> None:
    collections = Collections()
    collections.get("biases").save_config = SaveConfig(when_nan=["oss_output"])
    found = selection("weights", "biases", collections=collections)
    assert found.nan_watch
    assert found.nan_watch.due(LOSS) == {"biases"}
    assert found.nan_watch.due(WEIGHT) == NOTHING_DUE
    assert not selection("weights").nan_watch


@given(
    intervals=st.lists(st.tuples(st.integers(1, 7), st.integers(0, 9)), min_size=1, max_size=3),
    step=st.integers(0, 40),
)
def test_the_next_due_step_is_the_first_that_a_brute_force_search_finds(
    intervals: list[tuple[int, int]], step: int
) -> None:
    collections = Collections()
    names = []
    for i, (interval, start) in enumerate(intervals):
        names.append(f"own-{i}")
        collections.get(names[-1]).include("weight")
        collections.get(names[-1]).save_config = SaveConfig(save_interval=interval, start_step=start, end_step=40)
    found = selection(*names, collections=collections)
    wanted = next((later for later in range(step, 41) if found.due(ModeKeys.TRAIN, later)), None)
    assert found.next_due(ModeKeys.TRAIN, step) == wanted
