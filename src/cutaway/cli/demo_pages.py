"""What `cutaway demo` prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

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
    screen.line(
        Text(
            "Next; in the studio begin with Population and Findings",
            style="bold",
        )
    )
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
    unclear = "" if gain["low"] > 0 else ": that could be chance"
    pairs: list[tuple[Cell, Cell]] = [
        (
            "found",
            f"{labels['found']} of {labels['planted']} planted ({share:.0%}), from what one training left behind",
        ),
        ("false alarms", f"{labels['false']} of {labels['relabelled']} that were relabelled"),
        ("dropped", f"{labels['dropped']} more, too doubtful to learn from"),
        ("right label", f"suggested for {labels['right']} of the {labels['found']} found"),
        ("test digits", f"{gain['before']:.1%} read right before the fix, {gain['after']:.1%} after"),
        (
            "bought",
            f"{100 * gain['difference']:+.1f} points [{100 * gain['low']:+.1f}, {100 * gain['high']:+.1f}] "
            f"over {seeds} seeds{unclear}; trained on the right labels {labels['clean']:.1%}",
        ),
    ]
    screen.pairs(pairs, indent=2)


def _verdict(watched: Facts) -> str:
    lacked = watched["rules"] - watched["looked"]
    if watched["health"]["verdict"] == "healthy":
        return f"{watched['looked']} looked at every step and found nothing; {lacked} lack what they need"
    return f"{watched['health']['sentence']}: {', '.join(one['code'] for one in watched['health']['telling'])}"


def _norm(gradient: Facts) -> str:
    return f"{gradient['tensor']} (l2 {number(gradient['l2'])})"


def _taken_for(hard: Facts) -> str:
    return "" if hard["label"] == hard["prediction"] else f", taken for a {hard['prediction']}"


def _cost(cost: Facts | None) -> str:
    if cost is None:
        return "not measured in so short a training"
    times = f"{1000 * cost['watched_seconds']:.0f} ms an epoch, {1000 * cost['bare_seconds']:.0f} ms without the hook"
    if cost["busy"] or cost["noise"] > MOST_NOISE:
        noise = f"two epochs without it differ by {cost['noise']:.0%}"
        return f"not measurable while other programs use this machine ({times}; {noise})"
    ratio = cost["watched_seconds"] / cost["bare_seconds"]
    noise = f"median of {cost['triples']}; two without it differ by {cost['noise']:.0%}"
    return f"{ratio:.2f}x: {times} ({noise}); larger steps pay less, see docs/explanation/overhead.md"
