"""Steering: what was asked of the training of a run, and asking it from the page."""

from __future__ import annotations

from cutaway.errors import ConfigurationError
from cutaway.run.asking import TrainingHolder, WantedAction, ask_training, checked_arguments, look_at_training
from cutaway.run.control import Reply, Request, history
from cutaway.run.identity import Run
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.answers.plain import number_or_none, plain, text
from cutaway.studio.wire.life import LeftRequest, NewRequest, RequestRow

__all__ = ["ask_for", "request_row", "requests_of"]

WHO = "studio"


def requests_of(run: Run) -> list[RequestRow]:
    """Return what was asked of the training, the newest first; messages to people travel the same way, and stay out."""
    return [request_row(one, reply) for one, reply in reversed(history(run.storage)) if one.role == "train"]


def request_row(request: Request, reply: Reply | None) -> RequestRow:
    """Return a request as a row."""
    done = reply is not None and reply.state in ("done", "refused")
    return RequestRow(
        id=text(request.id),
        action=text(request.action),
        arguments=plain(request.arguments),
        who=text(request.who),
        why=text(request.why),
        time=number_or_none(request.time),
        state=reply.state if reply is not None and done else "waiting",
        reason="" if reply is None else text(reply.reason),
        step=reply.step if reply is not None and isinstance(reply.step, int) and reply.step >= 0 else None,
        answered=None if reply is None else number_or_none(reply.time),
    )


def ask_for(run: Run, wanted: NewRequest) -> LeftRequest:
    """Leave a request for the training of a run; refused at once where it cannot be carried out.

    An id that was asked before is answered with what became of it, also where the training has ended since.
    """
    arguments = checked_arguments(wanted.action, wanted.arguments)
    for name, value in arguments.items():
        if not value > 0:
            # From a command line it may be meant; a field that was left empty or cut short is not.
            raise ConfigurationError(f"`{name} > 0` must hold, but got {name}={value:g}.")
    known = _asked_before(run, wanted.id)
    if known is not None:
        return LeftRequest(request=known, new=False)
    training = look_at_training(run)
    _refuse(run, training, wanted.action)
    asked = WantedAction(wanted.action, arguments, who=WHO, why=wanted.why)
    request, new = ask_training(run, training, asked, wanted.id)
    known = None if new else _asked_before(run, wanted.id)
    return LeftRequest(request=known or request_row(request, None), new=new)


def _refuse(run: Run, training: TrainingHolder, action: str) -> None:
    if not training.runs:
        said = f"The training of run {run.name!r} is not running: it is {training.state}."
        raise Refusal(409, "not-running", said, "Only a running training can be asked for something.")
    if action == "resume" and not training.paused:
        raise Refusal(409, "not-paused", f"The training of run {run.name!r} is not paused.", "It goes on by itself.")
    if action == "pause" and training.paused:
        said = f"The training of run {run.name!r} is paused already."
        raise Refusal(409, "paused-already", said, "Ask it to resume, or to stop.")


def _asked_before(run: Run, wanted: str | None) -> RequestRow | None:
    if wanted is None:
        return None
    both = history(run.storage)
    return next((request_row(one, reply) for one, reply in both if one.id == wanted and one.role == "train"), None)
