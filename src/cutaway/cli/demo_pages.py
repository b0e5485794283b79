"""What `cutaway demo` prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from cutaway.analysis.fixing import points
from cutaway.cli.grid import Cell, GridColumn
from cutaway.cli.output import Screen
from cutaway.cli.words import number, size
from cutaway.demo.training import PLANTED
from cutaway.wording import counted

if TYPE_CHECKING:
    from cutaway.trial.summary import Facts

__all__ = ["print_report"]

# Where equal epochs differ by more than this, a ratio would be a lie.
MOST_NOISE = 0.1


def print_report(report: Facts) -> None:
    """Print it for a person."""
    screen = Screen()
    loss, accuracy, gradients = report["loss"], report["accuracy"], report["gradients"]
    screen.line()
    screen.line(Text(f"What Cutaway saw in {counted(report['steps'], 'step')}", style="bold"))
    spark = screen.spark(loss["series"], 24)
    largest, smallest = gradients["largest"], gradients["smallest"]
    hard = ", ".join(f"{one['sample']} (a {one['label']}{_taken_for(one)})" for one in report["hardest"][:3])
    pairs: list[tuple[Cell, Cell]] = [
        ("loss", Text(f"{number(loss['first'])} → {number(loss['last'])}  ").append(spark)),
        ("test digits", f"{accuracy['last']:.1%} read right; {accuracy['first']:.1%} after the first epoch"),
        ("gradients", f"largest in {_norm(largest)}, smallest in {_norm(smallest)}"),
        ("zeros", f"{report['zeros']['share']:.0%} of the gradient of {report['zeros']['tensor']}"),
        ("hardest", hard),
        ("written", f"{report['statistics_rows']:,} rows of statistics, {size(report['bytes'])} in all"),
        ("cost", _cost(report["cost"])),
        ("rules", _verdict(report["watched"])),
    ]
    screen.pairs(pairs, indent=2)
    _print_sick(screen, report["sick"])
    _print_labels(screen, report["labels"])
    screen.line()
    screen.line(Text("Next; in the studio begin with Population and Findings", style="bold"))
    told = ("what every tensor did, a line each", "the run on one page")
    labels = report["labels"]["path"]
    commands = [
        (f"cutaway studio {Path(report['path']).parent}", "all of it as a page"),
        *zip(report["next"], told, strict=True),
        (f"cutaway watch {report['sick']['path']}", "all rules again"),
        (f"cutaway analyze {labels} mislabeled", "which labels are wrong, and why"),
        (f"cutaway report {labels}", "one page of it, with pictures"),
    ]
    rows: list[list[Cell]] = [[Text(f"  {command}", style="bold"), what] for command, what in commands]
    screen.table([GridColumn(""), GridColumn("", drop=1)], rows)


def _print_sick(screen: Screen, sick: Facts) -> None:
    screen.line()
    screen.line(Text("The same network with a sick layer", style="bold"))
    pairs: list[tuple[Cell, Cell]] = [("planted", PLANTED)]
    for one in sick["health"]["telling"][:1]:
        pairs.append(("caught", Text(f"{one['code']} at step {one['step']}: {one['message']}")))
        pairs.append(("try", one["try_this"]))
    others = sorted({one["code"] for one in sick["health"]["telling"][1:]})
    if others:
        pairs.append(("also", ", ".join(others)))
    screen.pairs(pairs, indent=2)


def _print_labels(screen: Screen, labels: Facts) -> None:
    gain, seeds = labels["gain"], len(labels["seeds"])
    screen.line()
    screen.line(Text(f"A small network with {labels['share']:.0%} wrong labels, {seeds} seeds", style="bold"))
    share = labels["found"] / labels["planted"]
    pairs: list[tuple[Cell, Cell]] = [
        (
            "found",
            f"{labels['found']:,} of {labels['planted']:,} planted ({share:.0%}), from what one training left behind",
        ),
        ("false alarms", f"{labels['false']:,} of {labels['changed']:,} that were changed"),
        ("relabelled", f"{labels['relabelled']:,}, {labels['right']:,} of them as they were before"),
        ("dropped", f"{labels['dropped']:,}: the label is surely wrong, the right one uncertain"),
        ("test digits", f"{gain['before']:.1%} read right before the fix, {gain['after']:.1%} after"),
        (
            "gain",
            f"{points(gain['difference'], gain['low'], gain['high'])}: {labels['verdict']}; {seeds} seeds, "
            f"each trained before and after; {labels['clean']:.1%} with the right labels",
        ),
    ]
    screen.pairs(pairs, indent=2)


def _verdict(watched: Facts) -> str:
    lacked = watched["rules"] - watched["looked"]
    if watched["health"]["verdict"] == "healthy":
        skipped = f"; {lacked} skipped, since this run lacks what they need" if lacked else ""
        return f"{watched['looked']} looked at every step and found nothing{skipped}"
    return f"{watched['health']['sentence']}: {', '.join(one['code'] for one in watched['health']['telling'])}"


def _norm(gradient: Facts) -> str:
    return f"{gradient['tensor']} (l2 {number(gradient['l2'])})"


def _taken_for(hard: Facts) -> str:
    return "" if hard["label"] == hard["prediction"] else f", read as a {hard['prediction']}"


def _cost(cost: Facts) -> str:
    ratio = cost["watched_ms"] / cost["bare_ms"]
    told = (
        f"{cost['watched_ms']:.1f} ms a step, {cost['bare_ms']:.1f} ms without the hook ({ratio:.2f}x): "
        f"{cost['network']}, sustained over {counted(cost['steps'], 'step')} with all of it written"
    )
    noise = f"two epochs without it differ by {cost['noise']:.0%}"
    if cost["busy"] or cost["noise"] > MOST_NOISE:
        return f"{told}; not reliable, since other programs use this machine ({noise})"
    return f"{told} ({noise}); larger steps pay less, see docs/explanation/overhead.md"
