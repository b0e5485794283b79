"""`cutaway evaluate`: a model over every sample of a data set."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from cutaway.cli.options import FAILED_EXIT, AsJson, Subsets, Trust, open_run
from cutaway.errors import ConfigurationError, RunNotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cutaway.dataset import Dataset
    from cutaway.evaluation.subject import Subject
    from cutaway.run import Run

__all__ = ["evaluate"]


def evaluate(
    binding: Annotated[
        str,
        typer.Argument(metavar="BINDING", help="A Python file that binds a data set, a leap.yaml, or their folder."),
    ],
    model: Annotated[
        str | None,
        typer.Argument(metavar="[MODEL]", help="A model file or SavedModel folder; by default the binding's own."),
    ] = None,
    *,
    into: Annotated[
        str | None, typer.Option(metavar="RUN", help="The run to write to; by default a new one of its own.")
    ] = None,
    epoch: Annotated[int | None, typer.Option(metavar="N", help="The epoch that the model is of.")] = None,
    batch_size: Annotated[int, typer.Option(metavar="N", min=1, help="How many samples the model gets at once.")] = 64,
    workers: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="How many threads encode samples; by default one a core, 4.")
    ] = None,
    on_error: Annotated[
        str, typer.Option(metavar="skip|fail", help="Go past a sample that fails, or stop there.")
    ] = "skip",
    subset: Subsets = None,
    layer: Annotated[
        str | None, typer.Option(metavar="NAME", help="The layer of the latent space; by default what enters the head.")
    ] = None,
    trust: Trust = False,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="S", min=0.01, help="Seconds for one sample's encoders, and for one batch of the model."),
    ] = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="Begin anew, also where the same evaluation is unfinished.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Evaluate a model on every sample: predictions, loss, metrics, metadata, latent vectors and previews.

    One row a sample goes into the run, also for those that fail: their row says why. When it is stopped or killed,
    what was done is kept; the same command goes on from there. Ends with 1 when every sample failed.

    \b
    cutaway evaluate my_binding.py model.onnx                  into a new run
    cutaway evaluate . model.keras --into mnist --epoch 12     into the run that trained it
    cutaway evaluate . model.onnx --subset test                one subset only
    cutaway evaluate . --on-error fail                         the binding's own model; stop at the first bad sample
    """
    from cutaway.cli.evaluate_pages import evaluation_object, print_begin, print_end
    from cutaway.cli.output import Screen, emit_json
    from cutaway.cli.progress import shown_progress
    from cutaway.dataset.printed import captured_prints
    from cutaway.evaluation import evaluate as evaluate_all
    from cutaway.evaluation.evaluate import SAMPLE_SECONDS

    screen, notes = Screen(), Screen(stderr=True)
    run = _run(into)
    with captured_prints() as prints:
        dataset, subject = _open_binding(binding, model, trust=trust, timeout=timeout)
        print_begin(notes, dataset, subject)
        with _said_when_stopped(), shown_progress("evaluate") as progress:
            found = evaluate_all(
                dataset,
                subject,
                run,
                epoch=epoch,
                batch_size=batch_size,
                workers=workers,
                on_error=_policy(on_error),
                latent_layer=layer,
                subsets=subset or None,
                progress=progress,
                resume=not restart,
                sample_timeout=SAMPLE_SECONDS if timeout is None else timeout,
            )
    if as_json:
        emit_json(evaluation_object(found))
    else:
        print_end(screen, found, printed=len(str(prints).splitlines()))
    sizes = found.source.subsets.values()
    return FAILED_EXIT if all(one.failed == one.samples for one in sizes) else 0


def _open_binding(binding: str, model: str | None, *, trust: bool, timeout: float | None) -> tuple[Dataset, Subject]:
    from cutaway.dataset import load_entry
    from cutaway.evaluation.subject import open_subject
    from cutaway.models import Limits

    dataset = load_entry(binding).dataset()
    limits = None if timeout is None else Limits(seconds=timeout)
    return dataset, open_subject(model, dataset, trust=trust, limits=limits)


@contextmanager
def _said_when_stopped() -> Iterator[None]:
    """Say on Ctrl-C that nothing is lost."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("Stopped. What was done is kept; the same command goes on from there.", err=True)
        raise


def _run(into: str | None) -> Run | None:
    try:
        return None if into is None else open_run(into)
    except RunNotFound as error:
        # A mistyped name must not become a run of its own.
        error.hint += " `--into` takes a run that is there; leave it out for a new one."
        raise


def _policy(text: str) -> Literal["skip", "fail"]:
    if text not in ("skip", "fail"):
        raise ConfigurationError(f"`--on-error` must be skip or fail, but got {text!r}.")
    return cast("Literal['skip', 'fail']", text)
