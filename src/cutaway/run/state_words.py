"""What the states of a run mean for the person who reads them, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from cutaway.run.command_words import shell_word
from cutaway.run.failure import TrainingFailure
from cutaway.run.identity import Run
from cutaway.run.leases import RunState, read_leases

__all__ = ["STOP_LINE", "RunWords", "run_words", "state_words", "stop_words"]

# What a loop that ends when it is asked to has in it.
STOP_LINE = "if hook.should_stop: break"


class RunWords(NamedTuple):
    """What became of a run in words, what comes next, who stopped its last attempt, and the exception that ended it.

    The last two are None where nobody did, and where none is known.
    """

    meaning: str
    following: str
    stopped_by: Mapping[str, Any] | None = None
    failure: TrainingFailure | None = None


def run_words(run: Run, state: RunState, path: str, last_step: int | None) -> RunWords:
    """Say what became of a run, whose folder a command takes as `path`."""
    holder, failure = _chief(run)
    words = state_words(state, path, last_step, holder)
    if run.identity.get("kind") == "evaluation":
        # Nobody trained here: there are no tensors to look at, and nothing to resume.
        words = RunWords("A run of evaluations only", "cutaway runs list")
    by = run.identity.get("stopped_by")
    # What an earlier attempt was stopped by no longer says how the run ended.
    last = isinstance(by, dict) and by.get("attempt") == holder.get("attempt")
    if failure is not None and state is RunState.FAILED:
        words = words._replace(meaning=f"{failure.headline}; {_upto(last_step)}", failure=failure)
    return words._replace(stopped_by=by if last else None)


def _chief(run: Run) -> tuple[Mapping[str, Any], TrainingFailure | None]:
    """Return the lease of the newest attempt's first worker, and the exception of the first that tells one."""
    leases = read_leases(run.storage, "train")
    newest = max((lease["attempt"] for lease in leases), default=0)
    told = [TrainingFailure.in_lease(lease) for lease in leases if lease["attempt"] == newest]
    return next(iter(leases), {}), next((one for one in told if one is not None), None)


def _upto(last_step: int | None) -> str:
    return f"everything up to step {last_step} is here" if last_step is not None else "no step was written"


def stop_words(by: Mapping[str, Any] | None, last_step: int | None) -> str:
    """Say what became of a request to stop: it is done once the loop has seen it, and not when it was delivered.

    >>> stop_words({"who": "anna", "why": "good enough", "step": 7, "attempt": 0, "seen": 7}, 7)
    'Stopped by anna at step 7: good enough'
    """
    if by is None:
        return ""
    asked, seen = by.get("step"), by.get("seen")
    why = f": {by['why']}" if by.get("why") else ""
    if "seen" not in by:
        # Written by a release that did not look whether the loop had seen it.
        return f"{by.get('who')} asked it to stop at step {asked}{why}"
    if not isinstance(seen, int):
        upto = "" if last_step is None else f" and went on to step {last_step}"
        return (
            f"Not stopped: {by.get('who')} asked for it at step {asked}{why}; the loop never read `hook.should_stop`"
            f"{upto}. Add `{STOP_LINE}` to the loop"
        )
    if last_step is not None and last_step > seen:
        ending = f"it saw that at step {seen}, and ended at step {last_step}"
        return f"{by.get('who')} asked it to stop at step {asked}{why}; {ending}"
    when = "" if asked == seen else f", asked at step {asked}"
    return f"Stopped by {by.get('who')} at step {seen}{when}{why}"


def state_words(state: RunState, path: str, last_step: int | None, holder: Mapping[str, Any]) -> RunWords:
    """Explain a state; `holder` is the lease of the process that wrote the run, where there is one."""
    who = f"Process {holder['pid']} on {holder['host']}" if "pid" in holder else "Its process"
    upto = _upto(last_step)
    resume = f"Hook(out_dir={path!r}, resume=True) continues it"
    named = shell_word(path)
    look = f"cutaway tensors {named}"
    words = {
        RunState.STARTING: RunWords(f"{who} is starting and has not begun a step yet", f"{look} --follow"),
        RunState.RUNNING: RunWords(f"{who} is writing it now", f"{look} --follow")
        if not holder.get("paused")
        else RunWords(f"{who} is paused", f"cutaway control {named} resume"),
        RunState.FINISHED: RunWords("Completed normally", look),
        RunState.FAILED: RunWords(f"An exception ended the training; {upto}", look),
        RunState.ENDED: RunWords(
            f"Its process ended without closing the hook, which `with Hook(...)` does by itself; {upto}", look
        ),
        RunState.LOST: RunWords(f"{who} gives no sign of life and cannot be seen from here; {upto}", resume),
        RunState.CRASHED: RunWords(f"{who} is gone without a word (killed, out of memory?); {upto}", resume),
    }
    return words[state]
