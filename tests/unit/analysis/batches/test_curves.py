from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

import cutaway.torch as smd  # noqa: E402  # only where there is torch
from cutaway.analysis.batches import batch_curves  # noqa: E402
from cutaway.analysis.batches.curves import smoothed  # noqa: E402
from cutaway.errors import AnalysisUnavailable, RunNotFound  # noqa: E402
from cutaway.run import Run  # noqa: E402
from cutaway.trial import create_trial  # noqa: E402


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Training:
    """A tiny training on digits that keeps its own books: mode, loss and accuracy of each batch."""

    def __init__(self) -> None:
        from sklearn.datasets import load_digits

        images, labels = load_digits(return_X_y=True)
        torch.manual_seed(0)
        self.model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
        self.criterion = torch.nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.2)
        x, y = torch.tensor(images / 16, dtype=torch.float32), torch.tensor(labels)
        self.training = torch.utils.data.TensorDataset(x[:500], y[:500])
        self.validation = torch.utils.data.TensorDataset(x[500:600], y[500:600])
        self.books: list[tuple[str, float, float]] = []

    def run(self, hook: Any, *, named: bool = True, epochs: int = 2, says_accuracy: bool = True) -> None:
        hook.register_module(self.model)
        hook.register_loss(self.criterion)
        hook.register_optimizer(self.optimizer)
        train, validate = (torch.utils.data.DataLoader(data, 64) for data in (self.training, self.validation))
        if named:
            train, validate = hook.samples(train), hook.samples(validate, subset="validation")
        for _ in range(epochs):
            hook.set_mode(smd.modes.TRAIN)
            for x, y in train:
                self.optimizer.zero_grad()
                loss = self._loss("TRAIN", x, y)
                loss.backward()
                self.optimizer.step()
            hook.set_mode(smd.modes.EVAL)
            with torch.no_grad():
                for x, y in validate:
                    self._loss("EVAL", x, y)
                    if says_accuracy:
                        hook.save_scalar("accuracy", self.books[-1][2])

    def _loss(self, mode: str, x: Any, y: Any) -> Any:
        scores = self.model(x)
        loss = self.criterion(scores, y)
        self.books.append((mode, loss.item(), (scores.argmax(1) == y).double().mean().item()))
        return loss

    def book(self, mode: str, first: int = 0) -> tuple[list[float], list[float]]:
        own = [(loss, accuracy) for its, loss, accuracy in self.books[first:] if its == mode]
        return [loss for loss, _ in own], [accuracy for _, accuracy in own]


def test_the_curves_of_a_training_are_what_its_loop_saw(tmp_path: Path) -> None:
    training = Training()
    with smd.Hook(tmp_path / "run") as hook:
        training.run(hook)
    found = batch_curves(tmp_path / "run")
    for mode, batches, last in (("TRAIN", 16, 500 - 7 * 64), ("EVAL", 4, None)):
        own = found.of(mode)
        losses, accuracies = training.book(mode)
        assert own["batch"].to_pylist() == list(range(batches))
        assert own["loss"].to_pylist() == pytest.approx(losses, rel=1e-5)
        assert own["accuracy"].to_pylist() == pytest.approx(accuracies)
        assert own["count"].to_pylist()[-1] == last
    steps = found.table["step"].to_pylist()
    assert sorted(steps) == list(range(20))
    assert found.notes == (
        "The loss is the mean over their samples for 16 batches, scalar 'loss' for 4 batches.",
        "The accuracy is the mean over their samples for 16 batches, scalar 'accuracy' for 4 batches.",
    )
    assert found.words().startswith("TRAIN, 16 batches: loss 2.")
    assert "; EVAL, 4 batches: loss " in found.words()


def test_a_trial_a_run_and_a_path_are_the_same(tmp_path: Path) -> None:
    with smd.Hook(tmp_path / "run") as hook:
        Training().run(hook, epochs=1)
    path = tmp_path / "run"
    tables = [batch_curves(given).table for given in (path, str(path), Run.open(path), create_trial(path))]
    assert all(table.equals(tables[0]) for table in tables)


def test_a_resumed_run_shows_each_step_once_from_the_newest_attempt(tmp_path: Path) -> None:
    training = Training()
    with smd.Hook(tmp_path / "run") as hook:
        training.run(hook)
    first = len(training.books)
    with smd.Hook(tmp_path / "run", resume=True, from_step=8) as hook:
        training.run(hook, epochs=1)
    found = batch_curves(tmp_path / "run")
    assert sorted(found.table["step"].to_pylist()) == list(range(18))
    losses = training.book("TRAIN")[0][:8] + training.book("TRAIN", first)[0]
    assert found.of("TRAIN")["loss"].to_pylist() == pytest.approx(losses, rel=1e-5)
    accuracies = training.book("EVAL", first)[1]
    assert found.of("EVAL")["accuracy"].to_pylist() == pytest.approx(accuracies)
    assert set(found.table["count"].to_pylist()) == {64, 52, None}


