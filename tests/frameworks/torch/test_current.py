"""The process-wide current hook and its collections, JSON configuration and the switches of the environment."""

from __future__ import annotations

import gc
import json
import logging
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import cutaway
import cutaway.torch as smd
from cutaway.errors import ConfigurationError, RunExists
from tests.frameworks.torch.models import net, sgd, train
from tests.recording import Recorded


def test_module_level_collections_before_a_hook_belong_to_the_next_hook(tmp_path: Path) -> None:
    smd.get_collection("relu").include("relu_output")
    smd.add_to_collection("mine", "Net_output_0")
    smd.add_to_default_collection("fc1_output_0")
    with smd.Hook(tmp_path / "run", include_collections=["relu", "mine", "default"]) as hook:
        assert smd.get_collections().keys() == hook.get_collections().keys() >= {"relu", "mine", "weights"}
        model = net()
        hook.register_module(model)
        model(torch.ones(1, 4))
    saved = {name for _, name in Recorded(tmp_path / "run").tensors()}
    assert saved == {"relu_output_0", "Net_output_0", "fc1_output_0"}


def test_reset_collections_forgets_what_was_prepared(tmp_path: Path) -> None:
    smd.get_collection("relu").include("relu_output")
    smd.reset_collections()
    with pytest.raises(ConfigurationError, match="'relu'"):
        smd.Hook(tmp_path / "run", include_collections=["relu"])


def test_what_one_hook_had_does_not_leak_into_the_next(tmp_path: Path) -> None:
    smd.get_collection("relu").include("relu_output")
    smd.Hook(tmp_path / "one", include_collections=["relu"]).close()
    assert "relu" not in smd.get_collections()


def test_get_hook_is_the_newest_live_hook(tmp_path: Path) -> None:
    assert smd.get_hook() is None
    first = smd.Hook(tmp_path / "one")
    assert smd.get_hook() is first
    second = smd.Hook(tmp_path / "two")
    assert smd.get_hook() is second
    second.close()
    first.close()
    assert smd.get_hook() is None


def test_del_hook_closes_the_current_hook(tmp_path: Path) -> None:
    smd.Hook(tmp_path / "run")
    smd.del_hook()
    smd.del_hook()
    assert smd.get_hook() is None
    assert Recorded(tmp_path / "run").run.state() == "finished"


def test_a_hook_that_could_not_be_made_leaves_the_current_one_in_place(tmp_path: Path) -> None:
    first = smd.Hook(tmp_path / "one")
    with pytest.raises(RunExists) as error:
        smd.Hook(tmp_path / "one")
    assert smd.get_hook() is first
    assert smd.get_collections() == first.get_collections()
    del error
    gc.collect()


def test_collections_prepared_for_a_hook_that_failed_serve_the_next(tmp_path: Path) -> None:
    smd.Hook(tmp_path / "one").close()
    smd.get_collection("relu").include("relu_output")
    with pytest.raises(RunExists):
        smd.Hook(tmp_path / "one", include_collections=["relu"])
    assert smd.get_hook() is None
    with smd.Hook(tmp_path / "two", include_collections=["relu"]) as hook:
        assert hook.get_collection("relu").include_regex == ["relu_output"]


def test_two_hooks_on_two_models_do_not_disturb_each_other(tmp_path: Path) -> None:
    models = net(0), net(1)
    with smd.Hook(tmp_path / "one") as one, smd.Hook(tmp_path / "two", include_collections=["outputs"]) as two:
        one.register_module(models[0])
        two.register_module(models[1])
        for steps, model, hook in ((2, models[0], one), (3, models[1], two)):
            optimizer = sgd(model)
            hook.register_optimizer(optimizer)
            train(model, optimizer, nn.CrossEntropyLoss(), steps=steps)
    assert Recorded(tmp_path / "one").numbers() == [0, 1]
    assert Recorded(tmp_path / "two").numbers() == [0, 1, 2]
    assert "fc1_output_0" in Recorded(tmp_path / "two").named()
    assert "fc1_output_0" not in Recorded(tmp_path / "one").named()


def test_a_second_hook_on_the_same_model_ends_the_first(tmp_path: Path) -> None:
    model = net()
    first = smd.Hook(tmp_path / "one")
    first.register_module(model)
    with smd.Hook(tmp_path / "two") as second:
        second.register_module(model)
        model(torch.ones(1, 4))
    assert Recorded(tmp_path / "one").run.state() == "finished"
    assert Recorded(tmp_path / "one").findings() == ["replaced"]
    assert Recorded(tmp_path / "two").numbers() == [0]


def test_attach_is_a_hook_in_one_line(tmp_path: Path) -> None:
    model, loss = net(), nn.CrossEntropyLoss()
    optimizer = sgd(model)
    with cutaway.attach(model, optimizer, loss, out_dir=tmp_path / "run") as hook:
        train(model, optimizer, loss, steps=2)
        assert isinstance(hook, smd.Hook)
    recorded = Recorded(tmp_path / "run")
    assert recorded.numbers() == [0, 1]
    assert {"learning_rate", "loss"} <= {row["name"] for row in recorded.rows("scalars")}


