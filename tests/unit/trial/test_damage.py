"""Damaged runs: each damage is named and logged once, and the rest still reads."""

from __future__ import annotations

import contextlib
import logging
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from cutaway.errors import RunDamaged
from cutaway.run import Run, RunState
from cutaway.trial import create_trial
from tests.unit.trial.conftest import Write, flip

NAMES = ("a.weight", "b.weight")


@pytest.fixture
def run(write: Write) -> Run:
    writing = write()
    for step in range(30):
        arrays = {name: np.full(20, step + i, np.float32) for i, name in enumerate(NAMES)}
        writing.step(step, arrays, arrays)
    writing.close()
    return writing.run


def _file(run: Run, table: str, ending: str) -> Path:
    return run.path / "trace" / table / f"train-worker_0-0-0.{ending}"


def test_a_flipped_bit_in_a_value_costs_that_value(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    flip(_file(run, "tensors", "bin"), 128 * 2 * 7 + 5)  # step 7, the first of its two tensors
    trial = create_trial(run.path)
    assert trial.damage == []
    with caplog.at_level(logging.WARNING, "cutaway.trial"):
        for _ in range(3):
            with pytest.raises(RunDamaged, match="fails its checksum"):
                trial.tensor("a.weight").value(7)
    assert [(damage.step, damage.path) for damage in trial.damage] == [(7, "trace/tensors/train-worker_0-0-0.bin")]
    assert "a.weight" in trial.damage[0].reason
    assert len(caplog.records) == 1
    assert "is damaged" in caplog.text
    assert trial.tensor("b.weight").value(7)[0] == 8
    assert trial.tensor("a.weight").value(8)[0] == 8


@pytest.mark.parametrize("table", ["tensors", "statistics", "steps"])
@pytest.mark.parametrize("ending", ["arrow", "idx"])
def test_a_flipped_bit_in_a_table_costs_one_step(
    run: Run, table: str, ending: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = _file(run, table, ending)
    flip(path, path.stat().st_size // 2)
    with caplog.at_level(logging.WARNING, "cutaway.trial"):
        trial = create_trial(run.path)
        trial.statistics()
        kept = {
            "tensors": trial.steps(),
            "statistics": sorted(set(trial.statistics()["step"].to_pylist())),
            "steps": trial.recorded_steps(),
        }
        for _ in range(2):
            trial.tensor_names()
    assert len(kept[table]) == 29
    assert len(trial.damage) == 1
    assert len(caplog.records) == 1
    assert trial.damage[0].path.endswith(f"{table}/train-worker_0-0-0.{ending}")
    for step in trial.steps():
        assert trial.tensor("b.weight").value(step)[0] == step + 1


def test_a_value_file_that_is_gone_costs_the_values_only(run: Run) -> None:
    _file(run, "tensors", "bin").unlink()
    trial = create_trial(run.path)
    assert len(trial.steps()) == 30
    with pytest.raises(RunDamaged, match="cannot be read"):
        trial.tensor("a.weight").value(3)
    assert trial.tensor("a.weight").reduction_value(3, "max") == 3
    assert len(trial.damage) == 1


def test_a_value_file_that_was_cut_costs_what_was_cut_off(run: Run) -> None:
    path = _file(run, "tensors", "bin")
    path.write_bytes(path.read_bytes()[: 128 * 2 * 20 + 100])
    tensor = create_trial(run.path).tensor("a.weight")
    assert tensor.value(19)[0] == 19
    for step in (20, 21):
        with pytest.raises(RunDamaged, match="missing"):
            tensor.value(step)


def test_damaged_collections_are_named_and_the_default_ones_used(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    flip(run.path / "trace" / "collections.json", 40)
    with caplog.at_level(logging.WARNING, "cutaway.trial"):
        trial = create_trial(run.path)
        assert trial.tensor_names(collection="weights") == list(NAMES)
        assert trial.tensor_names(collection="weights") == list(NAMES)
    assert [damage.path for damage in trial.damage] == ["trace/collections.json"]
    assert len(caplog.records) == 1


def test_a_damaged_identity_is_named_and_costs_no_data(run: Run) -> None:
    flip(run.path / "run.json", 30)
    trial = create_trial(run.path)
    assert [damage.path for damage in trial.damage] == ["run.json"]
    assert len(trial.steps()) == 30
    assert "run.json" in trial._repr_html_()


@pytest.mark.parametrize("table", ["tensors", "statistics", "steps"])
def test_an_index_that_lost_its_end_is_named(run: Run, table: str) -> None:
    path = _file(run, table, "idx")
    path.write_bytes(path.read_bytes()[:-200])
    trial = create_trial(run.path)
    trial.statistics()
    assert 0 < len(trial.steps()) <= 30
    assert {damage.path.rpartition("/")[0] for damage in trial.damage} == {f"trace/{table}"}


def test_what_a_kill_leaves_behind_is_not_called_damage(write: Write) -> None:
    writing = write("killed")
    writing.step(0, {"a.weight": np.zeros(3)}, {"a.weight": np.zeros(3)})
    writing.leases["worker_0"].release(RunState.ENDED)  # its files are not closed
    trial = create_trial(writing.run.path)
    trial.statistics()
    assert trial.steps() == [0]
    assert trial.damage == []


def test_random_flips_and_cuts_are_named_and_never_show_a_wrong_number(run: Run, tmp_path: Path) -> None:
    chance = random.Random(0)
    for attempt in range(60):
        copy = tmp_path / f"copy-{attempt}"
        shutil.copytree(run.path, copy)
        path = chance.choice(sorted(path for path in (copy / "trace").rglob("*") if path.is_file()))
        if chance.random() < 0.6:
            flip(path, chance.randrange(path.stat().st_size), chance.randrange(8))
        else:
            path.write_bytes(path.read_bytes()[: chance.randrange(path.stat().st_size)])
        trial = create_trial(copy)
        for name in trial.tensor_names():
            for step in trial.tensor(name).steps():
                with contextlib.suppress(RunDamaged):
                    assert trial.tensor(name).value(step)[19] == step + NAMES.index(name)
        rows = trial.statistics().to_pylist()
        assert all(row["max"] == row["step"] + NAMES.index(row["tensor"]) for row in rows)
        trial.collections()
        assert trial.damage, path
