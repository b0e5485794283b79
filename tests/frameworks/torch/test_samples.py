"""Which samples were in each step: from a DataLoader of any kind, or as the loop says."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, RandomSampler, Sampler, TensorDataset

import cutaway.torch as smd
from cutaway.errors import ConfigurationError
from tests.frameworks.torch.models import batches, net, plain_loss, sgd
from tests.recording import Recorded

COUNT = 11


class Numbered(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Samples whose first input is their own index, so that a batch tells which samples it holds."""

    def __len__(self) -> int:
        return COUNT

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.tensor([float(index), 1.0, 2.0, 3.0]), torch.tensor(index % 3)


class Stream(IterableDataset[tuple[torch.Tensor, torch.Tensor]]):
    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        data = Numbered()
        return (data[i] for i in range(COUNT))


class Backwards(Sampler[list[int]]):
    def __iter__(self) -> Iterator[list[int]]:
        yield from ([10, 9, 8], [7], [6, 5])

    def __len__(self) -> int:
        return 3


def indices(batch: Sequence[torch.Tensor]) -> list[str]:
    return [f"training/{int(i)}" for i in batch[0].reshape(-1, 4)[:, 0]]


def epochs_of(path: Path, loader: Any, *, epochs: int = 2, ids: Any = None, stop: int | None = None) -> list[list[str]]:
    """Train over a loader and return the samples that each batch really held."""
    model, held = net(), []
    optimizer = sgd(model, lr=1e-3)
    with smd.Hook(path) as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        sampled = hook.samples(loader, ids=ids)
        for _ in range(epochs):
            for i, (x, y) in enumerate(sampled):
                held.append(indices((x, y)))
                optimizer.zero_grad()
                plain_loss(model, x.reshape(-1, 4), y.reshape(-1)).backward()
                optimizer.step()
                if i == stop:
                    break
    return held


LOADERS: dict[str, dict[str, Any]] = {
    "in order": {"batch_size": 4},
    "shuffled": {"batch_size": 4, "shuffle": True},
    "without the last": {"batch_size": 4, "shuffle": True, "drop_last": True},
    "with a batch sampler": {"batch_sampler": Backwards()},
    "with a random batch sampler": {"batch_sampler": BatchSampler(RandomSampler(Numbered()), 3, drop_last=False)},
    "one sample at a time": {"batch_size": None, "shuffle": True},
    "with two workers": {"batch_size": 4, "shuffle": True, "num_workers": 2},
    "with workers that stay": {"batch_size": 2, "shuffle": True, "num_workers": 2, "persistent_workers": True},
    "with workers and a sampler": {"batch_sampler": Backwards(), "num_workers": 1},
}


@pytest.mark.parametrize("kind", LOADERS)
def test_the_samples_of_every_step_are_those_of_its_batch(tmp_path: Path, kind: str) -> None:
    loader = DataLoader(Numbered(), **LOADERS[kind])
    held = epochs_of(tmp_path / "run", loader)
    recorded = Recorded(tmp_path / "run")
    assert [row["samples"] for row in recorded.steps] == held
    per_epoch = len(held) // 2
    assert [row["epoch"] for row in recorded.steps] == [0] * per_epoch + [1] * per_epoch
    assert all(row["data"] >= 0 for row in recorded.steps)
    assert recorded.findings() == []


@pytest.mark.parametrize("kind", ["shuffled", "with two workers", "with workers that stay"])
def test_an_epoch_left_early_does_not_shift_the_next(tmp_path: Path, kind: str) -> None:
    held = epochs_of(tmp_path / "run", DataLoader(Numbered(), **LOADERS[kind]), epochs=3, stop=1)
    assert len(held) == 6
    assert [row["samples"] for row in Recorded(tmp_path / "run").steps] == held


