"""`cutaway runs`: list, show, compare, measure, annotate and remove run folders."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cutaway.cli.options import AsJson, RunText, open_run, shown_path
from cutaway.errors import ConfigurationError, RunLocked

if TYPE_CHECKING:
    from cutaway.run import Run
    from cutaway.run.annotations import Annotations

__all__ = ["app"]

app = typer.Typer(help="List, show, compare, measure, annotate and remove runs.", no_args_is_help=False)

Root = Annotated[
    Path | None,
    typer.Argument(
        metavar="ROOT", help="The folder of runs; by default `runs`, here or under CUTAWAY_HOME.", show_default=False
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@app.callback(invoke_without_command=True)
def runs(context: typer.Context) -> None:
    """List, show, compare, measure, annotate and remove runs."""
    if context.invoked_subcommand is None:
        list_runs()


@app.command("list", short_help="List the runs of a folder, the newest first.")
def list_runs(
    root: Root = None,
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", help="How many of the newest; 0 for all.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the runs of a folder, the newest first: state, age, steps and how the loss went."""
    from cutaway.cli.output import emit_json
    from cutaway.cli.run_facts import list_facts
    from cutaway.cli.run_pages import print_list, print_no_runs

    _not_negative("--limit", limit)
    folder = _folder(root)
    found = _catalog(root)
    facts = list_facts(found[:limit] if limit else found)
    if as_json:
        emit_json({"root": shown_path(folder), "total": len(found), "runs": facts})
    elif found:
        print_list(facts, total=len(found), root=shown_path(folder))
    else:
        print_no_runs(shown_path(folder))


