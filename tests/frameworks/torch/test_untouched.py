"""The user's model, optimizer and loop stay theirs: types, results, copies, exports and hooks."""

from __future__ import annotations

import copy
import gc
import io
import os
import pickle
import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel

import cutaway.torch as smd
from tests.frameworks.torch.models import Net, batches, net, sgd, train
from tests.recording import Recorded

EVERYTHING = {"save_all": True, "save_config": {"save_interval": 1}}


@pytest.fixture
def watched(tmp_path: Path) -> Any:
    """A trained model with a hook on it that saves everything."""
    model, loss = net(), nn.CrossEntropyLoss()
    optimizer = sgd(model)
    with smd.Hook(tmp_path / "run", **EVERYTHING) as hook:  # type: ignore[arg-type]
        hook.register_module(model)
        hook.register_loss(loss)
        hook.register_optimizer(optimizer)
        train(model, optimizer, loss, steps=2)
        assert model._forward_hooks
        yield model


def hooks_of(model: nn.Module) -> list[Any]:
    names = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    found = [hook for module in model.modules() for name in names for hook in getattr(module, name).values()]
    flags = ("_forward_hooks_with_kwargs", "_forward_pre_hooks_with_kwargs", "_forward_hooks_always_called")
    found += [key for module in model.modules() for name in flags for key in getattr(module, name)]
    return found + [hook for p in model.parameters() for hook in (p._backward_hooks or {}).values()]


# -- results ---------------------------------------------------------------------------------------


def test_model_and_optimizer_keep_type_identity_and_state(tmp_path: Path) -> None:
    model = net()
    optimizer, keys = sgd(model), list(model.state_dict())
    with smd.Hook(tmp_path / "run", **EVERYTHING) as hook:  # type: ignore[arg-type]
        hook.register_module(model)
        assert hook.wrap_optimizer(optimizer) is optimizer
        train(model, optimizer, nn.CrossEntropyLoss(), steps=1)
        assert type(model) is Net
        assert type(optimizer) is torch.optim.SGD
        assert list(model.state_dict()) == keys
        assert optimizer.state_dict().keys() == {"state", "param_groups"}


OPTIMIZERS: dict[str, Callable[[nn.Module], torch.optim.Optimizer]] = {
    "sgd": lambda model: torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9),
    "adam": lambda model: torch.optim.AdamW(model.parameters(), lr=0.01),
}