def test_two_passes_at_once_over_one_loader_do_not_mix(tmp_path: Path) -> None:
    model = net()
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        loader = hook.samples(DataLoader(Numbered(), batch_size=4))
        held = []
        for first, second in zip(loader, loader, strict=True):
            held.append(indices(second))
            model(torch.cat([first[0], second[0]]))
    assert [row["samples"] for row in Recorded(tmp_path / "run").steps] == held
    assert Recorded(tmp_path / "run").findings() == []


def test_ids_name_the_samples(tmp_path: Path) -> None:
    names = [f"image-{i}.png" for i in range(COUNT)]
    held = epochs_of(tmp_path / "run", DataLoader(Numbered(), batch_size=4, shuffle=True), epochs=1, ids=names)
    wanted = [[f"training/image-{one.split('/')[1]}.png" for one in batch] for batch in held]
    assert [row["samples"] for row in Recorded(tmp_path / "run").steps] == wanted


def test_ids_may_be_an_array_and_may_carry_their_subset(tmp_path: Path) -> None:
    names = np.array([f"validation/{i}" for i in range(COUNT)])
    epochs_of(tmp_path / "run", DataLoader(Numbered(), batch_size=COUNT), epochs=1, ids=names)
    assert Recorded(tmp_path / "run").steps[0]["samples"] == list(names)


def test_too_few_ids_are_refused_before_training(tmp_path: Path) -> None:
    with smd.Hook(tmp_path / "run") as hook, pytest.raises(ConfigurationError, match="10 ids for 11 samples"):
        hook.samples(DataLoader(Numbered()), ids=list(range(10)))


def test_an_unknown_subset_is_refused(tmp_path: Path) -> None:
    with smd.Hook(tmp_path / "run") as hook, pytest.raises(ConfigurationError, match="'training'"):
        hook.samples(DataLoader(Numbered()), subset="trainning")


def test_the_batches_are_the_loaders_own(tmp_path: Path) -> None:
    plain, watched = (DataLoader(Numbered(), batch_size=4, shuffle=True) for _ in range(2))
    torch.manual_seed(3)
    wanted = [batch for _ in range(2) for batch in plain]
    with smd.Hook(tmp_path / "run") as hook:
        torch.manual_seed(3)
        sampled = hook.samples(watched)
        found = [batch for _ in range(2) for batch in sampled]
        assert len(sampled) == 3
        assert sampled.dataset is watched.dataset
        assert sampled.batch_size == 4
    for a, b in zip(wanted, found, strict=True):
        assert torch.equal(a[0], b[0])
        assert torch.equal(a[1], b[1])
    assert type(watched.batch_sampler) is BatchSampler


@pytest.mark.parametrize("loader", [DataLoader(Stream(), batch_size=4), [(torch.ones(2, 4), torch.zeros(2).long())]])
def test_unknown_samples_are_null_and_said_once(tmp_path: Path, loader: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "cutaway"):
        epochs_of(tmp_path / "run", loader)
    recorded = Recorded(tmp_path / "run")
    assert {row["samples"] for row in recorded.steps} == {None}
    assert recorded.findings() == ["samples-unknown"]
    assert len([record for record in caplog.records if "unknown" in record.message]) == 1


def test_unknown_samples_are_said_once_in_a_dry_run_too(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "cutaway"), smd.Hook(tmp_path / "run", dry_run=True) as hook:
        for _ in hook.samples(DataLoader(Stream(), batch_size=2)):
            pass
    assert len(caplog.records) == 1


class Words(Sampler[str]):
    def __iter__(self) -> Iterator[str]:
        yield from ("cat", "dog", "owl")


