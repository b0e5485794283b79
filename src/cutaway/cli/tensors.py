"""`cutaway tensors`: what every tensor of a run did, live or afterwards."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from cutaway.cli.options import Follow, RunText, open_run
from cutaway.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cutaway.cli.output import Screen
    from cutaway.cli.tensor_view import Snapshot, TensorView

__all__ = ["tensors"]

REFRESH_SECONDS = 1.0
# A log gets a line no more often than this.
LOG_SECONDS = 10.0


def tensors(
    run: RunText,
    *,
    regex: Annotated[str | None, typer.Option(help="Only tensors whose name this finds anywhere.")] = None,
    collection: Annotated[str | None, typer.Option(help="Only tensors of this collection.")] = None,
    step: Annotated[int | None, typer.Option(help="The values at this step, instead of the last.")] = None,
    statistic: Annotated[str, typer.Option(help="The statistic that is drawn over the steps.")] = "l2",
    mode: Annotated[
        str | None, typer.Option(help="TRAIN, EVAL, PREDICT or GLOBAL; TRAIN where there are several.")
    ] = None,
    worker: Annotated[str | None, typer.Option(help="One of several workers; the first unless given.")] = None,
    follow: Follow = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object; with --follow one a line.")] = False,
) -> None:
    """Show the statistics of every tensor of a run, and how one of them went over the steps.

    Works while another process trains. NaN and infinities are counted apart, drawn as x, and said in red.

    \b
    cutaway tensors mnist                         the last step of every tensor
    cutaway tensors mnist --follow --regex conv   some tensors, while they train
    cutaway tensors mnist --statistic mean        another statistic over the steps
    cutaway tensors mnist --step 1200 --json      one step, for a program
    """
    from cutaway.cli.output import Screen, emit_json
    from cutaway.cli.tensor_pages import page
    from cutaway.cli.tensor_view import TensorQuery, TensorView

    if follow and step is not None:
        raise ConfigurationError("`--step` shows one step and `--follow` the newest: give one of them.")
    wanted = TensorQuery(regex=regex, collection=collection, step=step, mode=mode, worker=worker, statistic=statistic)
    view = TensorView(open_run(run), wanted)
    screen = Screen()
    if as_json and follow:
        for snapshot in snapshots(view):
            emit_json(snapshot.to_dict(), one_line=True)
        return
    snapshot = _follow(screen, view) if follow else view.look(str(view.run.state()))
    if as_json:
        emit_json(snapshot.to_dict())
        return
    for line in page(screen, snapshot):
        screen.console.print(line, soft_wrap=True)


def snapshots(view: TensorView) -> Iterator[Snapshot]:
    """Yield what there is whenever it has grown, until the run ends; the last one is complete."""
    state, seen = view.run.state(), -1
    snapshot = view.look(str(state))
    yield snapshot
    while not state.has_ended:
        time.sleep(REFRESH_SECONDS)
        if snapshot.last_step == seen:
            # Asked only when no step came: for a run on another machine the answer takes a lease's time.
            state = view.run.state()
        seen = -1 if snapshot.last_step is None else snapshot.last_step
        snapshot = view.look(str(state))
        if state.has_ended or snapshot.last_step not in (None, seen):
            yield snapshot


def _follow(screen: Screen, view: TensorView) -> Snapshot:
    """Show the page again and again in a terminal, or a line now and then elsewhere; return the last."""
    from cutaway.cli.tensor_pages import one_line, page

    if not screen.is_terminal:
        told = float("-inf")
        for snapshot in snapshots(view):
            if time.monotonic() - told >= LOG_SECONDS:
                typer.echo(one_line(snapshot), err=True)
                told = time.monotonic()
        return snapshot
    from rich.console import Group
    from rich.live import Live

    with Live(console=screen.console, auto_refresh=False, transient=True) as live:
        try:
            for snapshot in snapshots(view):
                live.update(Group(*page(screen, snapshot, height=screen.console.height)), refresh=True)
        except KeyboardInterrupt:
            # What was last seen stays on the screen; at the end of a training the whole page takes its place.
            live.transient = False
            raise
    return snapshot
