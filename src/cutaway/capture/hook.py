"""What every hook does, whatever the framework: settings, collections, modes, steps, samples, scalars, its end.

A subclass feeds it: it calls `_begin_step`, offers copies of tensors to the open step, and calls `_end_step`.
Configuration errors raise at once; errors during training stop the capture and leave the training alone.
"""

from __future__ import annotations

import atexit
import logging
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from cutaway.capture import current
from cutaway.capture.budget import DiskBudget
from cutaway.capture.given import check_subset, number, plain, sample_id
from cutaway.capture.logs import apply_log_level
from cutaway.capture.recorder import Recorder
from cutaway.capture.records import Offer, StepRecord
from cutaway.capture.requests import Refused, Requests
from cutaway.capture.selection import ALWAYS_INCLUDED, EVERYTHING, NOTHING_DUE, Selection
from cutaway.capture.settings import HookSettings, is_switched_off
from cutaway.capture.steps import StepCounter
from cutaway.capture.tensorboard import EventWriter
from cutaway.capture.workers import Worker, open_run
from cutaway.errors import ConfigurationError, RunError
from cutaway.run.catalog import run_sizes
from cutaway.run.identity import Run
from cutaway.run.layout import COLLECTIONS_FILE, LOGS
from cutaway.run.leases import RunState
from cutaway.run.overlay_use import record_overlay
from cutaway.tensors.collection import Collection
from cutaway.tensors.modes import ModeKeys

__all__ = ["BaseHook"]

log = logging.getLogger("cutaway.capture")

# How long a step waits for the writer: a breath for statistics, longer for tensors that were asked for by schedule.
STATISTICS_PATIENCE = 0.25
TENSOR_PATIENCE = 1.0

SavesCheckpoint = TypeVar("SavesCheckpoint", bound=Callable[[int], object])