@app.command(short_help="Show one run on one page.")
def show(
    run: RunText,
    *,
    verify: Annotated[bool, typer.Option("--verify", help="Read every byte and check it against its sum.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show one run: who made it, what became of it, what it holds, and what was found wrong.

    Damage that is met on the way is named; `--verify` looks for all of it.
    """
    from cutaway.cli.output import emit_json
    from cutaway.cli.run_facts import show_facts
    from cutaway.cli.run_pages import print_show

    facts = show_facts(open_run(run), verify=verify)
    if as_json:
        emit_json(facts)
    else:
        print_show(facts)


@app.command(short_help="Show what differs between runs.")
def compare(
    runs: Annotated[list[str], typer.Argument(metavar="RUN", help="Two or more runs.")],
    *,
    everything: Annotated[bool, typer.Option("--all", help="Show what is equal, too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare runs: what was set differently, and where the scalars ended."""
    from cutaway.cli.output import emit_json
    from cutaway.cli.run_facts import compare_runs
    from cutaway.cli.run_pages import print_compare

    if len(runs) < 2:
        raise ConfigurationError(
            f"Comparing takes at least two runs, but got {len(runs)}.", hint="`cutaway runs list` has more."
        )
    compared = compare_runs([open_run(text) for text in runs])
    if as_json:
        emit_json(compared.to_dict())
    else:
        print_compare(compared, everything=everything)


@app.command()
def size(run: RunText, *, as_json: AsJson = False) -> None:
    """Say how many bytes each part of a run takes."""
    from cutaway.cli.output import emit_json
    from cutaway.cli.run_pages import print_size
    from cutaway.run import run_sizes

    found = open_run(run)
    parts = run_sizes(found)
    if as_json:
        emit_json({"name": found.name, "path": shown_path(found.path), "bytes": sum(parts.values()), "parts": parts})
    else:
        print_size(found.name, parts)


@app.command(short_help="Put tags on a run, or take them off.")
def tag(
    run: RunText,
    tags: Annotated[list[str], typer.Argument(metavar="TAG", help="One or more tags.")],
    *,
    remove: Annotated[bool, typer.Option("--remove", help="Take these tags off.")] = False,
    as_json: AsJson = False,
) -> None:
    """Put tags on a run after those that it has, or take them off; `runs show` and the studio show them."""
    from cutaway.run.annotations import annotate, read_annotations, tidy_tags

    found = open_run(run)
    given, there = tidy_tags(tags), read_annotations(found).tags
    left = [one for one in there if one not in given]
    _tell_annotations(found, annotate(found, tags=left if remove else [*there, *given]), as_json=as_json)


@app.command(short_help="Write a note about a run.")
def note(
    run: RunText,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The whole note; an empty one removes it.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Write a note about a run in place of the one that it has; `runs show` and the studio show it."""
    from cutaway.run.annotations import annotate

    found = open_run(run)
    _tell_annotations(found, annotate(found, note=text), as_json=as_json)


@app.command(short_help="Remove all but the newest runs of a folder.")
def prune(
    root: Root = None,
    *,
    keep: Annotated[int, typer.Option("--keep", help="How many of the newest stay.")],
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Remove all but the newest runs of a folder; one that is being written always stays."""
    from cutaway.run.catalog import run_states

    _not_negative("--keep", keep)
    older = _catalog(root)[keep:]
    old = [run for run, state in zip(older, run_states(older), strict=True) if state.has_ended]
    _remove(old, yes=yes, as_json=as_json)


@app.command()
def rm(run: RunText, *, yes: Yes = False, as_json: AsJson = False) -> None:
    """Remove one run."""
    found = open_run(run)
    if not found.state().has_ended:
        raise RunLocked(shown_path(found.path), "train", "worker_0", "a live training")
    _remove([found], yes=yes, as_json=as_json)


def _tell_annotations(run: Run, written: Annotations, *, as_json: bool) -> None:
    """Say what is written about a run now."""
    from cutaway.cli.output import emit_json
    from cutaway.cli.run_facts import annotations_object
    from cutaway.cli.run_pages import print_annotations

    if as_json:
        emit_json({"name": run.name, "path": shown_path(run.path), **annotations_object(written)})
    else:
        print_annotations(run.name, written.tags, written.note)


def _not_negative(option: str, value: int) -> None:
    if value < 0:
        raise ConfigurationError(
            f"`{option} >= 0` must hold, but got {option} {value}.", hint="`cutaway runs --help` says more."
        )


def _folder(root: Path | None) -> Path:
    from cutaway.run import runs_folder

    return runs_folder() if root is None else root.expanduser()


def _catalog(root: Path | None) -> list[Run]:
    """Return the runs of a folder. One that was named must exist; the default one appears with the first run."""
    from cutaway.run import list_runs as runs_in
    from cutaway.run.layout import is_run

    folder = _folder(root)
    if root is not None and not folder.is_dir():
        raise ConfigurationError(
            f"No folder {str(root)!r}.", hint=f"`cutaway runs list` without one lists `{_folder(None)}`.", path=root
        )
    if root is not None and is_run(folder):
        raise ConfigurationError(
            f"{str(root)!r} is itself a run.", hint=f"`cutaway runs show {root}` shows it.", path=root
        )
    return runs_in(folder)


def _remove(runs: list[Run], *, yes: bool, as_json: bool) -> None:
    """Remove runs after asking; without a terminal to ask in, only with --yes."""
    from cutaway.cli.output import emit_json
    from cutaway.cli.run_pages import print_removal
    from cutaway.run import remove_run, run_sizes

    sizes = {run.path: sum(run_sizes(run).values()) for run in runs}
    if not as_json:
        print_removal([(run.name, sizes[run.path]) for run in runs])
    if runs and not yes:
        if as_json or not sys.stdin.isatty():
            raise ConfigurationError("Nothing was removed.", hint=f"Add `--yes` to remove {_these(len(runs))}.")
        if not typer.confirm(f"Remove {_these(len(runs))} for good?"):
            typer.echo("Nothing was removed.", err=True)
            return
    for run in runs:
        remove_run(run)
    if as_json:
        emit_json({"removed": [shown_path(run.path) for run in runs], "bytes": sum(sizes.values())})
    elif runs:
        typer.echo(f"Removed {_these(len(runs)).removeprefix('these ')}.", err=True)


def _these(number: int) -> str:
    return "this run" if number == 1 else f"these {number} runs"