def test_attach_that_fails_leaves_no_open_run_behind(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="register_loss"):
        cutaway.attach(net(), loss=nn.functional.mse_loss, out_dir=tmp_path / "run")  # type: ignore[arg-type]
    assert smd.get_hook() is None
    assert Recorded(tmp_path / "run").run.state() != "running"


def test_the_seeds_name_is_the_same_class() -> None:
    assert smd.TornasoleHook is smd.Hook


# -- JSON --------------------------------------------------------------------------------------------


def write_config(path: Path, run: Path, **parameters: str) -> Path:
    config = {
        "LocalPath": str(run),
        "HookParameters": {"save_interval": "4", **parameters},
        "CollectionConfigurations": [
            {"CollectionName": "biases"},
            {"CollectionName": "weights", "CollectionParameters": {"save_interval": "2", "reductions": "mean,l2"}},
            {"CollectionName": "mine", "CollectionParameters": {"include_regex": "relu_output"}},
        ],
    }
    path.write_text(json.dumps(config))
    return path


def assert_as_configured(run: Path) -> None:
    recorded = Recorded(run)
    assert recorded.saved_at("Net_fc1.bias") == [0, 4]
    assert recorded.saved_at("relu_output_0") == [0, 4]
    assert recorded.saved_at("Net_fc1.weight") == [0, 2, 4]
    saved = recorded.tensors()[2, "Net_fc1.weight"]
    assert saved.array is None
    assert (saved.reductions or {}).keys() == {"mean", "l2"}


def train_with(hook: smd.Hook, steps: int = 6) -> None:
    model = net()
    optimizer = sgd(model)
    with hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        train(model, optimizer, nn.CrossEntropyLoss(), steps)


def test_a_hook_from_a_json_file(tmp_path: Path) -> None:
    train_with(smd.Hook.create_from_json_file(write_config(tmp_path / "hook.json", tmp_path / "run")))
    assert_as_configured(tmp_path / "run")


@pytest.mark.parametrize("variable", ["CUTAWAY_CONFIG_FILE", "SMDEBUG_CONFIG_FILE_PATH"])
def test_a_hook_from_the_file_that_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, str(write_config(tmp_path / "hook.json", tmp_path / "run")))
    train_with(smd.Hook.create_from_json_file())
    assert_as_configured(tmp_path / "run")


def test_a_json_hook_does_not_change_the_collections_of_a_live_one(tmp_path: Path) -> None:
    first = smd.Hook(tmp_path / "one")
    second = smd.Hook.create_from_json_file(write_config(tmp_path / "hook.json", tmp_path / "two"))
    assert "mine" not in first.get_collections()
    assert second.get_collection("mine").include_regex == ["relu_output"]
    train_with(second)
    assert_as_configured(tmp_path / "two")


def test_without_a_file_and_without_a_variable_it_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUTAWAY_CONFIG_FILE", raising=False)
    monkeypatch.delenv("SMDEBUG_CONFIG_FILE_PATH", raising=False)
    with pytest.raises(ConfigurationError, match="CUTAWAY_CONFIG_FILE"):
        smd.Hook.create_from_json_file()


# -- switches ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("variable", "value"), [("CUTAWAY", "off"), ("CUTAWAY", "0"), ("USE_SMDEBUG", "0")])
def test_the_environment_switches_every_hook_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    model = net()
    optimizer = sgd(model)
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        train(model, optimizer, nn.CrossEntropyLoss(), steps=2)
        hook.save_scalar("accuracy", 0.5)
        hook.save_tensor("mine", torch.ones(2))
        assert hook.flush()
        assert not model._forward_hooks
        assert hook.out_dir is None
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("variable", "value"), [("CUTAWAY", "on"), ("CUTAWAY", ""), ("USE_SMDEBUG", "1")])
def test_any_other_value_leaves_hooks_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    smd.Hook(tmp_path / "run").close()
    assert (tmp_path / "run" / "run.json").exists()


def test_a_dry_run_writes_nothing_and_logs_what_it_would_save(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    model = net()
    optimizer = sgd(model)
    with caplog.at_level(logging.INFO, "cutaway"):
        with smd.Hook(tmp_path / "run", dry_run=True, include_collections=["weights"]) as hook:
            hook.register_module(model)
            hook.register_optimizer(optimizer)
            train(model, optimizer, nn.CrossEntropyLoss(), steps=30)
            hook.save_scalar("accuracy", 0.5)
            hook.save_tensor("mine", torch.ones(2))
        assert len(caplog.records) == 30
    assert "Net_fc1.weight" in caplog.records[0].message
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def _log_level_as_before() -> Any:
    loggers = [logging.getLogger(name) for name in ("cutaway", "tornasole")]
    levels = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


@pytest.mark.usefixtures("_log_level_as_before")
@pytest.mark.parametrize("variable", ["CUTAWAY_LOG_LEVEL", "TORNASOLE_LOG_LEVEL", "SMDEBUG_LOG_LEVEL"])
def test_log_levels_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "debug")
    smd.Hook(tmp_path / "run", dry_run=True).close()
    assert logging.getLogger("cutaway").level == logging.DEBUG
