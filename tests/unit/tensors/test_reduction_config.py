"""Reductions: what may be asked for, in either spelling."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.errors import ConfigurationError
from cutaway.tensors.reduction_config import NORMS, REDUCTIONS, ReductionConfig, parse_reduction, reduction_key

reductions = st.lists(st.sampled_from(REDUCTIONS), unique=True)
norms = st.lists(st.sampled_from(NORMS), unique=True)
configs = st.builds(ReductionConfig, reductions, reductions, norms, norms, st.booleans(), st.booleans())


@given(configs)
def test_a_configuration_survives_json(config: ReductionConfig) -> None:
    assert ReductionConfig.from_json(config.to_json()) == config


@given(configs, st.sampled_from(["", "_norm"]))
def test_the_string_form_says_the_same_as_the_lists(config: ReductionConfig, suffix: str) -> None:
    words = [
        reduction_key(name, abs=absolute) + (suffix if name in NORMS else "") for name, absolute in config.wanted()
    ]
    assert ReductionConfig.parse(", ".join(words)).wanted() == config.wanted()


def test_nothing_is_asked_for_unless_said() -> None:
    config = ReductionConfig()
    assert config.wanted() == ()
    assert not config.save_raw_tensor
    assert not config.save_shape


@pytest.mark.parametrize(
    ("word", "meaning"),
    [
        ("min", ("min", False)),
        ("ABS_Max", ("max", True)),
        ("l1", ("l1", False)),
        ("l1_norm", ("l1", False)),
        ("abs_l2_norm", ("l2", True)),
        (" median ", ("median", False)),
    ],
)
def test_a_word_is_read_in_either_spelling(word: str, meaning: tuple[str, bool]) -> None:
    assert parse_reduction(word) == meaning


@pytest.mark.parametrize(("word", "near"), [("maen", "mean"), ("abs_medain", "abs_median"), ("l1norm", "l1")])
def test_an_unknown_word_is_refused_with_the_nearest(word: str, near: str) -> None:
    with pytest.raises(ConfigurationError, match=f"'{near}'"):
        ReductionConfig.parse(word)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"reductions": ["maen"]}, r"`reductions` must be among .*but got 'maen'\. Did you mean 'mean'"),
        ({"reductions": ["l1"]}, r"Write `norms=\['l1'\]`"),
        ({"reductions": ["abs_max"]}, r"Write `abs_reductions=\['max'\]`"),
        ({"abs_norms": ["l3"]}, "`abs_norms` must be among l1, l2, but got 'l3'"),
        ({"norms": [1]}, "`norms` takes strings, but got 1"),
        ({"norms": 1}, "`norms` takes a string or a list of strings, but got 1"),
        ({"save_raw_tensor": "yes"}, "`save_raw_tensor` must be True or False, but got save_raw_tensor='yes'"),
    ],
)
def test_a_wrong_value_is_refused_with_its_right_place(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        ReductionConfig(**arguments)


def test_names_may_repeat_and_norms_may_carry_their_suffix() -> None:
    config = ReductionConfig(reductions=["min", "min", "MAX"], norms=["l1_norm"])
    assert config.wanted() == (("min", False), ("max", False), ("l1", False))


@pytest.mark.parametrize("wrong", [3, ["mean"], {"reduction": ["mean"]}])
def test_what_is_no_reduction_config_is_refused(wrong: object) -> None:
    with pytest.raises(ConfigurationError):
        ReductionConfig.parse(wrong)
    with pytest.raises(ConfigurationError):
        ReductionConfig.from_json("mean")
