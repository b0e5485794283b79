"""`cutaway analyze`: what a model sees in the samples of an evaluation. Its options are those that analyses declare."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from cutaway.cli.options import AsJson, EvaluatedRun, Seed, Subsets, Trust, WhichEvaluation, open_run
from cutaway.errors import ConfigurationError

if TYPE_CHECKING:
    from cutaway.analysis import AnalysisResult, Population
    from cutaway.analysis.population.options import Option
    from cutaway.evaluation.progress import Listener

    # The options of analyses by their names, each with the analyses that declare it.
    _Owners = dict[str, list[tuple[str, Option]]]

__all__ = ["AnalyzeCommand", "analyze"]

# Options of the command that an analysis may declare as its own: they then say what it is asked, not of which samples.
SHARED = ("layer", "where")
_Text = str | None


def analyze() -> None:
    """Stand for the command in the list of all; `AnalyzeCommand` has the command itself."""


class AnalyzeCommand(TyperCommand):
    """`cutaway analyze`. Analyses are asked for their options when it is called: `cutaway --help` loads none."""

    def with_options(self) -> Any:
        """Return the command with the options of every analysis."""
        app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        app.command("analyze", context_settings={"help_option_names": ["-h", "--help"]})(_with_options())
        return typer.main.get_command(app)

    def make_context(self, *arguments: Any, **named: Any) -> Any:
        """Parse the line as that command."""
        return self.with_options().make_context(*arguments, **named)


def analyze_run(
    run: EvaluatedRun,
    what: Annotated[
        str | None, typer.Argument(metavar="[WHAT]", help="One analysis; by default all that applies.")
    ] = None,
    *,
    evaluation: WhichEvaluation = None,
    subset: Subsets = None,
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
    binding: Annotated[
        _Text, typer.Option(metavar="BINDING", help="The data set, where the run's own is elsewhere.")
    ] = None,
    model: Annotated[_Text, typer.Option(metavar="MODEL", help="The model, where the run's own is elsewhere.")] = None,
    trust: Trust = False,
    seed: Seed = 0,
    out: Annotated[
        _Text,
        typer.Option(metavar="DIR", help="Write every table as CSV and Parquet and every figure as PNG and HTML."),
    ] = None,
    as_json: AsJson = False,
    **options: Any,
) -> int:
    """Show what the model sees, which samples to fix, and what is systematically wrong.

    Reads what `cutaway evaluate` wrote. Without WHAT everything that applies is computed and kept in the run, so that
    the same command after a kill goes on; what does not apply is listed with the reason.

    \b
    cutaway analyze mnist                                             all that applies
    cutaway analyze mnist map --subset validation --out maps          the validation map as PNG and HTML
    cutaway analyze mnist similar --sample validation/115 -k 20       the 20 nearest to one sample
    cutaway analyze mnist similar --sample test/4 --where 'label = 9' nearest among the nines
    cutaway analyze mnist heat-maps --sample test/4 --target 4 --target 9 --out maps
    cutaway analyze mnist curve --x metadata.distance --by label      loss against a metadata column
    cutaway analyze mnist mislabeled --out labels                     which labels are likely wrong, with pictures
    cutaway analyze mnist insights                                    what the errors have in common, and what to do
    cutaway analyze mnist compare --with mnist-2                      flips for better and worse between two runs
    """
    from cutaway.analysis.population.names import name_of

    name = None if what is None else name_of(what)
    owners = _owners()
    declared = {one for one, found in owners.items() if any(owner == name for owner, _ in found)}
    values = {**options, "layer": layer, "where": where}
    asked = {one: value for one, value in values.items() if value not in (None, [], _default(owners[one]))}
    _refuse_strangers(owners, declared, asked)
    opening = {
        "evaluation": evaluation, "subsets": subset or None, "space": space, "prediction": prediction, "model": model,
        "trust": trust, "layers": () if "layer" in declared else tuple(layer or ()),
    }  # fmt: skip
    with _population(run, binding, opening) as population:
        chosen = population.where(*where) if where and "where" not in declared else population
        given = {one: value for one, value in asked.items() if one in declared}
        return _answered(chosen, name, given, seed, out, as_json=as_json)


def _answered(
    population: Population, name: str | None, given: Mapping[str, Any], seed: int, out: str | None, *, as_json: bool
) -> int:
    from cutaway.cli.analyze_pages import parts_object, print_begin, print_end, print_part, save_part
    from cutaway.cli.output import Screen, emit_json
    from cutaway.cli.progress import shown_progress

    screen = Screen()
    found, files = [], []
    if not as_json:
        print_begin(screen, population)
    with shown_progress("analyze") as progress:
        for part in _parts(population, name, given, seed, progress):
            written, undrawn = ([], []) if out is None else save_part(part, out)
            files += written
            found.append(replace(part, notes=(*part.notes, *undrawn)))
            if not as_json:
                print_part(screen, found[-1])
    if as_json:
        emit_json(parts_object(population, found, files))
    else:
        print_end(screen, population, name, files)
    return 0


def _parts(
    population: Population, name: str | None, given: Mapping[str, Any], seed: int, progress: Listener | None
) -> Iterator[AnalysisResult]:
    from cutaway.analysis.population import whole

    if name is not None:
        yield whole.answer(population, name, given, seed=seed, progress=progress)
        return
    for part in whole.analyze(population, seed=seed, progress=progress):
        yield replace(part, figures=whole.figures_of_part(population, part, seed=seed))


def _population(run: str, binding: str | None, opening: dict[str, Any]) -> Population:
    from cutaway.analysis import Population
    from cutaway.cli.progress import shown_progress
    from cutaway.dataset import load_entry

    with shown_progress("analyze") as progress:
        dataset = None if binding is None else load_entry(binding).dataset()
        return Population.open(open_run(run), dataset=dataset, progress=progress, **opening)


def _refuse_strangers(owners: _Owners, declared: set[str], asked: Mapping[str, Any]) -> None:
    """Refuse options that belong to another analysis."""
    from cutaway.analysis.population.names import command_name

    for name, found in owners.items():
        if name in asked and name not in (*declared, *SHARED):
            commands = " and ".join(command_name(owner) for owner, _ in found)
            raise ConfigurationError(f"`{found[0][1].flag}` is for {commands}: put that after the run.")


def _owners() -> _Owners:
    """Return the options that analyses declare, each with the names of those that do."""
    from cutaway.analysis.population.applicability import analyses
    from cutaway.analysis.population.options import options_of

    found: _Owners = {}
    for analysis in analyses():
        for one in options_of(analysis.options):
            found.setdefault(one.name, []).append((analysis.name, one))
    return found


def _default(owners: list[tuple[str, Option]]) -> Any:
    """Return what an option is where it is not given; None where analyses differ, or take several values."""
    defaults = [option.default for _, option in owners if not option.several]
    return defaults[0] if defaults and all(one == defaults[0] for one in defaults) else None


def _with_options() -> Callable[..., int]:
    """Return the command as a function whose parameters are its own options, and those of every analysis."""
    from cutaway.analysis.population.names import analysis_names, command_name

    def command(**given: Any) -> int:
        return analyze_run(**given)

    words = ", ".join(command_name(name) for name in analysis_names())
    about = typer.Argument(metavar="[WHAT]", help=f"One of {words}; by default all that applies.")
    own = [
        one.replace(annotation=Annotated[_Text, about]) if name == "what" else one
        for name, one in inspect.signature(analyze_run, eval_str=True).parameters.items()
        if one.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    known = {one.name for one in own}
    parameters = [*own, *(_parameter(name, owners, known) for name, owners in _owners().items() if name not in SHARED)]
    command.__doc__ = analyze_run.__doc__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


def _parameter(name: str, owners: list[tuple[str, Option]], known: set[str]) -> inspect.Parameter:
    """Return an option of the command: that of all analyses which declare it, its help saying what it is in each."""
    from cutaway.analysis.population.names import command_name

    first, one = owners[0]
    if name in known:
        raise ConfigurationError(f"The analysis {first!r} declares `{one.flag}`, which all analyses have already.")
    words: dict[str, list[str]] = {}
    for owner, option in owners:
        if (option.kind, option.several) != (one.kind, one.several):
            raise ConfigurationError(f"The analyses {first!r} and {owner!r} declare `{one.flag}` with different types.")
        words.setdefault(option.help, []).append(command_name(owner))
    text = " ".join(f"{', '.join(names)}: {about}" for about, names in words.items())
    flags = one.flags or ((one.flag,) if one.kind is bool and not one.default else ())
    about = typer.Option(*flags, metavar=one.metavar or None, min=one.least, help=text)
    kind: Any = list[one.kind] if one.several else one.kind  # type: ignore[name-defined]
    default = _default(owners)
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind if default is not None else kind | None, about],
    )
