"""The `cutaway` command: how it starts, and the ways in which it can end. app.py puts its commands together.

Importing this loads neither typer nor anything heavy, and `cutaway --help` loads no numpy, pyarrow or framework: the
command files import what they need inside their functions.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from cutaway.errors import ConfigurationError, CutawayError

if TYPE_CHECKING:
    import typer

__all__ = ["INTERNAL", "INTERRUPTED", "PIPE_CLOSED", "USAGE", "main"]

# 1 is kept for commands that report findings at or above a severity.
USAGE = 2
INTERNAL = 3
INTERRUPTED = 130
PIPE_CLOSED = 141  # what a shell reports for a program whose reader went away


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    # Taken out here, so that it may stand anywhere in the line.
    debug = "--debug" in given
    words = [word for word in given if word != "--debug"] or ["--help"]
    _never_fail_on_a_character()
    try:
        return _run(words)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _forget_the_pipe()
        return PIPE_CLOSED
    except Exception as error:  # noqa: BLE001  # the last place where an unforeseen error can become words
        if debug:
            import traceback

            traceback.print_exception(error)
        return _print_error(error, as_json="--json" in words)


def _run(words: list[str]) -> int:
    """Parse and carry out one command; what typer itself ends with becomes an exit code or one of our errors."""
    import typer

    from cutaway.cli.app import app

    # Newer releases of typer carry their own copy of click: this is the root of usage errors in either.
    usage_error = cast("type[typer.BadParameter]", typer.BadParameter.__bases__[0])
    try:
        result = typer.main.get_command(app).main(args=words, prog_name="cutaway", standalone_mode=False)
    except typer.Abort:
        return INTERRUPTED
    except SystemExit:
        # Typer and rich end so when the reader of a pipe goes away; nothing of ours calls `sys.exit`.
        _forget_the_pipe()
        return PIPE_CLOSED
    except usage_error as error:
        raise _usage(error) from error
    return result if isinstance(result, int) else 0


def _usage(error: typer.BadParameter) -> ConfigurationError:
    path = error.ctx.command_path if error.ctx is not None else "cutaway"
    message = error.format_message().strip().rstrip(".")
    whole = message if message.endswith("?") else f"{message}."
    return ConfigurationError(whole, hint=f"`{path} --help` lists what it takes.", path=path)


def _print_error(error: Exception, *, as_json: bool) -> int:
    """Print an error for people, and as JSON where that was asked for; return the exit code."""
    from cutaway.cli.output import error_object, print_error

    label, status, message, hint = "Error", USAGE, str(error), ""
    if isinstance(error, CutawayError):
        message, hint = error.message, error.hint
    elif isinstance(error, OSError):
        message = f"{error.filename or 'The system'}: {error.strerror or error}."
    else:
        label, status = "Internal error", INTERNAL
        message = f"{type(error).__name__}: {error}."
        hint = "This is a fault in Cutaway; `--debug` shows where it arose."
    print_error(message, hint, label)
    if as_json:
        import json

        print(json.dumps(error_object(message, hint, type(error).__name__, status), indent=2))
    return status


def _never_fail_on_a_character() -> None:
    """Where the terminal's encoding lacks a character, print a question mark in its place."""
    import io

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _forget_the_pipe() -> None:
    """Keep the interpreter from complaining about the closed pipe when it flushes at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
