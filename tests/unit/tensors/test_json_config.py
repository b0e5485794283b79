"""Upstream's JSON configuration: strings for everything, modes as prefixes, collections that inherit."""

import json
from pathlib import Path

import pytest

from cutaway.errors import ConfigurationError
from cutaway.tensors.json_config import CONFIG_VARIABLES, CollectionConfig, HookConfig
from cutaway.tensors.modes import ModeKeys, modes
from cutaway.tensors.reduction_config import ReductionConfig
from cutaway.tensors.save_config import SaveConfig, SaveConfigMode

FULL = {
    "LocalPath": "runs/mnist",
    "HookParameters": {
        "save_all": "false",
        "include_regex": "relu, ^conv",
        "include_workers": "ALL",
        "reductions": "min,abs_max,l1_norm,abs_l2",
        "save_raw_tensor": "True",
        "save_shape": False,
        "save_interval": "100",
        "start_step": "10",
        "end_step": "1000",
        "train.save_interval": "20",
        "eval.save_steps": "1,2,30",
        "export_tensorboard": "true",
        "tensorboard_dir": "boards",
    },
    "CollectionConfigurations": [
        {"CollectionName": "weights"},
        {"CollectionName": "losses", "CollectionParameters": {"save_interval": 5, "save_histogram": "false"}},
        {"CollectionName": "relu", "CollectionParameters": {"include_regex": ["a{1,2}", "b"], "reductions": "mean"}},
    ],
}


def intervals(config: SaveConfig) -> dict[ModeKeys, int]:
    return {mode: config.schedule(mode).save_interval for mode in ModeKeys}


def test_a_full_file_is_read_from_disk(tmp_path: Path) -> None:
    path = tmp_path / "hook.json"
    path.write_text(json.dumps(FULL))
    config = HookConfig.from_file(path)
    assert (config.out_dir, config.tensorboard_dir) == ("runs/mnist", "boards")
    assert (config.save_all, config.export_tensorboard, config.include_workers) == (False, True, "all")
    assert config.include_regex == ("relu", "^conv")
    assert config.reduction_config == ReductionConfig(
        reductions=["min"], abs_reductions=["max"], norms=["l1"], abs_norms=["l2"], save_raw_tensor=True
    )
    assert list(config.collections) == ["weights", "losses", "relu"]


def test_the_schedule_of_a_mode_is_its_own_and_else_that_for_all() -> None:
    config = HookConfig.parse(FULL).save_config
    assert config.schedule(modes.TRAIN) == SaveConfigMode(20, 10, 1000)
    assert config.schedule(modes.EVAL) == SaveConfigMode(100, 10, 1000, [1, 2, 30])
    assert config.schedule(modes.PREDICT) == config.schedule(modes.GLOBAL) == SaveConfigMode(100, 10, 1000)


def test_a_collection_inherits_from_the_hook_what_it_does_not_say() -> None:
    collections = HookConfig.parse(FULL).collections
    assert collections["weights"] == CollectionConfig()
    losses = collections["losses"]
    assert intervals(losses.save_config) == dict.fromkeys(ModeKeys, 5)
    assert losses.save_config.schedule(modes.TRAIN).start_step == 10
    assert losses.save_config.schedule(modes.EVAL).save_steps == (1, 2, 30)
    assert losses.save_histogram is False
    assert collections["relu"].save_config is None
    assert collections["relu"].include_regex == ("a{1,2}", "b")
    assert collections["relu"].reduction_config == ReductionConfig(reductions=["mean"])


@pytest.mark.parametrize("document", [None, {}, {"HookParameters": None, "CollectionConfigurations": []}])
def test_a_file_that_says_nothing_leaves_everything_to_the_hook(document: object) -> None:
    assert HookConfig.parse(document) == HookConfig()


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"LocalPaht": "x"}, r"no setting 'LocalPaht'\. Did you mean 'LocalPath'"),
        ({"HookParameters": {"save_intervall": 3}}, r"`HookParameters` has no setting.*'save_interval'"),
        ({"HookParameters": {"trian.save_interval": 3}}, r"Did you mean 'train\.save_interval'"),
        ({"HookParameters": {"save_interval": "often"}}, "`save_interval` must be a whole number.*'often'"),
        ({"HookParameters": {"save_interval": "0"}}, "`save_interval >= 1` must hold"),
        ({"HookParameters": {"save_steps": "1,x"}}, "`save_steps` must be a whole number.*'x'"),
        ({"HookParameters": {"save_all": "maybe"}}, "`save_all` must be true or false.*'maybe'"),
        ({"HookParameters": {"include_workers": "two"}}, "`include_workers` must be 'one' or 'all'.*'two'"),
        ({"HookParameters": {"include_regex": "("}}, "`include_regex` must be a valid regular expression"),
        ({"HookParameters": {"reductions": "maen"}}, "Did you mean 'mean'"),
        ({"HookParameters": [1]}, "`HookParameters` must be a JSON object"),
        ([1], "must be a JSON object"),
        ({"CollectionConfigurations": {"a": 1}}, "must be a list of objects"),
        ({"CollectionConfigurations": [{"Collection_Name": "a"}]}, "no setting.*Did you mean .CollectionName."),
        ({"CollectionConfigurations": [{}]}, "has no `CollectionName`"),
        ({"CollectionConfigurations": [{"CollectionName": "a"}] * 2}, "'a' twice"),
        (
            {"CollectionConfigurations": [{"CollectionName": "a", "CollectionParameters": {"save_all": 1}}]},
            "Collection 'a' has no setting 'save_all'",
        ),
        ({"S3OutputPath": "s3://bucket"}, "Give the run's folder as `LocalPath`"),
    ],
)
def test_what_is_wrong_is_refused_with_the_nearest_right(document: object, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        HookConfig.parse(document)


def test_an_error_in_a_file_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "hook.json"
    with pytest.raises(ConfigurationError, match=r"hook\.json' cannot be read: No such file"):
        HookConfig.from_file(path)
    path.write_text("{")
    with pytest.raises(ConfigurationError, match=r"hook\.json' is not JSON"):
        HookConfig.from_file(path)
    path.write_text('{"HookParameters": {"save_interval": 0}}')
    with pytest.raises(ConfigurationError, match=r"In '.*hook\.json': `save_interval >= 1`"):
        HookConfig.from_file(path)


def test_sagemakers_own_path_is_no_obstacle() -> None:
    assert HookConfig.parse({"LocalPath": "a", "S3OutputPath": "s3://b"}).out_dir == "a"


def test_our_variable_comes_before_upstreams() -> None:
    assert CONFIG_VARIABLES == ("CUTAWAY_CONFIG_FILE", "SMDEBUG_CONFIG_FILE_PATH")
