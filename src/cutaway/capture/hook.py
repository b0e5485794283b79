"""What users call on every hook, whatever the framework, and the parts of the capture behind it.

Configuration errors raise at once; errors during training stop the capture and leave the training alone.
"""

from __future__ import annotations

import atexit
import logging
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, final

import numpy as np

from cutaway.capture import current
from cutaway.capture.adapter import Adapter
from cutaway.capture.given import check_subset, number, sample_id
from cutaway.capture.opening import in_notebook, open_recorder
from cutaway.capture.recorder import Recorder
from cutaway.capture.records import Offer, StepRecord
from cutaway.capture.requests import Requests
from cutaway.capture.run_documents import RunDocuments
from cutaway.capture.selection import ALWAYS_INCLUDED, Selection, StepSchedule
from cutaway.capture.settings import HookSettings, apply_log_level, is_switched_off
from cutaway.capture.step_life import DryRun, EpochCounter, StepCounter, StepLife
from cutaway.errors import ConfigurationError
from cutaway.run.identity import Run
from cutaway.run.leases import RunState
from cutaway.tensors.collection import Collection
from cutaway.tensors.modes import ModeKeys

__all__ = ["AdaptedHook"]

log = logging.getLogger("cutaway.capture")

# Where the capture fails, the steps before it get so long to be written.
FAILED_SECONDS = 1.0

SavesCheckpoint = TypeVar("SavesCheckpoint", bound=Callable[[int], object])


