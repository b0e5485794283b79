"""How `cutaway fix` looks: what is corrected, the overlays of a run, and what a retraining bought."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cutaway.cli.fixes import FixRequest
from cutaway.cli.grid import Cell, GridColumn
from cutaway.cli.options import command_run, shown_path
from cutaway.cli.output import Screen, heading
from cutaway.cli.words import cut, number, printable
from cutaway.run.command_words import evaluation_words
from cutaway.run.evaluations import Evaluation
from cutaway.run.overlays import DROP, LABEL, WEIGHT, Correction, Overlay
from cutaway.wording import counted, listed

if TYPE_CHECKING:
    from cutaway.analysis.fixing import Expected, Gain
    from cutaway.cli.fix_proving import Proof
    from cutaway.cli.fixes import PlannedFix
    from cutaway.run import Run

__all__ = ["fix_object", "overlay_object", "print_fix", "print_overlays", "print_proof"]

MOST_ROWS = 10
MOST_PAIRS = 5
MOST_JSON_ROWS = 1_000
# A class may have any name.
LONGEST_NAME = 40
# So many trainings without and with an overlay tell most differences from chance that are worth it.
REPEATS = 5
_DONE = {
    "relabel": ("relabelled", "of the new labels to be right"),
    "drop": ("dropped", "of their labels to be wrong"),
    "reweight": ("reweighted", "of their labels to be wrong"),
}
_CORRECTED = {LABEL: "relabelled", WEIGHT: "reweighted", DROP: "dropped"}


def print_fix(screen: Screen, made: PlannedFix, *, dry_run: bool, retraining: bool) -> None:
    """Say what is changed, what is expected of it, and what comes next."""
    if made.overlay is None:
        _print_nothing(screen, made)
        return
    overlay = made.overlay
    title = "Would be corrected" if dry_run else f"Overlay {overlay.name}"
    screen.line(heading(title, f"{printable(made.run.name)}, evaluation {made.evaluation}"))
    pairs: list[tuple[Cell, Cell]] = _changes(made)
    if made.choice.expected is not None:
        pairs.append(("expected mistakes", _mistakes_in_words(made.choice.expected)))
    common = _common(overlay)
    if common:
        pairs.append(("most frequent", listed(common, MOST_PAIRS)))
    pairs.append(("expected gain", _expected(made)))
    if made.standing.corrections:
        kept = counted(len({one.sample for one in made.standing.corrections}), "sample")
        pairs.append(("decided by people", f"{kept}, corrected as they decided"))
    if made.base is not None:
        pairs.append(("on top of", f"{made.base.name}, which the run was evaluated with; its corrections are included"))
    screen.pairs(pairs, indent=2)
    _print_rows(screen, overlay)
    for note in made.choice.notes:
        screen.line(f"  {note}", style="dim")
    if not dry_run:
        _print_next(screen, made, overlay, retraining=retraining)


def print_proof(screen: Screen, made: PlannedFix, proof: Proof, command: str) -> None:
    """Say how the accuracy changed with what the command trained, and what became of the overlay."""
    screen.line()
    screen.line(heading("Trained with it", listed([shown_path(run.path) for run in proof.runs], 2)))
    found = proof.measured
    if found is not None and found.gain is not None:
        screen.line(f"  {found.on}: {found.gain.words}")
        if found.gain.over:
            screen.line(f"  {found.gain.better:,} {found.gain.over} better, {found.gain.worse:,} worse")
    elif found is not None:
        screen.line("  The gain is unknown.")
    for note in (*(found.notes if found is not None else ()), *proof.notes):
        screen.line(f"  {note}", style="dim")
    if proof.taken_back is not None:
        screen.line(f"  This is a loss, not a fix: the overlay is taken back, and kept in {proof.taken_back}.")
    elif made.overlay is not None:
        pairs: list[tuple[Cell, Cell]] = []
        if found is not None and found.gain is not None and not found.gain.is_told:
            pairs.append(("to tell", _repeated(made, command)))
        pairs.append(("undo", f"cutaway fix {command_run(made.run)} --undo --name {made.overlay.name}"))
        screen.pairs(pairs)


def _repeated(made: PlannedFix, command: str) -> str:
    """Return the command that was given with repeats, which alone tell what is chance."""
    asked, usual = made.asked, FixRequest()
    options = [("--action", asked.action, usual.action), ("--precision", asked.precision, usual.precision)]
    options += [("--from", asked.from_file, None), ("--name", asked.name, None), ("--seed", asked.seed, usual.seed)]
    words = [f" {option} {shlex.quote(str(value))}" for option, value, plain in options if value != plain]
    if asked.subsets != usual.subsets:
        words += [f" --subset {shlex.quote(one)}" for one in asked.subsets]
    return f"cutaway fix {_evaluated(made)}{''.join(words)} --retrain {shlex.quote(command)} --repeats {REPEATS}"


def print_overlays(screen: Screen, run: Run, there: Sequence[Overlay], undone: Sequence[Overlay]) -> None:
    """List the overlays of a run, the newest last."""
    if not there and not undone:
        screen.line(f"Run {run.name} has no overlay. `cutaway fix {command_run(run)}` makes one.")
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
            ", ".join(f"{number_of:,} {_CORRECTED[name]}" for name, number_of in one.counts.items()) or "none",
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
        "expected": None if made.choice.expected is None else made.choice.expected.to_dict(),
        "decided_by_people": len(made.standing.samples),
        "notes": list(made.choice.notes),
        "overlay": None if made.overlay is None else overlay_object(made.overlay, rows=True),
    }
    if proof is not None:
        told["runs"] = [shown_path(run.path) for run in proof.runs]
        told["notes"] += list(proof.notes)
        if proof.measured is not None:
            gain = proof.measured.gain
            told["taken_back"] = proof.taken_back
            told["gain"] = None if gain is None else _gain_object(gain)
            told["measured_on"] = proof.measured.on
            told["notes"] += list(proof.measured.notes)
    return told


def _gain_object(gain: Gain) -> dict[str, Any]:
    return {**vars(gain), "clear": gain.is_clear, "verdict": gain.verdict, "words": gain.words}


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
        screen.line("The file decides about no sample, so nothing is changed.")
        return
    expected, where = made.choice.expected, " and ".join(made.asked.subsets)
    if expected is None or not expected.changes:
        screen.line(
            f"Nothing is changed: of {counted(made.choice.candidates, 'label')} of {where}, none is sure enough to be "
            f"wrong (precision {made.asked.precision:g}). No gain expected."
        )
    else:
        screen.line(
            f"Nothing is changed: no gain expected. {counted(expected.changes, 'label')} of "
            f"{made.choice.candidates:,} of {where} could be corrected, about {expected.right:,.0f} of them rightly, "
            "which is too little to make a model better."
        )
    for note in made.choice.notes:
        screen.line(f"  {note}", style="dim")
    evaluated = _evaluated(made)
    screen.pairs(
        [
            ("look", f"cutaway analyze {evaluated} mislabeled"),
            ("decide yourself", f"cutaway fix {evaluated} --from decided.csv"),
        ]
    )


def _changes(made: PlannedFix) -> list[tuple[Cell, Cell]]:
    """Return how many samples are changed in each way, and how many of these changes are expected to be right."""
    told: list[tuple[Cell, Cell]] = []
    for action, (done, right) in _DONE.items():
        scores = [one.score for one in made.choice.decisions if one.action == action]
        if not scores:
            continue
        known = [one for one in scores if one is not None]
        said = f"; expect {sum(known):,.0f} {right}" if known else ""
        told.append((done, f"{counted(len(scores), 'sample')}{said}"))
    return told


def _mistakes_in_words(expected: Expected) -> str:
    """Say how many changes are expected to be wrong, of all and of those of each kind."""
    told = f"{_expected_count(expected.wrong)} of {counted(expected.changes, 'change')}"
    if len(expected.mistakes) < 2:
        return told
    parts = [f"{_expected_count(one.expected)} of {one.changes:,} {_DONE[one.action][0]}" for one in expected.mistakes]
    return f"{told}: {', '.join(parts)}"


def _expected_count(count: float) -> str:
    """Return an expected number: with a digit where it is small, and never 0 for what is not quite that.

    >>> _expected_count(0.0), _expected_count(0.02), _expected_count(3.14), _expected_count(1025.4)
    ('0', 'under 0.1', '3.1', '1,025')
    """
    if 0 < count < 0.1:
        return "under 0.1"
    return f"{count:,.1f}" if 0 < count < 10 else f"{count:,.0f}"


def _common(overlay: Overlay) -> list[str]:
    found = Counter((one.old, one.new) for one in overlay.corrections if one.field == LABEL)
    return [
        f"{cut(old, LONGEST_NAME)} -> {cut(new, LONGEST_NAME)} ({times:,})" for (old, new), times in found.most_common()
    ]


def _expected(made: PlannedFix) -> str:
    if made.choice.expected is None:
        return "unknown: a person decided"
    return made.choice.expected.words


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
            ("next", f'cutaway fix {_evaluated(made)} --retrain "python train.py" --repeats {REPEATS}'),
            ("undo", f"cutaway fix {command_run(made.run)} --undo"),
        ]
    screen.pairs(pairs)


def _evaluated(made: PlannedFix) -> str:
    """Return how a command names what was fixed."""
    return printable(evaluation_words(Evaluation(made.run, made.evaluation)))
