"""Rules from what a person writes."""

import sys
from pathlib import Path
from typing import Any

import pytest

from cutaway import registry
from cutaway.errors import ConfigurationError
from cutaway.rules.making import parse_parameters, rule_recipes
from cutaway.rules.rule import Rule

MINE = """
from beside import LIMIT
from cutaway.rules import Rule

class MyRule(Rule):
    def __init__(self, base_trial, limit, name="x"):
        super().__init__(base_trial)
        self.limit, self.name = float(limit), name

    def invoke_at_step(self, step):
        return step > LIMIT

class NoRule:
    pass
"""


def make_rules(*asked: Any) -> list[Rule]:
    return [recipe.make(None) for recipe in rule_recipes(*asked)]


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "beside.py").write_text("LIMIT = 3\n")
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path / "mine.py"


def test_all_means_every_rule_of_the_registry() -> None:
    assert [rule.rule_name for rule in make_rules()] == registry.names("rules")


def test_names_may_be_written_in_any_case_and_are_made_once() -> None:
    assert [rule.rule_name for rule in make_rules("vanishinggradient, VanishingGradient")] == ["VanishingGradient"]


def test_parameters_reach_the_rule_that_they_name() -> None:
    (rule,) = make_rules("VanishingGradient", parse_parameters(["vanishinggradient.threshold=1e-5"]))
    assert rule.parameters == {"threshold": 1e-5}


@pytest.mark.parametrize(
    ("rules", "params", "said"),
    [
        ("VanishingGradiant", [], "Did you mean 'VanishingGradient'"),
        (
            "VanishingGradient",
            ["VanishingGradient.treshold=1"],
            "has no parameter 'treshold'. Did you mean 'threshold'",
        ),
        ("VanishingGradient", ["Overfit.patience=1"], "not among the chosen rules"),
        ("VanishingGradient", ["VanishingGradient.threshold=much"], "`threshold` must be a number"),
        ("VanishingGradient", ["threshold=1"], "`--param` takes RULE.parameter=value"),
        ("", [], "names no rule"),
        ("nowhere.py:MyRule", [], "There is no file 'nowhere.py'"),
    ],
)
def test_what_is_wrong_is_said_with_the_nearest_names(rules: str, params: list[str], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        make_rules(rules, parse_parameters(params))


def test_a_rule_comes_from_a_file_with_what_lies_beside_it(mine: Path) -> None:
    before = list(sys.path)
    (rule,) = make_rules(f"{mine}:MyRule", {"MyRule": {"limit": "4"}})
    assert rule.parameters == {"limit": 4.0, "name": "x"}
    assert sys.path == before


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("MyRul", "has no rule 'MyRul'. Did you mean 'MyRule'"),
        ("NoRule", "is no rule: it must be a subclass"),
        ("MyRule", "MyRule needs 'limit': --param MyRule.limit="),
    ],
)
def test_a_file_without_that_rule_is_refused(mine: Path, name: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        make_rules(f"{mine}:{name}")


def test_a_file_that_cannot_be_imported_says_why(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("1 / 0\n")
    with pytest.raises(ConfigurationError, match=r"bad\.py cannot be imported: ZeroDivisionError"):
        make_rules(f"{tmp_path / 'bad.py'}:MyRule")
