"""The one table of rules and adapters, and others' entry points beside it."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cutaway import registry
from cutaway.errors import ConfigurationError

RULE = """
from cutaway.rules import Rule

class ToyRule(Rule):
    def invoke_at_step(self, step):
        return step == 3
"""

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a package with entry points, as pip would leave it."""

    def install(name: str, entry_points: str, source: str = RULE) -> None:
        (tmp_path / f"{name}.py").write_text(source)
        about = tmp_path / f"{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(entry_points)
        monkeypatch.delitem(sys.modules, name, raising=False)

    monkeypatch.syspath_prepend(tmp_path)
    return install


def test_our_own_are_listed_without_being_imported() -> None:
    assert registry.names("rules") == sorted(registry.BUILT_IN["rules"])
    assert registry.names("frameworks") == ["torch"]


def test_a_name_may_be_written_in_any_case() -> None:
    rule = registry.load("rules", "VANISHINGgradient")
    assert rule is registry.load("rules", "VanishingGradient")
    assert (rule.__name__, rule.__module__) == ("VanishingGradient", "cutaway.rules.built_in.vanishing_gradient")


def test_an_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match=r"no rule 'Overfitt'\. Did you mean 'Overfit'.*There are AllZero, "):
        registry.load("rules", "Overfitt")
    with pytest.raises(ConfigurationError, match=r"no framework 'jax'.*There are torch\."):
        registry.load("frameworks", "jax")


def test_a_rule_of_another_package_comes_in_through_its_entry_point(install: Install) -> None:
    install("toy", "[cutaway.rules]\nToyRule = toy:ToyRule\n")
    assert "ToyRule" in registry.names("rules")
    assert "toy" not in sys.modules
    rule = registry.load("rules", "toyrule")
    assert (rule.__name__, rule().rule_name) == ("ToyRule", "ToyRule")
    with pytest.raises(ConfigurationError, match="Did you mean 'ToyRule'"):
        registry.load("rules", "ToyRul")


def test_entry_points_of_other_kinds_are_left_alone(install: Install) -> None:
    install("toy", "[cutaway.frameworks]\ntoy = toy:Hook\n[other.rules]\nToyRule = toy:ToyRule\n")
    assert "ToyRule" not in registry.names("rules")
    assert registry.names("frameworks") == ["torch", "toy"]


@pytest.mark.parametrize("place", ["toy:Missing", "toy.missing:ToyRule", "missing_module:ToyRule"])
def test_a_broken_entry_point_names_its_package(install: Install, place: str) -> None:
    install("toy", f"[cutaway.rules]\nBroken = {place}\n")
    with pytest.raises(ConfigurationError, match=rf"'Broken' of toy cannot be loaded from '{place}'"):
        registry.load("rules", "Broken")


def test_a_package_that_fails_while_it_is_imported_is_named(install: Install) -> None:
    install("toy", "[cutaway.rules]\nBroken = toy:ToyRule\n", source="import no_such_module\n")
    with pytest.raises(ConfigurationError, match=r"of toy cannot be loaded.*no_such_module"):
        registry.load("rules", "Broken")


def test_ours_cannot_be_taken(install: Install) -> None:
    install("toy", "[cutaway.rules]\nOverfit = toy:ToyRule\n")
    assert registry.names("rules").count("Overfit") == 1
    assert registry.load("rules", "Overfit").__module__ == "cutaway.rules.built_in.overfit"
