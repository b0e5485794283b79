"""Wrong settings raise before training, with the value, the rule and the nearest choice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import cutaway.torch as smd
from cutaway.errors import ConfigurationError, RunExists, RunNotFound
from cutaway.run import Run
from tests.frameworks.torch.models import net

WRONG: list[tuple[dict[str, Any], list[str]]] = [
    ({"include_collections": ["wieghts"]}, ["'wieghts'", "Did you mean 'weights'"]),
    ({"include_collections": (name for name in ["gradient"])}, ["'gradient'", "Did you mean 'gradients'"]),
    ({"include_collections": "weights"}, ["include_collections", "['weights']"]),
    ({"include_collections": [3]}, ["include_collections", "3"]),
    ({"include_regex": "fc1("}, ["include_regex", "'fc1('", "character"]),
    ({"include_regex": ["relu", 5]}, ["include_regex", "5"]),
    ({"save_config": {"save_interval": 0}}, ["save_interval >= 1", "save_interval=0"]),
    ({"save_config": {"save_intervall": 5}}, ["'save_intervall'", "Did you mean 'save_interval'"]),
    ({"save_config": {"TRIAN": {"save_interval": 5}}}, ["'TRIAN'", "Did you mean 'TRAIN'"]),
    ({"save_config": 5}, ["save_config", "5"]),
    ({"save_config": {"when_nan": ["los("]}}, ["when_nan", "'los('"]),
    ({"reduction_config": "mean,medain"}, ["'medain'", "'median'"]),
    ({"reduction_config": {"norms": ["l3"]}}, ["norms", "'l3'"]),
    ({"reduction_config": 3}, ["reduction_config", "3"]),
    ({"include_workers": "al"}, ["include_workers", "'al'", "Did you mean 'all'"]),
    ({"statistics_every": -1}, ["statistics_every >= 0", "-1"]),
    ({"statistics_every": 1.5}, ["statistics_every", "1.5"]),
    ({"statistics_every": True}, ["statistics_every", "True"]),
    ({"channel_activity": "relu("}, ["channel_activity", "'relu('"]),
    ({"disk_budget": 0}, ["disk_budget > 0", "disk_budget=0"]),
    ({"disk_budget": "5 GB"}, ["disk_budget", "'5 GB'"]),
    ({"resume": True, "out_dir": None}, ["resume=True", "out_dir"]),
    ({"from_step": 5}, ["from_step=5", "resume=True"]),
    ({"from_step": -1, "resume": True}, ["from_step >= 0", "from_step=-1"]),
    ({"from_step": "5", "resume": True}, ["from_step", "'5'"]),
    ({"out_dir": "s3://bucket/run"}, ["local path", "'s3://bucket/run'"]),
    ({"out_dir": 5}, ["out_dir", "5"]),
    ({"out_dir": ""}, ["out_dir", "''"]),
    ({"name": 5}, ["name", "5"]),
    ({"tensorboard_dir": 5, "export_tensorboard": True}, ["tensorboard_dir", "5"]),
]


@pytest.mark.parametrize(("settings", "words"), WRONG, ids=lambda value: str(value)[:50])
def test_wrong_settings_raise_at_once_and_make_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError) as error:
        smd.Hook(**{"out_dir": tmp_path / "run", **settings})
    for word in words:
        assert word in str(error.value)
    assert list(tmp_path.iterdir()) == []
    assert smd.get_hook() is None


def test_right_settings_raise_nothing(tmp_path: Path) -> None:
    hook = smd.Hook(
        tmp_path / "run",
        name="mine",
        include_collections=(name for name in ["weights", "gradients"]),
        include_regex="relu",
        save_config=smd.SaveConfig(save_interval=7, when_nan=["loss"]),
        reduction_config="mean,abs_max",
        export_tensorboard=True,
        include_workers="all",
        statistics_every=0,
        channel_activity=["relu"],
        disk_budget=10**6,
    )
    hook.close()
    assert (tmp_path / "run" / "run.json").exists()


def test_an_unknown_argument_is_pythons_own_error(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="include_colections"):
        smd.Hook(tmp_path / "run", include_colections=["weights"])  # type: ignore[call-arg]


def test_a_folder_that_holds_a_run_is_refused(tmp_path: Path) -> None:
    smd.Hook(tmp_path / "run").close()
    with pytest.raises(RunExists, match=r"resume=True"):
        smd.Hook(tmp_path / "run")


def test_a_run_to_resume_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(RunNotFound, match="run"):
        smd.Hook(tmp_path / "run", resume=True)


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("mine")
    with pytest.raises(ConfigurationError, match="is a file"):
        smd.Hook(tmp_path / "run")
    assert (tmp_path / "run").read_text() == "mine"


def test_a_tensorboard_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("mine")
    with pytest.raises(ConfigurationError, match="tensorboard_dir"):
        smd.Hook(tmp_path / "run", export_tensorboard=True, tensorboard_dir=tmp_path / "logs")


@pytest.mark.parametrize("mode", ["trian", 7, None])
def test_an_unknown_mode_is_refused(tmp_path: Path, mode: Any) -> None:
    with smd.Hook(tmp_path / "run") as hook, pytest.raises(ConfigurationError, match="TRAIN"):
        hook.set_mode(mode)


@pytest.mark.parametrize(
    ("call", "value", "words"),
    [
        ("register_module", torch.ones(2), "torch.nn"),
        ("register_loss", nn.functional.cross_entropy, "record_tensor_value"),
        ("register_optimizer", net(), "Optimizer"),
    ],
)
def test_registering_the_wrong_thing_is_refused(tmp_path: Path, call: str, value: Any, words: str) -> None:
    with smd.Hook(tmp_path / "run") as hook, pytest.raises(ConfigurationError, match=words):
        getattr(hook, call)(value)


def test_a_second_module_is_refused(tmp_path: Path) -> None:
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(net())
        with pytest.raises(ConfigurationError, match="already watches"):
            hook.register_module(net())


@pytest.mark.parametrize("value", [torch.ones(2), "high", None, [1.0, 2.0], 1j])
def test_a_scalar_must_be_one_number(tmp_path: Path, value: Any) -> None:
    with smd.Hook(tmp_path / "run") as hook, pytest.raises(ConfigurationError, match="accuracy"):
        hook.save_scalar("accuracy", value)


def test_numbers_of_every_kind_are_scalars(tmp_path: Path) -> None:
    values = [1, 2.5, torch.tensor(3.0, requires_grad=True), torch.ones(1), True, float("nan")]
    with smd.Hook(tmp_path / "run") as hook:
        for i, value in enumerate(values):
            hook.save_scalar(f"number-{i}", value)
    recorded = Run.open(tmp_path / "run").table("scalars").read()["value"].to_pylist()
    assert recorded == pytest.approx([1.0, 2.5, 3.0, 1.0, 1.0, float("nan")], nan_ok=True)
