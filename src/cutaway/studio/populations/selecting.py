"""Selections of samples under a name: kept in the run, counted in the evaluation that they are of."""

from __future__ import annotations

from cutaway.errors import CutawayError
from cutaway.run.identity import Run
from cutaway.run.selections import SampleSelection, drop_selection, find_selection, keep_selection, selections
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.populations import Loaded, Populations, derived
from cutaway.studio.populations.choosing import chosen_rows
from cutaway.studio.wire.population import NewSelection, Selected, SelectionRow

__all__ = ["drop_kept", "keep", "kept_rows", "kept_selection"]


def kept_rows(populations: Populations, run: Run) -> list[SelectionRow]:
    """Return the selections of a run, the newest first."""
    return [_row(populations, run, one) for one in selections(run).selections]


def keep(populations: Populations, run: Run, new: NewSelection) -> SelectionRow:
    """Keep a selection; refused where it does not fit its evaluation, so that none is kept that was never right."""
    loaded = populations.of_run(run, new.evaluation)
    chosen_rows(loaded, new.selected.where, new.selected.lasso, new.selected.samples)
    kept = keep_selection(
        run,
        SampleSelection(
            name=new.name,
            evaluation=loaded.number,
            where=tuple(new.selected.where),
            lasso=tuple((x, y) for x, y in new.selected.lasso),
            samples=tuple(new.selected.samples),
            note=new.note,
        ),
    )
    return _row(populations, run, kept)


def kept_selection(run: Run, name: str) -> SampleSelection:
    """Return a selection by its name; refused where there is none."""
    try:
        return find_selection(run, name)
    except CutawayError as error:
        said, _, hint = str(error).partition(". ")
        raise Refusal(404, "selection-unavailable", f"{said}.", hint) from None


def drop_kept(run: Run, name: str) -> None:
    """Remove a selection; refused where there is none."""
    drop_selection(run, kept_selection(run, name).name)


def _row(populations: Populations, run: Run, one: SampleSelection) -> SelectionRow:
    selected = Selected(where=list(one.where), lasso=[list(corner) for corner in one.lasso], samples=list(one.samples))
    return SelectionRow(
        name=one.name,
        evaluation=one.evaluation,
        selected=selected,
        note=one.note,
        count=_count(populations, run, one),
        created=one.created,
    )


def _count(populations: Populations, run: Run, one: SampleSelection) -> int | None:
    """Return how many samples a selection is now; None where its evaluation is gone, or it no longer fits."""
    try:
        loaded = populations.of_run(run, one.evaluation)
        return loaded.remembered(("count", one.name), (one, _stamp(loaded)), lambda: _counted(loaded, one))
    except (CutawayError, Refusal, OSError):
        return None


def _counted(loaded: Loaded, one: SampleSelection) -> int:
    return int(chosen_rows(loaded, one.where, one.lasso, one.samples).sum())


def _stamp(loaded: Loaded) -> tuple[object, ...]:
    """Return what changes when the same words may mean other samples."""
    return (loaded.kept_stamp("map"), *(loaded.column_stamp(name) for name in derived.COLUMNS))
