"""One rule over a short training, through `invoke_rule` of two tools: the same model, the same steps, the same answer.

From `VANISHED_FROM` on the loss is multiplied by next to nothing, and all gradients with it: a rule that looks for
gradients that have vanished must fire at exactly the steps from there on.
"""

from __future__ import annotations

import importlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import nn

__all__ = ["STEPS", "TENSORS", "THRESHOLD", "VANISHED_FROM", "Invoked", "RuleTool", "load", "small_gradient", "train"]

STEPS = 300
LAYERS = 25
TENSORS = 2 * LAYERS
VANISHED_FROM = 200
THRESHOLD = 1e-7
WIDTH, CLASSES, BATCH = 16, 10, 32

# Tools by name; each is imported only in the virtual environment that has it.
TOOLS = {
    "cutaway": "benchmarks.adapters.cutaway_rules:CutawayRules",
    "smdebug": "benchmarks.adapters.smdebug_rules:SmdebugRules",
}


class Deep(nn.Module):
    """25 linear layers with shortcuts past them, so that the first gradient is as alive as the last."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS - 1))
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """Class scores of a batch."""
        for layer in self.layers:
            values = values + 0.1 * torch.tanh(layer(values))
        scores: torch.Tensor = self.head(values)
        return scores


@dataclass(frozen=True)
class Invoked:
    """Seconds until the rule was ready, seconds of `invoke_rule`, and the steps at which it fired."""

    opening: float
    invoking: float
    fired: list[int]


class RuleTool(ABC):
    """A tool that captures a training, and has rules that look at what it captured."""

    # The rules that it is timed with, ours or written for the purpose.
    rules: ClassVar[tuple[str, ...]]

    @abstractmethod
    def attach(self, model: nn.Module, criterion: nn.Module, optimizer: torch.optim.Optimizer, folder: Path) -> None:
        """Begin capturing into a folder that does not exist yet."""

    @abstractmethod
    def close(self) -> None:
        """Finish the run."""

    @abstractmethod
    def opened(self, folder: Path) -> Any:
        """Open a run for reading, as if for the first time."""

    @abstractmethod
    def rule(self, trial: Any, name: str) -> Any:
        """Make one of its rules for an opened run."""

    @abstractmethod
    def invoke(self, rule: Any) -> None:
        """Call the tool's `invoke_rule` for all steps."""

    @abstractmethod
    def fired(self, rule: Any) -> list[int]:
        """The steps at which a rule fired that was invoked."""

    def invoked(self, folder: Path, name: str) -> Invoked:
        """Open the run and look at all of it."""
        begin = time.perf_counter()
        rule = self.rule(self.opened(folder), name)
        ready = time.perf_counter()
        self.invoke(rule)
        end = time.perf_counter()
        return Invoked(ready - begin, end - ready, self.fired(rule))


def load(tool: str) -> RuleTool:
    """The tool of this name."""
    module, _, attribute = TOOLS[tool].partition(":")
    found: RuleTool = getattr(importlib.import_module(module), attribute)()
    return found


def train(tool: RuleTool, folder: Path) -> None:
    """Train with the tool attached; the gradients vanish on the way."""
    torch.manual_seed(0)
    model, criterion = Deep(), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    tool.attach(model, criterion, optimizer, folder)
    for step in range(STEPS):
        values, labels = torch.randn(BATCH, WIDTH), torch.randint(0, CLASSES, (BATCH,))
        optimizer.zero_grad()
        loss = criterion(model(values), labels)
        (loss if step < VANISHED_FROM else loss * 1e-12).backward()
        optimizer.step()
    tool.close()


def small_gradient(base: type) -> Callable[[Any], Any]:
    """The rule that a user of upstream's interface writes, on the `Rule` of either tool."""

    class SmallGradient(base):  # type: ignore[misc]  # a class that is known only here
        def __init__(self, base_trial: Any) -> None:
            super().__init__(base_trial, None)
            self.names = base_trial.tensor_names(collection="gradients")
            self.fired: list[int] = []

        def invoke_at_step(self, step: int) -> bool:
            tensors = map(self.base_trial.tensor, self.names)
            small = any(tensor.reduction_value(step, "mean", abs=True) < THRESHOLD for tensor in tensors)
            if small:
                self.fired.append(step)
            return small

    return SmallGradient
