"""Made samples and figures for tests: digits, texts that mean harm, and one figure of each kind."""

import io

import numpy as np
import pyarrow as pa
from PIL import Image

from cutaway.analysis.figures import (
    Figure,
    Tile,
    batches_figure,
    confusion_figure,
    curve_figure,
    distances_figure,
    heat_map_figure,
    map_figure,
    ranked_figure,
    similar_figure,
    units_figure,
)


def png(seed: int = 0, side: int = 8) -> bytes:
    pixels = np.random.default_rng(seed).integers(0, 255, (side, side), dtype=np.uint8)
    written = io.BytesIO()
    Image.fromarray(pixels).save(written, "PNG")
    return written.getvalue()


def table(rows: int = 60, classes: int = 3) -> pa.Table:
    generator = np.random.default_rng(1)
    labels = [f"class {one}" for one in generator.integers(0, classes, rows)]
    wrong = generator.random(rows) < 0.2
    return pa.table(
        {
            "sample": [f"s{row}" for row in range(rows)],
            "label": labels,
            "prediction": ["class 0" if bad else label for bad, label in zip(wrong, labels, strict=True)],
            "correct": ~wrong,
            "loss": generator.gamma(1.0, 1.0, rows).astype(np.float32),
            "metadata.age": generator.integers(0, 90, rows),
        }
    )


def positions(rows: int = 60) -> np.ndarray:
    return np.random.default_rng(2).normal(size=(rows, 2)).astype(np.float32)


def bins(value: str = "") -> pa.Table:
    means, counts = [0.1, 0.4, 0.9], [10, 20, 5]
    found = {"count": counts, "mean": means, "low": [0.0, 0.3, None], "high": [0.2, 0.5, None]}
    if value:
        return pa.table({"value": [value, "b", "c"], **found})
    return pa.table({"from": [0.0, 1.0, 2.5], "to": [0.9, 2.0, 4.0], **found})


def ranked(text: str = "plain") -> pa.Table:
    ids = [f"{text}{row}" for row in range(3)]
    return pa.table({"sample": ids, "score": [0.9, 0.5, 0.1], "reason": [text] * 3, "label": [text] * 3})


def every_figure(text: str = "plain") -> dict[str, Figure]:
    """Return one figure of each kind, with `text` wherever somebody's own words come in."""
    samples = table()
    samples = samples.set_column(0, "sample", pa.array([f"{text}{row}" for row in range(60)]))
    samples = samples.set_column(1, "label", pa.array([text if row % 2 else "b" for row in range(60)]))
    samples = samples.append_column("distance", pa.array(np.linspace(0, 1, 60)))
    previews = {f"{text}{row}": png(row) for row in range(0, 60, 2)}
    steps = pa.table({"step": list(range(50)), "loss": np.linspace(2, 0.1, 50), "accuracy": np.linspace(0, 1, 50)})
    drivers = pa.table({"unit": [0, 0, 1], "sample": [f"{text}0", f"{text}1", "z"], "value": [3.0, 2.0, 1.0]})
    classes = pa.table({"unit": [0, 1], "class": [text, "b"], "auc": [0.9, 0.7], "serves": [True, False]})
    pairs = ranked(text).append_column("other", pa.array([text] * 3))
    tile = Tile(png(), text, (text, "no better than random"), "wrong")
    return {
        "map": map_figure(positions(), samples, hover=["metadata.age"], previews=previews, title=text),
        "amounts": map_figure(positions(), samples, color="metadata.age", selected=[f"{text}3"], title=text),
        "curve": curve_figure(bins(), x=text, y=text, title=text, words=text),
        "values": curve_figure(bins(text or "a"), x=text, title=text),
        "batches": batches_figure(steps, title=text, words=text),
        "confusion": confusion_figure(np.array([[5, 1], [0, 4]]), [text, "b"], title=text, words=text),
        "distances": distances_figure(
            np.array([1.0, 2.0]), [text, "b"], sample=text, label=text, prediction="b", preview=png(), title=text
        ),
        "ranked": ranked_figure(ranked(text), previews, title=text, words=text),
        "pairs": ranked_figure(pairs, previews, title=text, words=text),
        "similar": similar_figure(samples.slice(0, 1), samples.slice(1, 9), previews, title=text, words=text),
        "units": units_figure(drivers, previews, classes=classes, title=text),
        "heat maps": heat_map_figure(Tile(None, text), [tile, Tile(np.ones((4, 4, 3)), text)], title=text),
    }


KINDS = list(every_figure())
