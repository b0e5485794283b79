"""Modes: named in any case, refused with the nearest name."""

import pytest

from cutaway.errors import ConfigurationError
from cutaway.tensors.modes import ModeKeys, modes


@pytest.mark.parametrize(
    ("text", "mode"),
    [("TRAIN", modes.TRAIN), ("eval", modes.EVAL), (" Predict ", modes.PREDICT), ("global", modes.GLOBAL)],
)
def test_a_mode_is_read_from_its_name_in_any_case(text: str, mode: ModeKeys) -> None:
    assert ModeKeys.parse(text) is mode


@pytest.mark.parametrize("mode", list(ModeKeys))
def test_a_mode_is_read_from_itself_and_from_its_own_name(mode: ModeKeys) -> None:
    assert ModeKeys.parse(mode) is mode
    assert ModeKeys.parse(mode.name) is mode


@pytest.mark.parametrize("wrong", ["trian", "", 1, None])
def test_an_unknown_mode_is_refused_with_all_there_are(wrong: object) -> None:
    with pytest.raises(ConfigurationError, match="TRAIN, EVAL, PREDICT, GLOBAL"):
        ModeKeys.parse(wrong)


def test_an_unknown_mode_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ConfigurationError, match="Did you mean 'TRAIN'"):
        ModeKeys.parse("trian")
