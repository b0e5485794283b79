"""Writes a page for each built-in rule and a table of all, from docstrings. Renders text and touches no file."""

import inspect

from cutaway import registry
from cutaway.registry import BUILT_IN
from cutaway.rules.causes import causes_of, consequences_of
from cutaway.rules.documentation import sections, summary
from cutaway.rules.rule import Rule

__all__ = ["rule_pages"]

_INTRODUCTION = """\
# Rules

What each rule sees, why it matters and what to try. Made from the rules' docstrings by
`python -m scripts.make_reference`. Names and defaults are those of smdebug where it has the rule.

`cutaway watch RUN` lets all of them look at a run; [Let rules watch a run](../../how-to/watch-a-run.md) says how to
choose. A rule that lacks what it needs is shown as SKIPPED, with what to record.
"""

_SEE_ALSO = """\
## See also

- [All rules](README.md)
- [Let rules watch a run](../../how-to/watch-a-run.md)
- [Act on findings](../../how-to/act-on-findings.md)
- [Write a rule](../../how-to/write-a-rule.md)
"""


def rule_pages() -> dict[str, str]:
    """Return the pages by file name: one for each rule, and the table of all."""
    rules = {name: registry.load("rules", name) for name in sorted(BUILT_IN["rules"])}
    return {"README.md": _index(rules), **{f"{name}.md": _page(rule) for name, rule in rules.items()}}


def _index(rules: dict[str, type[Rule]]) -> str:
    rows = [
        f"| [{name}]({name}.md) | {_cell(summary(rule))} | {_cell(_paragraph(rule, 'Needs'))} |"
        for name, rule in rules.items()
    ]
    return "\n".join([_INTRODUCTION, "| Rule | Says that | Needs |", "|---|---|---|", *rows]) + "\n"


def _page(rule: type[Rule]) -> str:
    name = rule.__name__
    parts = [
        f"# {name}",
        summary(rule),
        f"```text\n{_signature(rule)}\n```",
        f"Severity of its findings: {rule.severity}.",
        *(f"## {title}\n\n{_paragraph(rule, title)}" for title in ("What it sees", "Why it matters", "What to try")),
        f"## Causes and consequences\n\n{_relations(name)}",
        f"## Needs\n\n{_paragraph(rule, 'Needs')}",
        f"## Parameters\n\n{_parameters(rule)}",
        _SEE_ALSO,
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _relations(name: str) -> str:
    """Say which findings bring this one about, and which it brings about: causes are told first."""
    parts = (("Follows from", sorted(causes_of(name))), ("Leads to", sorted(consequences_of(name))))
    told = [f"{verb} {', '.join(f'[{one}]({one}.md)' for one in others)}." for verb, others in parts if others]
    return " ".join(told) or "Of no other finding is it known to be the cause or a consequence."


def _signature(rule: type[Rule]) -> str:
    given = [f"{name}={default!r}" for name, default in _defaults(rule).items()]
    line = f"{rule.__name__}({', '.join(given)})"
    return line if len(line) <= 100 else "\n".join([f"{rule.__name__}(", *(f"    {one}," for one in given), ")"])


def _parameters(rule: type[Rule]) -> str:
    defaults = _defaults(rule)
    if not defaults:
        return f"It has none: `cutaway watch RUN --rules {rule.__name__}`."
    said = dict(line.split(": ", 1) for line in sections(rule)["Parameters"])
    rows = [f"| `{name}` | `{_cell(repr(default))}` | {_cell(said[name])} |" for name, default in defaults.items()]
    name = next((name for name, default in defaults.items() if isinstance(default, (int, float))), next(iter(defaults)))
    value = "..." if defaults[name] is None else defaults[name]
    example = (
        f"On the command line: `cutaway watch RUN --rules {rule.__name__} --param {rule.__name__}.{name}={value}`."
    )
    return "\n".join(["| Parameter | Default | |", "|---|---|---|", *rows, "", example])


def _defaults(rule: type[Rule]) -> dict[str, object]:
    known = inspect.signature(rule.__init__).parameters
    return {name: known[name].default for name in rule.parameter_names()}


def _paragraph(rule: type[Rule], section: str) -> str:
    return " ".join(sections(rule)[section])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
