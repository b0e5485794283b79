"""The commands, assembled. A new command or group is one file of its own and one line here."""

from __future__ import annotations

from typing import Annotated

import typer

from cutaway import __version__
from cutaway.cli import analyze, check, control, demo, evaluate, fix, report, runs, studio, tensors, test, watch

__all__ = ["app"]

app = typer.Typer(
    name="cutaway",
    add_completion=False,
    # Plain help: it reads the same in a terminal, a log and the documentation, and costs no rendering.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(
    invoke_without_command=True,
    epilog=(
        "Start with `cutaway demo`. Where a command takes a RUN, give its folder, its name, or the unique beginning of "
        "its name. Every command has --help, and all but studio have --json."
    ),
)
def options(
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    # Taken out of the line before it comes here; it stands here for the help.
    debug: Annotated[bool, typer.Option("--debug", help="Show where in the code an error arose.")] = False,  # noqa: ARG001
) -> None:
    """See inside deep-learning models: what every tensor did at every step, and which samples it saw."""
    if version:
        print(f"cutaway {__version__}")
        raise typer.Exit


app.command("demo", short_help="Train a small network here and tell what was seen.")(demo.demo)
app.add_typer(runs.app, name="runs")
app.command("control", short_help="Ask a running training to stop, pause, save or change.")(control.control)
app.command("tensors", short_help="Show what every tensor of a run did, also live.")(tensors.tensors)
app.command("check", short_help="Try a binding, and a model with it, before using them.")(check.check)
app.command("evaluate", short_help="Evaluate a model on every sample of a data set.")(evaluate.evaluate)
app.command(
    "analyze", cls=analyze.AnalyzeCommand, short_help="Show what a model sees in the samples of an evaluation."
)(analyze.analyze)
app.command("test", short_help="Say whether a model reaches what was asked of it, slice by slice.")(test.judge)
app.command("fix", short_help="Correct labels beside the data, retrain, and say what it bought.")(fix.fix)
app.command("report", short_help="Write what is known about a run as one page.")(report.report)
app.command("watch", short_help="Let rules look at a run, also live.")(watch.watch)
app.command("studio", short_help="Open the web page over your runs.")(studio.studio)
