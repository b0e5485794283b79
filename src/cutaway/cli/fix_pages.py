"""How `cutaway fix` looks: what is corrected, the overlays of a run, and what a retraining bought."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cutaway.cli.grid import Cell, GridColumn
from cutaway.cli.options import shown_path
from cutaway.cli.output import Screen, heading
from cutaway.cli.words import cut, number, printable
from cutaway.run.overlays import DROP, LABEL, WEIGHT, Correction, Overlay
from cutaway.wording import counted, listed

if TYPE_CHECKING:
    from cutaway.cli.fix_proving import Proof
    from cutaway.cli.fixes import PlannedFix
    from cutaway.run import Run

__all__ = ["fix_object", "overlay_object", "print_fix", "print_overlays", "print_proof"]

MOST_ROWS = 10
MOST_PAIRS = 5
MOST_JSON_ROWS = 1_000
# A class may have any name.
LONGEST_NAME = 40
_DONE = {LABEL: "relabelled", WEIGHT: "reweighted", DROP: "dropped"}


def print_fix(screen: Screen, made: PlannedFix, *, dry_run: bool, retraining: bool) -> None:
    """Say what is corrected, and what comes next."""
    if made.overlay is None:
        _print_nothing(screen, made)
        return
    overlay = made.overlay
    title = "Would be corrected" if dry_run else f"Overlay {overlay.name}"
    screen.line(heading(title, f"{printable(made.run.name)}, evaluation {made.evaluation}"))
    pairs: list[tuple[Cell, Cell]] = [
        (_DONE[name], counted(number_of, "sample")) for name, number_of in overlay.counts.items()
    ]
    common = _common(overlay)
    if common:
        pairs.append(("most frequent", listed(common, MOST_PAIRS)))
    pairs.append(("expected mistakes", _expected(made)))
    if made.base is not None:
        pairs.append(
            ("on top of", f"{made.base.name}, which the run was evaluated with; its corrections are in it too")
        )
    screen.pairs(pairs, indent=2)
    _print_rows(screen, overlay)
    for note in made.choice.notes:
        screen.line(f"  {note}", style="dim")
    if not dry_run:
        _print_next(screen, made, overlay, retraining=retraining)


def print_proof(screen: Screen, made: PlannedFix, proof: Proof) -> None:
    """Say what the retraining bought."""
    screen.line()
    screen.line(heading("What it bought", listed([shown_path(run.path) for run in proof.runs], 2)))
    found = proof.measured
    if found is not None and found.gain is not None:
        screen.line(f"  {found.on}: {found.gain.words}")
        if found.gain.over:
            screen.line(f"  {found.gain.better:,} {found.gain.over} better, {found.gain.worse:,} worse")
    elif found is not None:
        screen.line("  It cannot be said.")
    for note in (*(found.notes if found is not None else ()), *proof.notes):
        screen.line(f"  {note}", style="dim")
    if made.overlay is not None:
        screen.pairs([("undo", f"cutaway fix {_quoted(made.run)} --undo --name {made.overlay.name}")])


def print_overlays(screen: Screen, run: Run, there: Sequence[Overlay], undone: Sequence[Overlay]) -> None:
    """List the overlays of a run, the newest last."""
    if not there and not undone:
        screen.line(f"Run {run.name} has no overlay. `cutaway fix {_quoted(run)}` makes one.")
        return
    columns = [
        GridColumn("name"),
        GridColumn("corrections"),
        GridColumn("made", drop=2),
        GridColumn("digest", drop=1),
        GridColumn(""),
    ]
    rows = [
        [
            one.name,
            ", ".join(f"{number_of:,} {_DONE[name]}" for name, number_of in one.counts.items()) or "none",
            str(one.about.get("created", ""))[:19],
            one.digest[:12],
            state,
        ]
        for state, group in (("", there), ("undone", undone))
        for one in group
    ]
    screen.table(columns, rows)


def fix_object(made: PlannedFix, proof: Proof | None) -> dict[str, Any]:
    """Return everything as JSON values."""
    told: dict[str, Any] = {
        "run": made.run.name,
        "evaluation": made.evaluation,
        "candidates": made.choice.candidates,
        "accepted": len(made.choice),
        "expected_wrong": made.choice.expected_wrong,
        "notes": list(made.choice.notes),
        "overlay": None if made.overlay is None else overlay_object(made.overlay, rows=True),
    }
    if proof is not None:
        told["runs"] = [shown_path(run.path) for run in proof.runs]
        told["notes"] += list(proof.notes)
        if proof.measured is not None:
            gain = proof.measured.gain
            told["gain"] = None if gain is None else {**vars(gain), "clear": gain.is_clear, "words": gain.words}
            told["measured_on"] = proof.measured.on
            told["notes"] += list(proof.measured.notes)
    return told


def overlay_object(overlay: Overlay, *, rows: bool = False) -> dict[str, Any]:
    """Return an overlay as JSON values; many rows are cut."""
    about: dict[str, Any] = {
        "name": overlay.name,
        "path": None if overlay.path is None else shown_path(overlay.path),
        "digest": overlay.digest,
        "corrections": overlay.counts,
        "created": overlay.about.get("created"),
    }
    if rows:
        about["first"] = [vars(one) for one in overlay.corrections[:MOST_JSON_ROWS]]
    return about


def _print_nothing(screen: Screen, made: PlannedFix) -> None:
    if made.asked.from_file is not None:
        screen.line("The file decides about no sample, so nothing is corrected.")
        return
    screen.line(
        f"Nothing is corrected: no candidate of {', '.join(made.asked.subsets)} is expected to be right "
        f"with a precision of {made.asked.precision:g}, of {counted(made.choice.candidates, 'candidate')}."
    )
    screen.pairs([("look", f"cutaway analyze {_quoted(made.run)} mislabeled")])


def _common(overlay: Overlay) -> list[str]:
    found = Counter((one.old, one.new) for one in overlay.corrections if one.field == LABEL)
    return [
        f"{cut(old, LONGEST_NAME)} -> {cut(new, LONGEST_NAME)} ({times:,})" for (old, new), times in found.most_common()
    ]


def _expected(made: PlannedFix) -> str:
    if made.asked.from_file is not None:
        return "not known: a person decided"
    total = sum(one.action == made.asked.action for one in made.choice.decisions)
    share = made.choice.expected_wrong / total if total else 0.0
    return f"{made.choice.expected_wrong:.1f} of {total:,} ({share:.1%}), by the calibrated scores"


def _print_rows(screen: Screen, overlay: Overlay) -> None:
    shown = overlay.corrections[:MOST_ROWS]
    columns = [GridColumn("sample", least=12), GridColumn("change")]
    rows: list[list[Cell]] = [[printable(one.sample), _change(one)] for one in shown]
    # Of what a person decided there is neither.
    if any(one.score is not None or one.reason for one in shown):
        columns += [GridColumn("score", "right"), GridColumn("reason", drop=1, least=20, cut="end")]
        rows = [[*row, number(one.score), printable(one.reason)] for row, one in zip(rows, shown, strict=True)]
    screen.table(columns, rows)
    if len(overlay.corrections) > MOST_ROWS:
        screen.line(f"  and {len(overlay.corrections) - MOST_ROWS:,} more", style="dim")


def _change(one: Correction) -> str:
    if one.field == DROP:
        return "drop"
    start = "weight " if one.field == WEIGHT else ""
    return f"{start}{cut(one.old, LONGEST_NAME)} -> {cut(one.new, LONGEST_NAME)}"


def _print_next(screen: Screen, made: PlannedFix, overlay: Overlay, *, retraining: bool) -> None:
    path = "" if overlay.path is None else shown_path(overlay.path)
    kept = f"{path}{'' if made.is_new else ' (was there already, with the same corrections)'}"
    pairs: list[tuple[Cell, Cell]] = [("written to", kept)]
    if not retraining:
        pairs += [
            ("use", f"CUTAWAY_OVERLAY={shlex.quote(path)} python train.py"),
            ("next", f'cutaway fix {_quoted(made.run)} --retrain "python train.py"'),
            ("undo", f"cutaway fix {_quoted(made.run)} --undo"),
        ]
    screen.pairs(pairs)


def _quoted(run: Run) -> str:
    return shlex.quote(printable(run.name))
