"""The numbers of analyses: labels that are likely wrong, doubles and leaks."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from scripts.check_numbers.ledger import Decimals, Figures, numbers_in
from scripts.check_numbers.look import Look
from scripts.check_numbers.of_insights import check_insights
from scripts.check_numbers.reckoning import Answers, nearest

__all__ = ["TooFewError", "check_analyses", "table_of"]

# From here on a label is in doubt, and likely wrong.
DOUBTFUL, LIKELY = 0.15, 0.5
VOTERS = 10
# So many labels the keyboard decides about at most.
FEWEST = 16
# Of so many ranked labels the evidence is computed anew.
CANDIDATES = 40
_ROWS = """rows => rows.map(row => [row.dataset.sample, row.querySelector(".score .number").innerText,
  row.querySelector(".old").title, row.querySelector(".labels strong").title])"""


class TooFewError(Exception):
    """There are not as many labels in doubt as the keyboard is to decide about."""


def check_analyses(look: Look) -> None:
    """Compare what the analyses of a run say."""
    true = look.session.answers(look.run)
    ranked = table_of(look, "mislabeled")
    look.session.kept["ranked"] = ranked
    _ranked(look, true, ranked)
    for one in ranked[:CANDIDATES]:
        _evidence(look, true, one)
    _suggestions(look, true, ranked)
    _doubles(look, true)
    check_insights(look, true)


def table_of(look: Look, what: str) -> list[dict[str, Any]]:
    """Return the whole table of an analysis, as `--out` writes it."""
    import pyarrow.parquet as pq

    out = look.session.folder / "out"
    if not (out / f"{what}.parquet").is_file():
        look.session.commands.text("analyze", look.run, what, "--out", str(out))
    return list(pq.read_table(out / f"{what}.parquet").to_pylist())


def _ranked(look: Look, true: Answers, ranked: list[dict[str, Any]]) -> None:
    """Compare what is counted of the ranked labels."""
    if any(one["score"] is None for one in ranked):
        raise TooFewError(
            "No label has a score: it cannot be told from this training how many are wrong. Take more images "
            "(SAMPLES=12000), or other `--epochs`."
        )
    where, scores = "cutaway analyze mislabeled", np.array([one["score"] for one in ranked])
    look.number("labels that are ranked", f"{where} --out", len(ranked), len(true.ids))
    first, second = (
        numbers_in(line) for line in look.json("analyze", look.run, "mislabeled")["analyses"][0]["words"][:2]
    )
    likely = scores >= LIKELY
    look.number("labels that are likely wrong", where, first[0], int(likely.sum()))
    look.number("of these expected to be wrong", where, first[1], float(scores[likely].sum()), Decimals(0))
    look.number("labels", where, second[0], len(true.ids))
    look.number("labels expected to be wrong", where, second[1], float(scores.sum()), Decimals(0))
    planted = look.session.data.planted[[true.row(one["sample"]) for one in ranked]]
    found = int(planted[: int(planted.sum())].sum())
    # No number that is shown, but without it nobody would know that there was something to find.
    look.session.say(f"Of {int(planted.sum()):,} planted wrong labels {found:,} are among as many first candidates.")


def _evidence(look: Look, true: Answers, one: dict[str, Any]) -> None:
    """Compute anew what a candidate is told from: votes of its neighbours, and what its visits said."""
    where, sample, row = "cutaway analyze mislabeled --out", one["sample"], true.row(one["sample"])
    near, _ = nearest(true.latents, row, VOTERS)
    votes = Counter(true.labels[near].tolist())
    own = votes.pop(int(true.labels[row]), 0)
    margin = (own - max(votes.values(), default=0)) / VOTERS
    look.number(f"neighbour margin of {sample}", where, one["neighbour_margin"], margin, Figures(9))
    if sample.startswith("training/"):
        seen = look.trained.visits(row)
        wrong = sum(margin < 0 for _, _, margin in seen)
        look.number(f"visits of {sample}", where, one["visits"], len(seen))
        look.number(f"visits of {sample} that preferred another class", where, one["visits_wrong"], wrong)
        parts = [str(wrong), str(len(seen))] if wrong else [str(len(seen))]
        look.says(f"visits in the reason of {sample}", where, one["reason"], *parts)


def _suggestions(look: Look, true: Answers, ranked: list[dict[str, Any]]) -> None:
    """Compare the list of suggestions with the ranked labels that are in doubt."""
    doubted, where = [one for one in ranked if one["score"] >= DOUBTFUL], "GET runs/{run}/suggestions"
    if len(doubted) < FEWEST:
        raise TooFewError(
            f"Only {len(doubted)} labels are in doubt, and it takes {FEWEST} to correct some: the network has learned "
            "too little to tell. Take more images (SAMPLES=12000) or `--epochs`."
        )
    answer = look.ask_page("suggestions", limit=1000)
    look.number("suggestions", where, answer["total"], len(doubted))
    for one, other in zip(answer["data"], doubted, strict=False):
        look.number(f"score of {one['sample']}", where, one["score"], other["score"], Figures(9))
    where, page = "page labels", look.show("insights", "li[data-sample]", tab="labels")
    page.wait_for_selector(".progress")
    said = numbers_in(look.studio.text(".progress") or "")
    look.series("decided, of suggestions", where, said[:2], [0, len(doubted)])
    shown = page.locator("li[data-sample]").evaluate_all(_ROWS)
    look.number("suggestions are shown", where, int(bool(shown)), 1)
    for (sample, score, label, suggested), other in zip(shown, doubted, strict=False):
        look.text(f"place of {sample}", where, sample, other["sample"])
        look.number(f"score of {sample}", where, score, 100 * other["score"], Decimals(1))
        look.text(f"label of {sample}", where, label, str(true.labels[true.row(sample)]))
        look.text(f"suggested for {sample}", where, suggested, other["suggested"])


def _doubles(look: Look, true: Answers) -> None:
    """Compare exact doubles and leaks with those that equal bytes show."""
    images = look.session.data.images.reshape(len(true.ids), -1)
    _, group = np.unique(images, axis=0, return_inverse=True)
    by_subset = {subset: Counter(group[true.of(subset)].tolist()) for subset in ("training", "validation")}
    again = sum(count - 1 for held in by_subset.values() for count in held.values())
    leaked = sum(count for one, count in by_subset["validation"].items() if one in by_subset["training"])
    for what, count in (("duplicates", again), ("leakage", leaked)):
        rows = [one for one in table_of(look, what) if one["kind"] == "exact"]
        if what == "duplicates":
            rows = [one for one in rows if one["subset"] == one["other_subset"]]
        look.number(f"exact {what}", f"cutaway analyze {what} --out", len({one["sample"] for one in rows}), count)
