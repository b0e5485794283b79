"""The commands, assembled. A new command or group is one file of its own and one line here."""

from __future__ import annotations

from typing import Annotated

import typer

from cutaway import __version__
from cutaway.cli import demo, runs, tensors

__all__ = ["app"]

app = typer.Typer(
    name="cutaway",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(
    invoke_without_command=True,
    epilog="Start with `cutaway demo`. RUN is a folder, a run's name, or the unique beginning of one.",
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


app.command("demo")(demo.demo)
app.add_typer(runs.app, name="runs")
app.command("tensors")(tensors.tensors)
