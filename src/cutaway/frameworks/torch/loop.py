"""What torch's events mean for the life of a step: when it begins and ends, and when its values are read.

A step begins with the forward of the registered module and ends with the optimizer's step, or, where no optimizer is
registered or no gradient is wanted, with the next forward. Parameters and gradients are copied once, when the backward
pass has ended: before clipping, and before the optimizer changes the weights that the forward used.
"""

from __future__ import annotations

from typing import Any

import torch

from cutaway.capture.hook import AdaptedHook
from cutaway.capture.records import StepRecord
from cutaway.frameworks.torch.gradient_taps import GradientTaps, when_backward_ends
from cutaway.frameworks.torch.taps import RemovableTaps, Tap
from cutaway.frameworks.torch.watched_model import WatchedModel

__all__ = ["TrainingLoop"]


class TrainingLoop:
    """Where the loop is between torch's events. The taps of forwards, losses and updates tell it and ask it."""

    def __init__(self, hook: AdaptedHook, taps: RemovableTaps) -> None:
        self.hook = hook
        self.steps = hook.steps
        self.model = WatchedModel(hook, taps, self.is_repeated)
        self.gradients = GradientTaps(hook, self._on_gradient)
        self.optimizers: list[torch.optim.Optimizer] = []
        self.is_shared = False  # whether several optimizers update what one step has computed
        self.scaler: torch.amp.GradScaler | None = None
        self.last_update: torch.optim.Optimizer | None = None  # whose update ended the last step, until a forward
        self.batch_samples: list[str | None] | None = None  # those that the last forward got
        self.clock = 0.0  # when the phase of the step began that runs now
        self.passes = False  # whether the step that runs is only counted, and was already
        self.is_silent = False  # whether backward passes come without a forward
        self.in_backward = False
        self.awaits_update = False
        self.in_closure = False

    def wants_gradients(self) -> bool:
        """Whether what runs now may be trained on."""
        return self.steps.may_train and torch.is_grad_enabled()

    def is_repeated(self) -> bool:
        """Whether what runs now was seen already, or is no step: recomputed in a backward, a closure, a transform."""
        return (
            torch._C._current_graph_task_id() != -1  # noqa: SLF001 - torch has no public way
            or (self.in_closure and self._has_gradients())
            or torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]
            or torch._C._functorch.peek_interpreter_stack() is not None  # noqa: SLF001 - vmap, grad and their kind
        )

    def start(self, *, trains: bool) -> StepRecord:
        """Begin a step."""
        record = self.steps.begin(trains=trains)
        self.last_update = None
        if record.wanted:
            self._look_at_model()
        self.in_backward = False
        self.awaits_update = self.awaits_update and not trains
        if self.model.activations is not None:
            self.model.activations.begin()
        if not trains and (record.due or self.hook.selection.nan_watch):
            self.capture_parameters(record, gradients=False)
        return record

    def complete(self, record: StepRecord) -> None:
        """Read the weights of a step that ends without a backward: nobody asked for gradients, so they are the same."""
        if record.due and record.trains and not record.has_gradients:
            self.capture_parameters(record, gradients=False)

    def wake(self) -> None:
        """Record the idle step that runs now after all: something of it is saved by hand."""
        if self.steps.wake():
            self.start(trains=self.wants_gradients())

    def end_silent_step(self) -> None:
        """Where neither a forward nor an optimizer is seen, whatever follows a backward is the next step."""
        if self.is_silent and not self.optimizers and self._has_gradients():
            self.steps.end()

    def say_silent_root(self) -> None:
        """Say that the model is trained without its forward being seen."""
        self.is_silent = True
        name = type(self.model.root).__name__ if self.model.root is not None else "the model"
        self.hook.say(
            "hook-silent",
            f"{name} was trained, but its forward hook did not run. Parameters and gradients are recorded at the end "
            "of each backward; outputs are not. Register the object that the loop calls (the compiled one).",
            step=self.steps.step,
        )

    def capture_parameters(self, record: StepRecord, *, gradients: bool, scaled: bool = True) -> None:
        """Copy parameters, and gradients where they are there; `scaled` where they still have a GradScaler's scale."""
        if self.model.parameters is None:
            # Lazy modules have their parameters only now, after the first forward.
            self._look_at_model()
        parameters = self.model.parameters
        if parameters is None:
            return
        scale = float(self.scaler.get_scale()) if self.scaler is not None and scaled else 1.0
        if gradients and self.scaler is not None and self.scaler.is_enabled():
            # Tells rules that gradients which overflow are skipped, not sick.
            record.scalars.append(("gradient_scale", scale))
        if parameters.needs_writer:
            self.hook.nudge(urgently=True)
            with self.hook.wait_for_writer(record) as seconds:
                taken = parameters.capture(record, patience=seconds, gradients=gradients, scale=scale)
        else:
            taken = parameters.capture(record, patience=0.0, gradients=gradients, scale=scale)
        if not taken:
            record.leave_out()
            self.hook.say_behind(record.step)

    def _look_at_model(self) -> None:
        if self.model.refresh() and self.gradients.on_parameters:
            self.gradients.untap_parameters()
            self.gradients.tap_parameters(self.model.root)

    def _has_gradients(self) -> bool:
        record = self.steps.record
        return record is not None and record.has_gradients

    def _on_gradient(self, *_: Any) -> None:
        if not (self.in_backward or self.steps.idle or self.passes):
            self.in_backward = True
            self.hook.nudge()
            when_backward_ends(Tap(self.hook, self._after_backward, "the backward"), after=self.model.is_distributed)

    def _after_backward(self) -> None:
        self.in_backward = False
        if not self.steps.may_train or (self.in_closure and self._has_gradients()):
            return
        self.end_silent_step()
        record = self.steps.record
        if record is None:
            self.say_silent_root()
            record = self.start(trains=True)
        record.trains = record.has_gradients = self.awaits_update = True
        if not record.wanted:
            return
        self.capture_parameters(record, gradients=True)
        if self.model.activations is not None:
            for name in self.model.activations.silent():
                self.hook.say(
                    f"hook-silent:{name}",
                    f"Module {name!r} was trained, but its hook did not run: its activations are not recorded. "
                    "torch.compile leaves hooks of inner modules out, and a module whose weights are used without "
                    "calling it never runs its own.",
                    step=record.step,
                )
