"""The numbers of a comparison: two trainings, and two networks on the same samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from scripts.check_numbers.ledger import Figures, numbers_in
from scripts.check_numbers.look import Look
from scripts.check_numbers.of_training import series_of
from scripts.check_numbers.reckoning import Bools, mcnemar, mean_interval, newcombe_paired
from scripts.check_numbers.session import Session

__all__ = ["check_comparison", "check_overlay"]

# What both the command and the API tell of a slice.
OF_SLICE = ("count", "worse", "better", "before", "after", "change", "p")
SLICES = "[aria-labelledby=slices-title] table"


def check_overlay(first: Look, second: Look) -> None:
    """Compare what the second run says of the overlay that it was trained with, and the labels that it was given."""
    before, after = first.trained.own["labels"], second.trained.own["labels"]
    data, corrected = first.session.data, first.session.kept["corrected"]
    changed = {str(data.ids[row]): str(after[row]) for row in np.flatnonzero(before != after)}
    where = "the loop's own labels"
    second.number("labels that differ from the first training's", where, len(changed), len(corrected))
    for sample, label in corrected.items():
        second.text(f"label of {sample}", where, changed.get(sample), label)
    second.says("overlay", "GET runs/{run}", second.ask()["overlay"], "studio")
    second.show("", "dl.panel dt")
    second.says("overlay", "page run", " ".join(second.studio.facts("dl.panel").get("Overlay", [])), "studio")


def check_comparison(first: Look, second: Look) -> None:
    """Compare what is said of both runs side by side."""
    _side_by_side(first, second)
    held_out = first.session.answers(first.run).of("validation")
    words = ("analyze", first.run, "compare", "--with", second.run, "--subset", "validation")
    told, where = first.json(*words)["analyses"][0], "cutaway analyze compare"
    _words(first, told["words"], _Flips(first.session, first.run, second.run, held_out), where)
    _slices((first, second), told["tables"]["slices"]["first"], held_out, f"{where} --json", "low", "high")
    ids = {"before": first.studio.id_of(first.run), "after": second.studio.id_of(second.run)}
    first.studio.start({"kind": "compare", "run": ids["before"], "other": ids["after"]})
    answer = first.studio.ask("compare/samples", **ids)
    _told_by_api(first, second, answer, held_out)
    _on_one_map(first, second, answer, held_out, ids)


class _Flips:
    """What became of samples from the first network to the second: both are judged by the labels of the second."""

    def __init__(self, session: Session, before: str, after: str, rows: Bools) -> None:
        first, second = session.answers(before), session.answers(after)
        was, now = (one.predictions[rows] == second.labels[rows] for one in (first, second))
        self.both, self.neither = int((was & now).sum()), int((~was & ~now).sum())
        self.worse, self.better = int((was & ~now).sum()), int((~was & now).sum())
        self.count = int(rows.sum())
        right = (self.both + self.worse) / self.count, (self.both + self.better) / self.count
        interval = newcombe_paired(self.both, self.worse, self.better, self.neither)
        self.accuracy = {"before": right[0], "after": right[1], "change": right[1] - right[0], "low": interval[0],
                         "high": interval[1], "p": mcnemar(self.worse, self.better)}  # fmt: skip
        # A loss is that of the label that it was computed with: where labels differ, losses cannot be compared.
        kept = rows & (first.labels == second.labels)
        changes = second.losses[kept] - first.losses[kept]
        low, high = mean_interval(changes)
        self.loss = {"before": float(first.losses[kept].mean()), "after": float(second.losses[kept].mean()),
                     "change": float(changes.mean()), "low": low, "high": high}  # fmt: skip


def _words(look: Look, words: list[str], true: _Flips, where: str) -> None:
    """Compare the sentences that a comparison begins with."""
    accuracy, loss = (next((one for one in words if one.startswith(name)), None) for name in ("accuracy", "mean loss"))
    look.says("difference of the accuracy", where, accuracy, *_difference(true.accuracy))
    look.says("difference of the mean loss", where, loss, *_difference(true.loss))
    flips = next((one for one in words if "got worse" in one), "")
    look.series("samples that got worse, and better", where, numbers_in(flips), [true.worse, true.better])


def _difference(true: dict[str, float]) -> list[str]:
    interval = f"[{true['low']:+.4f}, {true['high']:+.4f}]"
    return [f"{true['before']:.4f}", f"{true['after']:.4f}", f"{true['change']:+.4f}", interval]


def _not_ours(condition: str) -> bool:
    """Whether a slice is of clusters: which samples are in one is the run's own finding."""
    return "cluster" in condition


