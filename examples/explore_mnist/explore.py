"""Looks at what the network of `train.py` sees: each claim of the tutorial with its numbers, and its figure.

Run it after `train.py`, in the same folder. Writes figures/ and claims.json; ends with 1 when a claim does not hold.
"""

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from cutaway.analysis import Population
from cutaway.analysis.plotting import (
    plot_batches,
    plot_confusion,
    plot_curve,
    plot_distances,
    plot_heat_maps,
    plot_similar,
)

FIGURES = Path("figures")
claims: dict[str, dict[str, object]] = {}


def claim(name: str, *, holds: bool, said: str, **numbers: object) -> None:
    """Print a claim with its numbers, and keep it."""
    claims[name] = {"holds": bool(holds), "said": said, **numbers}
    print(f"{'yes' if holds else 'NO '}  {name}: {said}", flush=True)


def column(population: Population, name: str) -> np.ndarray:
    """Return a column as an array."""
    return np.array(population.table[name].to_pylist())


def main() -> int:
    """Ask every question of the tutorial."""
    FIGURES.mkdir(exist_ok=True)
    with Population.open("runs/mnist") as everything:
        parts = everything.by_subset()
        training_map(parts["training"])
        validation_errors(everything, parts["validation"])
        near_classes(parts["training"])
        distances(everything)
        closed_fours(everything)
        where_it_looked(parts["validation"])
        loss_against_distance(parts["validation"])
        batches(everything)
    Path("claims.json").write_text(json.dumps(claims, indent=1))
    return 0 if all(one["holds"] for one in claims.values()) else 1


def training_map(training: Population) -> None:
    """The training samples are separated by their classes."""
    made = training.make_map()
    labels = column(training, "label")
    rows = np.random.default_rng(0).choice(len(training), 2000, replace=False)
    alike = np.mean([majority(made.positions, labels, row) == labels[row] for row in rows])
    training.balanced("label", 10_000).plot(title="Training samples by their label").png(FIGURES / "training.png")
    claim(
        "separation",
        holds=alike > 0.95,
        said=f"{alike:.1%} of training samples lie among samples of their own class on the map, whose "
        f"trustworthiness is {made.trustworthiness:.4f}",
        share=float(alike),
        trustworthiness=made.trustworthiness,
    )


def majority(positions: np.ndarray, labels: np.ndarray, row: int, k: int = 15) -> str:
    """Return the most frequent label among the nearest on the map, the sample itself left out."""
    away = np.square(positions - positions[row]).sum(axis=1)
    away[row] = np.inf
    return Counter(labels[np.argpartition(away, k)[:k]].tolist()).most_common(1)[0][0]


def validation_errors(everything: Population, validation: Population) -> None:
    """What is read wrongly in validation lies in clusters of other classes."""
    labels, subset, right = (column(everything, name) for name in ("label", "subset", "correct"))
    positions = everything.map()
    trained = np.where(subset == "training", labels, None)
    wrong = np.flatnonzero((subset == "validation") & ~right)
    true = np.random.default_rng(0).choice(np.flatnonzero((subset == "validation") & right), 500, replace=False)
    known = np.flatnonzero(subset == "training")

    def elsewhere(rows: np.ndarray) -> float:
        found = []
        for row in rows:
            away = np.square(positions[known] - positions[row]).sum(axis=1)
            nearest = known[np.argpartition(away, 15)[:15]]
            found.append(Counter(trained[nearest].tolist()).most_common(1)[0][0] != labels[row])
        return float(np.mean(found))

    share, usual = elsewhere(wrong), elsewhere(true)
    validation.plot(title="Validation samples by their label; rings are read wrongly").png(FIGURES / "validation.png")
    accuracy = validation.confusion()
    plot_confusion(accuracy).png(FIGURES / "confusion.png")
    claim(
        "errors",
        holds=share > 0.5 and usual < 0.05,
        said=f"{share:.0%} of {len(wrong)} validation errors lie in the cluster of another class, "
        f"and {usual:.1%} of what is read rightly",
        share=share,
        errors=len(wrong),
        usual=usual,
    )
    claim("accuracy", holds=accuracy.accuracy > 0.975, said=accuracy.words(), accuracy=accuracy.accuracy)


def near_classes(training: Population) -> None:
    """The clusters of 1 and 7 are close."""
    labels = column(training, "label")
    centres = np.stack([training.samples.latents[labels == name].mean(axis=0) for name in training.samples.classes])
    apart = np.linalg.norm(centres[:, None] - centres[None], axis=2)
    others = [name for name in np.argsort(apart[1]).tolist() if name != 1]
    order = [training.samples.classes[one] for one in others]
    claim(
        "one and seven",
        holds="7" in order[:3],
        said=f"the classes nearest to 1 in latent space are {', '.join(order[:3])}; 7 is number {order.index('7') + 1} "
        f"of 9, at {apart[1, 7]:.2f}, and the farthest is {order[-1]} at {apart[1].max():.2f}",
        order=order,
    )


