"""The last steps in memory: what is added is read as it would be from a run folder, and the oldest is let go of."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.errors import ConfigurationError, TensorUnavailable, TensorUnavailableForStep
from cutaway.tensors.collections import Collections
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.reader import TensorReader
from cutaway.tensors.recent_steps import HeldStep, RecentSteps, TensorRows
from cutaway.tensors.statistic_names import STATISTIC_COLUMNS


def rows(step: int, *names: str, active: list[list[float] | None] | None = None) -> TensorRows:
    """Statistics that tell step and tensor: the size of the third tensor of the call at step 7 is 7002."""
    numbers: npt.NDArray[Any] = 1000.0 * step + np.arange(len(names))
    return TensorRows(names, dict.fromkeys(STATISTIC_COLUMNS, numbers), active)


def held(step: int, *statistics: TensorRows, **about: Any) -> HeldStep:
    return HeldStep(step, about.pop("mode", ModeKeys.TRAIN), step, statistics=statistics, **about)


def test_it_is_a_reader() -> None:
    assert isinstance(RecentSteps(most=10), TensorReader)
    assert RecentSteps(most=10).newest_step() == -1
    assert RecentSteps(most=10).tensor_names() == []


def test_steps_that_come_together_are_one_block() -> None:
    recent = RecentSteps(most=100)
    for step in range(10):
        recent.add(held(step, rows(step, "a", "b"), rows(step, "loss")))
    (block,) = recent.statistics_blocks(["b", "loss"], 4, 8, before=2)
    assert sorted(block.names) == ["b", "loss"]
    assert block.steps.tolist() == [2, 3, 4, 5, 6, 7]
    assert block.fresh == 2
    assert block["l2"][block.names.index("b")].tolist() == [2001, 3001, 4001, 5001, 6001, 7001]
    assert block["l2"][block.names.index("loss")].tolist() == [2000, 3000, 4000, 5000, 6000, 7000]


@given(
    kinds=st.lists(st.sampled_from(["ab", "a", "bc", "abc", ""]), min_size=1, max_size=30),
    reads=st.sets(st.integers(0, 30)),
    start=st.integers(0, 30),
    length=st.integers(0, 30),
    before=st.integers(0, 5),
)
def test_it_says_the_same_however_often_it_was_read_meanwhile(
    kinds: list[str], reads: set[int], start: int, length: int, before: int
) -> None:
    often, once = RecentSteps(most=1000), RecentSteps(most=1000)
    for step, kind in enumerate(kinds):
        one = held(step, rows(step, *kind))
        often.add(one)
        once.add(one)
        if step in reads:
            often.statistics_blocks("abc", 0, step + 1)

    def read(reader: RecentSteps) -> dict[str, tuple[list[int], int, list[float]]]:
        blocks = reader.statistics_blocks("abc", start, start + length, before=before)
        return {
            name: (block.steps.tolist(), block.fresh, block["mean"][row].tolist())
            for block in blocks
            for row, name in enumerate(block.names)
        }

    assert read(often) == read(once)
    for name, (steps, fresh, values) in read(once).items():
        has = [step for step, kind in enumerate(kinds) if name in kind]
        early = [step for step in has if step < start][-before:] if before else []
        assert steps == [*early, *(step for step in has if start <= step < start + length)]
        assert fresh == len(early)
        assert values == [1000.0 * step + kinds[step].index(name) for step in steps]


def test_channels_keep_their_place_among_several_rows() -> None:
    recent = RecentSteps(most=100)
    for step in range(3):
        recent.add(held(step, rows(step, "a"), rows(step, "b", "relu", active=[None, [0.5, step / 4]])))
    (block,) = recent.statistics_blocks(["a", "b", "relu"], 0, 3)
    relu = block.active("relu")
    assert relu is not None
    assert relu.tolist() == [[0.5, 0.0], [0.5, 0.25], [0.5, 0.5]]
    assert block.active("a") is None
    assert block.active("b") is None


def test_what_comes_later_joins_its_step() -> None:
    recent = RecentSteps(most=100)
    recent.add(held(0, rows(0, "a"), seconds={"forward": 1.0}, scalars=[("rate", 0.1)], time=5.0))
    recent.statistics_blocks(["a"], 0, 1)
    recent.add(held(0, rows(0, "loss"), seconds={"optimizer": 2.0}, scalars=[("loss", 3.0)], samples=["training/1"]))
    recent.add(held(1, rows(1, "a")))
    assert recent.tensor_names() == ["a", "loss"]
    assert recent.samples(0) == ["training/1"]
    window = recent.step_window(0, 1)
    assert (window["forward"].tolist(), window["optimizer"].tolist(), window["time"].tolist()) == ([1.0], [2.0], [5.0])
    assert recent.statistics_window("loss", 0, 9)["step"].tolist() == [0]
    assert recent.statistics_window("a", 0, 9)["step"].tolist() == [0, 1]
    assert recent.scalar_window("loss", 0, 9)["value"].tolist() == [3.0]


def test_scalars_need_no_step_and_are_in_the_order_of_steps() -> None:
    recent = RecentSteps(most=100)
    recent.add_scalars(3, ModeKeys.EVAL, [("accuracy", 0.3)])
    recent.add_scalars(1, ModeKeys.TRAIN, [("accuracy", 0.1), ("accuracy", 0.2)])
    assert recent.newest_step() == -1
    assert recent.scalar_names() == ["accuracy"]
    assert recent.scalar_window("accuracy", 0, 9)["value"].tolist() == [0.1, 0.2, 0.3]
    assert recent.scalar_window("accuracy", 0, 9, ModeKeys.EVAL)["step"].tolist() == [3]
    assert recent.scalar_window("nothing", 0, 9)["step"].tolist() == []


@pytest.mark.parametrize("reads_every", [1, 7, 1000])
def test_the_last_steps_are_held_and_older_ones_let_go_of(reads_every: int) -> None:
    recent = RecentSteps(most=20)
    for step in range(200):
        recent.add(held(step, rows(step, "old" if step < 100 else "new"), scalars=[("loss", float(step))]))
        if step % reads_every == 0:
            recent.statistics_blocks(["old", "new"], 0, step + 1)
        steps = recent.step_window(0, 1000)["step"].tolist()
        assert steps[-20:] == list(range(max(step - 19, 0), step + 1))
        assert len(steps) <= 25
    assert recent.tensor_names() == ["new"]
    seen = recent.statistics_window("new", 0, 1000)["step"].tolist()
    assert seen[-20:] == list(range(180, 200))
    assert len(seen) <= 70
    assert recent.scalar_window("loss", 0, 1000)["step"].tolist()[-20:] == list(range(180, 200))
    assert len(recent.scalar_window("loss", 0, 1000)["step"]) <= 25
    with pytest.raises(TensorUnavailable):
        recent.statistics_window("old", 0, 1000)


def test_names_are_chosen_by_regex_and_collection() -> None:
    collections = Collections()
    recent = RecentSteps(most=10, collections=collections)
    recent.add(held(0, rows(0, "Net_fc.weight", "gradient/Net_fc.weight")))
    assert recent.tensor_names(collection="gradients") == ["gradient/Net_fc.weight"]
    assert recent.tensor_names(regex="^Net") == ["Net_fc.weight"]
    recent.tensor_names().append("mine")
    recent.add(held(1, rows(1, "gradient/Net_fc.bias")))
    assert recent.tensor_names(collection="gradients") == ["gradient/Net_fc.bias", "gradient/Net_fc.weight"]
    assert len(recent.tensor_names()) == 3


def test_asking_for_an_unknown_collection_does_not_make_it() -> None:
    collections = Collections()
    recent = RecentSteps(most=10, collections=collections)
    recent.add(held(0, rows(0, "a")))
    with pytest.raises(ConfigurationError, match=r"no collection 'wieghts'. Did you mean 'weights'"):
        recent.tensor_names(collection="wieghts")
    assert "wieghts" not in collections


def test_a_value_that_is_not_held_is_refused() -> None:
    recent = RecentSteps(most=10)
    recent.add(held(0, rows(0, "a"), values={"b": np.ones(2)}))
    assert recent.value("b", 0).tolist() == [1.0, 1.0]
    assert recent.steps() == [0]
    with pytest.raises(TensorUnavailableForStep, match="reduction_value"):
        recent.value("a", 0)
