"""The contract of an adapter, as a class of tests. A framework's own tests subclass it and override one method:

class TestMyAdapter(AdapterContract):
    def start(self, settings):
        return MyTraining(settings)

A training is small and the same each time it is started: a model, an optimizer, a loss.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest

from cutaway.arrays import Array
from cutaway.capture import current
from cutaway.capture.adapter import Adapter
from cutaway.capture.hook import AdaptedHook
from cutaway.capture.requests import Refused
from cutaway.capture.selection import Selection
from cutaway.capture.settings import HookSettings
from cutaway.errors import ConfigurationError
from cutaway.run.identity import Run
from cutaway.run.schemas import SCALARS, STEPS
from cutaway.tensors.statistics import reference_statistics
from cutaway.trial import create_trial

__all__ = ["AdapterContract", "ContractTraining"]


class ContractTraining(Protocol):
    """A training of the framework, watched by a hook where it was given settings."""

    hook: AdaptedHook | None

    def step(self) -> Mapping[str, Array]:
        """Train one step, and return what its tensors held by their names: weights before the update, gradients."""

    def evaluate(self) -> None:
        """Run the model once without gradients."""

    def parameters(self) -> list[Array]:
        """Return copies of what the model holds now."""


class AdapterContract:
    """What every adapter must do. A subclass starts trainings."""

    def start(self, settings: HookSettings | None) -> ContractTraining:
        """Begin a training, watched with these settings, or by nobody."""
        raise NotImplementedError

    @pytest.fixture(autouse=True)
    def _hooks_end_with_their_test(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        for name in ("CUTAWAY", "USE_SMDEBUG"):
            monkeypatch.delenv(name, raising=False)
        # A busy machine may be slow, but no step is lost by chance.
        for name in ("STATISTICS_PATIENCE", "TENSOR_PATIENCE", "FREE_SECONDS"):
            monkeypatch.setattr(f"cutaway.capture.patience.{name}", 60.0)
        yield
        for hook in current.live_hooks():
            hook.close()
        current.reset_collections()

    def test_it_keeps_to_the_protocol_and_the_run_names_its_framework(self, tmp_path: Path) -> None:
        hook = self._watched(tmp_path).hook
        assert hook is not None
        assert isinstance(hook.adapter, Adapter)
        identity = Run.open(tmp_path / "run").identity
        assert identity["framework"] == hook.adapter.framework
        assert hook.adapter.versions.items() <= identity["versions"].items()

    def test_every_step_has_the_statistics_of_its_own_values(self, tmp_path: Path) -> None:
        held = self._train(self._watched(tmp_path), 3)
        trial = create_trial(tmp_path / "run")
        assert _column(tmp_path, STEPS, "step") == [0, 1, 2]
        for step, values in enumerate(held):
            assert any(name.startswith("gradient") for name in values)
            for name, array in values.items():
                exact = reference_statistics(array)
                for statistic in ("min", "max", "mean", "l2"):
                    found = trial.tensor(name).reduction_value(step, statistic)
                    assert found == pytest.approx(getattr(exact, statistic), rel=1e-4, abs=1e-6), (name, step)

    def test_what_is_saved_is_what_the_step_computed_with_bit_for_bit(self, tmp_path: Path) -> None:
        saving = {"include_collections": ["weights", "biases", "gradients"], "save_config": {"save_interval": 2}}
        held = self._train(self._watched(tmp_path, **saving), 3)
        trial = create_trial(tmp_path / "run")
        for name in held[0]:
            assert trial.tensor(name).steps() == [0, 2]
            for step in (0, 2):
                np.testing.assert_array_equal(trial.tensor(name).value(step), held[step][name], strict=True)

    def test_training_ends_bit_for_bit_as_without_a_hook(self, tmp_path: Path) -> None:
        watched, alone = self._watched(tmp_path, save_all=True), self.start(None)
        for training in (watched, alone):
            for _ in range(4):
                training.step()
        _assert_equal(watched.parameters(), alone.parameters())

    def test_steps_of_which_nothing_is_wanted_are_counted_and_not_recorded(self, tmp_path: Path) -> None:
        training = self._watched(tmp_path, statistics_every=3)
        held = self._train(training, 8)
        trial = create_trial(tmp_path / "run")
        name = next(iter(held[0]))
        means = {step: trial.tensor(name).reduction_value(step, "mean") for step in (0, 3, 6)}
        assert means == {step: pytest.approx(held[step][name].mean(), rel=1e-4, abs=1e-6) for step in (0, 3, 6)}
        # The last one is listed, so that a resumed run does not use its number again.
        assert _column(tmp_path, STEPS, "step") == [0, 3, 6, 7]

    def test_an_evaluation_is_a_step_of_its_mode_without_gradients(self, tmp_path: Path) -> None:
        training = self._watched(tmp_path)
        training.step()
        _hook(training).set_mode("EVAL")
        training.evaluate()
        training.evaluate()
        _hook(training).close()
        assert _column(tmp_path, STEPS, "mode") == ["GLOBAL", "EVAL", "EVAL"]
        trial = create_trial(tmp_path / "run")
        gradients = [name for name in trial.tensor_names() if name.startswith("gradient")]
        assert gradients
        assert all(trial.tensor(name).steps() == [0] for name in gradients if trial.tensor(name).steps())

    def test_the_loss_and_the_samples_of_a_step_stand_beside_it(self, tmp_path: Path) -> None:
        training = self._watched(tmp_path)
        _hook(training).set_samples([7, None])
        self._train(training, 1)
        assert _column(tmp_path, STEPS, "samples") == [["training/7", None]]
        assert "loss" in _column(tmp_path, SCALARS, "name")

    def test_what_is_saved_by_hand_wakes_an_idle_step(self, tmp_path: Path) -> None:
        training = self._watched(tmp_path, statistics_every=100)
        training.step()
        assert _hook(training).steps.idle
        _hook(training).save_tensor("mine", np.ones(2, np.float32))
        self._train(training, 2)
        assert create_trial(tmp_path / "run").tensor("mine").value(1).tolist() == [1.0, 1.0]

    def test_a_closed_hook_leaves_the_training_alone(self, tmp_path: Path) -> None:
        training, alone = self._watched(tmp_path), self.start(None)
        training.step()
        _hook(training).close()
        _hook(training).close()
        _hook(training).adapter.detach()
        training.step()
        for _ in range(2):
            alone.step()
        assert _column(tmp_path, STEPS, "step") == [0]
        _assert_equal(training.parameters(), alone.parameters())

    def test_a_hook_that_is_switched_off_leaves_no_trace(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CUTAWAY", "off")
        self._train(self._watched(tmp_path), 2)
        assert not (tmp_path / "run").exists()

    def test_a_mistake_of_ours_stops_the_capture_and_not_the_training(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(*_: Any) -> bool:
            raise ZeroDivisionError("our own mistake")

        monkeypatch.setattr(Selection, "wants", broken)
        training, alone = self._watched(tmp_path), self.start(None)
        for one in (training, alone):
            for _ in range(2):
                one.step()
        _assert_equal(training.parameters(), alone.parameters())
        assert not _hook(training).active
        _hook(training).close()
        assert [one.code for one in Run.open(tmp_path / "run").findings()] == ["capture-stopped"]

    def test_an_object_that_is_not_watched_is_refused_at_the_first_step(self, tmp_path: Path) -> None:
        training = self._watched(tmp_path)
        _hook(training).add_to_collection("weights", object())
        with pytest.raises(ConfigurationError, match="'weights' got a object"):
            training.step()

    def test_a_learning_rate_is_set_or_refused(self, tmp_path: Path) -> None:
        adapter = _hook(self._watched(tmp_path)).adapter
        with contextlib.suppress(Refused):
            assert "0.5" in adapter.set_learning_rate({"lr": 0.5})
        with pytest.raises(Refused):
            adapter.set_learning_rate({"no such setting": 1})

    def _watched(self, folder: Path, **settings: Any) -> ContractTraining:
        return self.start(HookSettings(out_dir=folder / "run", **settings))

    def _train(self, training: ContractTraining, steps: int) -> list[dict[str, Array]]:
        """Train, close, and return what the tensors of each step held."""
        held = [dict(training.step()) for _ in range(steps)]
        _hook(training).close()
        return held


def _hook(training: ContractTraining) -> AdaptedHook:
    assert training.hook is not None, "`start` made no hook, though it got settings"
    return training.hook


def _assert_equal(some: list[Array], others: list[Array]) -> None:
    for one, other in zip(some, others, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def _column(folder: Path, table: str, column: str) -> list[Any]:
    rows = Run.open(folder / "run").table(table).read(columns=["step", column] if column != "step" else ["step"])
    found: list[Any] = rows.sort_by("step")[column].to_pylist()
    return found
