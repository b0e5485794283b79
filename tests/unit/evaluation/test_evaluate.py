"""One pass over every sample: each exactly once, with what the model says of it, and found again afterwards."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis.population.plotting import previews
from cutaway.dataset import Dataset
from cutaway.dataset.functions import Field, LatentSpace, Loss, Metric
from cutaway.dataset.losses import categorical_crossentropy_from_logits
from cutaway.dataset.responses import ConfusionMatrixElement, SamplePreprocessResponse
from cutaway.errors import BindingError, ConfigurationError, LayerUnavailable, RunLocked
from cutaway.evaluation import Progress, evaluate, evaluations
from cutaway.models import SavedTraining
from cutaway.rules.built_in.data_leak import sample_files
from cutaway.run import Run, RunState
from cutaway.run.evaluations import claim_evaluations
from tests.unit.evaluation.linear_model import WEIGHTS, linear_model, samples


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CUTAWAY_HOME", raising=False)
    return tmp_path


def two_subsets(first: int = 150, second: int = 41) -> Dataset:
    x, y = samples(first)
    v, w = samples(second, seed=1)
    names = [f"row {i}" for i in range(first)]
    return Dataset.join(
        Dataset.from_arrays({"x": x}, {"y": y}, metadata={"name": names, "size": np.arange(first)}, labels="abc"),
        Dataset.from_arrays(
            {"x": v}, {"y": w}, metadata={"name": names[:second], "size": np.arange(second)}, subset="validation"
        ),
    )


class TestRows:
    def test_every_sample_has_one_row_with_everything_about_it(self) -> None:
        x, y = samples(150)
        evaluation = evaluate(two_subsets(), linear_model(), batch_size=64)
        table = evaluation.table("training")
        assert table["id"].to_pylist() == [f"training/{i}" for i in range(150)]
        assert table["index"].to_pylist() == list(range(150))
        assert table["error"].null_count == 150
        assert np.allclose(np.stack(table["prediction.scores"].to_pylist()), x @ WEIGHTS, atol=1e-5)
        assert table["ground_truth.y"].to_pylist() == [[int(one)] for one in y]
        assert table["metadata.name"].to_pylist()[:2] == ["row 0", "row 1"]
        assert table["metadata.size"].type == pa.int64()
        wanted = categorical_crossentropy_from_logits(y, x @ WEIGHTS)
        assert np.allclose(table["loss"].to_numpy(), wanted, rtol=1e-5)
        assert np.array_equal(table["metric.Accuracy"].to_numpy(), ((x @ WEIGHTS).argmax(1) == y).astype(float))
        assert table["ground_truth.y.label"].to_pylist() == ["abc"[one] for one in y]
        assert table["prediction.scores.label"].to_pylist() == ["abc"[one] for one in (x @ WEIGHTS).argmax(1)]
        assert np.array_equal(evaluation.latents("training"), 2 * x)
        assert len(evaluation.table("validation")) == 41

    def test_equal_content_has_equal_hashes_and_the_old_reader_finds_them(self) -> None:
        x, y = samples(10)
        x[7] = x[2]
        evaluation = evaluate(Dataset.from_arrays({"x": x}, y), linear_model())
        hashes = evaluation.table("training")["hash"].to_pylist()
        assert hashes[7] == hashes[2]
        assert len(set(hashes)) == 9
        [found] = sample_files(evaluation.run)
        assert found.contents["training/0"] == hashes[0]

    def test_the_batch_size_changes_nothing(self) -> None:
        one = evaluate(two_subsets(), linear_model(), batch_size=7).table("training")
        other = evaluate(two_subsets(), linear_model(), batch_size=150, workers=1).table("training")
        assert one.equals(other)

    def test_one_pass_asks_the_model_for_each_sample_once(self) -> None:
        model = linear_model()
        evaluate(two_subsets(), model, batch_size=50)
        # One sample more tells which model this is.
        assert model._backend.batches == [1, 50, 50, 50, 41]

    def test_large_values_lie_beside_and_come_back_in_their_shape(self) -> None:
        x, _ = samples(5)
        truth = np.random.default_rng(0).normal(size=(5, 40, 40)).astype(np.float32)
        evaluation = evaluate(Dataset.from_arrays({"x": x}, {"mask": truth}), linear_model())
        assert evaluation.table("training")["ground_truth.mask"].to_pylist() == [0, 1, 2, 3, 4]
        assert (evaluation.path / "training.blobs.arrow").is_file()
        assert np.array_equal(evaluation.values("training", "ground_truth.mask", 3), truth[3])
        assert np.allclose(evaluation.values("training", "prediction.scores", 3), x[3] @ WEIGHTS)

    def test_unlabeled_samples_have_predictions_and_no_loss(self) -> None:
        x, y = samples(20)
        labelled = Dataset.from_arrays({"x": x}, {"y": y})
        dataset = Dataset.join(labelled, Dataset.from_arrays({"x": x}, subset="unlabeled"))
        evaluation = evaluate(dataset, linear_model())
        table = evaluation.table("unlabeled")
        assert "prediction.scores.label" in table.column_names
        assert "loss" not in table.column_names
        assert evaluation.source.subsets["unlabeled"].failed == 0

    def test_odd_ids_are_kept_as_they_are(self) -> None:
        x, y = samples(4)
        ids = ["a/b", "new\nline", "ü", ""]
        table = evaluate(Dataset.from_arrays({"x": x}, y, ids=ids), linear_model()).table("training")
        assert table["id"].to_pylist() == [f"training/{one}" for one in ids]

    def test_images_have_previews(self) -> None:
        images = np.random.default_rng(0).uniform(size=(6, 16, 16, 3)).astype(np.float32)
        x, y = samples(6)
        dataset = Dataset.from_arrays({"x": x, "image": images}, {"y": y})
        evaluation = evaluate(dataset, linear_model())
        assert (evaluation.run.path / "previews/training.arrow").is_file()
        found = dict(previews(evaluation.run, "training"))
        assert list(found) == [f"training/{i}" for i in range(6)]


class TestScores:
    def test_the_loss_of_the_model_comes_before_a_guess(self) -> None:
        x, y = samples(20)
        dataset = Dataset.from_arrays({"x": x}, {"y": np.eye(3)[y]})
        model = linear_model(training=SavedTraining(loss="mse"))
        evaluation = evaluate(dataset, model)
        assert "loss.MeanSquaredError" in evaluation.table("training").column_names
        assert any("trained with it" in note for note in evaluation.source.score_notes)

    def test_numbers_get_the_squared_error(self) -> None:
        x, _ = samples(20)
        evaluation = evaluate(Dataset.from_arrays({"x": x}, {"y": x @ WEIGHTS + 1}), linear_model())
        assert np.allclose(evaluation.table("training")["loss"].to_numpy(), 1, rtol=1e-4)
        assert np.allclose(evaluation.table("training")["metric.MeanAbsoluteError"].to_numpy(), 1, rtol=1e-4)

    def test_losses_and_metrics_can_be_asked_for_by_name_or_as_functions(self) -> None:
        def worst(y_true: np.ndarray, y_pred: np.ndarray) -> np.ndarray:
            return y_pred.max(axis=1)

        x, y = samples(20)
        dataset = Dataset.from_arrays({"x": x}, {"y": y})
        evaluation = evaluate(
            dataset, linear_model(), loss="CategoricalCrossentropyFromLogits", metrics=["Accuracy", worst]
        )
        table = evaluation.table("training")
        assert np.allclose(table["metric.worst"].to_numpy(), (x @ WEIGHTS).max(axis=1))
        with pytest.raises(ConfigurationError, match="Did you mean 'Accuracy'"):
            evaluate(dataset, linear_model(), metrics="Acuracy")

    def test_bound_functions_are_called_with_what_they_name(self) -> None:
        given: list[SamplePreprocessResponse] = []

        def two(y: np.ndarray, scores: np.ndarray, info: SamplePreprocessResponse) -> dict[str, np.ndarray]:
            given.append(info)
            return {"top": scores.max(axis=1), "class": y.astype(np.float32)}

        def elements(y: np.ndarray) -> list[list[ConfusionMatrixElement]]:
            return [[ConfusionMatrixElement("a", "positive", 0.5)] for _ in y]

        x, y = samples(20)
        whole = Dataset.from_arrays({"x": x}, {"y": y})
        dataset = Dataset(
            whole.subsets,
            whole.inputs,
            whole.ground_truths,
            metrics=(Metric("two", two, ("y", "scores"), "info"), Metric("elements", elements, ("y",))),
            losses=(
                Loss("first", lambda y: y * 1.0, ("y",)),
                Loss("second", lambda scores: scores[:, :1], ("scores",)),
            ),
            latent_spaces=(LatentSpace("own/space", lambda x: x[:, :2, None], ("x",), channel_axis=0),),
        )
        evaluation = evaluate(dataset, linear_model(), batch_size=8)
        table = evaluation.table("training")
        assert np.allclose(table["metric.two_top"].to_numpy(), (x @ WEIGHTS).max(axis=1))
        assert table["metric.elements"].to_pylist()[0][0]["predicted_probability"] == 0.5
        assert any("metric.elements has no mean: `confusion`" in note for note in evaluation.source.notes)
        assert np.allclose(table["loss"].to_numpy(), y + (x @ WEIGHTS)[:, 0], rtol=1e-5)
        assert [one for batch in given for one in batch.sample_ids] == [str(i) for i in range(20)]
        assert np.allclose(evaluation.latents("training", "own/space"), x[:, :2])

    @pytest.mark.parametrize("names", [("latent",), ("my space", "my_space")])
    def test_latent_spaces_that_would_be_one_file_are_refused(self, names: tuple[str, ...]) -> None:
        x, y = samples(4)
        whole = Dataset.from_arrays({"x": x}, {"y": y})
        spaces = tuple(LatentSpace(name, lambda x: x, ("x",)) for name in names)
        with pytest.raises(BindingError, match="would be one file"):
            evaluate(replace(whole, latent_spaces=spaces), linear_model())

    def test_a_layer_that_is_not_there_is_said_before_anything_runs(self, tmp_path: Path) -> None:
        with pytest.raises(LayerUnavailable, match="Did you mean 'twice'"):
            evaluate(two_subsets(), linear_model(), latent_layer="twize")
        assert not (tmp_path / "runs").exists()


class TestRuns:
    def test_without_a_run_a_finished_one_is_made(self) -> None:
        evaluation = evaluate(two_subsets(), linear_model())
        assert evaluation.run.state() is RunState.FINISHED
        assert evaluation.source.state == "finished"

    def test_a_run_counts_its_evaluations(self, tmp_path: Path) -> None:
        run = Run.create(tmp_path / "trained")
        for epoch in range(3):
            evaluate(two_subsets(), linear_model(), run, epoch=epoch)
        assert [one.source.epoch for one in evaluations(run)] == [0, 1, 2]
        assert [one.number for one in evaluations(run)] == [0, 1, 2]

    def test_a_hook_or_a_path_says_which_run(self, tmp_path: Path) -> None:
        class Hook:
            run = Run.create(tmp_path / "hooked")

        assert evaluate(two_subsets(), linear_model(), Hook()).run.name == "hooked"
        assert evaluate(two_subsets(), linear_model(), tmp_path / "new").run.name == "new"
        with pytest.raises(ConfigurationError, match="must be a Run"):
            evaluate(two_subsets(), linear_model(), 3)

    def test_only_some_subsets(self) -> None:
        evaluation = evaluate(two_subsets(), linear_model(), subsets=["validation"])
        assert evaluation.subsets == ["validation"]
        with pytest.raises(ConfigurationError, match="Did you mean 'validation'"):
            evaluate(two_subsets(), linear_model(), subsets=["validaton"])

    def test_two_processes_cannot_evaluate_into_one_run(self, tmp_path: Path) -> None:
        run = Run.create(tmp_path / "run")
        lease = claim_evaluations(run)
        with pytest.raises(RunLocked):
            evaluate(two_subsets(), linear_model(), run)
        lease.release(RunState.FINISHED)
        evaluate(two_subsets(), linear_model(), run)

    def test_the_source_says_what_made_it(self) -> None:
        source = evaluate(two_subsets(), linear_model(), epoch=4).source.document
        assert json.loads(json.dumps(source)) == source
        assert source["binding"]["kind"] == "arrays"
        assert source["wiring"]["predictions"] == {"scores": "scores"}
        assert source["spaces"] == {"latent": {"layer": "twice"}}
        assert source["options"]["epoch"] == 4

    def test_a_model_that_is_given_stays_open(self) -> None:
        model = linear_model()
        evaluate(two_subsets(), model)
        assert model._backend.closed == 0

    def test_no_model_at_all_is_said(self) -> None:
        with pytest.raises(BindingError, match="No model was given"):
            evaluate(two_subsets())

    def test_no_samples_are_said(self) -> None:
        empty = Dataset({}, (Field("x"),))
        with pytest.raises(BindingError, match="no samples"):
            evaluate(empty, linear_model())


def test_progress_goes_from_nothing_to_everything() -> None:
    heard: list[Progress] = []
    evaluate(two_subsets(), linear_model(), batch_size=10, progress=heard.append)
    assert (heard[0].done, heard[-1].done, heard[-1].total) == (0, 191, 191)
    assert [one.done for one in heard] == sorted(one.done for one in heard)
    assert heard[-1].rate


class TestChannelsOfLiveModules:
    """A live module of torch does not say where its channels lie."""

    def test_one_that_takes_the_samples_as_they_are_gets_them_so(self) -> None:
        torch = pytest.importorskip("torch")
        torch.manual_seed(0)
        images = np.random.default_rng(0).random((6, 8, 8, 3), np.float32)
        module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(192, 2))
        evaluation = evaluate(Dataset.from_arrays(images, np.arange(6) % 2), module, keep_model=False)
        wanted = module(torch.from_numpy(images)).detach().numpy()
        got = np.array(evaluation.table("training")["prediction.output"].to_pylist())
        assert np.allclose(got, wanted, rtol=1e-5, atol=1e-6)
        assert any("fits as it is" in note for note in evaluation.source.notes)

    def test_one_that_refuses_them_gets_their_channels_moved_and_it_is_said(self) -> None:
        torch = pytest.importorskip("torch")
        torch.manual_seed(0)
        images = np.random.default_rng(0).random((6, 8, 8, 3), np.float32)
        layers = torch.nn.Conv2d(3, 4, 3), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(4, 2)
        module = torch.nn.Sequential(*layers)
        evaluation = evaluate(Dataset.from_arrays(images, np.arange(6) % 2), module, keep_model=False)
        wanted = module(torch.from_numpy(np.moveaxis(images, -1, 1).copy())).detach().numpy()
        got = np.array(evaluation.table("training")["prediction.output"].to_pylist())
        assert np.allclose(got, wanted, rtol=1e-5, atol=1e-6)
        assert any("channels are moved" in note for note in evaluation.source.notes)
