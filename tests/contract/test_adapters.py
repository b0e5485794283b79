"""The adapter for PyTorch obeys the contract that we ship, and so does the one that a page shows how to add."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import pytest

from cutaway import registry
from cutaway.arrays import Array
from cutaway.capture import current
from cutaway.capture.hook import AdaptedHook
from cutaway.capture.records import Offer, StepRecord
from cutaway.capture.settings import HookSettings
from cutaway.testing.adapters import AdapterContract, ContractTraining
from tests.docs.following import Follower

PAGE = "add-a-framework.md"
MOST_LINES = 100


class TorchTraining:
    """A small model, trained as users train: registered with a hook, forward, backward, update."""

    def __init__(self, settings: HookSettings | None) -> None:
        import torch

        torch.manual_seed(0)
        self.model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
        self.loss, self.optimizer = torch.nn.MSELoss(), torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.x, self.y = torch.randn(6, 4), torch.ones(6, 1)
        self.hook: AdaptedHook | None = None
        if settings is not None:
            adapter = registry.load("frameworks", "torch")()
            self.hook = AdaptedHook(adapter, settings)
            adapter.watch_model(self.model)
            adapter.watch_loss(self.loss)
            adapter.watch_optimizer(self.optimizer, None)

    def step(self) -> Mapping[str, Array]:
        named = {f"Sequential_{name}": p for name, p in self.model.named_parameters()}
        before = {name: p.detach().numpy().copy() for name, p in named.items()}
        self.optimizer.zero_grad()
        self.loss(self.model(self.x), self.y).backward()
        gradients = {f"gradient/{name}": p.grad.numpy().copy() for name, p in named.items() if p.grad is not None}
        self.optimizer.step()
        return before | gradients

    def evaluate(self) -> None:
        import torch

        with torch.no_grad():
            self.model(self.x)

    def parameters(self) -> list[Array]:
        return [p.detach().numpy().copy() for p in self.model.parameters()]


class TestTorchAdapter(AdapterContract):
    def start(self, settings: HookSettings | None) -> ContractTraining:
        pytest.importorskip("torch")
        return TorchTraining(settings)


class _StaleTraining(TorchTraining):
    """A training whose adapter keeps no copies: what it offers changes with the model."""

    def __init__(self, settings: HookSettings | None) -> None:
        super().__init__(settings)
        if self.hook is not None:
            complete = self.hook.adapter.complete

            def aliased(record: StepRecord) -> None:
                complete(record)
                for name, p in self.model.named_parameters():
                    record.offers.append(Offer(f"alias_{name}", p.detach().numpy(), "float32"))

            self.hook.adapter.complete = aliased  # type: ignore[method-assign]

    def step(self) -> Mapping[str, Array]:
        held = super().step()
        named = {f"alias_{name}": held[f"Sequential_{name}"] for name, _ in self.model.named_parameters()}
        return held | named


def test_the_contract_tells_an_adapter_that_keeps_no_copies(tmp_path: Path) -> None:
    pytest.importorskip("torch")

    class Stale(AdapterContract):
        def start(self, settings: HookSettings | None) -> ContractTraining:
            return _StaleTraining(settings)

    with pytest.raises(AssertionError):
        Stale().test_what_is_saved_is_what_the_step_computed_with_bit_for_bit(tmp_path)
    for hook in current.live_hooks():
        hook.close()


class TestAdapterOfThePage(AdapterContract):
    """As its page shows it, from a package of somebody else, found by its entry point."""

    @pytest.fixture(autouse=True)
    def _installed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (folder := tmp_path / "package").mkdir()
        follower = Follower(folder, monkeypatch)
        for name in ("perceptron.py", "perceptron_adapter.py", "test_perceptron_adapter.py"):
            path = follower.write(PAGE, name)
            assert len(path.read_text().splitlines()) < MOST_LINES
            follower.forget(path.stem)
        follower.install(PAGE)

    def start(self, settings: HookSettings | None) -> ContractTraining:
        page = import_module("test_perceptron_adapter")
        assert registry.load("frameworks", "perceptron") is page.PerceptronAdapter
        training: ContractTraining = page.PerceptronTraining(settings)
        return training
