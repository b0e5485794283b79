"""`cutaway control`: ask a running training to do something, and hear what became of it."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Annotated

import typer

from cutaway.cli.options import FAILED_EXIT, AsJson, RunText, command_run, open_run, shown_path, user_name
from cutaway.errors import ConfigurationError, RunError

if TYPE_CHECKING:
    from cutaway.run import Run
    from cutaway.run.control import Reply, Request

__all__ = ["control"]

POLL_SECONDS = 0.05
# How often it is asked whether anybody is left who could answer.
ALIVE_SECONDS = 1.0


def control(
    run: RunText,
    action: Annotated[
        str | None,
        typer.Argument(
            metavar="stop|pause|resume|checkpoint|dump|set",
            help="What to ask for; without it, what was asked so far.",
            show_default=False,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Argument(metavar="lr=VALUE|lr_factor=VALUE", help="What to set.", show_default=False),
    ] = None,
    *,
    why: Annotated[str, typer.Option(metavar="TEXT", help="The reason; the run keeps it.")] = "",
    wait: Annotated[float, typer.Option(metavar="SECONDS", help="How long to wait for the answer.")] = 10.0,
    as_json: AsJson = False,
) -> int:
    """Ask a running training to do something at the end of its current step, and print what became of it.

    Ends with 1 where the training refuses, and with 0 where no answer came in time: the request then waits.

    \b
    cutaway control mnist stop --why "the loss is NaN"   done when the loop reads `hook.should_stop`
    cutaway control mnist pause                          hold it at the end of a step, until `resume` or `stop`
    cutaway control mnist checkpoint                     call the function given to `hook.on_checkpoint`
    cutaway control mnist dump                           save every watched tensor of the next step in full
    cutaway control mnist set lr=0.001                   set the learning rate; lr_factor=0.5 multiplies it
    cutaway control mnist                                what was asked so far, and the answers
    """
    from cutaway.cli.control_pages import answer_words
    from cutaway.cli.output import emit_json

    arguments = _arguments(action, settings or [])
    if not 0 <= wait < math.inf:
        raise ConfigurationError(f"`--wait >= 0` must hold, but got --wait {wait}.")
    found = open_run(run)
    if action is None:
        return _list(found, as_json=as_json)
    request = _leave_request(found, action, arguments, why)
    try:
        outcome, reply = _wait(found, request, wait)
    except KeyboardInterrupt:
        typer.echo(f"The request waits. {_look_again(found)}", err=True)
        raise
    if as_json:
        about = {"path": shown_path(found.path), "request": vars(request), "answer": reply and vars(reply)}
        emit_json({"outcome": outcome, **about})
    elif reply is not None:
        print(answer_words(reply))
    elif outcome == "ended":
        print("The training ended before it answered.")
    else:
        print(f"No answer within {wait:g} s: the request waits for the end of a step. {_look_again(found)}")
    return FAILED_EXIT if outcome in ("refused", "ended") else 0


def _arguments(action: str | None, settings: list[str]) -> dict[str, float]:
    """Read what is asked for, and say what is wrong with it before anybody is asked."""
    from cutaway.run.asking import checked_arguments

    if action is None:
        return {}
    given = dict(setting.partition("=")[::2] for setting in settings)
    if len(given) < len(settings):
        raise ConfigurationError(f"`{action}` takes each setting once, but got {' '.join(settings)}.")
    return checked_arguments(action, given)


def _leave_request(run: Run, action: str, arguments: dict[str, float], why: str) -> Request:
    import socket

    from cutaway.run.asking import ask_training, look_at_training
    from cutaway.run.control import Request

    training = look_at_training(run)
    if not training.runs:
        raise RunError(
            f"The training of run {run.name!r} is not running: it is {training.state}.",
            hint=f"`cutaway runs show {command_run(run)}` says how it ended.",
        )
    who = f"{user_name('somebody')}@{socket.gethostname()}"
    return ask_training(run, training, Request(action, "train", who, why, arguments))[0]


def _wait(run: Run, request: Request, seconds: float) -> tuple[str, Reply | None]:
    """Wait for the answer: done, refused, delivered or waiting still, or ended where nobody is left to give it."""
    from cutaway.run.control import answer_to

    deadline = time.monotonic() + seconds
    next_look, ended = time.monotonic() + ALIVE_SECONDS, False
    while not _is_final(reply := answer_to(run.storage, request)) and not ended and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
        if time.monotonic() >= next_look:
            # Where it has ended, one more look for the answer: it may have come with the end.
            ended = run.state().has_ended
            next_look = time.monotonic() + ALIVE_SECONDS
    if reply is not None:
        return reply.state, reply
    return "ended" if ended else "waiting", None


def _is_final(reply: Reply | None) -> bool:
    """Whether more is not to come: what was delivered waits for the loop."""
    return reply is not None and reply.state != "delivered"


def _look_again(run: Run) -> str:
    return f"`cutaway control {command_run(run)}` shows what became of it."


def _list(run: Run, *, as_json: bool) -> int:
    """Show every request so far with its answer."""
    from cutaway.cli.control_pages import print_requests
    from cutaway.cli.output import emit_json
    from cutaway.run.asking import look_at_training
    from cutaway.run.control import history

    training = look_at_training(run)
    state, paused = training.state, training.paused
    # Messages that watchers send to people travel the same way.
    requests = [(one, reply) for one, reply in history(run.storage) if one.role == "train"]
    if as_json:
        about = {"name": run.name, "path": shown_path(run.path), "state": str(state), "paused": paused}
        emit_json({**about, "requests": [{**vars(one), "answer": reply and vars(reply)} for one, reply in requests]})
    else:
        print_requests(run.name, str(state), requests, paused=paused)
    return 0
