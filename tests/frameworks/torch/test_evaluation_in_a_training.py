"""A live model evaluated into the run that trains it: one id for each sample, from its first batch to its row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils.data import ConcatDataset, DataLoader, Subset, TensorDataset, random_split

import cutaway
from cutaway.dataset import Dataset
from cutaway.errors import ConfigurationError, ModelError
from cutaway.evaluation import evaluate
from cutaway.trial import create_trial


def points(count: int, seed: int) -> TensorDataset:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(count, 6, generator=generator)
    return TensorDataset(x, (x.sum(dim=1) > 0).long())


def parts_of(kind: str) -> tuple[torch.utils.data.Dataset, torch.utils.data.Dataset]:
    if kind == "random_split":
        training, validation = random_split(points(90, 0), [60, 30], generator=torch.Generator().manual_seed(1))
        return training, validation
    if kind == "subset of a subset":
        return Subset(Subset(points(90, 0), range(80, 10, -1)), range(5, 65)), points(30, 1)
    return ConcatDataset([points(40, 0), points(20, 2)]), points(30, 1)


@pytest.mark.parametrize("kind", ["random_split", "subset of a subset", "concatenated"])
def test_a_sample_has_one_id_in_training_and_in_evaluation(tmp_path: Path, kind: str) -> None:
    torch.manual_seed(0)
    training, validation = parts_of(kind)
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    # Nothing is learned, so that a sample's loss is the same number in both: an id that means another one would show.
    optimizer, criterion = torch.optim.SGD(model.parameters(), lr=0.0), torch.nn.CrossEntropyLoss()
    with cutaway.attach(model, optimizer, criterion, out_dir=tmp_path / "run") as hook:
        for x, y in hook.samples(DataLoader(training, batch_size=16, shuffle=True)):
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        dataset = Dataset.join(Dataset.from_torch(training), Dataset.from_torch(validation, subset="validation"))
        evaluation = evaluate(dataset, model, run=hook.run, epoch=1, keep_model=False)
    trained = create_trial(tmp_path / "run").sample_values(name="loss").to_pydict()
    losses = dict(zip(trained["sample"], trained["value"], strict=True))
    table = evaluation.table("training", ["id", "loss"]).to_pydict()
    assert set(table["id"]) == set(losses)
    np.testing.assert_allclose(table["loss"], [losses[one] for one in table["id"]], rtol=1e-4, atol=1e-6)
    assert evaluation.run.path == hook.run.path
    assert evaluation.source.epoch == 1


def test_a_loader_is_answered_with_its_data_set() -> None:
    with pytest.raises(ConfigurationError, match=r"Give the data set that it loads: `loader\.dataset`"):
        Dataset.from_torch(DataLoader(points(4, 0)))


def test_evaluating_a_data_set_of_torch_itself_says_how_to_make_ours() -> None:
    with pytest.raises(
        ConfigurationError, match=r"must be a Dataset, but got TensorDataset. Make one with `Dataset\.from_"
    ):
        evaluate(points(4, 0), torch.nn.Linear(6, 2))  # type: ignore[arg-type]


def test_a_model_that_fails_on_bytes_is_told_to_get_scaled_ones(tmp_path: Path) -> None:
    images = TensorDataset(torch.zeros(4, 1, 5, 5, dtype=torch.uint8), torch.zeros(4).long())
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(25, 2))
    with pytest.raises(ModelError, match=r"samples are 'input' \(1, 5, 5\) uint8. Scale 'input' to float32"):
        evaluate(Dataset.from_torch(images), model, run=tmp_path)
