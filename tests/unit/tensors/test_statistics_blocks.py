"""Blocks of statistics: however steps came, what is read of a window is what a table of all rows says."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.reader import TensorReader
from cutaway.tensors.recent_steps import HeldStep, RecentSteps, TensorRows
from cutaway.tensors.statistics_blocks import Chunks, StatisticsBlock, StatisticsChunk
from cutaway.testing.rules import ScriptedRun
from cutaway.trial import create_trial

NAMES = ("a", "b", "c.weight", "d")
MODES = (ModeKeys.TRAIN, ModeKeys.EVAL)


class Step(NamedTuple):
    """A step of a made-up run: its tensors in the order in which they came, those of them that were only saved in full
    instead of recorded, whether the others were saved too, and whether somebody reads after it.
    """

    number: int
    mode: ModeKeys
    tensors: tuple[str, ...]
    unrecorded: frozenset[str]
    save: bool
    read: bool

    def add_to(self, run: ScriptedRun) -> None:
        values = {name: np.full(2, value(self.number, name)) for name in self.tensors}
        run.step(
            self.mode,
            number=self.number,
            tensors={name: own for name, own in values.items() if name not in self.unrecorded},
            values={name: own for name, own in values.items() if name in self.unrecorded},
            save=self.save,
        )


class Ask(NamedTuple):
    """One question to a reader."""

    names: tuple[str, ...]
    start: int
    stop: int
    before: int
    mode: ModeKeys


@st.composite
def scripts(draw: st.DrawFn) -> list[Step]:
    tensors = st.one_of(st.just(NAMES), st.lists(st.sampled_from(NAMES), unique=True).map(tuple))
    numbers = sorted(draw(st.sets(st.integers(0, 25), min_size=1, max_size=15)))
    unrecorded = st.one_of(st.just(frozenset[str]()), st.frozensets(st.sampled_from(NAMES)))
    flags = st.booleans()
    return [
        Step(one, draw(st.sampled_from(MODES)), draw(tensors), draw(unrecorded), draw(flags), draw(flags))
        for one in numbers
    ]


@st.composite
def asks(draw: st.DrawFn) -> Ask:
    names = tuple(draw(st.lists(st.sampled_from((*NAMES, "unknown")), unique=True, min_size=1)))
    start, stop = sorted((draw(st.integers(0, 28)), draw(st.integers(0, 28))))
    return Ask(names, start, stop, draw(st.integers(0, 6)), draw(st.sampled_from([*MODES, ModeKeys.GLOBAL])))


def value(step: int, name: str) -> float:
    return step * 10.0 + NAMES.index(name)


def expected(script: list[Step], ask: Ask) -> dict[str, tuple[list[int], int]]:
    """Return by tensor the steps that a block must hold, and how many of them lie before the window."""
    found = {}
    for name in ask.names:
        own = [one.number for one in script if name in one.tensors and ask.mode in (ModeKeys.GLOBAL, one.mode)]
        inside = [step for step in own if ask.start <= step < ask.stop]
        earlier = [step for step in own if step < ask.start][-ask.before :] if ask.before else []
        if inside:
            found[name] = ([*earlier, *inside], len(earlier))
    return found


def rows_of(blocks: list[StatisticsBlock]) -> Iterator[tuple[str, list[int], int, list[float]]]:
    for block in blocks:
        assert block["mean"].shape == (len(block.names), len(block)) == (len(block.names), len(block.steps))
        for row, name in enumerate(block.names):
            yield name, block.steps.tolist(), block.fresh, block["mean"][row].tolist()


def check(reader: TensorReader, script: list[Step], ask: Ask) -> None:
    blocks = list(reader.statistics_blocks(ask.names, ask.start, ask.stop, before=ask.before, mode=ask.mode))
    rows = list(rows_of(blocks))
    assert len({name for name, *_ in rows}) == len(rows), "each tensor stands in one block"
    assert {name: (steps, fresh) for name, steps, fresh, _ in rows} == expected(script, ask)
    for name, steps, _, means in rows:
        assert means == [value(step, name) for step in steps]
    recorded = {(one.number, name) for one in script for name in one.tensors if name not in one.unrecorded}
    for block in blocks:
        for name in block.names:
            assert block.recorded.tolist() == [(step, name) in recorded for step in block.steps.tolist()]


def changes(script: list[Step], name: str) -> dict[int, float]:
    """Return by step the change of a tensor since the step before; NaN where it cannot be known."""
    own = [one for one in script if name in one.tensors]
    found = {one.number: math.nan for one in own}
    for before, now in pairwise(own):
        if "weight" in name and (name in before.unrecorded) == (name in now.unrecorded):
            found[now.number] = math.sqrt(2) * (value(now.number, name) - value(before.number, name))
    return found


def scripted(script: list[Step]) -> ScriptedRun:
    run = ScriptedRun()
    for one in script:
        one.add_to(run)
        if one.read:
            run.statistics_blocks(NAMES, 0, 30)  # what was read is a chunk of its own
    return run


@given(script=scripts(), questions=st.lists(asks(), min_size=1, max_size=5))
def test_in_memory_every_window_is_what_the_rows_say(script: list[Step], questions: list[Ask]) -> None:
    run = scripted(script)
    for ask in questions:
        check(run, script, ask)


@settings(max_examples=25, deadline=None)  # each writes a run folder
@given(script=scripts(), questions=st.lists(asks(), min_size=1, max_size=8))
def test_on_disk_every_window_is_what_the_rows_say(script: list[Step], questions: list[Ask]) -> None:
    with TemporaryDirectory() as folder:
        scripted(script).write(f"{folder}/run")
        trial = create_trial(f"{folder}/run")
        for ask in questions:
            check(trial, script, ask)


@settings(max_examples=25, deadline=None)
@given(script=scripts(), ask=asks())
def test_a_run_that_grows_is_read_as_one_that_has_ended(script: list[Step], ask: Ask) -> None:
    with TemporaryDirectory() as folder:
        run = ScriptedRun()
        run.begin(f"{folder}/run")
        trial = create_trial(f"{folder}/run")
        for i, one in enumerate(script):
            one.add_to(run)
            if one.read:
                check(trial, script[: i + 1], ask)
        run.end()
        check(trial, script, ask)


@settings(max_examples=50, deadline=None)
@given(script=scripts(), start=st.integers(0, 28), before=st.integers(0, 3))
def test_a_change_is_one_since_the_step_before_or_unknown(script: list[Step], start: int, before: int) -> None:
    run = scripted(script)
    with TemporaryDirectory() as folder:
        run.write(f"{folder}/run")
        for reader in (run, create_trial(f"{folder}/run")):
            for block in reader.statistics_blocks(NAMES, start, 30, before=before):
                # Of the first step of all that are given nobody asks since when.
                steps = block.steps[1 if before else 0 :].tolist()
                for row, name in enumerate(block.names):
                    known = changes(script, name)
                    found = block["change"][row, len(block) - len(steps) :]
                    assert found == pytest.approx([known[step] for step in steps], nan_ok=True)


def rows(names: tuple[str, ...], **columns: list[float]) -> TensorRows:
    return TensorRows(names, {name: np.array(values) for name, values in columns.items()})


def block_of(**columns: list[float]) -> StatisticsBlock:
    recent = RecentSteps(most=10)
    recent.add(HeldStep(3, statistics=[rows(("t",), **columns)]))
    (block,) = recent.statistics_blocks(["t"], 0, 10)
    return block


def test_what_is_derived_is_over_the_finite_values() -> None:
    block = block_of(size=[10.0], nonfinite=[2.0], l1=[4.0], zeros=[5.0])
    assert block.finite.tolist() == [[8.0]]
    assert block.mean_abs.tolist() == [[0.5]]
    assert block.zero_share.tolist() == [[0.5]]


def test_nothing_finite_has_no_mean() -> None:
    block = block_of(size=[2.0], nonfinite=[2.0], l1=[0.0], zeros=[0.0])
    assert np.isnan(block.mean_abs).all()
    assert np.isnan(block_of(size=[0.0], nonfinite=[0.0], l1=[0.0], zeros=[0.0]).zero_share).all()


def test_a_matrix_is_shared_and_so_cannot_be_changed() -> None:
    block = block_of(mean=[1.0])
    assert block["mean"] is block["mean"]
    with pytest.raises(ValueError, match="read-only"):
        block["mean"][0, 0] = 2.0


def chunk(first: int, last: int, names: tuple[str, ...] = ("t",)) -> StatisticsChunk:
    steps = np.arange(first, last, dtype=np.int64)
    return StatisticsChunk(
        names, steps, lambda _: np.repeat(steps[:, None], len(names), 1), lambda _: [[0.5]] * len(steps)
    )


def test_chunks_may_come_in_any_order() -> None:
    (block,) = Chunks([chunk(10, 20), chunk(0, 10)]).blocks(["t"], 5, 15)
    assert block.steps.tolist() == block["mean"][0].tolist() == list(range(5, 15))


def test_dropped_chunks_are_gone_and_others_stay_whole() -> None:
    chunks = Chunks([chunk(0, 10), chunk(10, 20), chunk(20, 30, ("u",))])
    chunks.drop_before(15)
    assert [block.steps.tolist() for block in chunks.blocks(["t"], 0, 100)] == [list(range(10, 20))]
    chunks.drop_before(20)
    assert chunks.names() == {"u"}


def test_tensors_with_the_same_steps_share_a_block() -> None:
    chunks = Chunks([chunk(0, 5, ("a", "b", "c")), chunk(5, 9, ("a", "b"))])
    assert {block.names: block.steps.tolist() for block in chunks.blocks(["c", "b", "a"], 0, 9)} == {
        ("a", "b"): list(range(9)),
        ("c",): list(range(5)),
    }
