"""Which analyses apply to some samples, and of the others why not. Looks at columns only; computes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from cutaway import registry
from cutaway.analysis.population.contract import Analysis, RankedAnalysis
from cutaway.analysis.population.names import analysis_names, name_of
from cutaway.analysis.samples import LABEL, Samples
from cutaway.run.evaluated import EvaluatedPopulation

__all__ = [
    "Applies",
    "all_the_same",
    "analyses",
    "analysis_named",
    "no_class_distances",
    "no_labels",
    "no_model",
    "no_pairs",
    "no_vector",
    "ranked_analyses",
    "too_few",
    "what_applies",
]


@dataclass(frozen=True)
class Applies:
    """Whether one analysis applies; `reason` is empty where it does."""

    analysis: str
    reason: str = ""

    @property
    def applies(self) -> bool:
        """Whether it can be asked for."""
        return not self.reason


def analyses() -> list[Analysis]:
    """Return every analysis, ours in the order in which people ask, then those of other packages."""
    return [registry.load("analyses", name)() for name in analysis_names()]


def analysis_named(word: str) -> Analysis:
    """Return the analysis that a word names, spelled with spaces, hyphens or underscores."""
    found: Analysis = registry.load("analyses", name_of(word))()
    return found


def ranked_analyses() -> list[RankedAnalysis]:
    """Return those that rank samples."""
    return [one for one in analyses() if isinstance(one, RankedAnalysis)]


def what_applies(samples: Samples, origin: EvaluatedPopulation | None) -> list[Applies]:
    """Return every analysis with the reason why it does not apply, in the order in which people ask."""
    return [Applies(one.name, one.why_not(samples, origin)) for one in analyses()]


def no_vector(samples: Samples) -> str:
    """Return why samples cannot be placed: none has a latent vector."""
    if samples.finite.any():
        return ""
    return "no sample has a latent vector that is finite" if len(samples) else "there are no samples"


def too_few(samples: Samples) -> str:
    """Return why samples cannot be compared with each other: it takes two."""
    usable = int(samples.finite.sum())
    return "" if usable > 1 else f"it takes two samples with finite latent vectors, and there are {usable}"


def all_the_same(samples: Samples) -> str:
    """Return why samples fall into no groups: all vectors are equal."""
    usable = samples.latents[samples.finite]
    return "all latent vectors are the same" if bool((usable == usable[:1]).all()) else ""


def no_labels(samples: Samples, origin: EvaluatedPopulation | None) -> str:
    """Return why there are no labels."""
    if samples.has(LABEL):
        return ""
    return (origin.answer.reason if origin is not None else "") or "these samples have no labels"


def no_class_distances(samples: Samples, origin: EvaluatedPopulation | None) -> str:
    """Return why there are no distances to the centres of classes."""
    return no_vector(samples) or no_labels(samples, origin)


def no_pairs(samples: Samples) -> str:
    """Return why no two samples can be found to be the same."""
    return "" if samples.hashes is not None and len(samples) > 1 else too_few(samples)


def no_model(origin: EvaluatedPopulation | None) -> str:
    """Return why there is no model to ask."""
    return "" if origin is not None else "these samples come from arrays, and there is no model to ask"