class Noisy(Net):
    """Draws random numbers in its forward: a hook that drew any would change what comes out."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(nn.functional.dropout(x, 0.2))


@pytest.mark.parametrize("optimizer_name", OPTIMIZERS)
def test_outputs_and_trained_weights_are_bit_equal_with_and_without_the_hook(
    tmp_path: Path, optimizer_name: str
) -> None:
    results = []
    for watching in (False, True):
        torch.manual_seed(0)
        model, loss = Noisy(), nn.CrossEntropyLoss()
        optimizer, outputs = OPTIMIZERS[optimizer_name](model), []
        hook = smd.Hook(tmp_path / "run", **EVERYTHING) if watching else None  # type: ignore[arg-type]
        if hook is not None:
            hook.register_module(model)
            hook.register_loss(loss)
            hook.register_optimizer(optimizer)
        for x, y in batches(20):
            if hook is not None:
                hook.set_samples(range(5))
            optimizer.zero_grad()
            out = model(x)
            outputs.append(out.detach().clone())
            loss(out, y).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        if hook is not None:
            hook.close()
        results.append((outputs, [p.detach() for p in model.parameters()], torch.get_rng_state()))
    (outputs, weights, state), (outputs2, weights2, state2) = results
    assert all(torch.equal(a, b) for a, b in zip(outputs + weights, outputs2 + weights2, strict=True))
    assert torch.equal(state, state2)


def test_gradients_and_graphs_are_released_as_without_the_hook(tmp_path: Path) -> None:
    model = net()
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        out = model(torch.ones(1, 4))
        out.sum().backward()
        gone = weakref.ref(out)
        del out
        gc.collect()
        assert gone() is None


# -- closing ---------------------------------------------------------------------------------------


def test_closing_removes_every_hook_and_may_be_done_twice(tmp_path: Path) -> None:
    model, loss = net(), nn.CrossEntropyLoss()
    optimizer = sgd(model)
    hook = smd.Hook(tmp_path / "run", **EVERYTHING)  # type: ignore[arg-type]
    hook.register_module(model)
    hook.register_loss(loss)
    hook.register_optimizer(optimizer)
    train(model, optimizer, loss, steps=2)
    assert hooks_of(model)
    for _ in range(2):
        hook.close()
        assert hooks_of(model) + hooks_of(loss) == []
        assert not optimizer._optimizer_step_pre_hooks
        assert not optimizer._optimizer_step_post_hooks
    train(model, optimizer, loss, steps=2)
    hook.save_scalar("late", 1.0)
    assert Recorded(tmp_path / "run").numbers() == [0, 1]


def test_closing_leaves_the_users_own_hooks_alone(tmp_path: Path) -> None:
    model, calls = net(), []
    model.fc1.register_forward_hook(lambda *_: calls.append("mine"))
    with smd.Hook(tmp_path / "run", **EVERYTHING) as hook:  # type: ignore[arg-type]
        hook.register_module(model)
        model(torch.ones(1, 4))
    model(torch.ones(1, 4))
    assert calls == ["mine", "mine"]
    assert len(hooks_of(model)) == 1


def test_a_hook_closed_before_its_first_step_leaves_nothing(tmp_path: Path) -> None:
    model = net()
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
    assert hooks_of(model) == []
    assert Recorded(tmp_path / "run").numbers() == []


# -- copies ----------------------------------------------------------------------------------------


def pickled(model: nn.Module) -> nn.Module:
    return pickle.loads(pickle.dumps(model))  # type: ignore[no-any-return]


def saved(model: nn.Module) -> nn.Module:
    buffer = io.BytesIO()
    torch.save(model, buffer)
    buffer.seek(0)
    return torch.load(buffer, weights_only=False)  # type: ignore[no-any-return]


def averaged(model: nn.Module) -> nn.Module:
    return AveragedModel(model)


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled, saved, averaged])
def test_a_copy_of_a_watched_model_carries_no_live_hook(
    watched: Net, tmp_path: Path, copied: Callable[[nn.Module], nn.Module]
) -> None:
    other = copied(watched)
    other(torch.ones(3, 4)).sum().backward()
    assert smd.get_hook() is not None
    assert smd.get_hook().flush()  # type: ignore[union-attr]
    assert Recorded(tmp_path / "run").numbers() == [0, 1]
    assert torch.equal(other(torch.ones(2, 4)), watched.eval()(torch.ones(2, 4)))


def test_saving_a_watched_model_warns_of_nothing(watched: Net, recwarn: pytest.WarningsRecorder) -> None:
    saved(watched)
    copy.deepcopy(watched)
    assert [str(warning.message) for warning in recwarn] == []


LOADS = """
import sys
sys.modules["cutaway"] = None  # importing it raises ImportError
sys.path.insert(0, sys.argv[2])
import torch
model = torch.load(sys.argv[1], weights_only=False)
print(float(model(torch.ones(1, 4)).sum()))
"""


def test_a_watched_model_loads_in_a_process_that_cannot_import_cutaway(watched: Net, tmp_path: Path) -> None:
    torch.save(watched, tmp_path / "model.pt")
    root = str(Path(__file__).parents[3])
    command = [sys.executable, "-c", LOADS, str(tmp_path / "model.pt"), root]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == pytest.approx(watched(torch.ones(1, 4)).sum().item())


def test_weights_alone_load_as_always(watched: Net, tmp_path: Path) -> None:
    torch.save(watched.state_dict(), tmp_path / "weights.pt")
    other = Net()
    other.load_state_dict(torch.load(tmp_path / "weights.pt", weights_only=True))
    assert torch.equal(other.fc1.weight, watched.fc1.weight)


def test_a_copied_or_pickled_optimizer_carries_no_live_hook(tmp_path: Path) -> None:
    model = net()
    optimizer = sgd(model)
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        train(model, optimizer, nn.CrossEntropyLoss(), steps=1)
        for other in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
            other.step()
        hook.flush()
        assert Recorded(tmp_path / "run").numbers() == [0]


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_writes_nothing(tmp_path: Path) -> None:
    model = net()
    optimizer = sgd(model)
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        train(model, optimizer, nn.CrossEntropyLoss(), steps=2)
        hook.flush()
        child = os.fork()
        if child == 0:
            # The child may not return into pytest, whatever happens.
            try:
                train(model, optimizer, nn.CrossEntropyLoss(), steps=3)
                hook.save_scalar("from the child", 1.0)
                hook.save_tensor("from the child", torch.ones(1))
                hook.close()
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        train(model, optimizer, nn.CrossEntropyLoss(), steps=2)
    recorded = Recorded(tmp_path / "run")
    assert recorded.numbers() == [0, 1, 2, 3]
    assert recorded.scalars("from the child") == {}
    assert recorded.tensors().keys() == set()
    assert recorded.run.state() == "finished"


# -- exports ---------------------------------------------------------------------------------------


def test_a_watched_model_can_be_exported(watched: Net) -> None:
    exported = torch.export.export(watched, (torch.ones(2, 4),))
    assert torch.allclose(exported.module()(torch.ones(2, 4)), watched(torch.ones(2, 4)))


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_a_watched_model_can_be_traced_and_the_trace_is_its_own(watched: Net, tmp_path: Path) -> None:
    hook = smd.get_hook()
    assert hook is not None
    traced = torch.jit.trace(watched, torch.ones(2, 4))
    plain = torch.jit.trace(copy.deepcopy(watched), torch.ones(2, 4))
    assert str(traced.graph).count("aten::") == str(plain.graph).count("aten::")
    assert torch.equal(traced(torch.ones(2, 4)), watched(torch.ones(2, 4)))
    hook.flush()
    assert Recorded(tmp_path / "run").findings() == []


def test_a_watched_model_can_be_traced_symbolically(watched: Net, tmp_path: Path) -> None:
    traced = torch.fx.symbolic_trace(watched)
    assert torch.equal(traced(torch.ones(2, 4)), watched(torch.ones(2, 4)))


def test_a_watched_model_can_be_called_functionally(watched: Net) -> None:
    parameters = {name: p.detach() * 0 for name, p in watched.named_parameters()}
    out = torch.func.functional_call(watched, parameters, (torch.ones(2, 4),))
    assert not out.any()


def test_a_model_that_holds_its_hook_can_be_copied_and_saved(watched: Net, tmp_path: Path) -> None:
    hook = smd.get_hook()
    watched.hook = hook
    assert copy.deepcopy(watched).hook is hook
    torch.save(watched, tmp_path / "model.pt")
    root = str(Path(__file__).parents[3])
    script = LOADS + "assert model.hook is None"
    command = [sys.executable, "-c", script, str(tmp_path / "model.pt"), root]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