class BaseHook:
    """The part of a hook that knows no framework."""

    framework = ""

    def __init__(self, settings: HookSettings, worker: Worker, versions: Mapping[str, str]) -> None:
        apply_log_level()
        self.settings = settings
        if settings.include_workers == "all":
            worker = worker._replace(launch=f"{worker.launch} {current.count_shared()}")
        self.worker = worker
        self.run: Run | None = None
        self._recorder: Recorder | None = None
        self._requests: Requests | None = None
        self._save_checkpoint: Callable[[int], object] | None = None
        self._selection: Selection | None = None
        self._steps = StepCounter()
        self._mode = ModeKeys.GLOBAL
        self._epoch: int | None = None
        self._counts_epochs = True
        self._epoch_began = -1  # the step before which the last epoch was counted
        self._said: set[str] = set()
        self._open: StepRecord | None = None
        # While idle, steps are only counted: nothing of them is recorded before the global step `_wakes_at`.
        self.idle = False
        self._wakes_at = 0
        self._samples: list[str | None] | None = None
        self._config: dict[str, Any] = {}
        self._config_written: dict[str, Any] = {}
        self._dropped = 0
        self._last_listed = -1
        self._due_seen = 0
        self.active = not is_switched_off() and (settings.include_workers == "all" or worker.rank == 0)
        self.collections = current.prepare()
        self._included = self._include()
        if self.active and not settings.dry_run:
            self._open_run(versions)
        current.adopt(self)
        # Closes at exit what the user did not close; the reference keeps the hook alive until then.
        atexit.register(self._close_at_exit)

    # -- what users call ---------------------------------------------------------------------------------------------

    def set_mode(self, mode: ModeKeys | str) -> None:
        """Say whether the steps that follow train, evaluate or predict; each mode counts its own steps."""
        self._end_step()
        self._mode = ModeKeys.parse(mode)
        self._look_ahead()

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch the steps that follow belong to; whoever says so counts epochs alone from then on."""
        self._epoch, self._counts_epochs = int(epoch), False

    def set_config(self, config: Mapping[str, Any]) -> None:
        """Add to the run's `config.yaml`: hyperparameters and whatever else should be found again."""
        self._config.update(plain(dict(config)))
        self._write_config()

    def set_samples(self, ids: Sequence[object] | None, subset: str = "training") -> None:
        """Say which samples are in the batch of the next step; None where an id is unknown.

        Ids become `<subset>/<id>`; an id that already begins with a subset is taken as it is.
        """
        check_subset(subset)
        self._samples = None if ids is None else [sample_id(one, subset) for one in ids]
        if self.idle and ids is not None:
            self._set_idle(idle=False)

    def save_scalar(self, name: str, value: float, sm_metric: bool = False, timestamp: float | None = None) -> None:  # noqa: FBT001, FBT002 - upstream's signature
        """Record a number at the current step; when this returns it survives a kill."""
        plain_value = number(name, value)
        if sm_metric:
            self.collections.add_to("sm_metrics", f"scalar/{name}")
        if self._recorder is not None:
            when = time.time() if timestamp is None else timestamp
            self._recorder.save_scalar(name, plain_value, self.step, self._mode.name, when)

    def save_sample_values(self, ids: Sequence[object], *, subset: str = "training", **values: Sequence[float]) -> None:
        """Record one number per sample under each name: `hook.save_sample_values(ids, loss=losses)`."""
        check_subset(subset)
        samples = [sample_id(one, subset) for one in ids]
        for name, numbers in values.items():
            column = [float(number) for number in numbers]
            if len(column) != len(samples):
                message = f"`{name}` has {len(column)} values for {len(samples)} samples."
                raise ConfigurationError(message)
            if self._recorder is not None:
                known = [(s, v) for s, v in zip(samples, column, strict=True) if s is not None]
                self._recorder.save_sample_values(self.step, [s for s, _ in known], name, [v for _, v in known])

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
        self._save_checkpoint = function
        return function

    @property
    def should_stop(self) -> bool:
        """Whether the training was asked to stop: `if hook.should_stop: break`, wherever the loop can end.

        Where several processes train together all of them get the answer of rank 0: read it on every rank at the same
        place, since they exchange it.
        """
        asked = self._requests is not None and self._requests.should_stop(between_steps=self._open is None)
        return self._agree(asked=asked)

    @property
    def mode(self) -> ModeKeys:
        """The mode of the steps that follow."""
        return self._mode

    @property
    def step(self) -> int:
        """The current step, counted over all modes."""
        return self._open.step if self._open is not None else self._steps.last

    @property
    def out_dir(self) -> Path | None:
        """The run folder, or None where this hook writes none."""
        return None if self.run is None else self.run.path

    def flush(self) -> bool:
        """End the open step and wait until everything is written; False where capture has stopped."""
        self._end_step()
        self._list_counted()
        return self._recorder is None or self._recorder.flush()

    def close(self, state: RunState = RunState.FINISHED) -> None:
        """Detach from everything, write what waits and close the run; closing twice is allowed."""
        atexit.unregister(self._close_at_exit)
        if self._requests is not None:
            self._requests.end()
        self._end_step()
        self._list_counted()
        self._detach()
        current.retire(self)
        self.active = False
        if self._recorder is not None:
            self._write_collections()
            self._write_config()
            self._write_overlay()
            recorder, self._recorder = self._recorder, None
            recorder.close(state)

    def abandon(self) -> None:
        """Forget everything without writing: in a forked child the run belongs to the parent."""
        atexit.unregister(self._close_at_exit)
        self.active = False
        self._recorder = self._requests = None
        self._open = None

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
        self.close(RunState.FINISHED if kind is None else RunState.FAILED)

    def __repr__(self) -> str:
        where = "off" if not self.active else "dry run" if self.run is None else str(self.run.path)
        return f"{type(self).__name__}({where!r}, step={self.step}, mode={self._mode.name})"

    # -- what subclasses call ----------------------------------------------------------------------------------------

    @property
    def selection(self) -> Selection:
        """What is wanted, worked out when the first step begins: collections may still be added until then."""
        if self._selection is None:
            self._resolve_pending()
            for name in self._included:
                self.collections.get(name).check()
            config, reductions = self.settings.save_config, self.settings.reduction_config
            self._selection = Selection(self.collections, self._included, config, reductions)  # type: ignore[arg-type]  # parsed by HookSettings
            if self._recorder is not None:
                self._recorder.begin(self._selection)
                self._write_collections()
                self._write_config()
                self._write_overlay()
        return self._selection

    def _begin_step(self) -> StepRecord:
        """Open the next step and decide what of it is recorded."""
        selection = self.selection
        step, mode_step = self._steps.take(self._mode)
        record = StepRecord(step, self._mode, mode_step, time.time(), self._epoch)
        thinning, every = self._thinning(), self.settings.statistics_every
        record.statistics = bool(every) and step % (every * thinning) == 0
        due = selection.due(self._mode, mode_step)
        if due:
            record.due = due if self._due_seen % thinning == 0 else NOTHING_DUE
            self._due_seen += 1
        if self._requests is not None and self._requests.dumps:
            record.due |= {EVERYTHING}
        record.wanted = record.statistics or bool(record.due) or selection.watches_nan
        record.samples, self._samples = self._samples, None
        self._open = record
        return record

    def _end_step(self) -> None:
        """Hand the open step to the writer."""
        record, self._open = self._open, None
        if record is None:
            return
        if self._recorder is None:
            self._log_dry_run(record)
            return
        record.thinned = self._dropped
        if self._requests is not None and EVERYTHING in record.due:
            record.written = self._requests.promise_dump(record.step)
        if self._recorder.submit(record, TENSOR_PATIENCE if record.due else STATISTICS_PATIENCE):
            self._dropped = 0
            self._last_listed = record.step
        else:
            if not self._recorder.stopped:
                self._dropped += 1
                self._say_thinned(record.step)
            if record.written is not None:
                record.written(f"step {record.step} could not be recorded; `cutaway runs show` says why")
        self._look_ahead()
        if self._requests is not None and self._requests.mail.waiting:
            self._attend()

    def _look_ahead(self) -> None:
        """Find the next step of which anything is recorded, so that the steps before it cost next to nothing."""
        if self._selection is None or self._selection.watches_nan or self._open is not None:
            return
        step, every = self._steps.step, self.settings.statistics_every
        wakes = [] if not every else [step + -step % (every * self._thinning())]
        mode_step = self._steps.mode_step(self._mode)
        due = self._selection.next_due(self._mode, mode_step)
        if due is not None:
            wakes.append(step + due - mode_step)
        if self._requests is not None and self._requests.dumps:
            wakes.append(step)
        self._wakes_at = min(wakes, default=sys.maxsize)
        self._set_idle(idle=step < self._wakes_at and self._samples is None)

    def _pass_step(self) -> None:
        """Count a step of which nothing is recorded."""
        self._steps.take(self._mode)
        if self._steps.step >= self._wakes_at:
            self._set_idle(idle=False)
        if self._requests is not None and self._requests.mail.waiting:
            self._attend()

    def _attend(self) -> None:
        """Carry out what the training was asked for: called between two steps, when something waits."""
        if self._requests is not None:
            self._requests.attend()

    def _checkpoint(self, step: int) -> None:
        """Call the loop's function; what it runs through the model is no part of the next step."""
        if self._save_checkpoint is None:
            raise Refused("the loop gave no function to `hook.on_checkpoint`")
        self._save_checkpoint(step)
        self._end_step()

    def _set_idle(self, *, idle: bool) -> None:
        self.idle = idle

    def _list_counted(self) -> None:
        """List the last of the steps that were only counted, so that a resumed run does not use their numbers again."""
        newest = self._steps.newest
        if self._recorder is not None and newest is not None and self._last_listed < newest[0]:
            record = StepRecord(*newest, time.time(), self._epoch)
            if self._recorder.submit(record, TENSOR_PATIENCE):
                self._last_listed = record.step

    def _thinning(self) -> int:
        return 1 if self._recorder is None else self._recorder.budget.thinning

    def fail(self, error: Exception, where: str) -> None:
        """Stop capturing after an error of ours during training; the training goes on."""
        log.debug("Capture failed in %s", where, exc_info=error)
        self._open = None
        self.active = False
        if self._recorder is not None:
            # The steps before this one are good; a moment is enough for them, and a stalled disk gets no more.
            self._recorder.flush(TENSOR_PATIENCE)
            self._recorder.stop(f"{type(error).__name__} in {where}: {error}.")
        else:
            log.warning("Capture stopped: %s in %s: %s. Training goes on.", type(error).__name__, where, error)

    def say(self, code: str, message: str, **where: Any) -> None:
        """Record and log something the user should know about the capture, once."""
        if self._recorder is not None:
            self._recorder.say(code, "warning", message, **where)
        elif self.active and code not in self._said:
            self._said.add(code)
            log.warning("%s", message)

    def count_epoch(self) -> None:
        """Note that a pass over the training samples begins, unless the loop itself says which epoch it is.

        Two loaders side by side begin one epoch: it takes a step for the next one to begin.
        """
        if self._counts_epochs and self._steps.step > self._epoch_began:
            self._epoch = 0 if self._epoch is None else self._epoch + 1
            self._epoch_began = self._steps.step

    def _nudge(self, *, urgently: bool = False) -> None:
        """Let the writer work: the training thread is about to compute without the interpreter, or waits for it."""
        if self._recorder is not None:
            self._recorder.nudge(urgently=urgently)

    def _say_thinned(self, step: int) -> None:
        name = "" if self.run is None else self.run.name
        self.say(
            "writer-behind",
            f"The writer could not keep up at step {step}: some steps are not recorded. `cutaway runs show {name}` "
            "counts them; a larger `statistics_every` avoids it.",
            step=step,
        )

    def _offer_now(self, offer: Offer, collections: str | Iterable[str]) -> None:
        """Save one tensor at the current step, whatever the schedule says."""
        for name in [collections] if isinstance(collections, str) else collections:
            self.collections.add_to(name, offer.name)
        if self._recorder is not None:
            self._recorder.save_tensor(self.step, offer)

    # -- what subclasses override ------------------------------------------------------------------------------------

    def _detach(self) -> None:
        """Undo every registration; called once or more."""

    def _resolve_pending(self) -> None:
        """Turn parameters and modules that were added to collections into names."""

    def _went_on(self) -> None:
        """The loop was held up by a request: how long that took is no part of any step."""

    def _agree(self, *, asked: bool) -> bool:
        """Return what all processes of the training say, where there are several."""
        return asked

    def _set_learning_rate(self, arguments: Mapping[str, Any]) -> str:
        """Change the learning rate, and say from what to what; raises `Refused` where that cannot be."""
        raise Refused(f"this hook has no optimizer to set {', '.join(arguments)} of")

    # -- inside ------------------------------------------------------------------------------------------------------

    def _include(self) -> tuple[str, ...]:
        settings = self.settings
        asked = list(settings.include_collections) if settings.include_collections is not None else []
        self.collections.check_known(settings.include_collections or ())
        if settings.include_regex:
            self.collections.get("default").include(settings.include_regex)
            asked.append("default")
        if settings.save_all:
            asked.append("all")
        return tuple(dict.fromkeys([*asked, *ALWAYS_INCLUDED]))

    def _open_run(self, versions: Mapping[str, str]) -> None:
        identity = {"framework": self.framework, "versions": dict(versions)}
        self.run, who, lease = open_run(self.settings, self.worker, **identity)
        try:
            if self.settings.resume:
                self._steps, self._epoch = StepCounter.after(self.run)
            if who.attempt > 0:
                self._config = self.run.config()
        except RunError:
            # Nobody will ever write to this attempt; the next one must not find it alive.
            lease.release(RunState.FAILED)
            raise
        events = None
        if self.settings.export_tensorboard:
            folder = self.settings.tensorboard_dir
            events = EventWriter(Path(folder) if folder is not None else self.run.path / LOGS)
        self._config.setdefault("command", sys.argv)
        self._recorder = Recorder(self.run, who, lease, self._budget(self.run), events, stopped=self._go_quiet)
        if self.settings.rules and self.worker.rank == 0:
            # The chief's alone: whoever evaluates a rule from outside looks at the chief's statistics too.
            self._recorder.observe(self.settings.rules, self.collections)  # type: ignore[arg-type]  # resolved by HookSettings
        if self._recorder.mail is not None:
            self._requests = Requests(
                self._recorder,
                self._recorder.mail,
                step=lambda: self.step,
                checkpoint=self._checkpoint,
                wake=self._look_ahead,
                went_on=self._went_on,
                set_rate=self._set_learning_rate,
                workers=self.worker.workers,
            )
        if events is not None:
            self._recorder.say("tensorboard-scalars-only", "info", "TensorBoard gets scalars; histograms come later.")

    def _go_quiet(self) -> None:
        """The capture has stopped: whatever still calls finds nobody."""
        self.active = False

    def _budget(self, run: Run) -> DiskBudget:
        """Return what this process may still write: its share, less what earlier attempts have taken."""
        writers = self.worker.workers if self.settings.include_workers == "all" else 1
        budget = DiskBudget(max(self.settings.disk_budget // writers, 1))
        if self.settings.resume:
            budget.spend(sum(run_sizes(run).values()) // writers)
        return budget

    def _write_collections(self) -> None:
        if self.run is None or self.worker.rank != 0:
            return
        included = {"included": list(self._included), "collections": self.collections.to_dict()}
        try:
            self.run.write_document(COLLECTIONS_FILE, included)
        except OSError as error:
            if self._recorder is not None:
                self._recorder.stop(str(error))

    def _write_config(self) -> None:
        if self.run is None or self.worker.rank != 0 or self._config == self._config_written:
            return
        try:
            self.run.write_config(self._config)
            self._config_written = dict(self._config)
        except OSError as error:
            if self._recorder is not None:
                self._recorder.stop(str(error))

    def _write_overlay(self) -> None:
        """Note which corrections the training has read, where it read any."""
        if self.run is None or self.worker.rank != 0:
            return
        try:
            record_overlay(self.run)
        except OSError as error:
            if self._recorder is not None:
                self._recorder.stop(str(error))

    def _log_dry_run(self, record: StepRecord) -> None:
        names = [offer.name for offer in record.offers]
        if record.slab is not None:
            names += [name for name, here in zip(record.slab.layout.names, record.slab.present, strict=True) if here]
            record.slab.views.pool.release(record.slab)
        kept = sorted(name for name in names if self.selection.keep(name, record.due))
        log.info("Dry run, step %d: statistics of %d tensors; would save %s", record.step, len(names), kept or "none")

    def _close_at_exit(self) -> None:
        # The interpreter leaves an uncaught exception here before it runs exit handlers.
        failed = getattr(sys, "last_exc", None) is not None or getattr(sys, "last_value", None) is not None
        self.close(RunState.FAILED if failed else RunState.ENDED)
