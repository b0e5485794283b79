"""Retrains with an overlay and finds out what it bought. Prints nothing; a failure is a sentence with what to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cutaway.analysis.fixing import (
    ONE_TRAINING_EACH,
    Gain,
    MeasuredFix,
    Training,
    gain_over_seeds,
    measure,
    split_command,
    train,
)
from cutaway.cli.options import shown_path
from cutaway.run.evaluations import evaluations
from cutaway.run.layout import UNDONE_OVERLAYS
from cutaway.run.overlay_use import never_read, overlay_of
from cutaway.run.overlays import LABEL, Overlay, undo_overlay

if TYPE_CHECKING:
    from cutaway.cli.fixes import PlannedFix
    from cutaway.run import Run

__all__ = ["LABELS_LINE", "WEIGHTS_LINE", "Proof", "prove"]

LABELS_LINE = 'labels = cutaway.dataset.corrected(labels, subset="training", ids=None)'
WEIGHTS_LINE = 'weights = cutaway.dataset.sample_weights(len(labels), subset="training")'

Listen = Callable[[str], None]


@dataclass(frozen=True)
class Proof:
    """What a retraining with the overlay showed, or why it showed nothing: `failure`, what to do, and its `code`.

    `lines` are what belongs below a failure: the line of code that is missing, or the last that the command printed.
    `taken_back` is where the overlay went, if training with it turned out to be a loss.
    """

    measured: MeasuredFix | None = None
    runs: tuple[Run, ...] = ()
    notes: tuple[str, ...] = ()
    failure: str = ""
    hint: str = ""
    code: str = ""
    lines: tuple[str, ...] = ()
    taken_back: str | None = None


class _Failed(Exception):
    """A retraining that proves nothing; the text says why, and the hint what to do."""

    def __init__(self, code: str, message: str, lines: Sequence[str] = (), hint: str = "") -> None:
        super().__init__(message)
        self.code, self.lines, self.hint = code, tuple(lines), hint


def prove(made: PlannedFix, command: str, repeats: int, listen: Listen) -> Proof:
    """Retrain once, or for each of several seeds without and with the overlay, and compare."""
    words = split_command(command)
    try:
        if repeats:
            return _without_loss(made, _over_seeds(made, words, repeats, listen))
        run = _retrained(made, words, None, listen)
        notes = _unasked(run, made.overlay)
        return _without_loss(made, Proof(measure(made.run, run, number=made.evaluation), (run,), notes))
    except _Failed as failure:
        return Proof(failure=str(failure), hint=failure.hint, code=failure.code, lines=failure.lines)


def _without_loss(made: PlannedFix, proof: Proof) -> Proof:
    """Take the overlay back where accuracy clearly fell over repeats; what a person decided stands all the same.

    A single training each says too little for that, however much it lost: the next one may gain as much.
    """
    overlay = made.overlay
    # Only what was decided by scores tells of an action.
    if proof.measured is None or not proof.measured.is_loss or overlay is None or "action" not in overlay.about:
        return proof
    taken = undo_overlay(made.run, overlay.name)
    return replace(proof, taken_back=shown_path(made.run.path / UNDONE_OVERLAYS / f"{taken.name}.parquet"))


def _over_seeds(made: PlannedFix, words: list[str], repeats: int, listen: Listen) -> Proof:
    base = None if made.base is None else made.base.path
    gains: list[Gain] = []
    runs: list[Run] = []
    on = ""
    for seed in range(repeats):
        listen(f"[cutaway fix] seed {seed}: without the overlay")
        without = _refuse_failed(train(words, overlay=base, beside=made.run.path.parent, seed=seed, listen=listen))
        before = _newest(without, "without the overlay")
        listen(f"[cutaway fix] seed {seed}: with the overlay")
        after = _retrained(made, words, seed, listen)
        found = measure(before, after)
        if found.gain is None:
            raise _Failed("NothingMeasured", found.notes[0])
        gains.append(found.gain)
        runs += [before, after]
        on = found.on
    samples = gains[0].count if {one.over for one in gains} == {"samples"} else None
    gain = gain_over_seeds([one.before for one in gains], [one.after for one in gains], samples)
    notes = [*_unasked(runs[-1], made.overlay)]
    if repeats == 1:
        notes.append(ONE_TRAINING_EACH)
    elif len({one.before for one in gains}) == 1:
        notes.append(
            "Every seed gave the same accuracy without the overlay: the script seems not to read CUTAWAY_SEED. "
            "Add `torch.manual_seed(int(os.environ.get('CUTAWAY_SEED', 0)))`."
        )
    return Proof(MeasuredFix(gain, f"{on}, {repeats} seeds"), tuple(runs), tuple(notes))


def _retrained(made: PlannedFix, words: list[str], seed: int | None, listen: Listen) -> Run:
    """Train with the overlay, and return the run that says that it read it."""
    overlay = made.overlay
    if overlay is None or overlay.path is None:
        raise _Failed("NoOverlay", "There is no overlay to train with.")
    done = _refuse_failed(train(words, overlay=overlay.path, beside=made.run.path.parent, seed=seed, listen=listen))
    newest = _newest(done, "with the overlay")
    read = [run for run in done.runs if not _never_read_overlay(run, overlay)]
    if not read:
        line = LABELS_LINE if LABEL in overlay.counts else WEIGHTS_LINE
        raise _Failed(
            "OverlayNeverRead",
            f"The retraining never read the overlay: {shown_path(newest.path)} was trained with the data as they are.",
            [line],
            "Add this line to the training script, after the labels are loaded, with `import cutaway.dataset`:",
        )
    # Of several, one that was evaluated says more.
    return next((run for run in read if evaluations(run)), read[0])


def _refuse_failed(done: Training) -> Training:
    if done.code:
        how = f"with exit code {done.code}" if done.code > 0 else f"by signal {-done.code}"
        said = "Its last lines are below." if done.tail else "It printed nothing."
        raise _Failed("RetrainingFailed", f"The retraining ended {how}.", done.tail, said)
    return done


def _newest(done: Training, words: str) -> Run:
    if not done.runs:
        raise _Failed(
            "NoRun",
            f"The training {words} made no new run here.",
            hint="Attach a hook (`with cutaway.torch.Hook() as hook:`) or call "
            "`cutaway.evaluation.evaluate(dataset, model)` in it, with no fixed `out_dir`.",
        )
    return done.runs[0]


def _never_read_overlay(run: Run, overlay: Overlay) -> bool:
    """Whether a run was not trained with what the overlay is mostly for: its labels, else its weights."""
    missed = never_read(overlay_of(run), overlay)
    return LABEL in missed if LABEL in overlay.counts else bool(missed)


def _unasked(run: Run, overlay: Overlay | None) -> tuple[str, ...]:
    missed = () if overlay is None else never_read(overlay_of(run), overlay)
    if not missed:
        return ()
    words = " and ".join(f"{overlay.counts[name]} {name}s" for name in missed) if overlay is not None else ""
    return (f"The training never asked for {words} of the overlay. Add: {WEIGHTS_LINE}",)
