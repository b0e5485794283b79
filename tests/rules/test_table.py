"""The table of rules equals the files, the classes, the tests and the pages: none is forgotten anywhere."""

import importlib.util
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

from cutaway import registry
from cutaway.errors import InsufficientInformationForRuleInvocation
from cutaway.registry import BUILT_IN
from cutaway.rules import Rule, built_in
from cutaway.rules.documentation import SECTIONS, sections, summary, what_to_try
from cutaway.testing.rules import RuleContract, ScriptedRun, findings
from scripts.requirements import ROOT

NAMES = sorted(BUILT_IN["rules"])
PAGES = ROOT / "docs" / "reference" / "rules"
OWN = ("self", "base_trial", "action_str", "other_trials")


def file_of(name: str) -> str:
    """The name of the file that a rule stands in."""
    return BUILT_IN["rules"][name].partition(":")[0].rpartition(".")[2]


def rule_of(name: str) -> type[Rule]:
    rule = registry.load("rules", name)
    assert isinstance(rule, type)
    assert issubclass(rule, Rule)
    return rule


def made(name: str) -> Rule:
    return rule_of(name)()


def test_every_file_is_in_the_table_and_every_entry_has_its_file() -> None:
    folder = Path(inspect.getfile(built_in)).parent
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert files == {file_of(name) for name in NAMES}
    assert len(files) == len(NAMES)


def test_the_rules_of_the_inventory_are_all_there() -> None:
    upstream = (
        "VanishingGradient ExplodingTensor WeightUpdateRatio AllZero UnchangedTensor LossNotDecreasing "
        "SimilarAcrossRuns Confusion ClassImbalance Overfit Overtraining StalledTrainingRule TensorVariance DeadRelu "
        "SaturatedActivation PoorWeightInitialization CheckInputImages NLPSequenceRatio FeatureImportanceOverweight "
        "TreeDepth"
    )
    ours = "LossSpike DeadUnits LearningRateTooHigh LearningRateTooLow DataLeak SlowStep HookSilent NotLearning"
    assert sorted([*upstream.split(), *ours.split()]) == NAMES


@pytest.mark.parametrize("name", NAMES)
class TestOfEveryRule:
    def test_its_class_has_its_name_and_is_the_one_thing_that_its_file_offers(self, name: str) -> None:
        rule = rule_of(name)
        module = inspect.getmodule(rule)
        assert isinstance(module, ModuleType)
        assert (rule.__name__, module.__all__) == (name, [name])
        # Of the words that the name is made of, however letters that stand together are taken: `NLPSequence`.
        assert file_of(name).replace("_", "") == name.lower()

    def test_it_can_be_made_without_arguments(self, name: str) -> None:
        assert made(name).rule_name == name

    def test_every_argument_is_kept_in_an_attribute_of_its_name(self, name: str) -> None:
        rule = made(name)
        arguments = [one for one in inspect.signature(rule_of(name).__init__).parameters if one not in OWN]
        assert [one for one in arguments if not hasattr(rule, one)] == []
        assert list(rule.parameters) == arguments

    def test_its_arguments_come_by_name_and_have_defaults(self, name: str) -> None:
        parameters = inspect.signature(rule_of(name).__init__).parameters.values()
        added = [one for one in parameters if one.name not in OWN]
        assert [one.name for one in added if one.kind is not inspect.Parameter.KEYWORD_ONLY] == []
        assert [one.name for one in added if one.default is inspect.Parameter.empty] == []

    def test_its_docstring_tells_everything(self, name: str) -> None:
        rule = rule_of(name)
        found = sections(rule)
        assert summary(rule).endswith(".")
        assert [one for one in SECTIONS if one != "Parameters" and not found[one]] == []
        assert [line.partition(":")[0] for line in found["Parameters"]] == rule.parameter_names()
        assert what_to_try(rule).endswith(".")

    def test_it_has_a_test_file_that_holds_it_to_the_contract(self, name: str) -> None:
        path = Path(__file__).parent / f"test_{file_of(name)}.py"
        spec = importlib.util.spec_from_file_location(f"of_table_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        contracts = [one for one in vars(module).values() if isinstance(one, type) and issubclass(one, RuleContract)]
        assert rule_of(name) in [one.rule for one in contracts if one is not RuleContract]

    def test_it_has_a_page_that_says_what_the_docstring_says(self, name: str) -> None:
        page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
        assert page.startswith(f"# {name}\n")
        assert summary(rule_of(name)) in page
        assert what_to_try(rule_of(name)) in page
        rows = re.findall(r"(?m)^\| `(\w+)` \| `.+?` \|", page)
        assert rows == rule_of(name).parameter_names()

    def test_it_looks_at_a_run_with_nothing_in_it_without_raising_anything_else(self, name: str) -> None:
        run = ScriptedRun()
        run.step()
        try:
            assert findings(made(name), run) == []
        except InsufficientInformationForRuleInvocation as error:
            assert str(error).startswith("needs ")  # noqa: PT017 - a rule may do either


def test_every_page_is_of_a_rule_and_stands_in_the_index() -> None:
    assert sorted(path.stem for path in PAGES.glob("*.md") if path.name != "README.md") == NAMES
    index = (PAGES / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^\| \[(\w+)\]\(\1\.md\) \|", index) == NAMES
