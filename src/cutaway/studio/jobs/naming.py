"""What a job's work is called: the names that are taken, what each means, and the command that does the same."""

from __future__ import annotations

import shlex

from cutaway.analysis.population.names import command_name, name_of
from cutaway.errors import ConfigurationError

__all__ = ["analysis_of", "command_of"]


def analysis_of(what: str) -> str:
    """Return the analysis that a word names. Raises `ConfigurationError` for other words, and for what no job makes.

    >>> analysis_of("to-label"), analysis_of("class_distances")
    ('to label', 'class distances')
    """
    from cutaway.analysis.population.applicability import analysis_named  # it takes long to import

    found = analysis_named(name_of(what))
    if found.asked_alone and not found.prepares:
        raise ConfigurationError(
            f"No job makes {what!r} of all samples: `cutaway analyze RUN {command_name(found.name)}`"
        )
    return found.name


def command_of(kind: str, run: str, what: str, evaluation: int, other: str) -> str:
    """Return the command that does the same in a terminal; empty where none does.

    >>> command_of("analyze", "my run", "to label", 1, "")
    "cutaway analyze 'my run' to-label --evaluation 1"
    """
    if kind == "analyze":
        words = [command_name(what)] if what else []
    elif kind == "compare":
        words = ["compare", "--with", other]
    else:
        # An evaluation is started from its binding and model, which lie elsewhere.
        return ""
    return shlex.join(["cutaway", "analyze", run, *words, "--evaluation", str(evaluation)])
