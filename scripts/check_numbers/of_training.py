"""The numbers of a training: steps, losses, curves, statistics of tensors, and what it saw of each sample."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scripts.check_numbers.ledger import NOTHING, Figures, number_of, numbers_in
from scripts.check_numbers.look import Look
from scripts.check_numbers.session import MEAN

__all__ = ["TENSOR", "check_training", "series_of"]

TENSOR = "CrossEntropyLoss_output_0"
"""What a loss of several numbers is called: by the tensor that it returns."""
MODES = (("TRAIN", "train"), ("EVAL", "eval"))
STATISTICS = ("min", "max", "mean", "std", "l1", "l2")
# So many steps are looked into.
STEPS = 2
# Of numbers in double precision all digits count that single precision has.
ALL = Figures(6)


def check_training(look: Look) -> None:
    """Compare what is shown of a training."""
    _beside_its_name(look)
    _in_the_table_of_runs(look)
    _in_its_head(look)
    for (name, mode), values in series_of(look).items():
        _series(look, name, mode, values)
    for name in dict.fromkeys(name for name, _ in series_of(look)):
        _chart(look, name)
    _listed(look)
    _commands(look)
    if look.run != MEAN:
        _tensors(look)
        for step in _some_steps(look):
            _samples_of(look, step)


def series_of(look: Look) -> dict[tuple[str, str], npt.NDArray[np.float64]]:
    """Return every series that the loop knows, by name and mode. A loss that is one number is a scalar, called loss."""
    own, loss = look.trained.own, "loss" if look.run == MEAN else TENSOR
    return {
        (loss, "TRAIN"): own["train_loss"],
        (loss, "EVAL"): own["eval_loss"],
        ("accuracy", "TRAIN"): own["train_accuracy"],
        ("accuracy", "EVAL"): own["eval_accuracy"],
    }


def _loss(look: Look) -> tuple[float, float]:
    """Return the loss of a run: that of its training, the last one and the least."""
    values = look.trained.own["train_loss"]
    return float(values[-1]), float(values.min())


def _beside_its_name(look: Look) -> None:
    (last, best), detail = _loss(look), look.ask()
    rows = {"GET runs/{run}": detail["row"],
            "GET runs": next(one for one in look.studio.ask("runs") if one["name"] == look.run)}  # fmt: skip
    for where, row in rows.items():
        look.number("last loss", where, row["loss"]["last"], last, ALL)
        look.number("best loss", where, row["loss"]["best"], best, ALL)
        look.number("steps", where, row["steps"], look.trained.steps)
        look.number("epochs", where, row["epochs"], look.session.epochs)
    for mode, short in MODES:
        told = detail["steps"]["by_mode"].get(mode)
        look.number(f"{mode} steps", "GET runs/{run}", told, len(look.trained.own[f"{short}_step"]))


def _in_the_table_of_runs(look: Look) -> None:
    (last, best), run, where = _loss(look), look.run, "page runs"
    columns = ["loss", "best_loss", "steps", "epochs", "evaluations"]
    page = look.studio.show("runs", f"a[title='{run}']", columns=columns)
    table = look.studio.table("table:has(tbody a)")
    look.number("last loss", where, table.cell(run, "Last loss"), last, Figures(4))
    look.number("best loss", where, table.cell(run, "Best loss"), best, Figures(4))
    look.number("steps", where, table.cell(run, "Steps"), look.trained.steps)
    look.number("epochs", where, table.cell(run, "Epochs"), look.session.epochs)
    look.number("evaluations", where, table.cell(run, "Evaluations"), 0 if run == MEAN else 1)
    full = page.locator(f"tr:has(a[title='{run}']) span.value").first.get_attribute("title")
    look.number("last loss, under the pointer", where, full, last, ALL)


def _in_its_head(look: Look) -> None:
    (last, best), where = _loss(look), "page run"
    look.show("", "dl.panel dt")
    shown = look.studio.facts("dl.panel")
    steps, epochs = shown.get("Steps", []), shown.get("Epochs", [])
    look.number("steps", where, _at(steps, 0), look.trained.steps)
    by_mode = [len(look.trained.own[f"{short}_step"]) for _, short in MODES]
    look.series("steps by mode", where, sorted(numbers_in(_at(steps, 1) or "")), sorted(by_mode))
    look.number("epochs", where, _at(epochs, 0), look.session.epochs)
    loss = next((said for term, said in shown.items() if "loss" in term.lower()), [])
    look.number("last loss", where, _at(loss, 0), last, Figures(4))
    look.number("best loss", where, _at(loss, 1), best, Figures(4))


def _at(said: list[str], place: int) -> str | None:
    return said[place] if place < len(said) else None


def _series(look: Look, name: str, mode: str, values: npt.NDArray[np.float64]) -> None:
    """Compare a curve as the API has it: what it comes to, and every point."""
    rows = {(row["name"], row["mode"]): row for row in look.ask("scalars")}
    row, where, key = rows.get((name, mode), {}), "GET runs/{run}/scalars", f"{name}@{mode}"
    wanted = {"first": values[0], "last": values[-1], "min": values.min(), "max": values.max()}
    for what, true in wanted.items():
        look.number(f"{key} {what}", where, row.get(what), float(true), ALL)
    look.number(f"{key} count", where, row.get("count"), len(values))
    look.number(f"{key} nonfinite", where, row.get("nonfinite"), 0)
    steps = look.trained.own[f"{mode.lower()}_step"].tolist()
    look.number(f"{key} last step", where, row.get("last_step"), steps[-1])
    drawn = look.columns("curves.arrow", series=key, points=20_000).to_pydict()
    where = "GET runs/{run}/curves.arrow"
    look.series(f"{key} step", where, drawn["step"], steps)
    look.series(key, where, drawn["value"], values.tolist(), Figures(6, 1e-7))


def _chart(look: Look, name: str) -> None:
    """Compare a chart: its legend, its words for those who do not see it, and itself as a table."""
    values = f"ul[aria-label='Values of {name}']"
    page = look.show("", f"{values} .value", series=f"{name}@TRAIN")
    legend = dict(zip(look.studio.texts(f"{values} .label"), look.studio.texts(f"{values} .value"), strict=True))
    drawn = page.locator(f"div[role=img][aria-label^='Chart of {name}']").first
    words = str(drawn.get_attribute("aria-label")) if drawn.count() else ""
    page.get_by_role("button", name=f"Show {name} as table").click()
    table = look.studio.table("[aria-label='Values as a table'] table")
    for mode, short in MODES:
        own = series_of(look)[name, mode]
        look.number(f"{name}@{mode} last", "page run, legend", legend.get(short), float(own[-1]), Figures(4))
        ends = words.partition(f"{short} ends at ")[2] or None
        look.number(f"{name}@{mode} last", "page run, chart in words", ends, float(own[-1]), Figures(4))
        by_step = dict(zip(look.trained.own[f"{short}_step"].tolist(), own.tolist(), strict=True))
        shown = {number_of(step): cells.get(short, NOTHING) for step, cells in table.rows.items()}
        known = {int(step): text for step, text in shown.items() if step is not None and text != NOTHING}
        look.number(f"{name}@{mode} has rows", "page run, table", int(bool(known)), 1)
        for step, text in known.items():
            look.number(f"{name}@{mode} at step {step}", "page run, table", text, by_step.get(step), Figures(4, 1e-7))


def _listed(look: Look) -> None:
    """Compare what `cutaway runs list` says."""
    last, _ = _loss(look)
    row = next(one for one in look.json("runs", "list", "runs")["runs"] if one["name"] == look.run)
    look.number("last loss", "cutaway runs list --json", row["loss"]["last"], last, ALL)
    look.number("steps", "cutaway runs list --json", row["steps"], look.trained.steps)
    line = next((one for one in look.lines("runs", "list", "runs") if one.startswith(look.run)), None)
    look.says("steps and last loss", "cutaway runs list", line, f"{look.trained.steps:,}", _four(last))


def _commands(look: Look) -> None:
    """Compare what `cutaway runs show` says."""
    where, shown = "cutaway runs show --json", look.json("runs", "show", look.run)
    look.number("steps", where, shown["steps"]["recorded"], look.trained.steps)
    look.number("epochs", where, shown["steps"]["epochs"], look.session.epochs)
    scalars = {(one["name"], one["mode"]): one for one in shown["scalars"]}
    lines = look.lines("runs", "show", look.run)
    for (name, mode), values in series_of(look).items():
        one = scalars.get((name, mode), {})
        for what, true in (("first", values[0]), ("last", values[-1])):
            look.number(f"{name}@{mode} {what}", where, one.get(what), float(true), ALL)
        said = next((line for line in lines if line.split()[:2] == [name, mode]), None)
        ends = (_four(float(values[0])), _four(float(values[-1])))
        look.says(f"{name}@{mode} first and last", "cutaway runs show", said, *ends)


def _four(value: float) -> str:
    """Return a number as commands print it: four digits."""
    if value == int(value):
        return str(int(value))
    return f"{value:.4g}" if abs(value) >= 1e-3 else f"{value:.3e}".split("e", maxsplit=1)[0].rstrip("0").rstrip(".")


def _tensors(look: Look) -> None:
    """Compare statistics of weights and gradients at some steps: as the command and the API have them."""
    own = look.trained.own
    places = list(zip(own["statistics_step"].tolist(), own["statistics_tensor"].tolist(), strict=True))
    shown = {}
    for step in dict.fromkeys(step for step, _ in places):
        for one in look.json("tensors", look.run, "--step", str(step))["tensors"]:
            shown[step, one["name"]] = one["statistics"]
    drawn = {}
    for tensor in dict.fromkeys(tensor for _, tensor in places):
        for row in look.columns("tensor/series.arrow", name=tensor, points=20_000).to_pylist():
            drawn[row["step"], tensor] = row
    for place, values in zip(places, own["statistics_values"].tolist(), strict=True):
        true = dict(zip(STATISTICS, values, strict=True))
        for name, slack in _promised(true).items():
            what, rounding = f"{name} of {place[1]} at step {place[0]}", Figures(9, slack)
            told = shown.get(place, {}).get(name), drawn.get(place, {}).get(name)
            look.number(what, "cutaway tensors --step --json", told[0], true[name], rounding)
            look.number(what, "GET runs/{run}/tensor/series.arrow", told[1], true[name], rounding)


def _promised(true: dict[str, float]) -> dict[str, float]:
    """Return how far each statistic may be off, as docs/explanation/capture.md promises."""
    std = 1e-5 * max(true["std"], 1e-3 * abs(true["mean"]))
    return {"min": 0.0, "max": 0.0, "mean": 1e-6 * true["l1"], "std": std, "l1": 1e-5 * true["l1"],
            "l2": 1e-5 * true["l2"]}  # fmt: skip


def _some_steps(look: Look) -> list[int]:
    steps = look.trained.own["train_step"]
    return [int(one) for one in steps[np.linspace(0, len(steps) - 1, STEPS).astype(int)]]


def _samples_of(look: Look, step: int) -> None:
    """Compare what a step was fed, with the loss that each sample had there."""
    true = {f"training/{row}": loss for row, loss in look.trained.samples_of(step).items()}
    where = "GET runs/{run}/samples"
    answer = look.ask_page("samples", **{"from": step, "to": step, "limit": 1000})
    look.number(f"samples of step {step}", where, answer["total"], len(true))
    for one in answer["data"]:
        what, loss = f"loss of {one['sample']} at step {step}", one["values"].get("loss")
        look.number(what, where, loss, true.get(one["sample"]), Figures(6, 5e-6))
    worst = max(true, key=lambda sample: true[sample])
    look.text(f"the worst of step {step}", where, next((one["sample"] for one in answer["data"]), None), worst)

    where = "page samples of a step"
    look.show("samples", "[aria-label='Samples'] tbody a", **{"from": step, "to": step, "view": "table"})
    said = numbers_in(look.studio.text("p.said[role=status]") or "")
    look.number(f"samples of step {step}", where, next(iter(said), None), len(true))
    table = look.studio.table("[aria-label='Samples'] table")
    look.number(f"step {step} has rows", where, int(bool(table.rows)), 1)
    column = next((title for title in table.titles if title.lower().startswith("loss")), "loss")
    for sample, cells in table.rows.items():
        what = f"loss of {sample} at step {step}"
        look.number(what, where, cells.get(column), true.get(sample), Figures(4, 5e-6))
