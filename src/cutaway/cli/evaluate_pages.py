"""How evaluations look: what `cutaway evaluate` begins with, and at its end the subsets, failures, where it lies, what
next; and what `runs show` tells of those of a run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from cutaway.cli.grid import Cell, GridColumn
from cutaway.cli.options import command_run, shown_path
from cutaway.cli.output import Screen, heading
from cutaway.cli.words import age, number, printable, share
from cutaway.wording import counted

if TYPE_CHECKING:
    from cutaway.dataset import Dataset
    from cutaway.evaluation import Evaluation
    from cutaway.evaluation.subject import Subject
    from cutaway.run.evaluations import Failure
    from cutaway.run.sources import Source, SubsetSource

__all__ = ["evaluation_object", "print_begin", "print_end", "print_evaluations"]

MOST_FAILURES = 5
ERROR_CLASS = re.compile(r"\b\w+(?:Error|Exception)\b")


def print_begin(screen: Screen, dataset: Dataset, subject: Subject) -> None:
    """Say what is evaluated."""
    sizes = ", ".join(f"{name} {len(subset):,}" for name, subset in dataset.subsets.items())
    entry, file = dataset.source.get("entry_file"), subject.about.get("file")
    binding = shown_path(Path(str(entry))) if entry else str(dataset.source.get("kind", "data set"))
    model = shown_path(Path(str(file))) if file else f"the binding's own {subject.about['format']} model"
    screen.line(Text(printable(binding), style="bold"), f" ({sizes}) with ", Text(printable(model), style="bold"))


def evaluation_object(evaluation: Evaluation) -> dict[str, Any]:
    """Return an evaluation as JSON values."""
    failures = evaluation.failures()
    return {
        "run": evaluation.run.name,
        "path": shown_path(evaluation.path),
        "evaluation": evaluation.number,
        **evaluation.source.document,
        "failures": [one._asdict() for one in failures[:100]],
    }


def print_end(screen: Screen, evaluation: Evaluation, *, printed: int = 0) -> None:
    """Print the closing page."""
    source = evaluation.source
    subsets = source.subsets
    total = sum(one.samples or 0 for one in subsets.values())
    epoch = "" if source.epoch is None else f", epoch {source.epoch}"
    screen.line(
        Text(printable(evaluation.run.name), style="bold"),
        Text(
            f"  evaluation {evaluation.number}{epoch}: {counted(total, 'sample')} in {_took(source.seconds)}",
            style="dim",
        ),
    )
    names = list(dict.fromkeys(name for one in subsets.values() for name in one.means if name != "loss"))
    screen.table(_subset_columns(names), [_subset_row(name, one, names) for name, one in subsets.items()])
    _print_failures(screen, evaluation, subsets)
    _print_notes(screen, source, printed)
    screen.line()
    following = f"cutaway runs show {command_run(evaluation.run)}"
    screen.pairs([("samples", shown_path(evaluation.path)), ("next", following)])


def _subset_columns(names: list[str]) -> list[GridColumn]:
    titles = [name.removeprefix("loss.").removeprefix("metric.") for name in names]
    scores = [GridColumn(title, "right", drop=2 + i, least=8) for i, title in enumerate(titles)]
    return [GridColumn("subset"), GridColumn("samples", "right"), GridColumn("failed", "right"), *scores]


def _subset_row(name: str, one: SubsetSource, names: list[str]) -> list[Cell]:
    failed = Text(f"{one.failed:,}", style="bold red" if one.failed else "dim")
    return [Text(name, style="bold"), f"{one.samples or 0:,}", failed, *(number(one.means.get(n)) for n in names)]


def _print_failures(screen: Screen, evaluation: Evaluation, subsets: Mapping[str, SubsetSource]) -> None:
    failed = sum(one.failed for one in subsets.values())
    if not failed:
        return
    total = sum(one.samples or 0 for one in subsets.values())
    screen.line()
    screen.line(heading("Failed", f"{counted(failed, 'sample')}, {share(failed, total)}"))
    alike = _alike(evaluation.failures())
    rows = [(like[0].id, f"{_error(like[0])}{_more(len(like) - 1)}") for like in alike[:MOST_FAILURES]]
    screen.pairs(rows, indent=2)
    if failed > len(rows):
        screen.line("  The column `error` of the tables has them all.", style="dim")


def _alike(failures: list[Failure]) -> list[list[Failure]]:
    """Group failures by the line and the class of their errors, the largest group first: most have one cause."""
    groups: dict[tuple[str, ...], list[Failure]] = {}
    for one in failures:
        place, _, rest = one.error.partition(": ")
        groups.setdefault((place, *ERROR_CLASS.findall(rest)[:1]), []).append(one)
    return sorted(groups.values(), key=len, reverse=True)


def _error(failure: Failure) -> str:
    # The id stands beside it, and the file is told as it can be reached from here.
    text = failure.error.replace(f" failed for sample {failure.id!r}", " failed", 1)
    return text.removeprefix(f"{Path.cwd()}/")


def _more(number: int) -> str:
    return f" (and {counted(number, 'more sample')} so)" if number else ""


def _took(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 10 else age(seconds)


def _print_notes(screen: Screen, source: Source, printed: int) -> None:
    notes = [*source.score_notes, *_not_finite(source.subsets)]
    told = ("preview", "latent", "moved", "compared with no output")
    notes += [note for note in source.notes if any(word in note for word in told)]
    if source.model.not_kept:
        notes.append(f"No copy of the model was kept: {source.model.not_kept}")
    if printed:
        notes.append(f"The binding printed {counted(printed, 'line')}, not shown here.")
    if notes:
        screen.line()
        screen.line(heading("Noted"))
        for note in dict.fromkeys(notes):
            screen.pairs([("", note)], indent=2)


def _not_finite(subsets: Mapping[str, SubsetSource]) -> list[str]:
    notes = []
    for name, one in subsets.items():
        for what, bad in one.not_finite_samples.items():
            if bad:
                notes.append(f"{counted(bad, 'sample')} of {name} with NaN or infinity in their {what}; they are kept.")
    return notes


def print_evaluations(screen: Screen, facts: Sequence[dict[str, Any]]) -> None:
    """Print a line for each subset of each evaluation, then the samples to look at first."""
    if not facts:
        return
    screen.line()
    screen.line(heading("Evaluations"))
    names = list(dict.fromkeys(n for one in facts for subset in one["subsets"].values() for n in subset["means"]))
    shown = [name for name in names if name != "loss"]
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
        GridColumn("label", drop=1),
        GridColumn("predicted", drop=1),
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
