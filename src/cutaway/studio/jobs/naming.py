"""What a job's work is called: the names that are taken, what each means, and the command that does the same."""

from __future__ import annotations

import shlex

from cutaway.errors import ConfigurationError, did_you_mean

__all__ = ["ANALYSES", "SIMILAR", "analysis_of", "command_of"]

SIMILAR = "similar"
# As `cutaway.analysis` names them, each with the word of `cutaway analyze`. Loading that module takes seconds.
ANALYSES = {
    "map": "map",
    "clusters": "clusters",
    "class distances": "distances",
    "units": "units",
    "curve": "curve",
    "confusion": "confusion",
    "batches": "batches",
    "mislabeled": "mislabeled",
    "ambiguous": "ambiguous",
    "duplicates": "duplicates",
    "leakage": "leakage",
    "outliers": "outliers",
    "to label": "to-label",
    "insights": "insights",
    SIMILAR: "similar",
}
_SAME = {"distances": "class distances", "similar index": SIMILAR, "similars": SIMILAR, "index": SIMILAR}


def analysis_of(what: str) -> str:
    """Return the analysis that a word names, an empty one for all. Raises `ConfigurationError` for other words.

    >>> analysis_of("to-label"), analysis_of("distances"), analysis_of("class_distances")
    ('to label', 'class distances', 'class distances')
    """
    name = " ".join(what.replace("-", " ").replace("_", " ").split()).lower()
    name = _SAME.get(name, name)
    if name and name not in ANALYSES:
        listed = ", ".join(ANALYSES)
        raise ConfigurationError(
            f"There is no analysis {what!r}.", hint=f"{did_you_mean(name, list(ANALYSES))} It is of {listed}."
        )
    return name


def command_of(kind: str, run: str, what: str, evaluation: int, other: str) -> str:
    """Return the command that does the same in a terminal; empty where none does.

    >>> command_of("analyze", "my run", "to label", 1, "")
    "cutaway analyze 'my run' to-label --evaluation 1"
    """
    if kind == "analyze":
        words = [ANALYSES[what]] if what else []
    elif kind == "compare":
        words = ["compare", "--with", other]
    else:
        # An evaluation is started from its binding and model, which lie elsewhere.
        return ""
    return shlex.join(["cutaway", "analyze", run, *words, "--evaluation", str(evaluation)])
