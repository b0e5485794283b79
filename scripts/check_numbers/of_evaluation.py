"""The numbers of an evaluation: accuracy and loss by subset, confusions, what is counted on its page."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from scripts.check_numbers.ledger import Decimals, Figures, number_of, numbers_in
from scripts.check_numbers.look import Look
from scripts.check_numbers.of_sample import check_sample
from scripts.check_numbers.places import Table
from scripts.check_numbers.reckoning import Answers, Bools, mean_interval, wilson

__all__ = ["check_evaluation"]

SUBSETS = ("training", "validation")
# What a model is judged by where nobody chose: never mixed with what it was trained on.
HELD_OUT = "validation"
# Single precision: what a loss of scores of some ten may be off by.
LOSS = 1e-5
CONFUSION = "table[aria-label='Label by row, prediction by column']"
SAMPLES = 3
# The level of an interval is no figure of it.
_LEVEL = re.compile(r"95 % (?:interval|certainty)")


def check_evaluation(look: Look) -> None:
    """Compare what is shown of an evaluation."""
    true = look.session.answers(look.run)
    for subset in SUBSETS:
        _outputs(look, true, subset)
        _confusion_command(look, true, subset)
    _shown_by_commands(look, true)
    _told_by_api(look, true)
    _above_the_map(look, true)
    for chosen in ((), *((one,) for one in SUBSETS), SUBSETS):
        _confusion_page(look, true, chosen)
    _samples_table(look, true)
    for name in ("label", "metadata.scanner"):
        _loss_by_column(look, true, name)
    _clusters(look, true)
    for line, where in _TESTS.items():
        _test(look, true, line, where)
    for sample in _looked_into(true):
        check_sample(look, true, sample)


_TESTS = {
    "accuracy where label = 4 at least 90 %": "label = 4",
    "accuracy where metadata.scanner = old at least 90 %": "metadata.scanner = old",
}


def _looked_into(true: Answers) -> list[str]:
    """Return some samples: the largest loss of each subset, and some others."""
    rng = np.random.default_rng(5)
    worst = [str(true.ids[np.flatnonzero(true.of(one))[true.losses[true.of(one)].argmax()]]) for one in SUBSETS]
    return [*worst, *map(str, rng.choice(true.ids, SAMPLES, replace=False))]


def _outputs(look: Look, true: Answers, subset: str) -> None:
    """Compare every loss, prediction and latent vector that the run keeps, through Python."""
    from cutaway.run import Run
    from cutaway.run.evaluations import evaluations

    [kept] = evaluations(Run.open(look.session.runs / look.run))
    where, rows, table = f"evaluation.table({subset!r})", true.of(subset), kept.table(subset)
    look.number(f"samples of {subset}", where, table.num_rows, int(rows.sum()))
    in_order = table["id"].to_pylist() == true.ids[rows].tolist()
    look.number(f"ids of {subset} in their order", where, int(in_order), 1)
    loss = np.asarray(table["loss"].to_numpy(), np.float64)
    off = np.abs(loss - true.losses[rows]) / (1 + true.losses[rows])
    look.number(f"largest error of a loss of {subset}", where, float(off.max()), 0.0, Decimals(9, LOSS))
    said = next(name for name in table.column_names if name.startswith("prediction.") and name.endswith(".label"))
    own = np.array(table[said].to_pylist()).astype(np.int64)
    look.number(f"other predictions of {subset}", where, int((own != true.predictions[rows]).sum()), 0)
    far = float(np.abs(kept.latents(subset) - true.latents[rows]).max())
    where = f"evaluation.latents({subset!r})"
    look.number(f"largest error of a latent value of {subset}", where, far, 0.0, Decimals(9, 1e-4))


def _shown_by_commands(look: Look, true: Answers) -> None:
    where, shown = "cutaway runs show --json", look.json("runs", "show", look.run)["evaluations"]
    for subset in SUBSETS:
        rows, held = true.of(subset), (shown[0]["subsets"] if shown else {}).get(subset, {})
        means = held.get("means", {})
        look.number(f"samples of {subset}", where, held.get("samples"), int(rows.sum()))
        look.number(f"mean loss of {subset}", where, means.get("loss"), float(true.losses[rows].mean()), Figures(5))
        accuracy = next((value for name, value in means.items() if "ccuracy" in name), None)
        look.number(f"accuracy of {subset}", where, accuracy, float(true.right[rows].mean()), Figures(6))


def _confusion_command(look: Look, true: Answers, subset: str) -> None:
    """Compare what `cutaway analyze confusion` says: a line, every cell, and the table of the classes."""
    rows, where, words = true.of(subset), "cutaway analyze confusion", ("analyze", look.run, "confusion")
    count, right = int(rows.sum()), int(true.right[rows].sum())
    low, high = wilson(right, count)
    line = next((one for one in look.lines(*words, "--subset", subset) if "accuracy" in one), None)
    interval = f"{right / count:.4f} [{low:.4f}, {high:.4f}]"
    look.says(f"accuracy of {subset} with its interval", where, line, interval, f"{count:,} samples")
    tables = look.json(*words, "--subset", subset)["analyses"][0]["tables"]
    counts, where, shown = true.confusion(rows), f"{where} --json", np.zeros((10, 10), np.int64)
    for one in tables["confusion"]["first"]:
        shown[int(one["label"]), int(one["prediction"])] = one["count"]
    look.series(f"confusions of {subset}", where, shown.ravel().tolist(), counts.ravel().tolist())
    by_class = {one["class"]: one for one in tables["classes"]["first"]}
    for digit in range(10):
        support, predicted, correct = (int(one) for one in (counts[digit].sum(), counts[:, digit].sum(),
                                                            counts[digit, digit]))  # fmt: skip
        wanted: dict[str, float] = {"support": support, "predicted": predicted, "correct": correct}
        for name, total in (("precision", predicted), ("recall", support)):
            ends = wilson(correct, total)
            wanted |= {name: correct / total, f"{name}_low": ends[0], f"{name}_high": ends[1]}
        wanted["f1"] = 2 * correct / (support + predicted)
        for name, value in wanted.items():
            look.number(
                f"{name} of {digit} in {subset}", where, by_class.get(str(digit), {}).get(name), value, Figures(9)
            )


def _told_by_api(look: Look, true: Answers) -> None:
    where, detail = "GET runs/{run}/population", look.ask("population")
    look.number("samples", where, detail["samples"], len(true.ids))
    for subset in SUBSETS:
        look.number(f"samples of {subset}", where, detail["subsets"].get(subset), int(true.of(subset).sum()))
    columns = {one["name"]: one for one in detail["columns"]}
    own = {"loss": true.losses, **{f"metadata.{name}": true.numbers(name) for name in ("ink", "rows_inked")}}
    for name, values in own.items():
        for end, value in (("min", values.min()), ("max", values.max())):
            look.number(f"{end} of {name}", where, columns.get(name, {}).get(end), float(value), Figures(6, LOSS))
    rows, one = true.of(HELD_OUT), detail["evaluations"][0]
    look.number("accuracy of the evaluation", where, one["accuracy"], float(true.right[rows].mean()), Figures(6))
    look.number("mean loss of the evaluation", where, one["loss"], float(true.losses[rows].mean()), Figures(5))


def _above_the_map(look: Look, true: Answers) -> None:
    """Compare how many samples there are, in all, of each subset and of each label."""
    where, legend = "page population", "section[aria-label='Legend: label'] li"
    page = look.show("population", f"{CONFUSION} button")
    page.wait_for_selector(f"{legend} .count")
    look.number("samples", where, look.studio.text("p.said[role=status]"), len(true.ids))
    said = {one.split()[0]: one.split(maxsplit=1)[1] for one in look.studio.texts("[aria-label='Subsets'] button")}
    for subset in SUBSETS:
        look.number(f"samples of {subset}", where, said.get(subset), int(true.of(subset).sum()))
    counts = dict(zip(look.studio.texts(f"{legend} .name"), look.studio.texts(f"{legend} .count"), strict=True))
    for digit in range(10):
        look.number(
            f"labels {digit}", "page population, legend", counts.get(str(digit)), int((true.labels == digit).sum())
        )


def _confusion_page(look: Look, true: Answers, subsets: Sequence[str]) -> None:
    """Compare every cell of the matrix on the page, of the subsets that are chosen; of held-out ones where none are."""
    name, where = " and ".join(subsets) or "no chosen subset", "page population, confusion"
    rows = np.logical_or.reduce([true.of(one) for one in subsets or (HELD_OUT,)])
    chosen = {"where": f"subset in {','.join(subsets)}"} if subsets else {}
    page = look.show("population", f"{CONFUSION} button", **chosen)
    said = page.locator(f"{CONFUSION} button[data-cell]").evaluate_all(
        "cells => cells.map(cell => [cell.dataset.cell, cell.getAttribute('aria-label')])"
    )
    shown, counts = {cell: numbers_in(words)[-1] for cell, words in said}, true.confusion(rows)
    for label in range(10):
        for prediction in range(10):
            told = shown.get(f"{label} {prediction}")
            look.number(f"{label} as {prediction} in {name}", where, told, int(counts[label, prediction]))
    right, count = int(true.right[rows].sum()), int(rows.sum())
    figures = numbers_in(look.studio.text(f"section:has({CONFUSION}) header span.faint") or "")
    look.number(f"accuracy in {name}", where, _at(figures, 0), 100 * right / count, Figures(3))
    look.number(f"errors in {name}", where, _at(figures, 1), count - right)
    status = look.studio.text("p.said[role=status]")
    look.number(f"samples in {name}", "page population", status, count if subsets else len(true.ids))


def _at(figures: list[float], place: int) -> float | None:
    return figures[place] if place < len(figures) else None


def _samples_table(look: Look, true: Answers) -> None:
    """Compare the table of the samples with the largest losses."""
    columns = ["label", "prediction", "loss", "metadata.ink", "metadata.rows_inked", "probability"]
    where, selector = "page population, table", "table[aria-label='Samples of the selection']"
    look.show("population", f"{selector} tbody a", columns=columns)
    table = look.studio.table(selector)
    look.number("the table has rows", where, int(bool(table.rows)), 1)
    worst = str(true.ids[int(np.argmax(true.losses))])
    look.text("the sample with the largest loss", where, next(iter(table.rows), None), worst)
    wanted = {"loss": (true.losses, LOSS), "probability": (true.probabilities.max(axis=1), LOSS),
              "ink": (true.numbers("ink"), 0.0), "rows_inked": (true.numbers("rows_inked"), 0.0)}  # fmt: skip
    for sample in table.rows:
        row = true.row(sample)
        look.text(f"label of {sample}", where, table.cell(sample, "label"), str(true.labels[row]))
        said = number_of(table.cell(sample, "prediction") or "")
        look.number(f"prediction of {sample}", where, said, int(true.predictions[row]))
        for name, (values, slack) in wanted.items():
            shown = table.cell(sample, _title(table, name))
            look.number(f"{name} of {sample}", where, shown, float(values[row]), Figures(4, slack))


def _title(table: Table, name: str) -> str:
    """Return the title of a column; an arrow behind it says that rows are sorted by it."""
    return next((title for title in table.titles if re.match(rf"{name}\W*$", title)), name)


def _loss_by_column(look: Look, true: Answers, name: str) -> None:
    """Compare the mean loss by the values of a column, with its interval: nothing selected, and the held-out subset."""
    for selection in ({}, {"where": f"subset = {HELD_OUT}"}):
        _shown_loss_by_column(look, true, name, selection)


def _shown_loss_by_column(look: Look, true: Answers, name: str, selection: dict[str, str]) -> None:
    where, short = "page population, loss by column", name.removeprefix("metadata.")
    page = look.show("population", f"{CONFUSION} button", against=name, **selection)
    page.locator(".panels").get_by_role("button", name="Table", exact=True).first.click()
    table = look.studio.table(f"[aria-label='{short} as a table'] table:has(th:nth-child(4))")
    values = true.column(name)
    for value in np.unique(values):
        inside: Bools = true.of(HELD_OUT) & np.asarray(values == value)
        losses, row, what = true.losses[inside], str(value), f"{short} {value}"
        look.number(f"{what}, selected", where, table.cell(row, "Selected"), len(losses))
        # Of all samples only where a subset was asked for; otherwise training samples do not count.
        every = values == value if selection else inside
        look.number(f"{what}, all", where, table.cell(row, "All"), int(every.sum()))
        mean, _, half = (table.cell(row, "Mean loss") or "").partition("±")
        look.number(f"mean loss, {what}", where, mean or None, float(losses.mean()), Figures(3, LOSS))
        low, high = mean_interval(losses)
        look.number(f"± of the mean loss, {what}", where, half or None, (high - low) / 2, Figures(2, LOSS))


def _clusters(look: Look, true: Answers) -> None:
    """Compare what is counted of each cluster; which samples are in one is the run's own finding."""
    where, found = "GET runs/{run}/population/clusters", look.ask("population/clusters")
    members = clusters_of(look, true)
    for one in found:
        own, what = members == one["cluster"], f"cluster {one['cluster']}"
        look.number(f"{what}, samples", where, one["count"], int(own.sum()))
        judged = own & true.of(HELD_OUT)
        accuracy, loss = (
            float(values[judged].mean()) if judged.any() else None for values in (true.right, true.losses)
        )
        look.number(f"{what}, accuracy", where, _or_nan(one["accuracy"]), accuracy, Figures(6))
        look.number(f"{what}, mean loss", where, _or_nan(one["loss"]), loss, Figures(5, LOSS))
    shown = look.studio.page.locator("h3", has_text="Clusters").count()
    look.number("clusters are shown", "page population", int(bool(shown)), int(bool(found)))