def distances(everything: Population) -> None:
    """A sample's distances to two classes explain its error."""
    found = everything.distances()
    subset, right, loss = (column(everything, name) for name in ("subset", "correct", "loss"))
    wrong = np.flatnonzero((subset == "validation") & ~right)
    labels, predictions = column(everything, "label"), column(everything, "prediction")
    assert found.values is not None
    number = {name: i for i, name in enumerate(found.classes)}
    explained = [
        row for row in wrong if found.values[row, number[predictions[row]]] < found.values[row, number[labels[row]]]
    ]
    # Of those, one whose two classes are almost as near: the seed's own sample was such a one.
    chosen = min(
        explained, key=lambda row: abs(found.values[row, number[labels[row]]] / found.values[row].min() - 1.13)
    )
    plot_distances(everything, found, int(chosen)).png(FIGURES / "distances.png")
    claim(
        "distances",
        holds=len(explained) > len(wrong) / 2,
        said=f"{everything.ids[chosen]}, a {labels[chosen]} read as {predictions[chosen]}: "
        f"{found.in_words(int(chosen))}; {len(explained)} of {len(wrong)} errors are nearer to what they are taken for",
        sample=everything.ids[chosen],
        explained=len(explained),
        of=len(wrong),
    )
    assert len(loss) == len(everything)


def closed_fours(everything: Population) -> None:
    """A 4 that is read as 9 has mostly 9s around it: the closed ones."""
    some = everything.where("subset = validation", "label = 4", "prediction = 9")
    counts = {name: everything.find_similar(name, 20).counts for name in some.ids}
    best = max(counts, key=lambda name: counts[name].get("9", 0))
    similar = everything.find_similar(best, 20)
    plot_similar(everything, [best], similar, f"The 20 nearest to {best}").png(FIGURES / "closed_four.png")
    mostly = [name for name, count in counts.items() if count.get("9", 0) > 10]
    said = ", ".join(f"{count} of {name}" for name, count in similar.counts.items())
    claim(
        "closed fours",
        holds=bool(mostly),
        said=f"{best} is a 4 read as 9, and its 20 nearest are {said}; mostly 9s for {len(mostly)} of {len(counts)} such",
        sample=best,
        counts=dict(similar.counts),
    )


def where_it_looked(validation: Population) -> None:
    """The heat maps of an 8 that is read as something else, for both classes."""
    table = validation.table
    rows = [
        row
        for row, (label, said) in enumerate(
            zip(table["label"].to_pylist(), table["prediction"].to_pylist(), strict=True)
        )
        if label == "8" and said != "8"
    ]
    loss = validation.samples.numbers("loss")
    sample = validation.ids[max(rows, key=lambda row: loss[row])]
    taken = table["prediction"][validation.row(sample)].as_py()
    maps = validation.heat_maps(sample, "integrated_gradients", target=[taken, "8"])
    plot_heat_maps(validation, sample, maps).png(FIGURES / "heat_maps.png")
    trusted = [one.sanity is not None and one.sanity.better_than_random for one in maps]
    claim(
        "heat maps",
        holds=all(one.completeness is not None and one.completeness < 0.05 for one in maps),
        said=f"{sample} is an 8 read as {taken}; the map of {taken} {'beats' if trusted[0] else 'does not beat'} all "
        f"random ones, that of 8 {'does' if trusted[1] else 'does not'}",
        sample=sample,
    )


def loss_against_distance(validation: Population) -> None:
    """Loss rises with the distance from the mean image of the class."""
    curve = validation.curve("metadata.distance_to_class_mean", "loss", bins=8)
    plot_curve(curve).png(FIGURES / "loss_against_distance.png")
    means = curve.table["mean"].to_pylist()
    within = validation.curve("metadata.distance_to_class_mean", "loss", bins=8, by="label").within
    rising = [name for name, one in within.items() if one is not None and one.low is not None and one.low > 0]
    claim(
        "loss against distance",
        holds=curve.strength is not None and (curve.strength.low or 0) > 0 and means[-1] > 3 * means[0],
        said=f"{curve.words()}; the mean loss goes from {means[0]:.3f} to {means[-1]:.3f}, and it rises within "
        f"{len(rising)} of 10 classes",
        first=means[0],
        last=means[-1],
        rising=len(rising),
    )


def batches(everything: Population) -> None:
    """Loss and accuracy against batches, from the training."""
    found = everything.batches()
    plot_batches(found).png(FIGURES / "batches.png")
    train = found.of("TRAIN")
    first, last = (
        float(np.nanmean(part)) for part in np.array_split(np.array(train["accuracy"].to_pylist(), float), 10)[::9]
    )
    claim(
        "batches", holds=last > 0.97, said=f"{found.words()}; accuracy goes from {first:.3f} to {last:.3f}", last=last
    )


if __name__ == "__main__":
    sys.exit(main())
