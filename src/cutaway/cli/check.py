"""`cutaway check`: whether a binding, and a model with it, can be used; if not, what to repair first."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Annotated

import typer

from cutaway.cli.options import FAILED_EXIT, AsJson, Trust

__all__ = ["check"]


def check(
    entry: Annotated[
        str | None,
        typer.Argument(metavar="[ENTRY]", help="A Python file, a leap.yaml, or a folder with either; by default here."),
    ] = None,
    *,
    model: Annotated[
        str | None, typer.Option(metavar="PATH", help="A model file; by default what the binding itself loads.")
    ] = None,
    samples: Annotated[
        int, typer.Option(metavar="N", min=1, help="On how many samples of each subset every function is called.")
    ] = 16,
    timeout: Annotated[
        float, typer.Option(metavar="S", min=0.01, help="How many seconds one call of a function may take.")
    ] = 10.0,
    scan: Annotated[
        float, typer.Option(metavar="S", min=0.0, help="For how many seconds samples are compared with each other.")
    ] = 3.0,
    seed: Annotated[int, typer.Option(metavar="N", help="Picks which samples are looked at.")] = 0,
    trust: Trust = False,
    prints: Annotated[bool, typer.Option("--prints", help="Show what the binding printed.")] = False,
    as_json: AsJson = False,
) -> int:
    """Try a binding before you use it: run preprocess and every function, and the model on what they give.

    Shapes, dtypes, NaN, ranges, labels, randomness, speed, leaks between subsets, class balance, and whether the model
    fits. Each failure comes with your file and line, the reason and the likely fix; what depends on a failed thing is
    skipped. Ends with 1 when something failed.

    \b
    cutaway check                                   the binding here: leap.yaml's entryFile
    cutaway check my/leap_binder.py                 this one
    cutaway check my --model my/model.onnx          and whether this model fits it
    cutaway check my --samples 200 --scan 60        look at more samples, compare for longer
    """
    from cutaway.cli.check_pages import print_page
    from cutaway.cli.output import Screen, emit_json
    from cutaway.evaluation.check import check as run_check

    with _waiting():
        report = run_check(entry, model, samples=samples, seed=seed, timeout=timeout, scan_seconds=scan, trust=trust)
    if as_json:
        emit_json(report.to_dict())
    else:
        print_page(Screen(), report, entry=entry, model=model, prints=prints)
    return 0 if report.ok else FAILED_EXIT


def _waiting() -> AbstractContextManager[object]:
    """Show in a terminal that something goes on: loading a model takes seconds."""
    from cutaway.cli.output import Screen

    screen = Screen(stderr=True)
    return screen.console.status("Checking") if screen.is_terminal else nullcontext()
