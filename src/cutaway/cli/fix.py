"""`cutaway fix`: accept corrections as an overlay beside the data, retrain with it, and measure the gain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cutaway.cli.options import FAILED_EXIT, AsJson, RunText, open_run, shown_path
from cutaway.errors import ConfigurationError

if TYPE_CHECKING:
    from cutaway.cli.fix_proving import Proof
    from cutaway.cli.fixes import PlannedFix
    from cutaway.run import Run

__all__ = ["fix"]


def fix(
    run: RunText,
    *,
    action: Annotated[
        str, typer.Option(metavar="relabel|drop|reweight", help="What to do about the accepted samples.")
    ] = "relabel",
    precision: Annotated[
        float, typer.Option(metavar="PROBABILITY", help="Change only what is at least so likely right.")
    ] = 0.9,
    subset: Annotated[
        list[str] | None,
        typer.Option("--subset", metavar="NAME", help="Whose labels to correct; training unless said. Repeatable."),
    ] = None,
    from_file: Annotated[
        str | None, typer.Option("--from", metavar="FILE.csv", help="Your own decisions: sample,action,label,weight.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="What to call the overlay; fix-1, fix-2, ...")
    ] = None,
    evaluation: Annotated[
        int | None, typer.Option(metavar="N", help="Which evaluation; the last finished one.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be corrected; write nothing.")] = False,
    retrain: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="Train again with the overlay, and measure the gain.")
    ] = None,
    repeats: Annotated[
        int, typer.Option(metavar="N", help="Train N times without and with it, under CUTAWAY_SEED 0 to N-1.")
    ] = 0,
    undo: Annotated[bool, typer.Option("--undo", help="Take back an overlay: --name, or the newest.")] = False,
    list_all: Annotated[bool, typer.Option("--list", help="Show the overlays of the run.")] = False,
    seed: Annotated[int, typer.Option(metavar="N", help="The seed of the analysis.")] = 0,
    as_json: AsJson = False,
) -> int:
    """Write the accepted corrections of a run as an overlay, which can be taken back; the data are never touched.

    Labels are corrected only where the calibrated scores of `mislabeled` vouch for it; samples are dropped where only
    the label's being wrong is as sure. What people decided stays as decided, and where no gain is expected nothing is
    changed. What a retraining bought is told over repeats only: one training each is not enough to tell. Ends with 1
    where a retraining fails, never reads the overlay, or clearly loses accuracy over repeats.

    \b
    cutaway fix mnist --dry-run                        what would be corrected
    cutaway fix mnist                                  write the overlay
    cutaway fix mnist --retrain "python train.py" --repeats 5   train without and with it, five seeds each
    cutaway fix mnist --retrain "python train.py"      train with it once, which gives no verdict
    cutaway fix mnist --from decided.csv               a person's decisions instead
    cutaway fix mnist --undo                           take the newest overlay back
    """
    from cutaway.cli.fix_pages import print_fix
    from cutaway.cli.fix_proving import prove
    from cutaway.cli.fixes import FixRequest, make_fix
    from cutaway.cli.output import Screen

    _refuse_contradictions(undo=undo, list_all=list_all, retrain=retrain, repeats=repeats, dry_run=dry_run)
    found = open_run(run)
    if list_all:
        return _list(found, as_json=as_json)
    if undo:
        return _undo(found, name, as_json=as_json)
    asked = FixRequest(action, precision, tuple(subset or ("training",)), from_file, name, evaluation, seed)
    made = make_fix(found, asked, write=not dry_run)
    proof = None
    if not as_json:
        print_fix(Screen(), made, dry_run=dry_run, retraining=retrain is not None)
    if retrain is not None and made.overlay is not None:
        proof = prove(made, retrain, repeats, lambda line: typer.echo(line, err=True))
    return _finish(made, proof, retrain or "", as_json=as_json)


def _refuse_contradictions(*, undo: bool, list_all: bool, retrain: str | None, repeats: int, dry_run: bool) -> None:
    if undo and (list_all or retrain is not None or dry_run):
        raise ConfigurationError(
            "`--undo` takes an overlay back and does nothing else.", hint="Call `cutaway fix` once more."
        )
    if dry_run and retrain is not None:
        raise ConfigurationError(
            "`--dry-run` writes no overlay, so there is none to retrain with.", hint="Leave one out."
        )
    if repeats < 0:
        raise ConfigurationError(f"`--repeats >= 0` must hold, but got --repeats {repeats}.")
    if repeats and retrain is None:
        raise ConfigurationError("`--repeats` says how often to retrain.", hint="Give the command with `--retrain`.")


def _finish(made: PlannedFix, proof: Proof | None, command: str, *, as_json: bool) -> int:
    from cutaway.cli.fix_pages import fix_object, print_proof
    from cutaway.cli.output import Screen, emit_json, error_object, print_error
    from cutaway.cli.words import printable

    failed = proof is not None and bool(proof.failure)
    if as_json:
        told: dict[str, Any] = fix_object(made, proof)
        if proof is not None and failed:
            told = {
                **error_object(proof.failure, proof.hint, proof.code, FAILED_EXIT),
                "lines": list(proof.lines),
                **told,
            }
        emit_json(told)
    if proof is not None and failed:
        print_error(proof.failure, proof.hint)
        for line in proof.lines:
            typer.echo(f"  {printable(line)}", err=True)
        return FAILED_EXIT
    if proof is not None and not as_json:
        print_proof(Screen(), made, proof, command)
    return FAILED_EXIT if proof is not None and proof.measured is not None and proof.measured.is_loss else 0


def _list(run: Run, *, as_json: bool) -> int:
    from cutaway.cli.fix_pages import overlay_object, print_overlays
    from cutaway.cli.output import Screen, emit_json
    from cutaway.run.overlays import overlays, undone_overlays

    there, undone = overlays(run), undone_overlays(run)
    if as_json:
        emit_json(
            {"overlays": [overlay_object(one) for one in there], "undone": [overlay_object(one) for one in undone]}
        )
    else:
        print_overlays(Screen(), run, there, undone)
    return 0


def _undo(run: Run, name: str | None, *, as_json: bool) -> int:
    from cutaway.cli.fix_pages import overlay_object
    from cutaway.cli.output import Screen, emit_json
    from cutaway.run.layout import UNDONE_OVERLAYS
    from cutaway.run.overlays import overlays, undo_overlay

    taken = undo_overlay(run, name)
    left = [one.name for one in overlays(run)]
    aside = shown_path(run.path / UNDONE_OVERLAYS / f"{taken.name}.parquet")
    if as_json:
        emit_json({"undone": overlay_object(taken), "kept_in": aside, "overlays": left})
        return 0
    now = f"The newest is {left[-1]} again." if left else "The run has none now: the labels are those of the data."
    Screen().line(f"The overlay {taken.name} is taken back. {now} It is kept in {aside}.")
    return 0
