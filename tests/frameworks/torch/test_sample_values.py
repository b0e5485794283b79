"""Loss, margin and correctness of every sample, against torch's own unreduced losses."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

import cutaway.torch as smd
from cutaway.errors import ConfigurationError
from tests.frameworks.torch.models import batches, net, sgd
from tests.recording import Recorded

NAMES = ["a", "b", "c", "d", "e"]

Batch = tuple[torch.Tensor, torch.Tensor]


def classes() -> Batch:
    return torch.randn(5, 3), torch.tensor([0, 1, 2, 1, 0])


def probabilities() -> Batch:
    return torch.randn(5, 3), torch.softmax(torch.randn(5, 3), dim=1)


def pictures() -> Batch:
    return torch.randn(5, 3, 2, 2), torch.randint(0, 3, (5, 2, 2))


def answers() -> Batch:
    return torch.randn(5, 2), torch.randint(0, 2, (5, 2)).float()


def numbers() -> Batch:
    return torch.randn(5, 4), torch.randn(5, 4)


LOSSES: dict[str, tuple[nn.Module, Callable[[], Batch]]] = {
    "cross entropy": (nn.CrossEntropyLoss(), classes),
    "weighted": (nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 0.5])), classes),
    "smoothed": (nn.CrossEntropyLoss(label_smoothing=0.2), classes),
    "summed": (nn.CrossEntropyLoss(reduction="sum"), classes),
    "ignoring": (nn.CrossEntropyLoss(ignore_index=1), classes),
    "soft labels": (nn.CrossEntropyLoss(), probabilities),
    "per pixel": (nn.CrossEntropyLoss(), pictures),
    "log likelihood": (nn.NLLLoss(), lambda: (functional.log_softmax(classes()[0], dim=1), classes()[1])),
    "binary": (nn.BCEWithLogitsLoss(), answers),
    "binary with weights": (nn.BCEWithLogitsLoss(pos_weight=torch.tensor([2.0, 3.0])), answers),
    "binary of probabilities": (nn.BCELoss(), lambda: (torch.rand(5, 2), answers()[1])),
    "squares": (nn.MSELoss(), numbers),
    "absolute": (nn.L1Loss(), numbers),
    "huber": (nn.HuberLoss(delta=0.5), numbers),
    "smooth": (nn.SmoothL1Loss(beta=0.5), numbers),
}


class Given(nn.Module):
    """Returns what it is given, by way of a parameter, so that a loss of it can be differentiated."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weight


def recorded_values(path: Path, loss: nn.Module, batch: Batch, ids: list[Any]) -> Recorded:
    model = Given()
    with smd.Hook(path) as hook:
        hook.register_module(model)
        hook.register_loss(loss)
        hook.set_samples(ids)
        loss(model(batch[0]), batch[1]).backward()
    return Recorded(path)


def unreduced(loss: nn.Module, batch: Batch) -> list[float]:
    single = copy.deepcopy(loss)
    single.reduction = "none"
    found: torch.Tensor = single(*batch).double()
    return found.reshape(5, -1).mean(dim=1).tolist()


@pytest.mark.parametrize("kind", LOSSES)
def test_the_loss_of_each_sample_is_torchs_own(tmp_path: Path, kind: str) -> None:
    loss, batch_of = LOSSES[kind]
    batch = batch_of()
    recorded = recorded_values(tmp_path / "run", loss, batch, NAMES)
    wanted = {(0, f"training/{name}"): value for name, value in zip(NAMES, unreduced(loss, batch), strict=True)}
    assert recorded.values("loss") == pytest.approx(wanted, rel=1e-6)
    assert recorded.findings() == []


def test_the_margin_is_the_lead_of_the_right_class_and_its_sign_says_correct(tmp_path: Path) -> None:
    scores, labels = classes()
    recorded = recorded_values(tmp_path / "run", nn.CrossEntropyLoss(), (scores, labels), NAMES)
    margins, correct = recorded.values("margin"), recorded.values("correct")
    for i, name in enumerate(NAMES):
        label = int(labels[i])
        others = [scores[i, j].item() for j in range(3) if j != label]
        assert margins[0, f"training/{name}"] == pytest.approx(scores[i, label].item() - max(others))
        assert correct[0, f"training/{name}"] == float(scores[i].argmax() == label)


def test_the_margin_of_yes_or_no_is_that_of_the_worst_answer(tmp_path: Path) -> None:
    scores, labels = torch.tensor([[2.0, -1.0], [2.0, 1.0]]), torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    recorded = recorded_values(tmp_path / "run", nn.BCEWithLogitsLoss(), (scores, labels), ["a", "b"])
    assert recorded.values("margin") == {(0, "training/a"): 1.0, (0, "training/b"): -1.0}
    assert recorded.values("correct") == {(0, "training/a"): 1.0, (0, "training/b"): 0.0}


