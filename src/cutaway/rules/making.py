"""Rules from what a person writes: names, files with rules of their own, and parameters as texts."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from cutaway import registry
from cutaway.errors import ConfigurationError, did_you_mean
from cutaway.rules.rule import Rule
from cutaway.trial import Trial

__all__ = ["ALL", "Recipe", "parse_parameters", "rule_recipes"]

ALL = "all"
_OWN = ("self", "base_trial", "action_str")
_ANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Recipe(NamedTuple):
    """A rule's class and the parameters that it was given."""

    kind: type[Rule]
    given: Mapping[str, str]

    def check(self) -> None:
        """Refuse parameters that the rule does not take, and the lack of one that it needs."""
        name, takes = self.kind.__name__, self._takes()
        for given in self.given:
            if given not in takes:
                listed = f" It takes {', '.join(takes)}." if takes else " It takes none."
                hint = did_you_mean(given, takes) or listed
                raise ConfigurationError(f"{name} has no parameter {given!r}.", hint=hint)
        needed = [one for one, parameter in takes.items() if parameter.default is inspect.Parameter.empty]
        for one in needed:
            if one not in self.given:
                raise ConfigurationError(f"{name} needs {one!r}: --param {name}.{one}=...")

    def make(self, trial: Trial | None) -> Rule:
        """Make the rule for a trial."""
        arguments: dict[str, object] = {**self.given}
        return self.kind(trial, **arguments)  # type: ignore[arg-type]  # every rule reads its arguments from texts

    def _takes(self) -> dict[str, inspect.Parameter]:
        known = inspect.signature(self.kind.__init__).parameters
        return {name: one for name, one in known.items() if name not in _OWN and one.kind not in _ANY}


def rule_recipes(
    wanted: str | Iterable[str] = ALL, parameters: Mapping[str, Mapping[str, str]] | None = None
) -> list[Recipe]:
    """Find the rules of some names and check their parameters, before there is a run to make them for.

    `wanted` is `all`, names with commas between them, or `path/to/file.py:MyRule`.

    >>> [recipe.make(None) for recipe in rule_recipes("vanishinggradient")]
    [VanishingGradient(threshold=1e-07)]
    """
    names = [name.strip() for name in (wanted.split(",") if isinstance(wanted, str) else wanted) if name.strip()]
    if not names:
        raise ConfigurationError("`--rules` names no rule.", hint="Write `all`, or names with commas between them.")
    listed = [one for name in names for one in (registry.names("rules") if name.lower() == ALL else [name])]
    classes = list(dict.fromkeys(_class(name) for name in listed))
    given = {_owner(name, classes): values for name, values in (parameters or {}).items()}
    recipes = [Recipe(kind, given.get(kind, {})) for kind in classes]
    for recipe in recipes:
        recipe.check()
    return recipes


def parse_parameters(texts: Iterable[str]) -> dict[str, dict[str, str]]:
    """Read `RULE.parameter=value` into a dictionary of dictionaries.

    >>> parse_parameters(["VanishingGradient.threshold=1e-6"])
    {'VanishingGradient': {'threshold': '1e-6'}}
    """
    found: dict[str, dict[str, str]] = {}
    for text in texts:
        target, equals, value = text.partition("=")
        rule, dot, name = target.strip().rpartition(".")
        if not (equals and dot and rule and name):
            message = f"`--param` takes RULE.parameter=value, but got {text!r}: VanishingGradient.threshold=1e-6."
            raise ConfigurationError(message)
        found.setdefault(rule, {})[name] = value
    return found


def _class(name: str) -> type[Rule]:
    path, colon, attribute = name.rpartition(":")
    found = _from_file(Path(path).expanduser(), attribute) if colon else registry.load("rules", name)
    if not (isinstance(found, type) and issubclass(found, Rule)):
        raise ConfigurationError(f"{name!r} is no rule: it must be a subclass of `cutaway.rules.Rule`.")
    return found


def _from_file(path: Path, attribute: str) -> object:
    if not path.is_file():
        raise ConfigurationError(f"There is no file {str(path)!r} to take the rule {attribute!r} from.", path=path)
    module = _imported(path)
    if not hasattr(module, attribute):
        known = [name for name, value in vars(module).items() if isinstance(value, type) and issubclass(value, Rule)]
        raise ConfigurationError(f"{path.name} has no rule {attribute!r}.", hint=did_you_mean(attribute, known))
    found: object = getattr(module, attribute)
    return found


def _imported(path: Path) -> ModuleType:
    """Run a file as a module of its own; what it imports from beside it is found, and nothing of that stays behind."""
    spec = importlib.util.spec_from_file_location(f"cutaway_rules_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ConfigurationError(f"{str(path)!r} is no Python file: rules come from files that end in .py.", path=path)
    module = importlib.util.module_from_spec(spec)
    with _beside(path):
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            message = f"{path.name} cannot be imported: {type(error).__name__}: {error}."
            raise ConfigurationError(message) from error
    return module


@contextlib.contextmanager
def _beside(path: Path) -> Iterator[None]:
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _owner(name: str, classes: Iterable[type[Rule]]) -> type[Rule]:
    """Return the rule that a parameter is meant for."""
    by_name = {kind.__name__: kind for kind in classes}
    for known, kind in by_name.items():
        if known.lower() == name.lower():
            return kind
    hint = did_you_mean(name, by_name)
    raise ConfigurationError(f"`--param` speaks of {name!r}, which is not among the chosen rules.", hint=hint)
