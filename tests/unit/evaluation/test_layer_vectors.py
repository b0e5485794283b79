"""Latent spaces of chosen layers, added to an evaluation that is there."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from cutaway.dataset import Dataset
from cutaway.errors import BindingError, EvaluationError, LayerUnavailable, ModelError
from cutaway.evaluation import evaluate
from cutaway.evaluation.layer_vectors import add_layer_space
from cutaway.evaluation.reopening import reopen
from cutaway.models import load
from cutaway.run.evaluations import Evaluation
from cutaway.run.layer_spaces import SpaceFile

torch = pytest.importorskip("torch")


def net() -> "torch.nn.Sequential":
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(64, 12), torch.nn.ReLU(), torch.nn.Linear(12, 10)).eval()


def digits(rows: int = 150) -> Dataset:
    data = load_digits()
    inputs = (data.data[:rows] / 16).astype(np.float32)
    return Dataset.from_arrays(inputs, data.target[:rows])


@pytest.fixture
def evaluation(tmp_path: Path) -> Evaluation:
    return evaluate(digits(), net(), tmp_path / "run")


def test_one_layer_becomes_a_space_of_its_own_values(evaluation: Evaluation) -> None:
    with reopen(evaluation, dataset=digits(), model=net()) as reopened:
        space = add_layer_space(reopened, ["0"])
        batch = np.stack([reopened.sample("training", row).inputs["input"] for row in range(5)])
        expected = reopened.model.latent([batch], "0")
    assert space in evaluation.spaces
    np.testing.assert_allclose(evaluation.latents("training", space)[:5], expected, rtol=1e-5, atol=1e-6)


def test_several_layers_are_joined_and_none_drowns_the_others(evaluation: Evaluation) -> None:
    with reopen(evaluation, dataset=digits(), model=net()) as reopened:
        space = add_layer_space(reopened, ["0", "2"])
    vectors = evaluation.latents("training", space)
    assert vectors.shape == (150, 22)
    np.testing.assert_allclose([vectors[:, :12].var(axis=0).sum(), vectors[:, 12:].var(axis=0).sum()], 1, rtol=1e-3)


def test_a_pass_that_was_killed_goes_on_where_it_was(evaluation: Evaluation, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    write = SpaceFile.write

    def dies(self: SpaceFile, start: int, vectors: np.ndarray) -> None:
        if len(written) == 1:
            raise KeyboardInterrupt
        write(self, start, vectors)
        self.keep()
        written.append(start)

    with reopen(evaluation, dataset=digits(), model=net()) as reopened:
        monkeypatch.setattr(SpaceFile, "write", dies)
        with pytest.raises(KeyboardInterrupt):
            add_layer_space(reopened, ["0"])
        assert "0" not in evaluation.spaces
        starts: list[int] = []
        monkeypatch.setattr(
            SpaceFile, "write", lambda self, start, rows: (starts.append(start), write(self, start, rows))
        )
        add_layer_space(reopened, ["0"])
        expected = reopened.model.latent([(load_digits().data[:150] / 16).astype(np.float32)], "0")
    assert starts == [64, 128]
    np.testing.assert_allclose(evaluation.latents("training", "0"), expected, rtol=1e-5, atol=1e-6)


def test_a_layer_that_is_not_there_is_named_with_those_that_are(evaluation: Evaluation) -> None:
    with reopen(evaluation, dataset=digits(), model=net()) as reopened, pytest.raises(LayerUnavailable, match="'9'"):
        add_layer_space(reopened, ["9"])


def test_samples_in_python_must_be_given_again(evaluation: Evaluation) -> None:
    with pytest.raises(BindingError, match="Give the data set again"):
        reopen(evaluation)


def test_another_number_of_samples_is_refused(evaluation: Evaluation) -> None:
    with pytest.raises(BindingError, match="150 were evaluated"):
        reopen(evaluation, dataset=digits(149))


def test_a_sample_whose_content_changed_is_refused(evaluation: Evaluation) -> None:
    changed = Dataset.from_arrays(np.zeros((150, 64), np.float32), np.zeros(150, int))
    with reopen(evaluation, dataset=changed, model=net()) as reopened, pytest.raises(EvaluationError, match="content"):
        reopened.sample("training", 3)


def test_the_kept_copy_of_a_live_model_is_opened_again(evaluation: Evaluation) -> None:
    with reopen(evaluation, dataset=digits()) as reopened:
        one = reopened.sample("training", 0)
        answer = next(iter(reopened.model.predict(reopened.batch([one])).values()))
    expected = net()(torch.from_numpy(one.inputs["input"][None])).detach().numpy()
    np.testing.assert_allclose(answer, expected, rtol=1e-4, atol=1e-5)


def test_a_loaded_model_of_which_no_copy_was_kept_is_asked_for(tmp_path: Path) -> None:
    found = evaluate(digits(), load(net(), example=[np.zeros((2, 64), np.float32)]), tmp_path / "run")
    with pytest.raises(ModelError, match="no copy was kept"):
        reopen(found, dataset=digits())


def test_a_model_file_that_changed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.pt2"
    example = torch.zeros(2, 64)
    batch = torch.export.Dim("batch", min=1, max=4096)
    torch.export.save(torch.export.export(net(), (example,), dynamic_shapes=({0: batch},)), path)
    found = evaluate(digits(), path, tmp_path / "run")
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(ModelError, match="no longer the one"):
        reopen(found, dataset=digits())


def test_a_binding_inside_the_run_folder_is_not_run(evaluation: Evaluation) -> None:
    inside = evaluation.run.path / "evil.py"
    inside.write_text("raise SystemExit('ran')")
    key = f"samples/{evaluation.number}/source.json"
    source = dict(evaluation.source.document)
    evaluation.run.write_document(key, {**source, "binding": {**source["binding"], "entry_file": str(inside)}})
    with pytest.raises(BindingError, match="not run from there"):
        reopen(evaluation)