@pytest.mark.parametrize("ignored", [-100, 2])
def test_an_ignored_label_has_neither_margin_nor_correctness(tmp_path: Path, ignored: int) -> None:
    scores, labels = torch.randn(3, 3), torch.tensor([0, ignored, 1])
    loss = nn.CrossEntropyLoss(ignore_index=ignored)
    recorded = recorded_values(tmp_path / "run", loss, (scores, labels), ["a", "b", "c"])
    for name in ("margin", "correct"):
        values = recorded.values(name)
        assert np.isnan(values[0, "training/b"])
        assert np.isfinite([values[0, "training/a"], values[0, "training/c"]]).all()


def test_regression_has_a_loss_only(tmp_path: Path) -> None:
    recorded = recorded_values(tmp_path / "run", nn.MSELoss(), numbers(), NAMES)
    assert {row["name"] for row in recorded.rows("values")} == {"loss"}


def test_samples_without_a_name_have_no_values(tmp_path: Path) -> None:
    recorded = recorded_values(tmp_path / "run", nn.CrossEntropyLoss(), classes(), ["a", None, "c", None, None])
    assert set(recorded.values("loss")) == {(0, "training/a"), (0, "training/c")}


def test_a_batch_of_another_size_than_its_samples_has_no_values(tmp_path: Path) -> None:
    recorded = recorded_values(tmp_path / "run", nn.CrossEntropyLoss(), classes(), ["a", "b"])
    assert recorded.rows("values") == []
    assert recorded.findings() == []


class Focal(nn.CrossEntropyLoss):
    """A user's own loss, which reduces whatever it is told."""

    def forward(self, input: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return super().forward(input, target).mean() ** 2


def test_a_users_own_loss_is_left_to_the_user(tmp_path: Path) -> None:
    recorded = recorded_values(tmp_path / "run", Focal(), classes(), NAMES)
    assert recorded.rows("values") == []
    assert recorded.findings() == []
    assert recorded.numbers() == [0]


def test_every_sample_of_every_micro_batch_has_its_values(tmp_path: Path) -> None:
    model, loss = net(), nn.CrossEntropyLoss()
    optimizer, wanted = sgd(model), {}
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        hook.register_loss(loss)
        hook.register_optimizer(optimizer)
        for i, (x, y) in enumerate(batches(6)):
            ids = [f"{i}-{k}" for k in range(5)]
            hook.set_samples(ids)
            out = model(x)
            singles = functional.cross_entropy(out, y, reduction="none").tolist()
            wanted |= {(i // 3, f"training/{one}"): value for one, value in zip(ids, singles, strict=True)}
            loss(out, y).backward()
            if i % 3 == 2:
                optimizer.step()
                optimizer.zero_grad()
    recorded = Recorded(tmp_path / "run")
    assert recorded.values("loss") == pytest.approx(wanted)
    assert len(recorded.steps[0]["samples"]) == 15
    assert recorded.findings() == []


def test_values_under_autocast_are_those_of_full_precision(tmp_path: Path) -> None:
    model, loss = net(), nn.CrossEntropyLoss()
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        hook.register_loss(loss)
        x, y = next(batches(1))
        hook.set_samples(NAMES)
        with torch.autocast("cpu", torch.bfloat16):
            out = model(x)
            loss(out, y).backward()
            singles = functional.cross_entropy(out.float(), y, reduction="none")
    wanted = {(0, f"training/{name}"): value for name, value in zip(NAMES, singles.tolist(), strict=True)}
    assert recorded_at(tmp_path / "run") == pytest.approx(wanted, rel=1e-6)


def recorded_at(path: Path) -> dict[tuple[int, str], float]:
    return Recorded(path).values("loss")


def test_validation_has_no_sample_values_of_training(tmp_path: Path) -> None:
    model, loss = net(), nn.CrossEntropyLoss()
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        hook.register_loss(loss)
        hook.set_mode("EVAL")
        x, y = next(batches(1))
        hook.set_samples(NAMES)
        loss(model(x), y)
    assert Recorded(tmp_path / "run").rows("values") == []


def test_a_loop_can_save_values_of_its_own(tmp_path: Path) -> None:
    model = net()
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        for _ in range(2):
            model(torch.ones(1, 4))
        hook.save_sample_values(["a", None, 3], uncertainty=[0.5, 0.6, 0.7], difficulty=torch.tensor([1, 2, 3]))
    recorded = Recorded(tmp_path / "run")
    assert recorded.values("uncertainty") == {(1, "training/a"): 0.5, (1, "training/3"): 0.7}
    assert recorded.values("difficulty") == {(1, "training/a"): 1.0, (1, "training/3"): 3.0}


def test_values_that_do_not_match_their_samples_are_refused(tmp_path: Path) -> None:
    with smd.Hook(tmp_path / "run") as hook, pytest.raises(ConfigurationError, match="2 values for 3 samples"):
        hook.save_sample_values(["a", "b", "c"], loss=[1.0, 2.0])