def test_without_names_of_samples_the_loss_is_the_scalar_and_the_accuracy_says_how_to_get_it(tmp_path: Path) -> None:
    training = Training()
    with smd.Hook(tmp_path / "run") as hook:
        training.run(hook, named=False, epochs=1, says_accuracy=False)
    found = batch_curves(tmp_path / "run")
    assert found.of("TRAIN")["loss"].to_pylist() == pytest.approx(training.book("TRAIN")[0], rel=1e-5)
    assert found.table["count"].null_count == found.table["accuracy"].null_count == 10
    assert found.notes[0] == "The loss is scalar 'loss' for 10 batches."
    assert found.notes[1] == (
        "There is no accuracy of EVAL batches. Values of samples are recorded in training only: "
        "call `hook.save_scalar('accuracy', value)`."
    )
    assert "`hook.samples(loader)` beside `hook.register_loss(criterion)` records it" in found.notes[2]


def test_saved_labels_and_predictions_give_the_accuracy_too(tmp_path: Path) -> None:
    training = Training()
    included = ["labels", "predictions"]
    with smd.Hook(tmp_path / "run", include_collections=included, save_config=smd.SaveConfig(save_interval=1)) as hook:
        training.run(hook, named=False, epochs=1, says_accuracy=False)
    found = batch_curves(tmp_path / "run")
    for mode in ("TRAIN", "EVAL"):
        assert found.of(mode)["accuracy"].to_pylist() == pytest.approx(training.book(mode)[1])
    assert found.notes[1] == "The accuracy is from saved labels and predictions for 10 batches."


def test_scalars_that_people_save_themselves_are_found_by_name(tmp_path: Path) -> None:
    training = Training()
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(training.model)
        for step in range(4):
            training.model(training.training.tensors[0][:8])
            hook.save_scalar("train/loss", 1 / (step + 1))
            hook.save_scalar("train/aux_loss", 7.0)
            hook.save_scalar("gloss", 9.0)
            if step == 3:
                hook.save_scalar("val_accuracy", 0.75)
    found = batch_curves(tmp_path / "run")
    own = found.of("GLOBAL")
    assert own["loss"].to_pylist() == [1, 1 / 2, 1 / 3, 1 / 4]
    assert own["accuracy"].null_count == 4
    assert found.of("EVAL")["accuracy"].to_pylist() == [0.75]
    assert found.notes == (
        "The loss is scalar 'train/loss' for 4 batches.",
        "The accuracy is scalar 'val_accuracy' for 1 batch.",
        "There is no loss of EVAL batches.",
        "There is no accuracy of GLOBAL batches. `hook.samples(loader)` beside `hook.register_loss(criterion)` records "
        "it for classifiers.",
    )


def test_a_loss_that_turns_nan_stays_nan_and_does_not_spoil_the_smooth_curve(tmp_path: Path) -> None:
    training = Training()
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(training.model)
        for step in range(40):
            training.model(training.training.tensors[0][:8])
            hook.save_sample_values(range(3), loss=[1.0, 2.0, float("nan") if step == 2 else 3.0])
    own = batch_curves(tmp_path / "run").table
    assert own["loss"].to_pylist() == pytest.approx([2, 2, np.nan, *[2] * 37], nan_ok=True)
    assert own["loss_smooth"].to_pylist() == pytest.approx([2] * 40)


def test_a_run_that_recorded_neither_says_what_to_turn_on(tmp_path: Path) -> None:
    training = Training()
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(training.model)
        training.model(training.training.tensors[0][:8])
    with pytest.raises(
        AnalysisUnavailable, match=r"run 'run' recorded neither. Call `hook.register_loss\(criterion\)`"
    ):
        batch_curves(tmp_path / "run")


def test_a_run_without_a_training_says_so_at_once(tmp_path: Path) -> None:
    Run.create(tmp_path / "run")
    with pytest.raises(AnalysisUnavailable, match="run 'run' recorded neither"):
        batch_curves(tmp_path / "run")


def test_a_run_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunNotFound):
        batch_curves(tmp_path / "nowhere")


weighed = st.lists(st.tuples(st.floats(-100, 100), st.integers(1, 64)), min_size=1, max_size=40)


@given(weighed, st.integers(1, 50))
def test_each_place_has_the_weighted_mean_around_it(rows: list[tuple[float, int]], width: int) -> None:
    values, counts = (np.array(column, np.float64) for column in zip(*rows, strict=True))
    found = smoothed(values, counts, width)
    for place in range(len(rows)):
        near = slice(max(place - width // 2, 0), place + width // 2 + 1)
        assert found[place] == pytest.approx(np.average(values[near], weights=counts[near]), abs=1e-9)


def test_a_spike_stays_among_its_neighbours() -> None:
    values = np.full(50, 0.1)
    values[10] = 1e20
    found = smoothed(values, np.ones(50), 3)
    assert found[20:].tolist() == pytest.approx([0.1] * 30)


def test_what_is_not_finite_is_passed_over() -> None:
    values = np.array([1.0, np.nan, 3.0, np.inf, np.nan, np.nan])
    assert smoothed(values, np.ones(6), 3).tolist() == pytest.approx([1, 2, 3, 3, np.nan, np.nan], nan_ok=True)


def test_an_unknown_count_weighs_as_much_as_the_others() -> None:
    assert smoothed(np.array([0.0, 3.0]), np.array([2.0, np.nan]), 3).tolist() == [1.5, 1.5]
    assert smoothed(np.array([0.0, 3.0]), np.full(2, np.nan), 3).tolist() == [1.5, 1.5]


def test_one_batch_at_a_time_is_left_as_it_is_and_none_is_none() -> None:
    assert smoothed(np.array([1.0, 5.0]), np.ones(2), 1).tolist() == [1, 5]
    assert smoothed(np.array([]), np.array([]), 1).tolist() == []
