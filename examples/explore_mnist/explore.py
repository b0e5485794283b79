"""Looks at what the network of `train.py` sees: each claim of the tutorial with its numbers, and its figure.

Run it after `train.py`, in the same folder. Writes figures/ and claims.json; ends with 1 where a claim does not hold.
"""

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from cutaway.analysis import Population
from cutaway.analysis.population.plotting import (
    plot_batches,
    plot_confusion,
    plot_curve,
    plot_distances,
    plot_heat_maps,
    plot_similar,
)

FIGURES = Path("figures")
DISTANCE = "metadata.distance_to_class_mean"
claims: dict[str, dict[str, object]] = {}


def claim(name: str, said: str, *, holds: bool) -> None:
    """Print a claim with its numbers, and keep it."""
    claims[name] = {"holds": bool(holds), "said": said}
    print(f"{'yes' if holds else 'NO '}  {name}: {said}", flush=True)


def column(population: Population, name: str) -> np.ndarray:
    """Return a column as an array."""
    return np.array(population.table[name].to_pylist())


def most_frequent(labels: np.ndarray) -> str:
    """Return the most frequent of some labels."""
    return str(Counter(labels.tolist()).most_common(1)[0][0])


def accuracy(validation: Population) -> None:
    """How well the network does."""
    confusion = validation.confusion()
    plot_confusion(confusion).png(FIGURES / "confusion.png", width=800, height=640)
    claim("accuracy", f"validation {confusion.words()}", holds=confusion.accuracy > 0.975)


def batches(everything: Population) -> None:
    """Loss and accuracy against batches, from what the hook recorded."""
    found = everything.batches()
    plot_batches(found).png(FIGURES / "batches.png")
    accuracies = found.of("TRAIN")["accuracy_smooth"].to_pylist()
    claim("batches", found.words(), holds=accuracies[0] < 0.8 and accuracies[-1] > 0.97)


def training_map(training: Population) -> None:
    """The training samples are separated by their classes."""
    made = training.make_map()
    labels = column(training, "label")
    flat = Population.from_arrays(made.positions)
    near = flat.index().search(made.positions, 16).indices[:, 1:]  # the first is the sample itself
    alike = np.mean([most_frequent(labels[rows]) == label for rows, label in zip(near, labels, strict=True)])
    training.plot(title="60,000 training samples by their label").png(FIGURES / "training.png", width=760, height=570)
    said = (
        f"{alike:.1%} of the training samples lie among samples of their own class on the map; "
        f"its trustworthiness is {made.trustworthiness:.3f}"
    )
    claim("separation", said, holds=alike > 0.97)


def validation_errors(validation: Population) -> None:
    """Misclassified validation samples lie in clusters of other classes."""
    labels, right = column(validation, "label"), column(validation, "correct")
    clusters = validation.clusters().labels
    class_of = {cluster: most_frequent(labels[clusters == cluster]) for cluster in set(clusters.tolist()) - {-1}}
    elsewhere = np.array([class_of.get(cluster, label) for cluster, label in zip(clusters, labels, strict=True)])
    elsewhere = elsewhere != labels
    wrong = ~right
    map_of = validation.plot(title="10,000 validation samples by their label")
    map_of.png(FIGURES / "validation.png", width=760, height=570)
    said = (
        f"{elsewhere[wrong].sum()} of {wrong.sum()} misclassified validation samples lie in the cluster of "
        f"another class ({elsewhere[wrong].mean():.0%}), and {elsewhere[right].mean():.1%} of the others"
    )
    claim("errors", said, holds=elsewhere[wrong].mean() > max(0.4, 20 * elsewhere[right].mean()))


def near_classes(training: Population) -> None:
    """Which classes lie close to each other, and 1 and 7 among them."""
    classes, labels, latents = training.samples.classes, column(training, "label"), training.samples.latents
    centres = np.stack([latents[labels == name].mean(axis=0) for name in classes])
    between_centres = np.linalg.norm(centres[:, None] - centres[None], axis=2)
    edges = np.zeros_like(between_centres)
    for i, one in enumerate(classes):
        some = latents[np.flatnonzero(labels == one)[:500]]
        for j, other in enumerate(classes):
            if i != j:
                found = training.index().search(some, 1, among=labels == other)
                edges[i, j] = np.median(found.distances)
    pairs, rank = ranked(edges + edges.T)
    _, rank_of_centres = ranked(between_centres)
    nearest = [classes[one] for one in np.argsort(edges[:, 1]) if classes[one] != "1"]
    said = (
        f"from one class to the nearest sample of the other, 1 and 7 are the pair number {rank} of 45 by closeness "
        f"({' and '.join(pairs[0])} are the first); by the centres of the classes number {rank_of_centres}; "
        f"of all classes, {nearest[0]} and then {nearest[1]} come nearest to a 1"
    )
    claim("1 and 7", said, holds=rank <= 15)


