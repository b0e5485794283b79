"""`cutaway analyze`: what a model sees in the samples of an evaluation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cutaway.errors import ConfigurationError, did_you_mean

if TYPE_CHECKING:
    from cutaway.analysis import Population
    from cutaway.cli.answering import Asked

__all__ = ["QUESTIONS", "analyze"]

# Which options belong to which question; the others are for all.
QUESTIONS = {
    "map": ("method", "color", "size", "balance_by", "count"),
    "similar": ("sample", "k", "region", "input_file"),
    "heatmap": ("sample", "method", "target", "loss", "baseline", "sanity"),
    "clusters": ("method", "count"),
    "distances": ("sample",),
    "units": ("sample", "top"),
    "curve": ("x", "y", "by", "bins"),
    "confusion": ("by",),
    "batches": (),
    "mislabeled": (),
    "ambiguous": (),
    "duplicates": (),
    "leakage": (),
    "outliers": (),
    "to-label": ("method", "count"),
    "insights": (),
    "compare": ("other",),
}
# Options whose names are no names in Python.
_SHOWN = {"input_file": "input", "other": "with"}
_Text = str | None


def analyze(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run with an evaluation: its folder, name or beginning.")],
    what: Annotated[
        str | None,
        typer.Argument(metavar="[WHAT]", help=f"One of {', '.join(QUESTIONS)}; by default all that applies."),
    ] = None,
    *,
    evaluation: Annotated[int | None, typer.Option(metavar="N", help="Which evaluation; by default the last.")] = None,
    subset: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this subset; give it again for more.")
    ] = None,
    space: Annotated[_Text, typer.Option(metavar="NAME", help="A latent space of the evaluation.")] = None,
    layer: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Take this layer as the latent space, several joined; of a heat map: by it."),
    ] = None,
    prediction: Annotated[
        _Text, typer.Option(metavar="NAME", help="Which prediction, of a model with several.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="CONDITION", help="Only samples such as 'label = 4' or 'loss > 1.5'; again for more."),
    ] = None,
    sample: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="similar, heatmap, distances, units: about this sample.")
    ] = None,
    method: Annotated[
        _Text,
        typer.Option(
            metavar="NAME",
            help="map: umap, tsne, pca. clusters: hdbscan, kmeans. heatmap: grad_cam, layer_cam, integrated_gradients, "
            "input_gradient, occlusion, rise. to-label: mix, coreset, uncertainty.",
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", "--k", metavar="N", min=1, help="similar: how many.")] = 20,
    region: Annotated[
        _Text, typer.Option(metavar="X,Y,X,Y", help="similar: to the samples in this box, or polygon, of the map.")
    ] = None,
    input_file: Annotated[
        _Text, typer.Option("--input", metavar="FILE.npy", help="similar: to a new input, as the encoder gives one.")
    ] = None,
    target: Annotated[
        list[str] | None, typer.Option(metavar="CLASS", help="heatmap: of this class; again for more.")
    ] = None,
    loss: Annotated[bool, typer.Option("--loss", help="heatmap: what raises and lowers the loss.")] = False,
    baseline: Annotated[
        _Text, typer.Option(metavar="NAME", help="heatmap: what a place holds when taken away: zero, mean, blur.")
    ] = None,
    sanity: Annotated[
        bool, typer.Option("--sanity/--no-sanity", help="heatmap: compare with random maps, which takes longer.")
    ] = True,
    color: Annotated[_Text, typer.Option(metavar="COLUMN", help="map: colour by it; by default the label.")] = None,
    size: Annotated[_Text, typer.Option(metavar="COLUMN", help="map: size by it; by default the loss.")] = None,
    balance_by: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="map: as many samples of each value; needs --count.")
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="map, to-label: so many samples. clusters: how many, for kmeans."),
    ] = None,
    x: Annotated[_Text, typer.Option(metavar="COLUMN", help="curve: along this column.")] = None,
    y: Annotated[_Text, typer.Option(metavar="COLUMN", help="curve: of this column; by default the loss.")] = None,
    by: Annotated[_Text, typer.Option(metavar="COLUMN", help="curve, confusion: split by this column.")] = None,
    bins: Annotated[int, typer.Option(metavar="N", min=1, help="curve: in so many bins.")] = 10,
    top: Annotated[int, typer.Option(metavar="N", min=1, help="units: so many samples and classes of each.")] = 10,
    binding: Annotated[
        _Text, typer.Option(metavar="BINDING", help="The data set, where the run's own is elsewhere.")
    ] = None,
    model: Annotated[_Text, typer.Option(metavar="MODEL", help="The model, where the run's own is elsewhere.")] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Open the model here, without limits: only for files that you made.")
    ] = False,
    other: Annotated[
        _Text, typer.Option("--with", metavar="RUN|MODEL", help="compare: with this run or model, on the same samples.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Whatever is drawn at random repeats with it.")] = 0,
    device: Annotated[_Text, typer.Option(metavar="cpu|cuda", help="Where maps are made; by default the GPU.")] = None,
    out: Annotated[
        _Text,
        typer.Option(metavar="DIR", help="Write every table as CSV and Parquet and every figure as PNG and HTML."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Show what the model sees, which samples to fix, and what is systematically wrong.

    Reads what `cutaway evaluate` wrote. Without WHAT everything that applies is computed and kept in the run, so that
    the same command after a kill goes on; what does not apply is listed with the reason.

    \b
    cutaway analyze mnist                                             all that applies
    cutaway analyze mnist map --subset validation --out maps          the validation map as PNG and HTML
    cutaway analyze mnist similar --sample validation/115 -k 20       the 20 nearest to one sample
    cutaway analyze mnist similar --sample test/4 --where 'label = 9' nearest among the nines
    cutaway analyze mnist heatmap --sample test/4 --target 4 --target 9 --out maps
    cutaway analyze mnist curve --x metadata.distance --by label      loss against a metadata column
    cutaway analyze mnist mislabeled --out labels                     which labels are likely wrong, with pictures
    cutaway analyze mnist insights                                    what the errors have in common, and what to do
    cutaway analyze mnist compare --with mnist-2                      flips for better and worse between two runs
    """
    from cutaway.cli.answering import Asked

    asked = Asked(
        what=what, where=tuple(where or ()), samples=tuple(sample or ()), method=method, k=k, region=region,
        input_file=input_file, targets=tuple(target or ()), layers=tuple(layer or ()), loss=loss,
        baseline=baseline, sanity=sanity,
        color=color, size=size, balance_by=tuple(balance_by or ()), count=count, x=x, y=y, by=by, bins=bins, top=top,
        seed=seed, device=device, other=other,
    )  # fmt: skip
    _refuse_strangers(asked)
    opening = {
        "evaluation": evaluation, "subsets": subset or None, "space": space, "prediction": prediction, "model": model,
        "trust": trust,
    }  # fmt: skip
    with _population(run, asked, binding, opening) as population:
        return _answered(population, asked, out, as_json=as_json)


