"""The worker itself: `python -m cutaway.studio.workers.serve`. Started by `process` only.

Answers one question after the other about one evaluation of one run, until the server closes its end. What users' code
prints is kept apart from the answers; what it raises becomes an answer.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from cutaway.dataset.printed import captured_prints
from cutaway.engine.child_side import begin_child
from cutaway.engine.crossing_errors import error_to
from cutaway.engine.messages import BadMessage, Ended, read_blocking, write_message
from cutaway.evaluation.progress import Progress
from cutaway.studio.workers.values import from_plain, to_plain

if TYPE_CHECKING:
    from cutaway.studio.workers.questions.latents import Latents
    from cutaway.studio.workers.questions.model import OpenedModel

__all__ = ["main"]

Question = Callable[[Mapping[str, Any]], Any]
# More often nobody could read it.
_TOLD_SECONDS = 0.2


class ProgressPipe:
    """Says what is being done, over the pipe that the answer will go through."""

    def __init__(self, answers: int) -> None:
        self._answers = answers
        self._last = 0.0

    def doing(self, words: str) -> None:
        """Say it in words, at once."""
        write_message(self._answers, {"doing": words})

    def __call__(self, progress: Progress) -> None:
        """Say how far something is, a few times a second."""
        now = time.monotonic()
        if now - self._last >= _TOLD_SECONDS:
            self._last = now
            stage = progress.stage or progress.what or progress.unit
            self.doing(f"{stage}: {progress.done:,} of {progress.total:,}")


def main(given: list[str]) -> None:
    """Answer the server until it closes its end."""
    requests, answers, lifeline = map(int, given[:3])
    lane, evaluation, run = given[3], int(given[4]), given[5]
    begin_child((requests, answers, lifeline), lifeline)
    telling = ProgressPipe(answers)
    asked = _questions_of_lane(lane, run, evaluation, telling)
    while True:
        try:
            request = read_blocking(requests)
        except Ended:
            return
        if asked.is_stale:
            # Gone before it was heard: the server asks a new one, which reads the files as they are now.
            return
        telling.doing("")
        _send(answers, _answer_to(asked.questions, request))


def _questions_of_lane(lane: str, run: str, evaluation: int, telling: ProgressPipe) -> Latents | OpenedModel:
    # Each imports much that the other does not need.
    if lane == "latents":
        from cutaway.studio.workers.questions.latents import Latents

        return Latents(run, evaluation)
    from cutaway.studio.workers.questions.model import OpenedModel

    return OpenedModel(run, evaluation, telling)


def _answer_to(asked: Mapping[str, Question], request: Mapping[str, Any]) -> dict[str, Any]:
    with captured_prints() as printed:
        try:
            value = asked[request["question"]](from_plain(request["arguments"]))
            answer = {"ok": True, "value": to_plain(value)}
        # Bindings raise anything, `sys.exit` included; the server tells it on.
        except (Exception, SystemExit) as error:  # noqa: BLE001
            traceback.print_exc()
            answer = {"ok": False, "error": error_to(error)}
    return {**answer, "printed": printed.text}


def _send(answers: int, answer: dict[str, Any]) -> None:
    try:
        write_message(answers, answer)
    except BadMessage as error:
        write_message(answers, {"ok": False, "error": error_to(error), "printed": ""})


if __name__ == "__main__":
    main(sys.argv[1:])
