"""Schedules: which steps are saved, in which mode, and what is refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.errors import ConfigurationError
from cutaway.tensors.modes import ModeKeys, modes
from cutaway.tensors.save_config import SaveConfig, SaveConfigMode

HORIZON = 260


def saved(config: SaveConfig, mode: ModeKeys = modes.TRAIN, horizon: int = HORIZON) -> list[int]:
    return [step for step in range(horizon) if config.should_save_step(mode, step)]


@st.composite
def schedules(draw: st.DrawFn) -> dict[str, Any]:
    start = draw(st.integers(0, 120))
    return {
        "save_interval": draw(st.integers(1, 130)),
        "start_step": start,
        "end_step": draw(st.none() | st.just(0) | st.integers(start + 1, 300)),
        "save_steps": draw(st.none() | st.lists(st.integers(0, 300), max_size=5)),
    }


def brute_force(schedule: dict[str, Any]) -> list[int]:
    if schedule["save_steps"]:
        return [step for step in range(HORIZON) if step in schedule["save_steps"]]
    end = HORIZON if schedule["end_step"] is None else min(HORIZON, schedule["end_step"])
    return [step for step in range(schedule["start_step"], end) if step % schedule["save_interval"] == 0]


@given(schedules())
def test_a_schedule_agrees_with_a_brute_force_list(schedule: dict[str, Any]) -> None:
    assert saved(SaveConfig(**schedule)) == brute_force(schedule)


@given(st.dictionaries(st.sampled_from(list(ModeKeys)), schedules()), schedules())
def test_each_mode_follows_its_own_schedule_and_the_others_the_base(
    modal: dict[ModeKeys, Any], base: dict[str, Any]
) -> None:
    config = SaveConfig({mode: SaveConfigMode(**schedule) for mode, schedule in modal.items()}, **base)
    for mode in ModeKeys:
        assert saved(config, mode) == brute_force(modal.get(mode, base))


@given(st.dictionaries(st.sampled_from(list(ModeKeys)), schedules()), schedules(), st.none() | st.just(["loss", "a.b"]))
def test_a_configuration_survives_json(modal: dict[ModeKeys, Any], base: dict[str, Any], when_nan: object) -> None:
    config = SaveConfig(
        {mode: SaveConfigMode(**schedule) for mode, schedule in modal.items()}, **base, when_nan=when_nan
    )
    back = SaveConfig.from_json(config.to_json())
    assert back == config
    assert hash(back) == hash(config)


@pytest.mark.parametrize(
    ("arguments", "steps"),
    [
        ({}, [0, 100, 200]),
        ({"save_interval": 100, "start_step": 150}, [200]),
        ({"save_interval": 100, "end_step": 200}, [0, 100]),
        ({"end_step": 0}, []),
        ({"save_interval": 10, "save_steps": [3, 7]}, [3, 7]),
        ({"save_steps": [7, 3, 7], "start_step": 5, "end_step": 6}, [3, 7]),
        ({"save_steps": []}, [0, 100, 200]),
    ],
)
def test_the_documented_examples_save_the_documented_steps(arguments: dict[str, Any], steps: list[int]) -> None:
    assert saved(SaveConfig(**arguments)) == steps


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"save_interval": 0}, "`save_interval >= 1` must hold, but got save_interval=0."),
        ({"save_interval": -3}, "`save_interval >= 1` must hold, but got save_interval=-3."),
        ({"save_interval": 2.5}, "`save_interval` must be a whole number, but got save_interval=2.5."),
        ({"save_interval": True}, "`save_interval` must be a whole number, but got save_interval=True."),
        ({"save_interval": None}, "`save_interval` must be a whole number, but got save_interval=None."),
        ({"start_step": -1}, "`start_step >= 0` must hold, but got start_step=-1."),
        ({"end_step": -1}, "`end_step >= 0` must hold, but got end_step=-1."),
        ({"end_step": "10"}, "`end_step` must be a whole number, but got end_step='10'."),
        (
            {"start_step": 10, "end_step": 10},
            "`start_step < end_step` must hold, but got start_step=10, end_step=10. "
            "Write `end_step=0` to save nothing.",
        ),
        ({"save_steps": [1, -2]}, "`save_steps >= 0` must hold, but got save_steps=-2."),
        ({"save_steps": 5}, "`save_steps` takes a list of steps, but got save_steps=5."),
        ({"save_steps": "5"}, "`save_steps` takes a list of steps, but got save_steps='5'."),
    ],
)
@pytest.mark.parametrize("made", [SaveConfig, SaveConfigMode])
def test_a_wrong_value_is_refused_with_the_rule_and_the_value(
    made: type[SaveConfig], arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        made(**arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize("wrong", ["[", 3, ["ok", "("], ["ok", 3]])
def test_a_bad_pattern_in_when_nan_is_refused_at_once(wrong: object) -> None:
    with pytest.raises(ConfigurationError, match="when_nan"):
        SaveConfig(when_nan=wrong)


def test_when_nan_watches_names_and_patterns() -> None:
    config = SaveConfig(when_nan=["loss:0", r"^gradient/.*weight$"])
    assert config.watches("loss:0")
    assert config.watches("gradient/Net_fc1.weight")
    assert not config.watches("Net_fc1.weight")
    assert not SaveConfig().watches("loss:0")


@pytest.mark.parametrize("when_nan", ["a+b", ["a+b"]])
def test_when_nan_finds_an_exact_name_that_its_own_pattern_would_miss(when_nan: object) -> None:
    assert SaveConfig(when_nan=when_nan).watches("a+b")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, SaveConfig()),
        (SaveConfig(save_interval=3), SaveConfig(save_interval=3)),
        (SaveConfigMode(save_interval=3, end_step=9), SaveConfig(save_interval=3, end_step=9)),
        ({"save_interval": 3}, SaveConfig(save_interval=3)),
        ({modes.EVAL: SaveConfigMode(3)}, SaveConfig({modes.EVAL: SaveConfigMode(3)})),
        ({"eval": {"save_interval": 3}}, SaveConfig({modes.EVAL: SaveConfigMode(3)})),
        ({}, SaveConfig()),
    ],
)
def test_everything_that_users_write_for_a_save_config_is_read(value: object, expected: object) -> None:
    assert SaveConfig.parse(value) == expected


@pytest.mark.parametrize(
    ("value", "near"),
    [
        ({"save_intervall": 3}, "save_interval"),
        ({"save_interval": 3, "strat_step": 1}, "start_step"),
        ({"trian": SaveConfigMode()}, "TRAIN"),
        ({"train": {"endstep": 3}}, "end_step"),
    ],
)
def test_an_unknown_setting_is_refused_with_the_nearest(value: object, near: str) -> None:
    with pytest.raises(ConfigurationError, match=f"Did you mean '{near}'"):
        SaveConfig.parse(value)


@pytest.mark.parametrize("wrong", [10, "10", [SaveConfigMode()], {modes.TRAIN: 10}, {3: SaveConfigMode()}])
def test_what_is_no_save_config_is_refused(wrong: object) -> None:
    with pytest.raises(ConfigurationError):
        SaveConfig.parse(wrong)


def test_a_text_that_is_no_json_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="must be JSON"):
        SaveConfig.from_json("{save_interval: 3}")


def test_missing_modes_are_filled_from_the_hook() -> None:
    hook = SaveConfig({modes.TRAIN: SaveConfigMode(50), modes.PREDICT: SaveConfigMode(60)}, save_interval=70)
    filled = SaveConfig({modes.EVAL: SaveConfigMode(3)}).fill(hook)
    assert {mode: filled.schedule(mode).save_interval for mode in ModeKeys} == {
        modes.TRAIN: 50,
        modes.EVAL: 3,
        modes.PREDICT: 60,
        modes.GLOBAL: 70,
    }


def test_a_config_that_says_all_modes_takes_none_from_the_hook() -> None:
    hook = SaveConfig(save_interval=70)
    own = SaveConfig({modes.EVAL: SaveConfigMode(3)}, save_interval=7)
    assert own.fill(hook) == own
    assert SaveConfig(save_interval=9).fill(hook) == SaveConfig(save_interval=9)


@pytest.mark.parametrize(("own", "filled"), [(None, ("loss",)), ([], ()), (["acc"], ("acc",))])
def test_an_unsaid_when_nan_is_the_hooks(own: object, filled: object) -> None:
    assert SaveConfig(when_nan=own).fill(SaveConfig(when_nan=["loss"])).when_nan == filled


def test_a_config_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        SaveConfig().save_interval = 3