def _answered(population: Population, asked: Asked, out: str | None, *, as_json: bool) -> int:
    from cutaway.cli.analyze_answers import answers
    from cutaway.cli.analyze_pages import answers_object, print_answer, print_begin, print_end, save_answer
    from cutaway.cli.output import Screen, emit_json
    from cutaway.cli.progress import shown_progress

    screen = Screen()
    found, files = [], []
    if not as_json:
        print_begin(screen, population)
    with shown_progress("analyze") as progress:
        for answer in answers(population, asked, progress):
            written, unsaid = ([], []) if out is None else save_answer(answer, out)
            files += written
            found.append(replace(answer, notes=(*answer.notes, *unsaid)))
            if not as_json:
                print_answer(screen, found[-1])
    if as_json:
        emit_json(answers_object(population, found, files))
    else:
        print_end(screen, population, asked.what, files)
    return 0


def _population(run: str, asked: Asked, binding: str | None, opening: dict[str, Any]) -> Population:
    from cutaway.analysis import Population
    from cutaway.cli.opening import open_run
    from cutaway.cli.progress import shown_progress
    from cutaway.dataset import load_entry

    with shown_progress("analyze") as progress:
        return Population.open(
            open_run(run),
            # The layers of a heat map are the map's own.
            layers=() if asked.what == "heatmap" else asked.layers,
            dataset=None if binding is None else load_entry(binding).dataset(),
            progress=progress,
            **opening,
        )


def _refuse_strangers(asked: Asked) -> None:
    """Refuse a question that there is not, and options that belong to another one."""
    if asked.what is not None and asked.what not in QUESTIONS:
        raise ConfigurationError(
            f"There is no analysis {asked.what!r}.",
            hint=f"{did_you_mean(asked.what, QUESTIONS)} There are {', '.join(QUESTIONS)}.",
        )
    own = QUESTIONS[asked.what] if asked.what is not None else ()
    for option, questions in _by_option().items():
        if option not in own and _is_given(asked, option):
            shown = _SHOWN.get(option, option.replace("_", "-"))
            raise ConfigurationError(f"`--{shown}` is for {' and '.join(questions)}: put that after the run.")


def _by_option() -> dict[str, list[str]]:
    options = dict.fromkeys(option for owned in QUESTIONS.values() for option in owned)
    return {option: [what for what, owned in QUESTIONS.items() if option in owned] for option in options}


def _is_given(asked: Asked, option: str) -> bool:
    from cutaway.cli.answering import Asked

    field: dict[str, Any] = {"sample": "samples", "target": "targets"}
    name = field.get(option, option)
    return bool(getattr(asked, name) != getattr(Asked(), name))
