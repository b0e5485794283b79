"""The model that a hook watches: its names, its parameters, and taps on the modules of which something is wanted."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any, cast

import torch

from cutaway.capture.hook import AdaptedHook
from cutaway.errors import ConfigurationError
from cutaway.frameworks.torch.activations import Activations, patterns_by_type
from cutaway.frameworks.torch.forward_order import ForwardOrder
from cutaway.frameworks.torch.names import module_names, parameter_names, unwrap
from cutaway.frameworks.torch.parameters import ParameterCapture
from cutaway.frameworks.torch.taps import RemovableTaps, Tap
from cutaway.tensors.collection import ModuleTensors
from cutaway.tensors.collections import Collections

__all__ = ["WatchedModel"]


class WatchedModel:
    """One registered module and what it is made of, which may change while it trains."""

    def __init__(self, hook: AdaptedHook, taps: RemovableTaps, is_repeated: Callable[[], bool]) -> None:
        self.outer: torch.nn.Module | None = None  # the object that the loop calls
        self.root: torch.nn.Module | None = None  # the user's own module inside
        self.names: dict[torch.nn.Module, str] = {}
        self.parameters: ParameterCapture | None = None
        self.activations: Activations | None = None
        self.order = ForwardOrder(hook, taps)
        self._hook = hook
        self._steps = hook.steps
        self._taps = taps
        self._is_repeated = is_repeated
        self._anatomy: _Anatomy | None = None

    def set_root(self, module: torch.nn.Module) -> None:
        """Watch this module, or the one that it wraps."""
        self.outer, self.root = module, unwrap(module)
        self.names = {inner: name for name, inner in module_names(self.root)}

    @property
    def is_distributed(self) -> bool:
        """Whether gradients are averaged at the end of each backward pass."""
        return isinstance(self.outer, torch.nn.parallel.DistributedDataParallel)

    def parameter_names(self) -> dict[int, str]:
        """Return the names of all parameters, by their identity."""
        return {id(p): name for name, p in parameter_names(self.root)} if self.root is not None else {}

    def describe(self) -> dict[str, Any]:
        """Return what the configuration of a run says of the model."""
        parameters = [] if self.root is None else list(self.root.parameters())
        count = sum(p.numel() for p in parameters if not isinstance(p, torch.nn.UninitializedParameter))
        devices = sorted({str(p.device) for p in parameters})
        return {"model": type(self.root).__name__, "parameters": count, "device": ", ".join(devices) or "cpu"}

    def refresh(self) -> bool:
        """Find out what the model has: at the first step, and again where it has changed since. False where not."""
        if self.root is None or (self._anatomy is not None and self._anatomy.is_current()):
            return False
        self._anatomy = _Anatomy(self.root)
        if self._collect_by_type():
            self._hook.documents.write_collections()
        self._tap_modules(self.root)
        if self._anatomy.is_complete:
            self.parameters = ParameterCapture(self._anatomy.parameters, self._hook.selection.wants)
        return True

    def hear_order(self) -> None:
        """A forward begins: hear in which order it calls the modules, unless that is known."""
        if self.root is not None and not self.order.is_settled:
            self.order.listen(self.root if self.outer is None else self.outer, module_names(self.root))

    def resolve(self, collections: Collections) -> None:
        """Give names to parameters and modules that were added to collections as objects, or belong there by type."""
        self._collect_by_type()
        names = self.parameter_names()
        for collection in collections:
            pending, collection.pending = collection.pending, []
            for item in pending:
                if isinstance(item, ModuleTensors):
                    for pattern in self._patterns_of(item):
                        collection.include(pattern)
                elif id(item) in names:
                    collection.add(names[id(item)])
                else:
                    message = (
                        f"Collection {collection.name!r} got a {type(item).__name__} that is no parameter of the "
                        "registered module."
                    )
                    raise ConfigurationError(message, hint="Add its name, or save the value with `hook.save_tensor`.")

    def _patterns_of(self, item: ModuleTensors) -> list[str]:
        name = self.names.get(cast(torch.nn.Module, item.module))
        if name is None:
            kind = type(item.module).__name__
            message = f"`add_module_tensors` got a {kind} that the registered module does not have."
            raise ConfigurationError(message)
        kinds = [kind for kind, wanted in (("input", item.inputs), ("output", item.outputs)) if wanted]
        return [rf"^{re.escape(name)}_{kind}_\d+$" for kind in kinds]

    def _collect_by_type(self) -> bool:
        """Add activation modules to their collections; False where these have all of them already."""
        collections = self._hook.collections
        found = list(patterns_by_type(module_names(self.root))) if self.root is not None else []
        fresh = [(name, text) for name, text in found if text not in collections.get(name).include_regex]
        for name, text in fresh:
            collections.get(name).include(text)
        return bool(fresh)

    def _tap_modules(self, root: torch.nn.Module) -> None:
        activations = self.activations or self._new_activations()
        for name, module in module_names(root):
            target = self.outer if module is root and self.outer is not None else module
            self.names[target] = name
            if module not in activations and activations.needs_tap(name):
                activations.add(name, module)
                tap = Tap(self._hook, self._after_module, f"module {name}")
                self._taps.keep(target.register_forward_hook(tap, with_kwargs=True))
                self.activations = activations

    def _after_module(self, module: torch.nn.Module, args: Any, kwargs: Any, outputs: Any) -> None:
        record = self._steps.record
        if record is not None and record.wanted and self.activations is not None and not self._is_repeated():
            self.activations.offer(record, self.names[module], (args, kwargs), outputs)

    def _new_activations(self) -> Activations:
        activity = [re.compile(pattern) for pattern in cast(tuple[str, ...], self._hook.settings.channel_activity)]

        def watched(name: str) -> bool:
            return any(pattern.search(name) for pattern in activity)

        # Whether units are dead shows in their activity alone: it is kept of every ReLU whose output is looked at.
        relus, selection = self._hook.collections.get("relu_outputs"), self._hook.selection
        return Activations(
            lambda name: selection.wants(name) or watched(name), lambda name: relus.matches(name) or watched(name)
        )


class _Anatomy:
    """The modules and parameters of a model as they were when this was made.

    `is_complete` says whether every parameter has a shape; those of lazy modules get theirs in the first forward.
    """

    def __init__(self, root: torch.nn.Module) -> None:
        # Read at every step: the public way would make every name anew.
        self._parts = [part for m in root.modules() for part in (m._modules, m._parameters)]  # noqa: SLF001
        self.parameters = list(parameter_names(root))
        self.is_complete = not any(isinstance(p, torch.nn.UninitializedParameter) for _, p in self.parameters)
        self._members = self._look()
        self._kinds = self._look_at_parameters() if self.is_complete else []

    def is_current(self) -> bool:
        """Whether the model is made of the same objects still, of the same shapes, and frozen as before."""
        now = self._look()
        return (
            self.is_complete
            and len(now) == len(self._members)
            and all(map(operator.is_, now, self._members))
            and self._look_at_parameters() == self._kinds
        )

    def _look(self) -> list[torch.nn.Module | torch.nn.Parameter | None]:
        return [member for part in self._parts for member in part.values()]

    def _look_at_parameters(self) -> list[tuple[torch.Size, torch.dtype, bool]]:
        return [(p.shape, p.dtype, p.requires_grad) for _, p in self.parameters]
