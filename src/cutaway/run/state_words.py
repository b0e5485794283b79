"""What the states of a run mean for the person who reads them, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

from cutaway.run.identity import Run
from cutaway.run.leases import RunState, read_leases

__all__ = ["RunWords", "run_words", "state_words"]


class RunWords(NamedTuple):
    """What became of a run in words, what comes next, and who stopped its last attempt, where somebody did."""

    meaning: str
    following: str
    stopped_by: Mapping[str, Any] | None = None


def run_words(run: Run, state: RunState, path: str, last_step: int | None) -> RunWords:
    """Say what became of a run, whose folder a command takes as `path`."""
    holder = next(iter(read_leases(run.storage, "train")), {})
    words = state_words(state, path, last_step, holder)
    if run.identity.get("kind") == "evaluation":
        # Nobody trained here: there are no tensors to look at, and nothing to resume.
        words = RunWords("a run of evaluations only", "cutaway runs list")
    by = run.identity.get("stopped_by")
    # What an earlier attempt was stopped by no longer says how the run ended.
    last = isinstance(by, dict) and by.get("attempt") == holder.get("attempt")
    return words._replace(stopped_by=by if last else None)


def state_words(state: RunState, path: str, last_step: int | None, holder: Mapping[str, Any]) -> RunWords:
    """Explain a state; `holder` is the lease of the process that wrote the run, where there is one."""
    who = f"process {holder['pid']} on {holder['host']}" if "pid" in holder else "its process"
    upto = f"everything up to step {last_step} is here" if last_step is not None else "no step was written"
    resume = f"Hook(out_dir={path!r}, resume=True) continues it"
    named = _shell_word(path)
    look = f"cutaway tensors {named}"
    words = {
        RunState.RUNNING: RunWords(f"{who} is writing it now", f"{look} --follow")
        if not holder.get("paused")
        else RunWords(f"{who} is paused", f"cutaway control {named} resume"),
        RunState.FINISHED: RunWords("the training closed it", look),
        RunState.FAILED: RunWords(f"an exception ended the training; {upto}", look),
        RunState.ENDED: RunWords(
            f"its process ended without closing the hook; {upto}",
            f"{look} (and `with Hook(...)` closes the next one)",
        ),
        RunState.LOST: RunWords(f"{who} gives no sign of life and cannot be seen from here; {upto}", resume),
        RunState.CRASHED: RunWords(f"{who} is gone without a word (killed, out of memory?); {upto}", resume),
    }
    return words[state]


def _shell_word(path: str) -> str:
    """Quote a path where a shell would take it apart: what is copied from here is run as it is."""
    home = "~/" if path.startswith("~/") else ""
    return home + shlex.quote(path.removeprefix(home))
