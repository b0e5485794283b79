"""The fixed sections of a rule's docstring: its page, and what to try when it fires, are made from them."""

from __future__ import annotations

import inspect

from cutaway.rules.network import SeenNetwork
from cutaway.rules.rule import Rule

__all__ = ["SECTIONS", "sections", "summary", "what_to_try"]

SECTIONS = ("What it sees", "Why it matters", "What to try", "Needs", "Parameters")


def summary(rule: type[Rule]) -> str:
    """Return the first sentence of a rule's docstring."""
    return (inspect.getdoc(rule) or "").split("\n\n")[0].replace("\n", " ").strip()


def sections(rule: type[Rule]) -> dict[str, list[str]]:
    """Return the lines of each section, none where it is missing; a parameter's lines are joined to one.

    >>> from cutaway.rules.built_in.vanishing_gradient import VanishingGradient
    >>> sections(VanishingGradient)["Parameters"]
    ['threshold: the mean absolute gradient below which the rule fires.']
    """
    found: dict[str, list[str]] = {name: [] for name in SECTIONS}
    current = ""
    for line in (inspect.getdoc(rule) or "").splitlines():
        if line.rstrip(":") in SECTIONS and line.endswith(":"):
            current = line.rstrip(":")
        elif current and line.startswith(" " * 8) and found[current]:
            found[current][-1] += f" {line.strip()}"
        elif current and line.strip():
            found[current].append(line.strip())
    return found


def what_to_try(rule: type[Rule], network: SeenNetwork | None = None) -> str:
    """Return what may help when a rule fires, of a network where one is given; nothing where the rule does not say."""
    fitting = "" if network is None else rule.advice(network)
    return fitting or " ".join(sections(rule)["What to try"])
