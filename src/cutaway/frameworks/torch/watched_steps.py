"""The life of a step, seen through torch's own hooks: when it begins and ends, and when its values are read.

A step begins with the forward of the registered module and ends with the optimizer's step, or, where no optimizer is
registered or no gradient is wanted, with the next forward. Parameters and gradients are copied once, when the backward
pass has ended: before clipping, and before the optimizer changes the weights that the forward used.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from typing import Any, cast

import torch
from torch.utils.hooks import RemovableHandle

from cutaway.capture.hook import STATISTICS_PATIENCE, TENSOR_PATIENCE, BaseHook
from cutaway.capture.records import StepRecord
from cutaway.capture.settings import HookSettings
from cutaway.capture.workers import Worker
from cutaway.frameworks.torch.activations import Activations, patterns_by_type
from cutaway.frameworks.torch.anatomy import Anatomy
from cutaway.frameworks.torch.distributed import chiefs_answer
from cutaway.frameworks.torch.learning_rate import set_learning_rate
from cutaway.frameworks.torch.losses import sample_values
from cutaway.frameworks.torch.names import module_names, parameter_names
from cutaway.frameworks.torch.parameters import ParameterCapture
from cutaway.frameworks.torch.taps import RemovableTaps, Tap
from cutaway.frameworks.torch.tensors import copy_of, has_gradient, tensors_in
from cutaway.tensors.modes import ModeKeys

__all__ = ["WatchedSteps"]

_QUIET_MODES = (ModeKeys.EVAL, ModeKeys.PREDICT)
# Fewer idle steps than this are not worth taking taps down for.
_LONG_IDLE = 4


class WatchedSteps(BaseHook):
    """Follows the steps of a training; `Hook` adds what users call."""

    def __init__(self, settings: HookSettings, worker: Worker, versions: Mapping[str, str]) -> None:
        self._handles: list[RemovableHandle] = []
        self._outer: torch.nn.Module | None = None
        self._root: torch.nn.Module | None = None
        self._optimizers: list[torch.optim.Optimizer] = []
        self._last_update: torch.optim.Optimizer | None = None  # whose update ended the last step, until a forward
        self._scaler: torch.amp.GradScaler | None = None
        self._anatomy: Anatomy | None = None
        self._parameters: ParameterCapture | None = None
        self._activations: Activations | None = None
        self._modules: dict[torch.nn.Module, str] = {}
        self._losses: list[float | torch.Tensor] = []
        self._counts: dict[str, int] = {}  # what each loss received and returned so far in this step
        self._parameter_taps: list[RemovableHandle] = []
        self._step_taps = RemovableTaps()
        self._passes = False
        self._ended: tuple[Any, ...] | None = None  # what a record of the last step begins with
        self._is_silent = False  # whether backward passes come without a forward
        self._hears_outputs = True  # whether the gradient of the model's output tells of every backward
        self._clock = 0.0
        self._last_end: float | None = None
        self._batch_samples: list[str | None] | None = None
        self._data_seconds = 0.0
        self._trains = False
        self._in_backward = False
        self._had_backward = False
        self._awaits_update = False
        self._in_closure = False
        super().__init__(settings, worker, versions)

    # -- the life of a step ------------------------------------------------------------------------------------------

    def _before_forward(self, module: torch.nn.Module, *inputs: Any) -> None:
        if len(self._optimizers) > 1:
            self._attend_late()
        if self.idle:
            self._before_idle_forward(module)
            return
        if self._is_repeated():
            return
        self._is_silent = self._passes = False
        self._batch_samples = self._samples
        grad = torch.is_grad_enabled() and self._mode not in _QUIET_MODES
        record = self._open
        if record is not None and not (grad and self._accumulates(module)):
            self._end_step()
            record = None
            idle: bool = self.idle  # which ending a step may change
            if idle:
                self._before_idle_forward(module)
                return
        if record is None:
            if "batch_size" not in self._config:
                first = next(tensors_in(inputs), None)
                self._config["batch_size"] = None if first is None or not first.dim() else first.shape[0]
            self._start(trains=grad and module.training)
        elif self._samples is not None:
            record.samples = [*(record.samples or []), *self._samples]
            self._samples = None
        self._clock = time.perf_counter()

    def _before_idle_forward(self, module: torch.nn.Module) -> None:
        """Count a step that is not recorded, unless an update will."""
        trains = torch.is_grad_enabled() and module.training and self._mode not in _QUIET_MODES
        if trains and self._optimizers and not self._parameter_taps:
            # The plain case, which must cost next to nothing.
            self._passes, self._last_update = False, None
            return
        if self._parameter_taps and self._hears_outputs:
            # The forward is seen, so parameters need not call for it.
            self._untap_parameters()
        if self._is_repeated():
            return
        # The step that this forward began stays unrecorded, even where the next one no longer is.
        self._passes = not self._optimizers or not trains
        self._last_update = None
        if self._passes:
            self._pass_step()

    def _is_repeated(self) -> bool:
        """Whether what runs now was seen already, or is no step: recomputed in a backward, a closure, a transform."""
        return (
            torch._C._current_graph_task_id() != -1  # noqa: SLF001 - torch has no public way
            or (self._in_closure and self._had_backward)
            or torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]
            or torch._C._functorch.peek_interpreter_stack() is not None  # noqa: SLF001 - vmap, grad and their kind
        )

    def _accumulates(self, module: torch.nn.Module) -> bool:
        """Whether another forward belongs to the open step: gradients pile up until the optimizer's step."""
        if not self._optimizers or not self._trains or self._in_backward:
            # A backward that has not come to its end has raised.
            return False
        if not self._had_backward:
            return module.training
        # Gradients that were reset without an update (a skipped step of mixed precision) ended that step.
        return any(has_gradient(p) for p in module.parameters())

    def _start(self, *, trains: bool) -> StepRecord:
        record = self._begin_step()
        self._last_update = None
        if record.wanted:
            self._look_at_model()
        self._trains, self._in_backward = trains, False
        self._awaits_update = self._awaits_update and not trains
        self._counts.clear()
        if self._activations is not None:
            self._activations.begin()
        if self._data_seconds:
            record.seconds["data"] = self._data_seconds
            self._data_seconds = 0.0
        if not trains and (record.due or self.selection.watches_nan):
            self._capture_parameters(record, gradients=False)
        return record

    def _after_forward(self, _module: Any, _inputs: Any, outputs: Any) -> None:
        record = self._open
        if record is None or self._is_repeated():
            return
        now = time.perf_counter()
        record.seconds["forward"] = record.seconds.get("forward", 0.0) + now - self._clock
        self._clock = now
        # Of a step that nobody wants, the backward matters only where mixed precision may skip its update.
        wanted = record.wanted or self._scaler is not None
        if wanted and self._hears_outputs and torch.is_grad_enabled() and self._mode not in _QUIET_MODES:
            self._await_backward(outputs)

    def _await_backward(self, outputs: Any) -> None:
        """Hear of the backward pass through the gradient of what the model returned."""
        waiting = False
        for tensor in tensors_in(outputs):
            if tensor.grad_fn is not None:
                tensor.register_hook(Tap(self, self._on_gradient, "the backward"))  # type: ignore[no-untyped-call]
                waiting = True
        self._hears_outputs = waiting
        if not waiting:
            self._tap_parameters()
        elif self._parameter_taps:
            self._untap_parameters()

    def _after_module(self, module: torch.nn.Module, args: Any, kwargs: Any, outputs: Any) -> None:
        record = self._open
        if record is not None and record.wanted and self._activations is not None and not self._is_repeated():
            self._activations.offer(record, self._modules[module], (args, kwargs), outputs)

    def _after_loss(self, loss: torch.nn.Module, args: Any, kwargs: Any, outputs: Any) -> None:
        if self.idle or self._passes:
            return
        self._end_silent_step()
        record = self._open
        if record is None and self._is_silent:
            record = self._start(trains=torch.is_grad_enabled())
        if record is None or self._is_repeated():
            return
        name = self._modules[loss]
        samples = self._batch_samples if self._trains else None
        if record.wanted or samples is not None:
            received = list(tensors_in((args, kwargs)))
            if samples is not None and received and received[0].shape[:1] == (len(samples),):
                compute = sample_values(loss, received)
                if compute is not None:
                    record.sample_values.append((samples, compute))
                    # A second loss of the same batch would give its samples two values of one name.
                    self._batch_samples = None
            if record.wanted:
                self._offer_all(record, f"{name}_input", received)
        self._offer_outputs(name, outputs)

    def _offer_outputs(self, name: str, outputs: Any) -> None:
        if self._open is None and self._last_update is not None and not self._is_silent:
            if self._ended is not None:
                self._offer_late(self._ended, name, outputs)
            return
        if self.idle or self._passes or self._is_repeated():
            return
        record = self._open or self._start(trains=torch.is_grad_enabled())
        self._offer_all(record, f"{name}_output", tensors_in(outputs))

    def _offer_late(self, ended: tuple[Any, ...], name: str, outputs: Any) -> None:
        """Add what is recorded after the update to the step that the update ended."""
        late = StepRecord(*ended)
        late.listed = False
        self._offer_all(late, f"{name}_output", tensors_in(outputs))
        late.scalars += [("loss", float(loss)) for loss in self._losses]
        self._losses.clear()
        if self._recorder is not None and (late.offers or late.scalars):
            self._recorder.submit(late, TENSOR_PATIENCE)

    def _offer_all(self, record: StepRecord, prefix: str, tensors: Iterable[torch.Tensor]) -> None:
        """Copy what is wanted of a loss or of a recorded value; a second one of a step gets the next indices."""
        for tensor in tensors:
            index = self._counts.get(prefix, 0)
            self._counts[prefix] = index + 1
            full = f"{prefix}_{index}"
            if tensor.numel() == 1 and self._is_loss(full):
                self._losses.append(tensor.item() if tensor.is_cpu else tensor.detach().clone())
            if record.wanted and self.selection.wants(full):
                record.offers.append(copy_of(full, tensor))

    def _is_loss(self, name: str) -> bool:
        return "losses" in self.selection.collections_of(name)

    def _on_gradient(self, *_: Any) -> None:
        if not (self._in_backward or self.idle or self._passes):
            self._in_backward = True
            self._nudge()
            _when_backward_ends(Tap(self, self._after_backward, "the backward"), after=self._is_distributed())

    def _is_distributed(self) -> bool:
        return isinstance(self._outer, torch.nn.parallel.DistributedDataParallel)

    def _after_backward(self) -> None:
        self._in_backward = False
        if self._mode in _QUIET_MODES or (self._in_closure and self._had_backward):
            return
        self._end_silent_step()
        record = self._open
        if record is None:
            self._say_silent_root()
            record = self._start(trains=True)
        self._trains = self._had_backward = self._awaits_update = True
        if not record.wanted:
            return
        self._capture_parameters(record, gradients=True)
        if self._activations is not None:
            for name in self._activations.silent():
                self.say(
                    f"hook-silent:{name}",
                    f"Module {name!r} was trained, but its hook did not run: its activations are not recorded. "
                    "torch.compile leaves hooks of inner modules out, and a module whose weights are used without "
                    "calling it never runs its own.",
                    step=record.step,
                )

    def _end_silent_step(self) -> None:
        """Where neither a forward nor an optimizer is seen, whatever follows a backward is the next step."""
        if self._is_silent and self._had_backward and not self._optimizers:
            self._end_step()

    def _before_update(self, optimizer: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        if self.idle or self._passes or self._shares_step(optimizer):
            return
        if self._in_closure:
            # The last update did not come to its end: its closure raised.
            self._end_step()
        self._in_closure = _closure(args, kwargs) is not None
        record, now = self._open, time.perf_counter()
        if record is not None:
            # Everything since the forward ended: the loss, the backward, and what the loop does with gradients.
            record.seconds["backward"] = now - self._clock
        elif not self._in_closure and self._mode not in _QUIET_MODES:
            self._say_silent_root()
            record = self._start(trains=True)
        if record is not None and record.wanted and not self._is_known():
            # No gradient of the model's output was asked for; these may already be clipped, and are without scale.
            self._hears_outputs = False
            self._tap_parameters()
            self._capture_parameters(record, gradients=True, scaled=False)
        self._clock = now

    def _is_known(self) -> bool:
        """Whether the gradients of the update that begins were recorded, will be, or must not be."""
        return self._awaits_update or self._in_closure or self._mode in _QUIET_MODES

    def _shares_step(self, optimizer: torch.optim.Optimizer) -> bool:
        """Whether an update belongs to a step that another optimizer's update has ended already."""
        return self._last_update is not None and self._last_update is not optimizer

    def _after_update(self, optimizer: Any, *_: Any) -> None:
        if self._passes or (self._last_update is not None and self._shares_step(optimizer)):
            # Counted already: by the forward of a model that is trained as it is evaluated, or by another optimizer.
            return
        self._last_update = optimizer
        if self.idle:
            self._ended = None
            self._pass_step()
            return
        record, self._in_closure, self._awaits_update = self._open, False, False
        if record is None:
            return
        record.seconds["optimizer"] = time.perf_counter() - self._clock
        groups = [group for one in self._optimizers for group in one.param_groups]
        for i, group in enumerate(groups):
            name = "learning_rate" if len(groups) == 1 else f"learning_rate/{i}"
            record.scalars.append((name, float(group["lr"])))
        if record.wanted and "optimizer_variables" in self.selection.names:
            for one in self._optimizers:
                self._offer_optimizer(record, one)
        self._end_step()

    def _end_step(self) -> None:
        record = self._open
        if record is not None:
            if record.due and self._trains and not self._had_backward:
                # Nobody asked for gradients, so nothing has changed the weights since.
                self._capture_parameters(record, gradients=False)
            if self._losses:
                record.scalars.append(("loss", sum(float(loss) for loss in self._losses) / len(self._losses)))
                self._losses.clear()
            now = time.perf_counter()
            if record.samples and self._last_end is not None and self._trains:
                record.scalars.append(("throughput", len(record.samples) / max(now - self._last_end, 1e-9)))
            self._last_end = now
            # Without its tensors, which the writer may hold no longer than it needs them.
            begins = (record.step, record.mode, record.mode_step, record.time, record.epoch)
            self._ended = (*begins, record.due, record.statistics, record.wanted)
        self._had_backward = False
        super()._end_step()

    # -- inside ------------------------------------------------------------------------------------------------------

    def _attend(self) -> None:
        if self._last_update is not None and len(self._optimizers) > 1:
            # Other optimizers may yet update what this step has computed; by the next forward they have.
            return
        super()._attend()

    def _attend_late(self) -> None:
        """Carry out what came with the first of several updates."""
        waits = self._requests is not None and self._requests.mail.waiting
        if waits and self._open is None and not self._is_repeated():
            super()._attend()

    def _went_on(self) -> None:
        self._last_end = None

    def _agree(self, *, asked: bool) -> bool:
        return chiefs_answer(asked=asked)

    def _set_learning_rate(self, arguments: Mapping[str, Any]) -> str:
        return set_learning_rate(self._optimizers, arguments, alone=self.worker.workers == 1)

    def _look_ahead(self) -> None:
        # Mixed precision may skip an update; such a step must be seen to be counted.
        if self._scaler is None:
            super()._look_ahead()

    def _set_idle(self, *, idle: bool) -> None:
        if self.idle and not idle:
            # What is measured between two steps must not span those in between.
            self._last_end, self._data_seconds = None, 0.0
        super()._set_idle(idle=idle)
        if not idle:
            self._step_taps.hang()
        elif self._wakes_at - self._steps.step >= _LONG_IDLE:
            self._step_taps.drop()

    def _wake(self) -> None:
        """Record the idle step that runs now after all: something of it is saved by hand."""
        if self.idle:
            self._set_idle(idle=False)
            self._start(trains=torch.is_grad_enabled() and self._mode not in _QUIET_MODES)

    def _tap_parameters(self) -> None:
        """Hear of the backward pass through every parameter: costs more, but needs no forward that we see."""
        if self._root is None or self._parameter_taps:
            return
        for name, parameter in parameter_names(self._root):
            if parameter.requires_grad and not isinstance(parameter, torch.nn.UninitializedParameter):
                tap = Tap(self, self._on_gradient, f"the backward of {name}")
                self._parameter_taps.append(parameter.register_hook(tap))  # type: ignore[no-untyped-call]

    def _untap_parameters(self) -> None:
        for handle in self._parameter_taps:
            handle.remove()
        self._parameter_taps.clear()

    def _capture_parameters(self, record: StepRecord, *, gradients: bool, scaled: bool = True) -> None:
        if self._parameters is None:
            # Lazy modules have their parameters only now, after the first forward.
            self._look_at_model()
        if self._parameters is None:
            return
        scale = float(self._scaler.get_scale()) if self._scaler is not None and scaled else 1.0
        if gradients and self._scaler is not None and self._scaler.is_enabled():
            # Tells rules that gradients which overflow are skipped, not sick.
            record.scalars.append(("gradient_scale", scale))
        patience = TENSOR_PATIENCE if record.due else STATISTICS_PATIENCE
        if self._parameters.needs_writer:
            self._nudge(urgently=True)
        if not self._parameters.capture(record, patience=patience, gradients=gradients, scale=scale):
            record.statistics, record.due, record.wanted = False, frozenset(), False
            record.offers.clear()
            self._say_thinned(record.step)

    def _look_at_model(self) -> None:
        """Find out what the model has: at the first step, and again where it has changed since."""
        if self._root is None or (self._anatomy is not None and self._anatomy.is_current()):
            return
        self._anatomy = Anatomy(self._root)
        if self._collect_by_type():
            self._write_collections()
        self._tap_modules(self._root)
        if self._parameter_taps:
            self._untap_parameters()
            self._tap_parameters()
        if self._anatomy.is_complete:
            self._parameters = ParameterCapture(self._anatomy.parameters, self.selection.wants)

    def _tap_modules(self, root: torch.nn.Module) -> None:
        activations = self._activations or self._new_activations()
        for name, module in module_names(root):
            target = self._outer if module is root and self._outer is not None else module
            self._modules[target] = name
            if module not in activations and activations.needs_tap(name):
                activations.add(name, module)
                tap = Tap(self, self._after_module, f"module {name}")
                self._handles.append(target.register_forward_hook(tap, with_kwargs=True))
                self._activations = activations

    def _collect_by_type(self) -> bool:
        """Add activation modules to their collections; False where these have all of them already."""
        found = list(patterns_by_type(module_names(self._root))) if self._root is not None else []
        fresh = [(name, text) for name, text in found if text not in self.collections.get(name).include_regex]
        for name, text in fresh:
            self.collections.get(name).include(text)
        return bool(fresh)

    def _new_activations(self) -> Activations:
        activity = [re.compile(pattern) for pattern in cast(tuple[str, ...], self.settings.channel_activity)]

        def watched(name: str) -> bool:
            return any(pattern.search(name) for pattern in activity)

        # Whether units are dead shows in their activity alone: it is kept of every ReLU whose output is looked at.
        relus = self.collections.get("relu_outputs")
        return Activations(
            lambda name: self.selection.wants(name) or watched(name), lambda name: relus.matches(name) or watched(name)
        )

    def _offer_optimizer(self, record: StepRecord, optimizer: torch.optim.Optimizer) -> None:
        names = {id(p): name for name, p in parameter_names(self._root)} if self._root is not None else {}
        for parameter, state in optimizer.state.items():
            for key, value in state.items():
                if isinstance(value, torch.Tensor) and id(parameter) in names:
                    full = f"{type(optimizer).__name__}_{names[id(parameter)]}_{key}"
                    self.collections.get("optimizer_variables").add(full)
                    record.offers.append(copy_of(full, value))

    def _say_silent_root(self) -> None:
        self._is_silent = True
        name = type(self._root).__name__ if self._root is not None else "the model"
        self.say(
            "hook-silent",
            f"{name} was trained, but its forward hook did not run. Parameters and gradients are recorded at the end "
            "of each backward; outputs are not. Register the object that the loop calls (the compiled one).",
            step=self.step,
        )

    def _detach(self) -> None:
        self._step_taps.drop()
        self._untap_parameters()
        for handle in self._handles:
            handle.remove()
        self._handles.clear()


def _when_backward_ends(call: Tap, *, after: bool) -> None:
    """Run a function when the running backward pass has accumulated every gradient.

    `after` runs it behind the callbacks that others queue meanwhile: DistributedDataParallel averages in one.
    """
    queue = torch.autograd.Variable._execution_engine.queue_callback  # noqa: SLF001 - torch has no public way
    queue((lambda: queue(call)) if after else call)


def _closure(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> object:
    """Return the closure that an optimizer's step was given; its arguments begin with the optimizer itself."""
    return args[1] if len(args) > 1 else kwargs.get("closure")
