"""A live module with random weights: the user's own module, its hooks and its gradients stay out of it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cutaway.errors import AnalysisUnavailable
from cutaway.models import load

ROWS = np.random.default_rng(0).normal(size=(5, 6)).astype(np.float32)


def network() -> torch.nn.Sequential:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))


def test_hooks_of_the_user_do_not_hear_of_the_copy_and_stay_on_the_module() -> None:
    module, heard = network(), []
    module[0].register_forward_hook(lambda *_: heard.append("forward"))
    module[0].register_full_backward_hook(lambda *_: heard.append("backward"))
    other = load(module, example=ROWS).with_random_weights()
    heard.clear()
    other.predict(ROWS)
    other.gradient(ROWS)
    assert heard == []
    module(torch.from_numpy(ROWS))
    assert heard == ["forward"]


def test_hooks_by_which_torch_makes_weights_work_in_the_copy_too() -> None:
    module = network()
    with pytest.warns(FutureWarning, match="weight_norm"):
        torch.nn.utils.weight_norm(module[0])
    model = load(module, example=ROWS)
    before = {name: values.clone() for name, values in module.state_dict().items()}
    answers = [one.predict(ROWS)["output"] for one in (model, model.with_random_weights(), model)]
    assert not np.allclose(answers[0], answers[1])
    assert np.array_equal(answers[0], answers[2])
    assert "0.weight_v" in before
    assert all(torch.equal(values, before[name]) for name, values in module.state_dict().items())


def test_a_weight_that_two_layers_share_is_still_shared() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(6, 6, bias=False), torch.nn.ReLU(), torch.nn.Linear(6, 6, bias=False))
    module[2].weight = module[0].weight
    other = load(module, example=ROWS).with_random_weights()
    copied = other._backend._root  # type: ignore[attr-defined]  # there is no public way to a copy's parameters
    assert copied[2].weight is copied[0].weight
    assert copied[0].weight is not module[0].weight


def test_half_precision_that_numpy_does_not_know_is_shuffled_by_its_bits() -> None:
    module = network().to(torch.bfloat16)
    other = load(module).with_random_weights()
    copied = other._backend._root[0].weight  # type: ignore[attr-defined]  # there is no public way to it
    weight = module.state_dict()["0.weight"]
    assert copied.dtype == torch.bfloat16
    assert torch.equal(copied.flatten().sort().values, weight.flatten().sort().values)
    assert not torch.equal(copied, weight)


def test_a_module_that_cannot_be_copied_or_has_no_weights_says_so() -> None:
    class Stubborn(torch.nn.Linear):
        def __deepcopy__(self, memo: object) -> Stubborn:
            raise RuntimeError("there is only one of me")

    with pytest.raises(AnalysisUnavailable, match=r"Stubborn cannot be copied .*only one of me"):
        load(Stubborn(6, 3), example=ROWS).with_random_weights()
    with pytest.raises(AnalysisUnavailable, match="no tensor of weights"):
        load(torch.nn.Sequential(torch.nn.ReLU()), example=ROWS).with_random_weights()