def _slices(looks: tuple[Look, Look], slices: list[dict[str, Any]], rows: Bools, where: str, *more: str) -> None:
    """Compare the figures of each slice; `more` are those that not every place tells."""
    first, second = looks
    for one in slices:
        if _not_ours(one["slice"]):
            continue
        inside = rows & first.session.answers(second.run).where([one["slice"]])
        if not inside.any():
            first.number(f"{one['slice']}: count", where, one["count"], 0)
            continue
        true = _Flips(first.session, first.run, second.run, inside)
        wanted = {"count": true.count, "worse": true.worse, "better": true.better, **true.accuracy}
        for name in (*OF_SLICE, *more):
            first.number(f"{one['slice']}: {name}", where, one[name], wanted[name], Figures(6))


def _told_by_api(first: Look, second: Look, answer: dict[str, Any], rows: Bools) -> None:
    true, where = _Flips(first.session, first.run, second.run, rows), "GET compare/samples"
    counts = {"both right": true.both, "worse": true.worse, "better": true.better, "both wrong": true.neither}
    for name, count in counts.items():
        first.number(f"samples {name}", where, answer["counts"][name], count)
    for name, value in true.accuracy.items():
        first.number(f"accuracy, {name}", where, answer["accuracy"][name], value, Figures(9))
    for name, value in true.loss.items():
        first.number(f"mean loss, {name}", where, answer["loss"][name], value, Figures(5, 1e-6))
    _words(first, answer["words"], true, where)
    _slices((first, second), answer["slices"], rows, where)


def _on_one_map(first: Look, second: Look, answer: dict[str, Any], rows: Bools, ids: dict[str, str]) -> None:
    """Compare the page that shows both networks on the same samples."""
    true, where, studio = _Flips(first.session, first.run, second.run, rows), "page compare, samples", first.studio
    page = studio.show("compare", ".words dl", run=list(ids.values()), view="samples", **ids)
    shown = studio.texts(".words dl dd")
    first.series("samples right and wrong with both", where, shown, [true.both, true.worse, true.better, true.neither])
    _words(first, studio.texts(".words .said > p"), true, where)
    if answer["slices"] and page.get_by_role("button", name="Show all slices").count():
        page.get_by_role("button", name="Show all slices").click()
    table = studio.table(SLICES)
    for one in answer["slices"]:
        if _not_ours(one["slice"]):
            continue
        inside = rows & first.session.answers(second.run).where([one["slice"]])
        cells = table.rows.get(one["slice"], {})
        if not inside.any():
            first.number(f"{one['slice']}: Samples", where, cells.get("Samples"), 0)
            continue
        of = _Flips(first.session, first.run, second.run, inside)
        wanted = {"Samples": of.count, "Worse": of.worse, "Better": of.better}
        for name, count in wanted.items():
            first.number(f"{one['slice']}: {name}", where, cells.get(name), count)
        for name in ("Before", "After", "Change"):
            first.number(f"{one['slice']}: {name}", where, cells.get(name), of.accuracy[name.lower()], Figures(4))


def _side_by_side(first: Look, second: Look) -> None:
    """Compare last and best of each series of both runs."""
    looks, where, studio = (first, second), "page compare", first.studio
    page = studio.show("compare", "#metrics-title", run=[studio.id_of(one.run) for one in looks])
    page.wait_for_selector("[aria-labelledby=metrics-title] tbody td .value")
    page.wait_for_timeout(500)  # the numbers of one run come after those of the other
    table = studio.table("[aria-labelledby=metrics-title] table")
    told = first.json("runs", "compare", *(one.run for one in looks))["scalars"]
    for name, mode in series_of(first):
        titles = [title for title in table.titles if title.startswith(f"{name} {mode}")]
        ended = next((held for key, held in told.items() if key in (name, f"{name} ({mode})")), [None, None])
        for look, value in zip(looks, ended, strict=True):
            values = series_of(look)[name, mode]
            best = values.min() if "loss" in name.lower() else values.max()
            for word, true in (("last", values[-1]), ("best", best)):
                title = next((title for title in titles if word in title), "")
                look.number(f"{name}@{mode} {word}", where, table.cell(look.run, title), float(true), Figures(4))
            look.number(f"{name}@{mode} last", "cutaway runs compare --json", value, float(values[-1]), Figures(6))
    for look in looks:
        look.number("steps", where, table.cell(look.run, "Steps"), look.trained.steps)
