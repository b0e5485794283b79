"""Writes the reference of every command, from the typer app. Renders text and touches no file."""

from collections.abc import Iterator
from typing import Any

import typer

from cutaway.cli.app import app

__all__ = ["cli_page", "command_paths"]

_INTRODUCTION = """\
# Commands

Made from the program by `python -m scripts.make_reference`. `cutaway COMMAND --help` prints the same in a terminal.

RUN is a folder, the name of a run in `runs/`, or the unique beginning of such a name. Results go to standard output,
everything else to standard error. With `--json` the result is one JSON object; an error is one, too:
`{"ok": false, "error", "code", "hint", "status"}`.

| Exit code | Meaning |
|---|---|
| 0 | done |
| 1 | kept for commands that report findings at or above a severity |
| 2 | a wrong argument, or a run that cannot be read; the message says what to change |
| 3 | a fault in Cutaway; `--debug` shows where it arose |
| 130 | interrupted |
"""


def commands() -> Iterator[tuple[str, Any]]:
    """Yield every command with its full path, groups before their members."""
    yield from _walk("cutaway", typer.main.get_command(app))


def command_paths() -> list[str]:
    """The full paths of all commands."""
    return [path for path, _ in commands()]


def cli_page() -> str:
    """Return the whole page."""
    return "\n\n".join([_INTRODUCTION.strip(), *(_command(path, one) for path, one in commands())]) + "\n"


def _walk(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    # A command whose options are declared elsewhere is asked for the one that has them.
    yield path, command.with_options() if hasattr(command, "with_options") else command
    for name, inner in getattr(command, "commands", {}).items():
        yield from _walk(f"{path} {name}", inner)


def _command(path: str, command: Any) -> str:
    shown = [parameter for parameter in command.params if not getattr(parameter, "hidden", False)]
    arguments = [one for one in shown if one.param_type_name == "argument"]
    options = [one for one in shown if one.param_type_name == "option" and "--help" not in one.opts]
    usage = " ".join(
        [path, *(_placeholder(one) for one in arguments), *(["[OPTIONS]"] if options else []), *_commands_word(command)]
    )
    parts = [f"## `{path}`", f"```text\n{usage}\n```", (command.help or "").strip()]
    if shown_rows := [_row(one) for one in (*arguments, *options)]:
        parts.append("\n".join(["| Argument or option | |", "|---|---|", *shown_rows]))
    if command.epilog:
        parts.append(command.epilog.strip())
    return "\n\n".join(part for part in parts if part)


def _commands_word(command: Any) -> list[str]:
    return ["COMMAND"] if getattr(command, "commands", None) else []


def _placeholder(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _row(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        spelled = _placeholder(parameter)
    else:
        value = "" if getattr(parameter, "is_flag", False) else f" {parameter.name.upper()}"
        spelled = ", ".join(sorted(parameter.opts, key=len)) + value
    said = [(parameter.help or "").strip()]
    if parameter.param_type_name == "option" and parameter.required:
        said.append("Required.")
    elif parameter.default not in (None, False) and parameter.param_type_name == "option":
        said.append(f"Default: `{parameter.default}`.")
    return f"| `{spelled}` | {' '.join(word for word in said if word)} |"
