"""Which tensors are saved in full, when, and how small: collections, schedules, reductions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import cutaway.torch as smd
from cutaway.errors import ConfigurationError, InvalidCollectionConfiguration
from cutaway.tensors.statistics import reduce
from tests.frameworks.torch.models import Net, batches, net, plain_loss, sgd
from tests.recording import Recorded

WEIGHT = "Net_fc1.weight"


def run(path: Path, steps: int = 12, *, poison: int | None = None, modes: str = "", **settings: Any) -> Recorded:
    """Train with a hook; at step `poison` the input holds a NaN; `modes` has a letter for each step (T, E)."""
    model, loss = net(), nn.CrossEntropyLoss()
    optimizer = sgd(model, lr=0.0)
    with smd.Hook(path, **settings) as hook:
        hook.register_module(model)
        hook.register_loss(loss)
        hook.register_optimizer(optimizer)
        for step, (x, y) in enumerate(batches(steps)):
            if modes:
                hook.set_mode({"T": smd.modes.TRAIN, "E": smd.modes.EVAL}[modes[step]])
            if step == poison:
                x[0, 0] = float("nan")
            optimizer.zero_grad()
            loss(model(x), y).backward()
            # A NaN in a gradient would make every weight NaN from then on.
            if step != poison and (not modes or modes[step] == "T"):
                optimizer.step()
    return Recorded(path)


# -- when --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "steps"),
    [
        (smd.SaveConfig(save_interval=5), [0, 5, 10]),
        (smd.SaveConfig(save_interval=5, start_step=3), [5, 10]),
        (smd.SaveConfig(save_interval=5, end_step=10), [0, 5]),
        (smd.SaveConfig(save_interval=5, save_steps=[2, 7]), [2, 7]),
        (smd.SaveConfig(end_step=0), []),
        ({"save_interval": 6}, [0, 6]),
        (smd.SaveConfigMode(save_interval=4), [0, 4, 8]),
        (None, [0]),
    ],
)
def test_the_schedule_of_the_hook(tmp_path: Path, config: Any, steps: list[int]) -> None:
    recorded = run(tmp_path / "run", include_collections=["weights"], save_config=config)
    assert recorded.saved_at(WEIGHT) == steps
    assert recorded.saved_at("CrossEntropyLoss_output_0") == steps
    assert recorded.saved_at("gradient/Net_fc1.weight") == []
    assert len({step for step, _ in recorded.statistics()}) == 12


def test_a_collection_may_have_its_own_schedule(tmp_path: Path) -> None:
    smd.get_collection("biases").save_config = smd.SaveConfig(save_interval=4)
    smd.get_collection("losses").save_config = smd.SaveConfig(end_step=0)
    recorded = run(tmp_path / "run", include_collections=["weights", "biases"], save_config={"save_interval": 5})
    assert recorded.saved_at(WEIGHT) == [0, 5, 10]
    assert recorded.saved_at("Net_fc1.bias") == [0, 4, 8]
    assert recorded.saved_at("CrossEntropyLoss_output_0") == []


def test_each_mode_may_have_its_own_schedule_counted_in_its_own_steps(tmp_path: Path) -> None:
    config = {smd.modes.TRAIN: smd.SaveConfigMode(save_interval=3), smd.modes.EVAL: smd.SaveConfigMode(save_interval=2)}
    recorded = run(tmp_path / "run", include_collections=["weights"], save_config=config, modes="TTTTEEETTTEE")
    # Training steps 0, 3, 6 are 0, 3, 9 over all; evaluation steps 0, 2, 4 are 4, 6, 11.
    assert recorded.saved_at(WEIGHT) == [0, 3, 4, 6, 9, 11]


def test_a_collections_modes_are_filled_from_the_hooks(tmp_path: Path) -> None:
    smd.get_collection("weights").save_config = {smd.modes.EVAL: smd.SaveConfigMode(save_interval=1)}
    config = smd.SaveConfig(save_interval=4)
    recorded = run(tmp_path / "run", include_collections=["weights"], save_config=config, modes="TTTTTTEEETTT")
    assert recorded.saved_at(WEIGHT) == [0, 4, 6, 7, 8, 11]


@pytest.mark.parametrize(
    "watched", [["CrossEntropyLoss_output_0"], ["^gradient/.*fc2"], "oss_output", ["fc1_output_0"], ["Net_input_0"]]
)
def test_a_watched_tensor_that_is_not_finite_saves_its_step(tmp_path: Path, watched: Any) -> None:
    config = smd.SaveConfig(save_interval=5, when_nan=watched)
    recorded = run(tmp_path / "run", include_collections=["weights"], save_config=config, poison=7)
    assert recorded.saved_at(WEIGHT) == [0, 5, 7, 10]


def test_a_healthy_run_saves_no_step_besides_its_schedule(tmp_path: Path) -> None:
    config = smd.SaveConfig(save_interval=5, when_nan=[".*"])
    recorded = run(tmp_path / "run", include_collections=["weights"], save_config=config)
    assert recorded.saved_at(WEIGHT) == [0, 5, 10]


def test_a_nan_in_a_tensor_that_is_not_watched_saves_nothing(tmp_path: Path) -> None:
    config = smd.SaveConfig(save_interval=5, when_nan=["^Net_fc2.bias"])
    recorded = run(tmp_path / "run", include_collections=["weights"], save_config=config, poison=7)
    assert recorded.saved_at(WEIGHT) == [0, 5, 10]


def test_only_the_collection_that_watches_is_saved(tmp_path: Path) -> None:
    smd.get_collection("biases").save_config = smd.SaveConfig(save_interval=5, when_nan=["oss"])
    recorded = run(
        tmp_path / "run", include_collections=["weights", "biases"], save_config={"save_interval": 5}, poison=7
    )
    assert recorded.saved_at("Net_fc1.bias") == [0, 5, 7, 10]
    assert recorded.saved_at(WEIGHT) == [0, 5, 10]


@pytest.mark.parametrize("every", [0, 5])
def test_a_nan_is_seen_where_statistics_are_rare(tmp_path: Path, every: int) -> None:
    config = smd.SaveConfig(end_step=0, when_nan=["oss"])
    settings = {"include_collections": ["weights"], "save_config": config, "statistics_every": every}
    recorded = run(tmp_path / "run", poison=7, **settings)
    assert recorded.saved_at(WEIGHT) == [7]
    assert sorted({step for step, _ in recorded.statistics()}) == list(range(0, 12, every) if every else [])


def test_a_nan_in_evaluation_saves_the_weights_too(tmp_path: Path) -> None:
    config = smd.SaveConfig(end_step=0, when_nan=["Net_output"])
    settings = {"include_collections": ["weights", "outputs"], "save_config": config}
    recorded = run(tmp_path / "run", poison=7, modes="TTTTTTTEEEEE", **settings)
    assert recorded.saved_at(WEIGHT) == [7]


# -- how small ---------------------------------------------------------------------------------------


def test_reductions_are_kept_instead_of_the_tensor_and_equal_numpys(tmp_path: Path) -> None:
    config = smd.ReductionConfig(
        reductions=["min", "max", "mean", "std", "variance", "sum", "prod", "median"],
        abs_reductions=["min", "mean", "median"],
        norms=["l1", "l2"],
        abs_norms=["l1"],
    )
    settings = {"include_collections": ["weights"], "save_config": {"save_interval": 6}, "reduction_config": config}
    recorded = run(tmp_path / "run", **settings)
    saved = recorded.tensors()
    weight = net().fc1.weight.detach().double().numpy()
    assert recorded.saved_at(WEIGHT) == [0, 6]
    one = saved[6, WEIGHT]
    assert one.array is None
    assert one.shape == (6, 4)
    wanted = {
        ("abs_" if absolute else "") + name: reduce(weight, name, abs=absolute) for name, absolute in config.wanted()
    }
    assert one.reductions == pytest.approx(wanted, rel=1e-6)
    assert one.reductions is not None
    assert one.reductions["std"] == pytest.approx(weight.std(), rel=1e-6)
    assert one.reductions["l2"] == pytest.approx(np.linalg.norm(weight.ravel()), rel=1e-6)


def test_the_tensor_itself_is_kept_beside_when_asked(tmp_path: Path) -> None:
    config = smd.ReductionConfig(reductions=["max"], save_raw_tensor=True)
    recorded = run(tmp_path / "run", steps=1, include_collections=["weights"], reduction_config=config)
    saved = recorded.tensors()[0, WEIGHT]
    weight = net().fc1.weight.detach().numpy()
    assert saved.reductions == {"max": pytest.approx(weight.max())}
    assert saved.array is not None
    np.testing.assert_array_equal(saved.array, weight)


def test_reductions_as_a_string(tmp_path: Path) -> None:
    recorded = run(tmp_path / "run", steps=1, include_collections=["weights"], reduction_config="mean,abs_max,l1_norm")
    assert (recorded.tensors()[0, WEIGHT].reductions or {}).keys() == {"mean", "abs_max", "l1"}


def test_a_collection_may_have_its_own_reductions(tmp_path: Path) -> None:
    smd.get_collection("biases").reduction_config = smd.ReductionConfig(norms=["l2"])
    saved = run(tmp_path / "run", steps=1, include_collections=["weights", "biases"]).tensors()
    assert saved[0, WEIGHT].array is not None
    assert saved[0, "Net_fc1.bias"].array is None
    assert (saved[0, "Net_fc1.bias"].reductions or {}).keys() == {"l2"}


def test_losses_are_never_reduced(tmp_path: Path) -> None:
    saved = run(tmp_path / "run", steps=1, include_collections=["weights"], reduction_config="mean").tensors()
    assert saved[0, "CrossEntropyLoss_output_0"].array is not None


def test_the_shape_alone_can_be_kept(tmp_path: Path) -> None:
    config = smd.ReductionConfig(save_shape=True)
    saved = run(tmp_path / "run", steps=1, include_collections=["weights"], reduction_config=config).tensors()
    assert saved[0, WEIGHT].array is None
    assert saved[0, WEIGHT].shape == (6, 4)


# -- which -------------------------------------------------------------------------------------------


def test_losses_alone_are_saved_where_nothing_is_asked(tmp_path: Path) -> None:
    assert {name for _, name in run(tmp_path / "run").tensors()} == {"CrossEntropyLoss_output_0"}


def test_save_all_saves_everything(tmp_path: Path) -> None:
    saved = {name for _, name in run(tmp_path / "run", steps=1, save_all=True).tensors()}
    parameters = {f"Net_{name}" for name, _ in net().named_parameters()}
    wanted = parameters | {f"gradient/{name}" for name in parameters}
    wanted |= {f"{module}_{kind}_0" for module in ("Net", "fc1", "relu", "fc2") for kind in ("input", "output")}
    wanted |= {"CrossEntropyLoss_output_0", "CrossEntropyLoss_input_0", "CrossEntropyLoss_input_1"}
    assert saved == wanted


def test_a_regex_saves_what_it_finds_anywhere_in_a_name(tmp_path: Path) -> None:
    saved = {name for _, name in run(tmp_path / "run", steps=1, include_regex=["elu_out", "fc2.*bias$"]).tensors()}
    wanted = {"relu_output_0", "Net_fc2.bias", "gradient/Net_fc2.bias", "CrossEntropyLoss_output_0"}
    assert saved == wanted


def test_a_custom_collection_by_regex_name_parameter_and_module(tmp_path: Path) -> None:
    model = net()
    with smd.Hook(tmp_path / "run", include_collections=["losses"]) as hook:
        assert hook.out_dir == tmp_path / "run"
    smd.get_collection("mine").include("fc2_input")
    with smd.Hook(tmp_path / "run2", include_collections=["mine"]) as hook:
        mine = hook.get_collection("mine")
        mine.add("gradient/Net_fc1.bias")
        mine.add([model.fc1.weight, model.fc2.bias])
        mine.add_module_tensors(model.relu, inputs=True, outputs=True)
        hook.add_to_collection("mine", "Net_output_0")
        hook.register_module(model)
        plain_loss(model, *next(batches(1))).backward()
    recorded = Recorded(tmp_path / "run2")
    wanted = {"fc2_input_0", "gradient/Net_fc1.bias", WEIGHT, "Net_fc2.bias", "relu_input_0", "relu_output_0"}
    assert {name for _, name in recorded.tensors()} == wanted | {"Net_output_0"}
    document = recorded.run.document("trace/collections.json") or {}
    assert document["included"] == ["mine", "losses"]
    assert {WEIGHT, "Net_fc2.bias"} <= set(document["collections"]["mine"]["tensor_names"])


def test_module_outputs_are_the_default_of_add_module_tensors(tmp_path: Path) -> None:
    model = net()
    smd.get_collection("relu").add_module_tensors(model.relu)
    with smd.Hook(tmp_path / "run", include_collections=["relu"]) as hook:
        hook.register_module(model)
        model(torch.ones(1, 4))
    assert {name for _, name in Recorded(tmp_path / "run").tensors()} == {"relu_output_0"}


def test_the_tensors_of_a_registered_loss_can_be_added(tmp_path: Path) -> None:
    model, loss = net(), nn.CrossEntropyLoss()
    smd.get_collection("answers").add_module_tensors(loss, inputs=True, outputs=False)
    with smd.Hook(tmp_path / "run", include_collections=["answers"]) as hook:
        hook.register_module(model)
        hook.register_loss(loss)
        x, y = next(batches(1))
        loss(model(x), y)
    saved = {name for _, name in Recorded(tmp_path / "run").tensors()}
    assert saved == {"CrossEntropyLoss_input_0", "CrossEntropyLoss_input_1", "CrossEntropyLoss_output_0"}


@pytest.mark.parametrize("stranger", [nn.Parameter(torch.ones(2)), nn.Linear(2, 2)])
def test_what_does_not_belong_to_the_model_is_refused_at_the_first_step(tmp_path: Path, stranger: Any) -> None:
    collection = smd.get_collection("mine")
    if isinstance(stranger, nn.Module):
        collection.add_module_tensors(stranger)
    else:
        collection.add(stranger)
    model = net()
    with smd.Hook(tmp_path / "run", include_collections=["mine"]) as hook:
        hook.register_module(model)
        with pytest.raises(ConfigurationError, match=r"registered module"):
            model(torch.ones(1, 4))


def test_a_custom_collection_without_any_tensor_is_refused_when_training_starts(tmp_path: Path) -> None:
    smd.get_collection("mine")
    model = net()
    with smd.Hook(tmp_path / "run", include_collections=["mine"]) as hook:
        hook.register_module(model)
        with pytest.raises(InvalidCollectionConfiguration, match="'mine' has no regex"):
            model(torch.ones(1, 4))


def test_labels_and_predictions_are_what_the_loss_received(tmp_path: Path) -> None:
    saved = run(tmp_path / "run", steps=1, include_collections=["labels", "predictions", "outputs"]).tensors()
    _, y = next(batches(1))
    labels, predictions, outputs = (
        saved[0, name].array for name in ("CrossEntropyLoss_input_1", "CrossEntropyLoss_input_0", "Net_output_0")
    )
    assert labels is not None
    assert labels.tolist() == y.tolist()
    assert predictions is not None
    assert outputs is not None
    np.testing.assert_array_equal(predictions, outputs)


class Keyword(Net):
    def forward(self, *, x: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return super().forward(x)


def test_inputs_given_by_name_are_inputs(tmp_path: Path) -> None:
    model = Keyword()
    with smd.Hook(tmp_path / "run", include_collections=["inputs"]) as hook:
        hook.register_module(model)
        model(x=torch.ones(2, 4))
    assert "Keyword_input_0" in {name for _, name in Recorded(tmp_path / "run").tensors()}
