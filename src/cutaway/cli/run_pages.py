"""How the commands about runs look in a terminal. Gets plain values and prints; reads no run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from cutaway.cli.evaluate_pages import print_evaluations
from cutaway.cli.grid import Cell, GridColumn
from cutaway.cli.output import SEVERITY_STYLES, STATE_STYLES, Screen, finding_pair, heading, number_cell
from cutaway.cli.words import age, damage_in_words, number, printable, share, size
from cutaway.run.command_words import shell_word
from cutaway.wording import counted, listed

if TYPE_CHECKING:
    from cutaway.cli.run_facts import ComparedRuns, Facts, Row

__all__ = [
    "print_annotations",
    "print_compare",
    "print_list",
    "print_no_runs",
    "print_removal",
    "print_show",
    "print_size",
]

_HEALTH_STYLES = {"healthy": "green", "warnings": "yellow", "sick": "bold red", "not checked": "dim"}
MOST_CONFIG_LINES = 12
MOST_FINDINGS = 8
BAR_WIDTH = 30


def print_list(runs: Sequence[Facts], *, total: int, root: str) -> None:
    """Print one line per run."""
    screen = Screen()
    spark = 24 if (screen.width or 120) >= 100 else 14
    columns = [
        GridColumn("run", least=18),
        GridColumn("state"),
        GridColumn("age", "right", drop=2),
        GridColumn("steps", "right", drop=1),
        GridColumn("loss", "right", drop=3),
        GridColumn("", drop=4),
        *([GridColumn("tags", drop=5)] if any(run["tags"] for run in runs) else []),
    ]
    rows: list[list[Cell]] = []
    for run in runs:
        loss = run["loss"]
        rows.append(
            [
                Text(printable(run["name"]), style="bold"),
                Text(run["state"], style=STATE_STYLES[run["state"]]),
                "·" if run["age_seconds"] is None else age(run["age_seconds"]),
                f"{run['steps']:,}",
                "·" if loss is None else number_cell(loss["last"]),
                "" if loss is None else screen.spark(loss["series"], spark),
                *([listed(run["tags"])] if len(columns) > 6 else []),
            ]
        )
    screen.table(columns, rows)
    if total > len(runs):
        screen.line(f"The newest {len(runs)} of {total:,} in {root}; `-n 0` lists all.", style="dim")


def print_no_runs(root: str) -> None:
    """Say how a run comes to be."""
    screen = Screen()
    screen.line(f"No runs in {root} yet. Any of these makes one:")
    ways = [
        ("cutaway demo", "trains a small network on handwritten digits, 15 seconds"),
        ("python examples/torch_hook.py", "a plain PyTorch loop with two lines of ours"),
        ("with cutaway.attach(model, optimizer):", "around the training loop of your own script"),
    ]
    screen.table(
        [GridColumn("", least=20), GridColumn("", drop=1)],
        [[Text(f"  {way}", style="bold"), what] for way, what in ways],
    )


def print_show(facts: Facts) -> None:
    """Print everything about one run."""
    screen = Screen()
    screen.line(Text(printable(facts["name"]), style="bold"), "  ", _state(facts["state"]))
    screen.pairs(_identity(facts))
    if facts["failure"] is not None:
        _print_failure(screen, facts["failure"])
    trained = facts.get("kind") != "evaluation"
    if trained:
        _print_health(screen, facts["health"], facts["path"])
    print_evaluations(screen, facts["evaluations"])
    _print_scalars(screen, facts["scalars"])
    _print_config(screen, facts["config"])
    if facts["collections"]:
        screen.line()
        screen.line(heading("Collections", "tensors that each holds"))
        held = "   ".join(f"{one['name']} {one['tensors']:,}" for one in facts["collections"])
        screen.pairs([("", held)], indent=2)
    told = {(one["code"], one["message"]) for one in facts["health"]["telling"]}
    others = [one for one in facts["findings"] if (one["code"], one["message"]) not in told]
    if trained or others:
        _print_findings(screen, others, more=bool(told))
    _print_damage(screen, facts["damage"], verified=facts["verified"])
    screen.line()
    screen.line(Text("Next: ", style="dim"), facts["next"])


def _print_failure(screen: Screen, failure: Facts) -> None:
    """Print the traceback of the exception that ended the training."""
    screen.line()
    screen.line(heading("Failed with", failure["type"]))
    for line in failure["traceback"].splitlines():
        screen.line(f"  {line}", style="red")


def _print_health(screen: Screen, health: Facts, path: str) -> None:
    """Say how the run is, and of the findings that tell most what to try."""
    screen.line()
    style = _HEALTH_STYLES[health["verdict"]]
    screen.line(heading("Health"), "  ", Text(printable(health["sentence"]), style=style))
    if health["verdict"] == "not checked":
        screen.line(f"  cutaway watch {shell_word(path)} lets all rules look", style="dim")
    pairs: list[tuple[Cell, Cell]] = []
    for one in health["telling"]:
        pairs.append(finding_pair(one["severity"], one["code"], one["step"], one["message"]))
        if one["try_this"]:
            pairs.append(("try", one["try_this"]))
    screen.pairs(pairs, indent=2)


def print_annotations(name: str, tags: Sequence[str], note: str) -> None:
    """Print what people wrote about a run."""
    screen = Screen()
    screen.line(Text(printable(name), style="bold"))
    screen.pairs([("tags", listed(tags, 20) or "none"), ("note", note or "none")], indent=2)


def print_size(name: str, parts: dict[str, int]) -> None:
    """Print the parts of a run by size."""
    screen = Screen()
    total = sum(parts.values())
    screen.line(Text(printable(name), style="bold"), f"  {size(total)}")
    block = "█" if screen.unicode else "#"
    rows: list[list[Cell]] = []
    for part, taken in parts.items():
        bar = Text(block * max(round(BAR_WIDTH * taken / max(total, 1)), 1), style="cyan")
        rows.append([f"  {part}", size(taken), share(taken, total), bar])
    screen.table(
        [GridColumn("", least=12), GridColumn("", "right"), GridColumn("", "right", drop=1), GridColumn("", drop=2)],
        rows,
    )


def print_removal(runs: Sequence[tuple[str, int]]) -> None:
    """Print what would go."""
    screen = Screen()
    if not runs:
        screen.line("Nothing to remove.")
        return
    screen.table(
        [GridColumn("run", least=18), GridColumn("size", "right")], [[name, size(taken)] for name, taken in runs]
    )
    if len(runs) > 1:
        screen.line(f"{counted(len(runs), 'run')}, {size(sum(taken for _, taken in runs))} in all.", style="dim")


def print_compare(compared: ComparedRuns, *, everything: bool) -> None:
    """Print runs side by side; what is equal only where that was asked."""
    screen = Screen()
    letters = [chr(ord("A") + i % 26) * (i // 26 + 1) for i in range(len(compared.runs))]
    for letter, run in zip(letters, compared.runs, strict=True):
        name = Text(printable(run["name"]), style="bold")
        screen.line(
            Text(f"{letter}  ", style="cyan"), name, "  ", _state(run["state"]), f"  {counted(run['steps'], 'step')}"
        )
    parts = (
        ("Scalars", compared.scalars, True),
        ("Config", compared.config, False),
        ("Corrections and data", compared.data, False),
        ("Versions", compared.versions, False),
    )
    for title, rows, always in parts:
        shown = [row for row in rows if always or everything or not row.equal]
        same = len(rows) - len(shown)
        note = f"{counted(same, 'setting')} equal; `--all` shows them" if same and title == "Config" else ""
        note = f"{same} equal" if same and title == "Versions" else note
        screen.line()
        screen.line(heading(title, note))
        if shown:
            _print_rows(screen, letters, shown)
        elif not rows:
            screen.line("  none recorded", style="dim")
        elif not note:
            screen.line("  no difference", style="dim")


def _print_rows(screen: Screen, letters: Sequence[str], rows: Sequence[Row]) -> None:
    columns = [GridColumn("", least=14), *(GridColumn(letter, "right", least=7) for letter in letters)]
    cells: list[list[str | Text]] = []
    for row in rows:
        style = "" if row.equal else "bold"
        cells.append([f"  {row.key}", *(Text(_setting(value), style=style) for value in row.values)])
    screen.table(columns, cells)


def _identity(facts: Facts) -> list[tuple[str, str | Text]]:
    steps = facts["steps"]
    versions = facts.get("versions", {})
    created = str(facts.get("created", "at an unknown time")).replace("T", " ").replace("+00:00", " UTC")
    ago = "" if facts["age_seconds"] is None else f" ({age(facts['age_seconds'])} ago)"
    pairs: list[tuple[str, str | Text]] = [
        ("state", facts["meaning"]),
        ("folder", facts["path"]),
        ("created", f"{created}{ago}"),
        *([] if facts.get("kind") == "evaluation" else [("steps", _steps_in_words(steps))]),
        ("made with", " · ".join(f"{name} {version}" for name, version in versions.items()) or "·"),
    ]
    if facts["stop"]:
        pairs.insert(1, ("stop", facts["stop"]))
    if facts.get("git"):
        pairs.append(("commit", str(facts["git"])[:12]))
    if facts["tags"]:
        pairs.append(("tags", listed(facts["tags"], 20)))
    if facts["baseline"]:
        pairs.append(("baseline", "other runs are compared with this one"))
    if facts["note"]:
        pairs.append(("note", facts["note"]))
    if len(facts["attempts"]) > 1:
        starts = [f"{one['attempt']} from step {one['from_step']}" for one in facts["attempts"]]
        pairs.append(("attempts", f"{len(starts)}: {', '.join(starts)}"))
    if len(steps["workers"]) > 1:
        pairs.append(("workers", listed(steps["workers"], 8)))
    return pairs


def _steps_in_words(steps: Facts) -> str:
    if not steps["recorded"]:
        return "none yet"
    modes = " · ".join(f"{mode} {number_of:,}" for mode, number_of in steps["by_mode"].items())
    epochs = f" in {counted(steps['epochs'], 'epoch')}" if steps["epochs"] else ""
    thinned = f" · {counted(steps['thinned'], 'step')} thinned out" if steps["thinned"] else ""
    return f"{modes}{epochs}{thinned}"


def _print_scalars(screen: Screen, scalars: Sequence[Facts]) -> None:
    if not scalars:
        return
    screen.line()
    screen.line(heading("Scalars"))
    several = len({one["mode"] for one in scalars}) > 1
    columns = [
        GridColumn("", least=14),
        *([GridColumn("mode", drop=3)] if several else []),
        GridColumn("first", "right", drop=1),
        GridColumn("last", "right"),
        GridColumn("min", "right", drop=1),
        GridColumn("max", "right", drop=1),
        GridColumn("", drop=2),
    ]
    rows = [
        [
            f"  {one['name']}",
            *([one["mode"]] if several else []),
            number_cell(one["first"]),
            number_cell(one["last"], style="bold"),
            *("·" if one[which] is None else number_cell(one[which]) for which in ("min", "max")),
            screen.spark(one["series"], 24),
        ]
        for one in scalars
    ]
    screen.table(columns, rows)


def _print_config(screen: Screen, config: dict[str, Any]) -> None:
    from cutaway.trial.summary import flatten

    flat = flatten(config)
    if not flat:
        return
    screen.line()
    # What is off or unset says little about a run.
    shown = [(key, value) for key, value in flat.items() if value is not None and value is not False]
    shown = shown[:MOST_CONFIG_LINES]
    more = len(flat) - len(shown)
    screen.line(heading("Config", f"{more} more in config.yaml" if more else ""))
    screen.pairs([(key, _setting(value)) for key, value in shown], indent=2)


def _print_findings(screen: Screen, findings: Sequence[Facts], *, more: bool) -> None:
    if more and not findings:
        return
    screen.line()
    screen.line(heading("More findings" if more else "Findings", "" if findings else "none"))
    worst = sorted(findings, key=lambda one: (list(SEVERITY_STYLES).index(one["severity"]), one["time"]))
    pairs = [
        finding_pair(one["severity"], one["code"], one["where"].get("step"), one["message"])
        for one in worst[:MOST_FINDINGS]
    ]
    screen.pairs(pairs, indent=2)
    if len(findings) > MOST_FINDINGS:
        screen.line(f"  {len(findings) - MOST_FINDINGS} more; --json has them all", style="dim")


def _print_damage(screen: Screen, damage: Sequence[Facts], *, verified: bool) -> None:
    if verified and not damage:
        screen.line()
        screen.line("Every byte that has a checksum is as it was written.", style="green")
    if not damage:
        return
    screen.line()
    screen.line(heading("Damage", "the rest of the run reads as written"))
    for one in damage[:MOST_FINDINGS]:
        screen.line(f"  {damage_in_words(one)}", style="red")
    if len(damage) > MOST_FINDINGS:
        screen.line(f"  {len(damage) - MOST_FINDINGS} more; --json has them all", style="dim")


def _state(state: str) -> Text:
    return Text(state, style=STATE_STYLES[state])


def _setting(value: Any) -> str:
    if isinstance(value, float):
        return number(value)
    return "·" if value is None else str(value)