def clusters_of(look: Look, true: Answers) -> np.ndarray:
    """Return the cluster of each sample as the run has it, -1 for none."""
    points = look.columns("population/points.arrow")["row"].to_numpy()
    told = look.columns("population/columns.arrow", column="cluster")["cluster"].to_pylist()
    members = np.full(len(true.ids), -1)
    members[np.asarray(points)] = [int(one) if one is not None and one.lstrip("-").isdigit() else -1 for one in told]
    return members


def _test(look: Look, true: Answers, line: str, condition: str) -> None:
    """Compare what becomes of a test, with its interval."""
    line = look.studio.tell(look.run, "tests", {"line": line})["line"]
    rows = true.where([condition]) & true.of(HELD_OUT)
    right, count = int(true.right[rows].sum()), int(rows.sum())
    wanted = dict(zip(("value", "low", "high"), (right / count, *wilson(right, count)), strict=True))
    where, told = "GET runs/{run}/tests", next(one for one in look.ask("tests")["tests"] if one["line"] == line)
    look.number(f"{line}: samples", where, told["samples"], count)
    look.text(f"{line}: verdict", where, told["verdict"], "passed" if right >= 0.9 * count else "failed")
    page = look.show("insights", f"tr:has(code[title='{line}'])", tab="tests")
    said = page.locator(f"tr:has(code[title='{line}']) [role=img]").first.get_attribute("aria-label")
    figures = numbers_in(_LEVEL.sub("", said or ""))
    for place, (name, value) in enumerate(wanted.items()):
        look.number(f"{line}: {name}", where, told[name], value, Figures(9))
        look.number(f"{line}: {name}", "page tests", _at(figures, place), 100 * value, Figures(3))


def _or_nan(value: float | None) -> float:
    """A cluster of training samples alone has no figure of held-out ones: the answer says so by null."""
    return math.nan if value is None else value
