"""The settings of a hook check themselves; the full table of wrong ones is in the tests of the torch hook."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cutaway.capture.settings import HookSettings, apply_log_level, is_switched_off
from cutaway.errors import ConfigurationError
from cutaway.tensors.modes import ModeKeys


def test_settings_come_out_as_values_that_need_no_second_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = HookSettings(
        out_dir="run",
        include_collections=(name for name in ("weights", "biases")),
        include_regex="relu",
        save_config={"save_interval": 7},
        reduction_config="mean",
        channel_activity=("relu", "gelu"),
    )
    assert settings.folder == tmp_path / "run"
    assert settings.include_collections == ("weights", "biases")
    assert settings.include_regex == ("relu",)
    assert settings.channel_activity == ("relu", "gelu")
    assert settings.save_config.should_save_step(ModeKeys.TRAIN, 14)  # type: ignore[union-attr]
    assert settings.reduction_config.wanted() == (("mean", False),)  # type: ignore[union-attr]


def test_the_defaults_save_losses_every_hundred_steps() -> None:
    settings = HookSettings()
    assert settings.folder is None
    assert settings.include_regex == ()
    assert settings.save_config.should_save_step(ModeKeys.TRAIN, 100)  # type: ignore[union-attr]
    assert not settings.save_config.should_save_step(ModeKeys.TRAIN, 99)  # type: ignore[union-attr]


def test_a_home_folder_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert HookSettings(out_dir="~/runs/a").folder == tmp_path / "runs" / "a"


@pytest.mark.parametrize(
    "wrong",
    [
        {"include_workers": "some"},
        {"statistics_every": "1"},
        {"disk_budget": 1.5},
        {"out_dir": b"run"},
        {"resume": True},
        {"include_regex": 3},
    ],
)
def test_wrong_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        HookSettings(**wrong)


@pytest.mark.parametrize(
    ("environment", "off"),
    [
        ({}, False),
        ({"CUTAWAY": "off"}, True),
        ({"CUTAWAY": " OFF "}, True),
        ({"CUTAWAY": "0"}, True),
        ({"CUTAWAY": "false"}, True),
        ({"CUTAWAY": "no"}, True),
        ({"CUTAWAY": "1"}, False),
        ({"CUTAWAY": ""}, False),
        ({"USE_SMDEBUG": "0"}, True),
        ({"USE_SMDEBUG": "1"}, False),
        ({"USE_SMDEBUG": "1", "CUTAWAY": "off"}, True),
    ],
)
def test_the_switches_of_the_environment(environment: dict[str, str], off: bool) -> None:
    assert is_switched_off(environment) is off


LOGGERS = [logging.getLogger(name) for name in ("cutaway", "tornasole")]


@pytest.fixture(autouse=True)
def _levels_as_before() -> Iterator[None]:
    levels = [logger.level for logger in LOGGERS]
    for logger in LOGGERS:
        logger.setLevel(logging.NOTSET)
    yield
    for logger, level in zip(LOGGERS, levels, strict=True):
        logger.setLevel(level)


@pytest.mark.parametrize(
    ("environment", "level"),
    [
        ({}, logging.NOTSET),
        ({"CUTAWAY_LOG_LEVEL": "DEBUG"}, logging.DEBUG),
        ({"CUTAWAY_LOG_LEVEL": " error "}, logging.ERROR),
        ({"CUTAWAY_LOG_LEVEL": "off"}, logging.CRITICAL + 1),
        ({"TORNASOLE_LOG_LEVEL": "INFO"}, logging.INFO),
        ({"SMDEBUG_LOG_LEVEL": "warning"}, logging.WARNING),
        ({"CUTAWAY_LOG_LEVEL": "ERROR", "SMDEBUG_LOG_LEVEL": "DEBUG"}, logging.ERROR),
        ({"CUTAWAY_LOG_LEVEL": "", "SMDEBUG_LOG_LEVEL": "DEBUG"}, logging.DEBUG),
    ],
)
def test_the_first_variable_that_is_set_decides(environment: dict[str, str], level: int) -> None:
    apply_log_level(environment)
    assert LOGGERS[0].level == level


def test_the_seeds_own_logger_is_honoured() -> None:
    LOGGERS[1].setLevel(logging.ERROR)
    apply_log_level({})
    assert LOGGERS[0].level == logging.ERROR


def test_an_unknown_level_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match=r"CUTAWAY_LOG_LEVEL.*'DEBUGG'.*'DEBUG'"):
        apply_log_level({"CUTAWAY_LOG_LEVEL": "debugg"})


def test_no_handler_is_added() -> None:
    before = [list(logger.handlers) for logger in (*LOGGERS, logging.getLogger())]
    apply_log_level({"CUTAWAY_LOG_LEVEL": "DEBUG"})
    assert [list(logger.handlers) for logger in (*LOGGERS, logging.getLogger())] == before