class Named(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    def __getitem__(self, index: Any) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.ones(4), torch.tensor(0)


def test_samplers_may_give_any_key(tmp_path: Path) -> None:
    loader = DataLoader(Named(), batch_size=2, sampler=Words())
    epochs_of(tmp_path / "run", loader, epochs=1)
    assert [row["samples"] for row in Recorded(tmp_path / "run").steps] == [
        ["training/cat", "training/dog"],
        ["training/owl"],
    ]


def test_the_loop_may_name_the_samples_itself(tmp_path: Path) -> None:
    model = net()
    optimizer = sgd(model)
    named: list[Any] = [["a", None, "c"], np.array([3, 4]), torch.tensor([7]), ["validation/9"], None]
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        for ids in named:
            hook.set_samples(ids)
            model(torch.ones(2, 4)).sum().backward()
            optimizer.step()
    assert [row["samples"] for row in Recorded(tmp_path / "run").steps] == [
        ["training/a", None, "training/c"],
        ["training/3", "training/4"],
        ["training/7"],
        ["validation/9"],
        None,
    ]


def test_the_samples_of_one_step_are_not_those_of_the_next(tmp_path: Path) -> None:
    model = net()
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        hook.set_samples(["a"])
        model(torch.ones(1, 4))
        model(torch.ones(1, 4))
    assert [row["samples"] for row in Recorded(tmp_path / "run").steps] == [["training/a"], None]


def test_accumulated_steps_list_the_samples_of_all_their_batches(tmp_path: Path) -> None:
    model, held = net(), []
    optimizer = sgd(model)
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        for i, (x, y) in enumerate(hook.samples(DataLoader(Numbered(), batch_size=2))):
            held += indices((x, y))
            plain_loss(model, x, y).backward()
            if i % 3 == 2:
                optimizer.step()
                optimizer.zero_grad()
    rows = Recorded(tmp_path / "run").steps
    assert [row["samples"] for row in rows] == [held[:6], held[6:]]


def test_validation_batches_have_their_own_subset_and_count_no_epoch(tmp_path: Path) -> None:
    model = net()
    optimizer = sgd(model)
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        training = hook.samples(DataLoader(Numbered(), batch_size=6))
        validation = hook.samples(DataLoader(Numbered(), batch_size=COUNT), subset="validation")
        for _ in range(2):
            hook.set_mode(smd.modes.TRAIN)
            for x, y in training:
                plain_loss(model, x, y).backward()
                optimizer.step()
            hook.set_mode(smd.modes.EVAL)
            for x, _ in validation:
                with torch.no_grad():
                    model(x)
    rows = Recorded(tmp_path / "run").steps
    assert [row["mode"] for row in rows] == ["TRAIN", "TRAIN", "EVAL"] * 2
    assert [row["epoch"] for row in rows] == [0, 0, 0, 1, 1, 1]
    assert rows[2]["samples"] == [f"validation/{i}" for i in range(COUNT)]


def test_an_epoch_that_the_loop_sets_is_not_counted_over(tmp_path: Path) -> None:
    model = net()
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        loader = hook.samples(DataLoader(Numbered(), batch_size=COUNT))
        for epoch in (7, 8):
            hook.set_epoch(epoch)
            for x, _ in loader:
                model(x)
    assert [row["epoch"] for row in Recorded(tmp_path / "run").steps] == [7, 8]


def test_throughput_counts_samples(tmp_path: Path) -> None:
    epochs_of(tmp_path / "run", DataLoader(Numbered(), batch_size=4))
    found = Recorded(tmp_path / "run").scalars("throughput")
    assert list(found) == [1, 2, 3, 4, 5]
    assert all(value > 0 for value in found.values())


def test_a_switched_off_hook_gives_the_loader_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTAWAY", "off")
    loader = DataLoader(TensorDataset(torch.ones(3)))
    assert smd.Hook(tmp_path / "run").samples(loader) is loader


def test_loss_modules_find_no_samples_where_none_are_named(tmp_path: Path) -> None:
    model, loss = net(), nn.CrossEntropyLoss()
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        hook.register_loss(loss)
        for x, y in batches(2):
            loss(model(x), y).backward()
    assert Recorded(tmp_path / "run").rows("values") == []