def ranked(distances: np.ndarray) -> tuple[list[tuple[str, str]], int]:
    """Return the pairs of digits, the nearest first, and at which place 1 and 7 are."""
    pairs = sorted(((i, j) for j in range(10) for i in range(j)), key=lambda pair: distances[pair])
    return [(str(i), str(j)) for i, j in pairs], pairs.index((1, 7)) + 1


def class_distances(everything: Population) -> None:
    """A sample's distances to two classes explain its error."""
    found = everything.distances()
    wrong = everything.where("subset = validation", "correct = no")
    by_class = [dict(row) for row in found.table.to_pylist()]
    rows = [by_class[everything.row(sample)] for sample in wrong.ids]
    explained = [row for row in rows if row[row["prediction"]] < row[row["label"]]]
    # Of these a 5 that is read as 6, and one that lies almost as near to the one class as to the other.
    chosen = min(
        explained,
        key=lambda row: ((row["label"], row["prediction"]) != ("5", "6"), row[row["label"]] / row[row["prediction"]]),
    )
    place = everything.row(chosen["sample"])
    plot_distances(everything, found, place).png(FIGURES / "distances.png")
    said = (
        f"{chosen['sample']}, a {chosen['label']} that is read as {chosen['prediction']}: {found.in_words(place)}. "
        f"Of {len(rows)} validation errors {len(explained)} lie nearer to the class that they were predicted as"
    )
    claim("distances", said, holds=len(explained) > len(rows) / 2)


def closed_fours(everything: Population) -> None:
    """A 4 that is read as 9 has mostly 9s around it: the closed ones."""
    fours = everything.where("label = 4", "prediction = 9")
    similar = {four: everything.find_similar(four, 20) for four in fours.ids}
    four = max(similar, key=lambda name: (name.startswith("validation"), similar[name].counts.get("9", 0)))
    figure = plot_similar(everything, [four], similar[four], f"A 4 that is read as 9, and the 20 nearest to it: {four}")
    figure.png(FIGURES / "closed_four.png")
    mostly = [name for name, one in similar.items() if one.counts.get("9", 0) > 10]
    counts = ", ".join(f"{count} with label {name}" for name, count in similar[four].counts.items())
    said = (
        f"{four} is a 4 that is read as 9; its 20 nearest: {counts}. "
        f"Around {len(mostly)} of {len(similar)} such 4s more than half of the 20 are 9s"
    )
    claim("closed 4s", said, holds=bool(mostly))


def where_it_looked(everything: Population) -> None:
    """The heat maps of an 8 that is read as something else, for both classes."""
    eights = everything.where("subset = validation", "label = 8", "correct = no")
    taken_for = dict(zip(eights.ids, column(eights, "prediction").tolist(), strict=True))
    eight = min(taken_for, key=lambda name: taken_for[name] != "9")
    digits = [taken_for[eight], "8"]
    maps = everything.heat_maps(eight, "integrated_gradients", target=digits)
    plot_heat_maps(everything, eight, maps).png(FIGURES / "heat_maps.png")
    beaten = [sum(one.sanity.deletion < other for other in one.sanity.random) for one in maps if one.sanity]
    said = (
        f"{eight} is an 8 that is read as {digits[0]}; its heat map of class {digits[0]} beats {beaten[0]} of 20 "
        f"random maps, that of class 8 beats {beaten[1]}"
    )
    claim("heat maps", said, holds=beaten[0] == 20)


def loss_against_distance(everything: Population) -> None:
    """Loss rises with the distance from the mean image of the class."""
    curve = everything.curve(DISTANCE)
    plot_curve(curve).png(FIGURES / "loss_against_distance.png", width=800, height=520)
    by_label = everything.curve(DISTANCE, by="label")
    rising = [name for name, one in by_label.within.items() if one.low is not None and one.low > 0]
    means = curve.table["mean"].to_pylist()
    said = (
        f"{by_label.words()}; the mean loss goes from {means[0]:.3f} in the nearest tenth to {means[-1]:.3f} in the "
        f"farthest, and the correlation is above 0 within {len(rising)} of 10 classes"
    )
    claim("loss against distance", said, holds=means[-1] > 5 * means[0] and len(rising) >= 9)


def main() -> int:
    """Ask every question of the tutorial."""
    FIGURES.mkdir(exist_ok=True)
    with Population.open("runs/mnist") as everything:
        parts = everything.by_subset()
        accuracy(parts["validation"])
        batches(everything)
        training_map(parts["training"])
        validation_errors(parts["validation"])
        near_classes(parts["training"])
        class_distances(everything)
        closed_fours(everything)
        where_it_looked(everything)
        loss_against_distance(everything)
    Path("claims.json").write_text(json.dumps(claims, indent=2) + "\n", encoding="utf-8")
    return 0 if all(one["holds"] for one in claims.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
