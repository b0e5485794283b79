"""The numbers of one sample: what the model made of it, what is like it, and what training saw of it."""

from __future__ import annotations

import numpy as np

from scripts.check_numbers.ledger import Decimals, Figures, numbers_in
from scripts.check_numbers.look import Look
from scripts.check_numbers.reckoning import Answers, Floats, nearest

__all__ = ["check_sample"]

LOSS = 1e-5
LATENT = 1e-4
ANSWER = "section[aria-labelledby=sample-answer]"
VISITS = "section[aria-labelledby=sample-visits]"
SIMILAR = "[aria-label='Similar samples, nearest first'] li a[title]"
_BARS = """tables => tables.map(table => [...table.querySelectorAll("tr")].map(row =>
  [row.querySelector("th span").innerText.trim(), row.querySelector(".number").innerText.trim()]))"""
_NEAR = "links => links.map(link => [link.title, link.querySelector('[title=distance]').innerText])"


def check_sample(look: Look, true: Answers, sample: str) -> None:
    """Compare everything that is said of a sample."""
    far = _distances(true, true.row(sample))
    _told_by_api(look, true, sample, far)
    look.show("sample", SIMILAR, sample=sample)
    _answer(look, true, sample, far)
    _similar(look, true, sample)
    if sample.startswith("training/"):
        _visits(look, sample, look.trained.visits(true.row(sample)))


def _distances(true: Answers, row: int) -> Floats:
    """Return how far a sample is from the centre of each class: the mean latent vector of its training samples."""
    training = true.of("training")
    own = [true.latents[training & (true.labels == digit)].astype(np.float64).mean(axis=0) for digit in range(10)]
    return np.asarray(np.sqrt(((np.array(own) - true.latents[row]) ** 2).sum(axis=1)))


def _told_by_api(look: Look, true: Answers, sample: str, far: Floats) -> None:
    row, where, detail = true.row(sample), "GET runs/{run}/sample", look.ask("sample", sample=sample)
    look.text(f"label of {sample}", where, detail["label"], str(true.labels[row]))
    look.text(f"prediction of {sample}", where, detail["prediction"], str(true.predictions[row]))
    look.number(f"loss of {sample}", where, detail["loss"], float(true.losses[row]), Figures(5, LOSS))
    smaller = float((true.losses < true.losses[row]).mean())
    look.number(f"rank of the loss of {sample}", where, detail["loss_rank"], smaller, Decimals(3))
    for one in detail["classes"]:
        digit, what = int(one["name"]), f"{one['name']} for {sample}"
        chance = float(true.probabilities[row, digit])
        look.number(f"{what}, probability", where, one["probability"], chance, Figures(5, LOSS))
        look.number(f"{what}, distance", where, one["distance"], float(far[digit]), Figures(5, LATENT))
    facts = {one["name"]: one for one in detail["metadata"]}
    for name in ("ink", "rows_inked"):
        values, told = true.numbers(name), facts.get(name, {})
        look.number(f"{name} of {sample}", where, told.get("value"), float(values[row]), Figures(9))
        look.number(
            f"rank of {name} of {sample}", where, told.get("rank"), float((values < values[row]).mean()), Figures(9)
        )


def _answer(look: Look, true: Answers, sample: str, far: Floats) -> None:
    """Compare label, prediction, loss, probabilities and distances on the page."""
    row, where, facts = true.row(sample), "page sample", look.studio.facts(f"{ANSWER} dl")
    look.text(f"label of {sample}", where, "".join(facts.get("Label", [])), str(true.labels[row]))
    look.text(f"prediction of {sample}", where, "".join(facts.get("Prediction", [])), str(true.predictions[row]))
    shown = look.studio.text(f"{ANSWER} .loss strong")
    look.number(f"loss of {sample}", where, shown, float(true.losses[row]), Figures(4, LOSS))
    bars = look.studio.page.locator(f"{ANSWER} table").evaluate_all(_BARS)
    look.number(f"tables of {sample}", where, len(bars), 2)
    for name, shown in bars[0] if bars else []:
        chance = _never_quite(float(true.probabilities[row, int(name)]))
        look.number(f"{name} for {sample}, probability", where, shown, 100 * chance, Decimals(1, 1e-3))
    for name, shown in bars[1] if len(bars) > 1 else []:
        look.number(f"{name} for {sample}, distance", where, shown, float(far[int(name)]), Figures(3, LATENT))


def _never_quite(share: float) -> float:
    """Return a share as it is told: never 0 % of something, nor 100 % of what is not all."""
    if 0 < share < 0.001:
        return 0.001
    return 0.999 if 0.999 < share < 1 - 6e-8 else share


def _similar(look: Look, true: Answers, sample: str) -> None:
    """Compare the nearest samples with those that are nearest when all distances are measured."""
    where, row = "page sample, similar", true.row(sample)
    shown = look.studio.page.locator(SIMILAR).evaluate_all(_NEAR)
    rows, distances = nearest(true.latents, row, len(shown))
    look.number(f"{sample} has similar samples", where, int(bool(shown)), 1)
    for place, (name, said) in enumerate(shown):
        own = float(np.sqrt(((true.latents[true.row(name)].astype(float) - true.latents[row]) ** 2).sum()))
        look.number(f"distance of {name} to {sample}", where, said, own, Figures(2, LATENT))
        look.number(f"nearest [{place}] to {sample}", where, own, float(distances[place]), Figures(4, LATENT))
    counted = numbers_in(look.studio.text("section[aria-labelledby=sample-similar] .sentence") or "")
    most = int(np.bincount(true.labels[rows], minlength=10).max())
    look.number(f"most of one label near {sample}", where, most if most in counted else None, most)
    told = look.ask("sample/similar", sample=sample, count=len(shown))["labels"]
    for digit in range(10):
        count = int((true.labels[rows] == digit).sum())
        look.number(f"{digit} near {sample}", "GET runs/{run}/sample/similar", told.get(str(digit), 0), count)


def _visits(look: Look, sample: str, seen: list[tuple[int, float, float]]) -> None:
    """Compare what training saw of a sample each time; each epoch saw it once."""
    where = "page sample, visits"
    look.studio.page.locator(f"{VISITS} summary").click()
    shown = list(look.studio.table(f"{VISITS} table").rows.values())
    look.number(f"visits of {sample}", where, len(shown), len(seen))
    for place, (step, loss, _) in enumerate(seen):
        cells = shown[place] if place < len(shown) else {}
        look.number(f"step of visit {place} of {sample}", where, cells.get("step"), step)
        look.number(f"loss of visit {place} of {sample}", where, cells.get("loss"), loss, Figures(4, LOSS))
        look.number(f"epoch of visit {place} of {sample}", where, cells.get("epoch"), place)
