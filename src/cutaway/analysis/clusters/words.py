"""What is known of a cluster, and how it reads in a line. Computes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from cutaway.wording import counted, percent

__all__ = ["ClassShare", "ClusterWords", "Rate", "Trait"]

# Of what sets a cluster apart, the strongest are told.
MOST_TRAITS = 3
# A class of a smaller share goes without saying.
SMALLEST_SHARE = 0.1
# Below so many samples a rate is given as a count: a percentage would sound surer than it is.
FEW = 50


@dataclass(frozen=True)
class ClassShare:
    """How many samples of a cluster have one label, and what share of its labelled samples they are."""

    name: str
    count: int
    share: float


@dataclass(frozen=True)
class Rate:
    """A share or a mean inside a cluster against the rest, of the samples by which the model is judged.

    These are held-out ones where any have a value, never training samples beside them. `count` of the cluster are
    such, of the subsets that `judged` names; it is empty where that goes without saying, for there is no other. `low`
    and `high` hold the share with 95 % certainty (Wilson); they are None for a mean. `differs` says whether the
    difference is more than chance, among all that were looked at.
    """

    inside: float
    outside: float
    count: int
    differs: bool
    low: float | None = None
    high: float | None = None
    judged: str = ""


@dataclass(frozen=True)
class Trait:
    """A column that sets a cluster apart from the rest.

    For numbers, `inside` and `outside` are means, or medians where the means hide it (`figure` says which), and
    `effect` is the difference of ranks, from -1 (all lower) to 1 (all higher). For yes and no, and for a `value` of a
    category, they are shares, and `effect` is the difference. `score` is how much of the doubt about who is in the
    cluster it settles (mutual information, 0 to 1); `count` samples of the cluster have a value.
    """

    column: str
    kind: str
    value: str | None
    figure: str
    inside: float
    outside: float
    direction: str
    effect: float
    score: float
    count: int


@dataclass(frozen=True)
class ClusterWords:
    """What there is to say of one cluster; a part that the samples have no column for is None or empty.

    `classes` is sorted by size, and `purity` is the share of the first. `traits` is sorted by score.
    """

    cluster: int
    size: int
    classes: tuple[ClassShare, ...]
    purity: float | None
    errors: Rate | None
    loss: Rate | None
    traits: tuple[Trait, ...]

    @property
    def words(self) -> str:
        """All of it in a line."""
        return _in_words(self)


def _in_words(cluster: ClusterWords) -> str:
    """Return a line such as `412 samples, 96 % of them 4; error 7.5 % on validation (elsewhere 1.2 %).`"""
    parts = [counted(cluster.size, "sample") + _classes(cluster.classes)]
    if cluster.errors is not None:
        parts.append(_errors(cluster.errors))
    if cluster.loss is not None and cluster.loss.differs:
        inside, outside = _figures(cluster.loss.inside, cluster.loss.outside)
        parts.append(f"mean loss {inside}{_judged(cluster.loss)} (elsewhere {outside})")
    # A value that is common in a cluster makes the column's other values rare there: the strongest says it all.
    strongest: dict[str, Trait] = {}
    for trait in cluster.traits:
        strongest.setdefault(trait.column, trait)
    parts += [_trait(trait) for trait in strongest.values()][:MOST_TRAITS]
    return "; ".join(parts) + "."


def _classes(classes: tuple[ClassShare, ...]) -> str:
    if not classes:
        return ""
    if len(classes) == 1:
        return f", all of them {classes[0].name}"
    told = [one for one in classes[:3] if one.share >= SMALLEST_SHARE]
    if not told:
        return f", of {len(classes)} classes"
    first, *others = (f"{percent(one.share)} of them {one.name}" for one in told)
    return f", {', '.join([first, *(other.replace(' of them', '') for other in others)])}"


def _errors(errors: Rate) -> str:
    few = f"{errors.inside * errors.count:.0f} of {errors.count} wrong"
    said = f"{few if errors.count < FEW else f'error {percent(errors.inside)}'}{_judged(errors)}"
    if errors.outside != errors.outside:  # no other sample has an answer
        return said
    clear = "" if errors.differs else ", no clear difference"
    return f"{said} (elsewhere {percent(errors.outside)}{clear})"


def _judged(rate: Rate) -> str:
    return f" on {rate.judged}" if rate.judged else ""


def _trait(trait: Trait) -> str:
    name = trait.column.removeprefix("metadata.").removeprefix("metric.")
    if trait.kind == "number":
        median = "median " if trait.figure == "median" else ""
        inside, outside = _figures(trait.inside, trait.outside)
        return f"{name} {median}{inside} against {outside}"
    value = "yes" if trait.value is None else trait.value
    return f"{name} {value} in {percent(trait.inside)} against {percent(trait.outside)}"


def _figures(inside: float, outside: float) -> tuple[str, str]:
    """Return two numbers in so few digits that they still differ."""
    for digits in (3, 5, 8):
        pair = (_figure(inside, digits), _figure(outside, digits))
        if pair[0] != pair[1]:
            break
    return pair


def _figure(number: float, digits: int) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 and digits == 3 else f"{number:.{digits}g}"
