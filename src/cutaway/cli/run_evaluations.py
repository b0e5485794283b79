"""What `runs show` tells of the evaluations of a run: how each subset did, and the samples with the largest loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from cutaway.cli.grid import Cell, GridColumn
from cutaway.cli.output import Screen, heading
from cutaway.cli.words import number, printable
from cutaway.errors import EvaluationError
from cutaway.run.evaluations import Evaluation, evaluations

if TYPE_CHECKING:
    from cutaway.run import Run

__all__ = ["evaluation_facts", "print_evaluations"]

HARDEST = 5
LOSS, TRUTH, PREDICTION = "loss", "ground_truth.", "prediction."


def evaluation_facts(run: Run) -> list[dict[str, Any]]:
    """Return each evaluation in a few values; of the newest one also its hardest samples."""
    found = evaluations(run)
    facts = [_facts(one) for one in found]
    newest = next((i for i in reversed(range(len(found))) if found[i].finished), None)
    if newest is not None:
        try:
            facts[newest]["hardest"] = _hardest(found[newest])
        except EvaluationError as error:
            # What is left of the run is told all the same.
            facts[newest]["unreadable"] = str(error)
    return facts


def print_evaluations(screen: Screen, facts: Sequence[dict[str, Any]]) -> None:
    """Print a line for each subset of each evaluation, then the samples to look at first."""
    if not facts:
        return
    screen.line()
    screen.line(heading("Evaluations"))
    names = list(dict.fromkeys(n for one in facts for subset in one["subsets"].values() for n in subset["means"]))
    shown = [name for name in names if name != LOSS]
    titles = [GridColumn(name.partition(".")[2], "right", least=8, drop=2 + i) for i, name in enumerate(shown)]
    columns = [
        GridColumn("", "right"),
        GridColumn("epoch", "right", drop=1),
        GridColumn("subset"),
        GridColumn("samples", "right"),
    ]
    rows: list[list[Cell]] = []
    for one in facts:
        for name, subset in one["subsets"].items():
            epoch = "·" if one["epoch"] is None else str(one["epoch"])
            scores = [number(subset["means"].get(score)) for score in shown]
            rows.append([f"  {one['evaluation']}", epoch, name, f"{subset['samples']:,}", *scores])
    screen.table([*columns, *titles], rows)
    for one in facts:
        if one["state"] != "finished":
            line = (
                f"  evaluation {one['evaluation']} is not finished: the same `cutaway evaluate` again goes on with it"
            )
            screen.line(line, style="yellow")
        if "unreadable" in one:
            screen.line(f"  {one['unreadable']}", style="red")
    _print_hardest(screen, next((one["hardest"] for one in facts if one.get("hardest")), []))


def _print_hardest(screen: Screen, hardest: Sequence[dict[str, Any]]) -> None:
    if not hardest:
        return
    screen.line()
    screen.line(heading("Hardest samples", "by their loss, of the newest evaluation"))
    columns = [
        GridColumn("", least=12),
        GridColumn("loss", "right"),
        GridColumn("is", drop=1),
        GridColumn("taken for", drop=1),
    ]
    rows: list[list[Cell]] = [
        [
            Text(f"  {printable(one['id'] or '·')}", style="bold"),
            number(one["loss"]),
            printable(one["truth"] or "·"),
            printable(one["prediction"] or "·"),
        ]
        for one in hardest
    ]
    screen.table(columns, rows)


def _facts(evaluation: Evaluation) -> dict[str, Any]:
    source = evaluation.source
    return {
        "evaluation": evaluation.number,
        "epoch": source.epoch,
        "state": source.state or "damaged",
        "subsets": {
            name: {"samples": one.samples or 0, "failed": one.failed, "means": dict(one.means)}
            for name, one in source.subsets.items()
        },
    }


def _hardest(evaluation: Evaluation) -> list[dict[str, Any]]:
    """The largest losses of all subsets, with what the sample is and what it was taken for where classes have names."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found: list[dict[str, Any]] = []
    for subset in evaluation.subsets:
        for piece in evaluation.pieces(subset, ("id", LOSS, TRUTH, PREDICTION)):
            if LOSS not in piece.column_names:
                continue
            if not (pa.types.is_floating(piece[LOSS].type) and pa.types.is_string(piece["id"].type)):
                # A run may come from anybody.
                raise EvaluationError(
                    f"The table of {subset!r} is not as Cutaway writes it: id holds {piece['id'].type} and loss "
                    f"{piece[LOSS].type}. Evaluate again."
                )
            finite = piece.filter(pc.is_finite(piece[LOSS]))
            top = finite.take(pc.select_k_unstable(finite, HARDEST, sort_keys=[(LOSS, "descending")]))
            found += [_sample(row) for row in top.select(_small(top.column_names)).to_pylist()]
        found = sorted(found, key=lambda one: -one["loss"])[:HARDEST]
    return found


def _small(names: Sequence[str]) -> list[str]:
    return [name for name in names if name in ("id", LOSS) or name.endswith(".label")]


def _sample(row: dict[str, Any]) -> dict[str, Any]:
    def label(kind: str) -> str | None:
        return next((str(value) for name, value in row.items() if name.startswith(kind) and value is not None), None)

    return {"id": row["id"], "loss": row[LOSS], "truth": label(TRUTH), "prediction": label(PREDICTION)}