@final
class AdaptedHook:
    """The hook of every framework that has an adapter: `AdaptedHook(adapter, HookSettings(out_dir="runs/mine"))`.

    A framework whose users know a hook by a class of its own puts that in front (`cutaway.capture.front`).
    """

    def __init__(
        self, adapter: Adapter, settings: HookSettings | None = None, *, front: current.LiveHook | None = None
    ) -> None:
        apply_log_level()
        self.settings = settings = settings or HookSettings()
        everyone = settings.include_workers == "all"
        worker = adapter.worker
        self.worker = worker._replace(launch=f"{worker.launch} {current.count_shared()}") if everyone else worker
        self.adapter = adapter
        self.active = not is_switched_off() and (everyone or worker.rank == 0)
        self.collections = current.prepare()
        self.run: Run | None = None
        self.recorder: Recorder | None = None
        self.requests: Requests | None = None
        self._said: set[str] = set()
        self._selection: Selection | None = None
        self._included = _included(settings, self.collections)
        counter, epoch, config = StepCounter(), None, dict[str, Any]()
        if self.active and not settings.dry_run:
            self.recorder, counter, epoch, config = open_recorder(
                settings, self.worker, adapter, self.collections, stopped=self._go_quiet
            )
            self.run = self.recorder.run
        queue = self.recorder or DryRun(lambda: self.selection)
        self.steps = StepLife(adapter, queue, counter, self._plan)
        self.steps.epochs = EpochCounter(epoch)
        self.steps.may_idle = not settings.dry_run
        self.documents = RunDocuments(
            self.run, worker, self.collections, included=self._included, config=config, stop=self._stop
        )
        if self.recorder is not None and self.recorder.mail is not None:
            self.requests = self.steps.requests = Requests(self.recorder, self.recorder.mail, self.steps, adapter)
        try:
            adapter.attach(self)
        except BaseException as error:
            if self.recorder is not None:
                # Nobody will ever hold this hook who could close it.
                self.recorder.close(RunState.FAILED, error)
            raise
        self._front = front or self
        current.adopt(self._front, self.collections)
        if self.recorder is not None:
            self.recorder.show_running()
        # Closes at exit what the user did not close; the reference keeps the hook alive until then.
        atexit.register(self._close_at_exit)

    # -- what users call ---------------------------------------------------------------------------------------------

    def set_mode(self, mode: ModeKeys | str) -> None:
        """Say whether the steps that follow train, evaluate or predict; each mode counts its own steps."""
        self.steps.set_mode(ModeKeys.parse(mode))

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch the steps that follow belong to; whoever says so counts epochs alone from then on."""
        self.steps.epochs.set(int(epoch))

    def set_config(self, config: Mapping[str, Any]) -> None:
        """Add to the run's `config.yaml`: hyperparameters and whatever else should be found again."""
        self.documents.update_config(config)

    def set_samples(self, ids: Sequence[object] | None, subset: str = "training") -> None:
        """Say which samples are in the batch of the next step; None where an id is unknown.

        Ids become `<subset>/<id>`; an id that already begins with a subset is taken as it is.
        """
        check_subset(subset)
        self.steps.set_samples(None if ids is None else [sample_id(one, subset) for one in ids])

    def save_scalar(self, name: str, value: float, sm_metric: bool = False, timestamp: float | None = None) -> None:  # noqa: FBT001, FBT002 - upstream's signature
        """Record a number at the current step; when this returns it survives a kill."""
        plain_value = number(name, value)
        if sm_metric:
            self.documents.add_members(["sm_metrics"], [f"scalar/{name}"])
        if self.recorder is not None:
            when = time.time() if timestamp is None else timestamp
            self.recorder.save_scalar(name, plain_value, self.step, self.mode.name, when)

    def save_sample_values(
        self, /, ids: Sequence[object], *, subset: str = "training", **values: Sequence[float]
    ) -> None:
        """Record one number per sample under each name: `hook.save_sample_values(ids, loss=losses)`."""
        check_subset(subset)
        samples = [sample_id(one, subset) for one in ids]
        for name, numbers in values.items():
            column = [float(number) for number in numbers]
            if len(column) != len(samples):
                message = f"`{name}` has {len(column)} values for {len(samples)} samples."
                raise ConfigurationError(message)
            if self.recorder is not None:
                known = [(s, v) for s, v in zip(samples, column, strict=True) if s is not None]
                self.recorder.save_sample_values(self.step, [s for s, _ in known], name, [v for _, v in known])

    def save_tensor(
        self, tensor_name: str, tensor_value: Any, collections_to_write: str | Iterable[str] = "default"
    ) -> None:
        """Save a tensor now, whatever the schedule says; when this returns it survives a kill.

        An `Offer` is taken as it is, anything else as numpy's `asarray` gives it.
        """
        if not self.active:
            return
        if self.steps.wake():
            # The idle step that runs now is recorded after all.
            self.steps.begin(trains=self.steps.may_train)
        array = tensor_value.array if isinstance(tensor_value, Offer) else np.asarray(tensor_value)
        dtype = tensor_value.dtype if isinstance(tensor_value, Offer) else str(array.dtype)
        into = [collections_to_write] if isinstance(collections_to_write, str) else collections_to_write
        self.documents.add_members(into, [tensor_name])
        if self.recorder is not None:
            self.recorder.save_tensor(self.step, Offer(tensor_name, array, dtype))

    def get_collection(self, name: str) -> Collection:
        """Return one of this hook's collections, created if it does not exist."""
        return self.collections.get(name)

    def get_collections(self) -> dict[str, Collection]:
        """Return this hook's collections by name."""
        return {collection.name: collection for collection in self.collections}

    def add_to_collection(self, name: str, item: object) -> None:
        """Add a tensor's name, a parameter or a module to a collection."""
        self.collections.add_to(name, item)

    def on_checkpoint(self, function: SavesCheckpoint) -> SavesCheckpoint:
        """Give the function that saves a checkpoint when one is asked for; also as a decorator.

        It is called with the step that has just ended, on the training thread; of several processes, on rank 0 alone.
        """
        given: object = function
        if not callable(given):
            message = f"`on_checkpoint` takes a function of the step, but got {type(given).__name__}."
            raise ConfigurationError(message)
        if self.requests is not None:
            self.requests.save_checkpoint = function
        return function

    @property
    def should_stop(self) -> bool:
        """Whether the training was asked to stop: `if hook.should_stop: break`, wherever the loop can end.

        Where several processes train together all of them get the answer of rank 0: read it on every rank at the same
        place, since they exchange it.
        """
        between = self.steps.record is None
        return self.worker.agree(self.requests is not None and self.requests.should_stop(between_steps=between))

    @property
    def mode(self) -> ModeKeys:
        """The mode of the steps that follow."""
        return self.steps.mode

    @property
    def step(self) -> int:
        """The current step, counted over all modes."""
        return self.steps.step

    @property
    def out_dir(self) -> Path | None:
        """The run folder, or None where this hook writes none."""
        return None if self.run is None else self.run.path

    def flush(self) -> bool:
        """End the open step and wait until everything is written; False where capture has stopped."""
        self._end_steps()
        return self.recorder is None or self.recorder.flush()

    def close(self, state: RunState = RunState.FINISHED) -> None:
        """Detach from everything, write what waits and close the run; closing twice is allowed.

        Where it failed, the run keeps the exception that is being handled.
        """
        self._close(state, sys.exception() if state is RunState.FAILED else None)

    def _close(self, state: RunState, error: BaseException | None) -> None:
        atexit.unregister(self._close_at_exit)
        if self.requests is not None:
            self.requests.end()
        self._end_steps()
        self.adapter.detach()
        current.retire(self._front)
        self.active = False
        if self.recorder is not None:
            self.documents.write()
            recorder, self.recorder = self.recorder, None
            recorder.close(state, error)

    def abandon(self) -> None:
        """Forget everything without writing: in a forked child the run belongs to the parent."""
        atexit.unregister(self._close_at_exit)
        self.active = False
        self.recorder = self.requests = self.steps.requests = None
        self.steps.record = None

    def count_epoch(self) -> None:
        """Note that a pass over the training samples begins, unless the loop itself says which epoch it is.

        Two loaders side by side begin one epoch: it takes a step for the next one to begin.
        """
        self.steps.epochs.count(self.steps.counter.step)

    def batch_arrives(self, size: int | None, seconds: float) -> None:
        """Note that a batch came from the loader, after how long; `size` is None where its samples are unknown."""
        self.steps.measures.data_seconds += seconds
        if size is None:
            self.say(
                "samples-unknown",
                "The samples of each batch are unknown: this loader has no sampler that can be followed. Call "
                "`hook.set_samples(ids)` before each step to name them.",
            )

    def __deepcopy__(self, _: object) -> Self:
        # A copy of whatever holds a hook holds the same one: a run has one writer.
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # A model that holds its hook is saved without it, and loads without Cutaway.
        return type(None), ()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # `sys.exit()` is how scripts end that are done early.
        is_done = kind is None or (isinstance(error, SystemExit) and error.code in (None, 0))
        self._close(*((RunState.FINISHED, None) if is_done else (RunState.FAILED, error)))

    def __repr__(self) -> str:
        where = "off" if not self.active else "dry run" if self.run is None else str(self.run.path)
        return f"{type(self._front).__name__}({where!r}, step={self.step}, mode={self.mode.name})"

    # -- what adapters call ------------------------------------------------------------------------------------------

    @property
    def selection(self) -> Selection:
        """What is wanted, worked out when the first step begins: collections may still be added until then."""
        if self._selection is None:
            self.adapter.resolve(self.collections)
            for name in self._included:
                self.collections.get(name).check()
            config, reductions = self.settings.save_config, self.settings.reduction_config
            self._selection = Selection(self.collections, self._included, config, reductions)  # type: ignore[arg-type]  # parsed by HookSettings
            current.settle(self._front)
            if self.recorder is not None:
                self.recorder.begin(self._selection)
                self.documents.write()
        return self._selection

    def fail(self, error: Exception, where: str) -> None:
        """Stop capturing after an error of ours during training; the training goes on."""
        log.debug("Capture failed in %s", where, exc_info=error)
        self.steps.record = None
        self.active = False
        if self.recorder is not None:
            # The steps before this one are good; a moment is enough for them, and a stalled disk gets no more.
            self.recorder.flush(FAILED_SECONDS)
            self.recorder.stop(f"{type(error).__name__} in {where}: {error}.")
        else:
            log.warning("Capture stopped: %s in %s: %s. Training goes on.", type(error).__name__, where, error)

    def say(self, /, code: str, message: str, **where: Any) -> None:
        """Record and log something the user should know about the capture, once."""
        if self.recorder is not None:
            self.recorder.say(code, "warning", message, **where)
        elif self.active and code not in self._said:
            self._said.add(code)
            log.warning("%s", message)

    def wait_for_writer(self, record: StepRecord) -> AbstractContextManager[float]:
        """Give the seconds that a step may wait for the writer, and count those that it takes."""
        return nullcontext(0.0) if self.recorder is None else self.recorder.patience.wait(record)

    def say_behind(self, step: int) -> None:
        """Say that the writer could not take a step in time."""
        if self.recorder is not None:
            self.recorder.say_behind(step)

    def nudge(self, *, urgently: bool = False) -> None:
        """Let the writer work: the training thread is about to compute without the interpreter, or waits for it."""
        if self.recorder is not None:
            self.recorder.nudge(urgently=urgently)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _plan(self) -> StepSchedule:
        budget = None if self.recorder is None else self.recorder.budget
        return StepSchedule(self.selection, self.settings.statistics_every, budget)

    def _end_steps(self) -> None:
        self.steps.end()
        if self.recorder is not None:
            self.steps.list_counted()

    def _go_quiet(self) -> None:
        """The capture has stopped: whatever still calls finds nobody."""
        self.active = False

    def _stop(self, reason: str) -> None:
        if self.recorder is not None:
            self.recorder.stop(reason)

    def _close_at_exit(self) -> None:
        error = _uncaught()
        self._close(RunState.ENDED if error is None else RunState.FAILED, error)


def _uncaught() -> BaseException | None:
    """Return the exception that ends this process: the interpreter leaves it here before it runs exit handlers.

    In a notebook it may be that of any cell, long ago: nothing of what is raised there ends the process.
    """
    if in_notebook():
        return None
    return getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)


def _included(settings: HookSettings, collections: Any) -> tuple[str, ...]:
    """Return the collections that settings ask for, and those that are always asked for."""
    asked = list(settings.include_collections) if settings.include_collections is not None else []
    collections.check_known(settings.include_collections or ())
    if settings.include_regex:
        collections.get("default").include(settings.include_regex)
        asked.append("default")
    if settings.save_all:
        asked.append("all")
    return tuple(dict.fromkeys([*asked, *ALWAYS_INCLUDED]))
