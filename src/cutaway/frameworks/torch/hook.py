"""The hook for PyTorch: what users call. How steps are followed is in watched_steps.py."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar, cast

import torch

import cutaway
from cutaway.capture import current
from cutaway.capture.budget import DEFAULT_BUDGET
from cutaway.capture.given import check_subset, hook_arguments
from cutaway.capture.observer import Observer
from cutaway.capture.settings import HookSettings
from cutaway.errors import ConfigurationError
from cutaway.frameworks.torch.distributed import this_worker
from cutaway.frameworks.torch.names import module_names, parameter_names, unwrap
from cutaway.frameworks.torch.samples import SampledLoader
from cutaway.frameworks.torch.taps import Tap
from cutaway.frameworks.torch.tensors import copy_of
from cutaway.frameworks.torch.watched_steps import WatchedSteps
from cutaway.tensors.collection import ModuleTensors
from cutaway.tensors.json_config import CONFIG_VARIABLES, HookConfig
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.reduction_config import ReductionConfigLike
from cutaway.tensors.save_config import SaveConfigLike

__all__ = ["Hook"]

Loader = TypeVar("Loader", bound=Iterable[Any])

_QUIET_MODES = (ModeKeys.EVAL, ModeKeys.PREDICT)
# Fewer idle steps than this are not worth taking taps down for.
_LONG_IDLE = 4


class Hook(WatchedSteps):
    """Saves what happens inside a training: statistics of every step, and full tensors on demand.

    `out_dir` is the run folder, made by the hook; by default `runs/<name>-<UTC time>`. `include_collections`,
    `include_regex` and `save_all` choose tensors, `save_config` the steps at which they are saved in full, and
    `reduction_config` reductions to save instead. `statistics_every` sets how often statistics are kept (0: never),
    `channel_activity` names the activations whose share of positive values per channel is kept too. `rules` look on
    while it trains: names such as "VanishingGradient", or objects with `observe(reader, step)`.
    `resume=True` continues a run in its next attempt, at `from_step` where given. `disk_budget` is in bytes.

    >>> import torch, cutaway.torch as smd
    >>> model, loss = torch.nn.Linear(4, 2), torch.nn.CrossEntropyLoss()
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    >>> with smd.Hook(include_collections=["weights"]) as hook:  # doctest: +SKIP
    ...     hook.register_module(model)
    ...     hook.register_loss(loss)
    ...     hook.register_optimizer(optimizer)
    """

    framework = "torch"

    def __init__(
        self,
        out_dir: str | os.PathLike[str] | None = None,
        *,
        name: str = "",
        include_collections: Iterable[str] | None = None,
        include_regex: str | Iterable[str] | None = None,
        save_config: SaveConfigLike = None,
        reduction_config: ReductionConfigLike | None = None,
        save_all: bool = False,
        export_tensorboard: bool = False,
        tensorboard_dir: str | os.PathLike[str] | None = None,
        include_workers: str = "one",
        dry_run: bool = False,
        resume: bool = False,
        from_step: int | None = None,
        statistics_every: int = 1,
        channel_activity: str | Iterable[str] | None = None,
        rules: Iterable[Observer | str] = (),
        disk_budget: int = DEFAULT_BUDGET,
    ) -> None:
        settings = HookSettings(
            out_dir=out_dir,
            name=name,
            include_collections=include_collections,
            include_regex=include_regex,
            save_config=save_config,
            reduction_config=reduction_config,
            save_all=save_all,
            export_tensorboard=export_tensorboard,
            tensorboard_dir=tensorboard_dir,
            include_workers=include_workers,
            dry_run=dry_run,
            resume=resume,
            from_step=from_step,
            statistics_every=statistics_every,
            channel_activity=channel_activity,
            rules=rules,
            disk_budget=disk_budget,
        )
        versions = {"cutaway": cutaway.__version__, "torch": torch.__version__}
        super().__init__(settings, this_worker(), versions)

    @classmethod
    def create_from_json_file(cls, path: str | os.PathLike[str] | None = None) -> Hook:
        """Make a hook from upstream's JSON configuration: a file, or the one that the environment names."""
        path = path or next((os.environ[name] for name in CONFIG_VARIABLES if os.environ.get(name)), None)
        if path is None:
            message = f"Give the path of a JSON configuration, or set {CONFIG_VARIABLES[0]}."
            raise ConfigurationError(message)
        return cls(**hook_arguments(HookConfig.from_file(path), current.prepare().get))

    # -- registration ------------------------------------------------------------------------------------------------

    def register_module(self, module: torch.nn.Module) -> None:
        """Watch a model. It keeps its type; closing the hook leaves no trace on it."""
        _require(module, torch.nn.Module, "register_module")
        if self._root is not None:
            message = "This hook already watches a module. Register one root, or make a second hook."
            raise ConfigurationError(message)
        root = unwrap(module)
        self._close_earlier_hook(root)
        self._outer, self._root = module, root
        self._modules = {inner: name for name, inner in module_names(root)}
        if not self.active:
            return
        before = Tap(self, self._before_forward, "forward")
        self._handles.append(module.register_forward_pre_hook(before, prepend=True, with_kwargs=True))
        after = Tap(self, self._after_forward, "forward")
        self._step_taps.add(lambda: module.register_forward_hook(after))
        # Until a forward is seen: a model that is compiled from now on may never call its hooks.
        self._tap_parameters()
        count = sum(p.numel() for p in root.parameters() if not isinstance(p, torch.nn.UninitializedParameter))
        devices = sorted({str(p.device) for p in root.parameters()})
        self._config.update(model=type(root).__name__, parameters=count, device=", ".join(devices) or "cpu")

    register_hook = register_module

    def register_loss(self, loss: torch.nn.Module) -> None:
        """Watch a loss module: its value, and what it received as predictions and labels."""
        hint = " For a function, call `hook.record_tensor_value('loss', value)` in the loop."
        _require(loss, torch.nn.Module, "register_loss", hint)
        if self.active and loss not in self._modules:
            self._modules[loss] = type(loss).__name__
            self._config["loss"] = type(loss).__name__
            tap = Tap(self, self._after_loss, "the loss")
            self._step_taps.add(lambda: loss.register_forward_hook(tap, with_kwargs=True))

    def register_optimizer(self, optimizer: torch.optim.Optimizer, scaler: torch.amp.GradScaler | None = None) -> None:
        """Watch an optimizer: it ends steps, and its learning rate is recorded.

        `scaler` is the GradScaler of mixed precision, so that gradients are recorded without their scale.
        """
        _require(optimizer, torch.optim.Optimizer, "register_optimizer")
        self._scaler = scaler or self._scaler
        if self.active:
            if optimizer in self._optimizers:
                return
            self._optimizers.append(optimizer)
            pre, post = Tap(self, self._before_update, "the optimizer"), Tap(self, self._after_update, "the optimizer")
            self._step_taps.add(lambda: optimizer.register_step_pre_hook(pre))
            self._handles.append(optimizer.register_step_post_hook(post))
            groups = [{key: value for key, value in g.items() if key != "params"} for g in optimizer.param_groups]
            name = "optimizer" if len(self._optimizers) == 1 else f"optimizer_{len(self._optimizers)}"
            self.set_config({name: {"class": type(optimizer).__name__, "groups": groups}})

    def wrap_optimizer(self, optimizer: torch.optim.Optimizer) -> torch.optim.Optimizer:
        """Register an optimizer and return the same object: the seeds' spelling."""
        self.register_optimizer(optimizer)
        return optimizer

    def samples(self, loader: Loader, subset: str = "training", ids: Sequence[object] | None = None) -> Loader:
        """Return the loader, noting which samples each batch holds: `for x, y in hook.samples(loader):`.

        `ids[index]` names a sample where given, else its index does. Iterating the training subset counts epochs.
        """
        check_subset(subset)
        if not self.active:
            return loader
        size = getattr(loader, "batch_size", None)
        if subset == "training" and size is not None:
            self._config.setdefault("batch_size", size)
        return cast(Loader, SampledLoader(self, loader, subset, ids, counts_epochs=subset == "training"))

    def batch_arrives(self, size: int | None, seconds: float) -> None:
        """Note that a batch came from the loader, after how long; `size` is None where its samples are unknown."""
        self._data_seconds += seconds
        if size is None:
            self.say(
                "samples-unknown",
                "The samples of each batch are unknown: this loader has no sampler that can be followed. Call "
                "`hook.set_samples(ids)` before each step to name them.",
            )

    def record_tensor_value(self, tensor_name: str, tensor_value: torch.Tensor) -> None:
        """Record the result of a function, such as `F.mse_loss`, as upstream does: `<name>_output_0`."""
        _require(tensor_value, torch.Tensor, "record_tensor_value")
        if self.active:
            self._offer_outputs(tensor_name, tensor_value)

    def save_tensor(
        self, tensor_name: str, tensor_value: Any, collections_to_write: str | Iterable[str] = "default"
    ) -> None:
        """Save a tensor now, whatever the schedule says; when this returns it survives a kill."""
        if self.active:
            value = tensor_value if isinstance(tensor_value, torch.Tensor) else torch.as_tensor(tensor_value)
            self._wake()
            self._offer_now(copy_of(tensor_name, value), collections_to_write)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _resolve_pending(self) -> None:
        """Give names to parameters and modules that were added to collections as objects, or belong there by type."""
        self._collect_by_type()
        names = {id(p): name for name, p in parameter_names(self._root)} if self._root is not None else {}
        for collection in self.collections:
            pending, collection.pending = collection.pending, []
            for item in pending:
                if isinstance(item, ModuleTensors):
                    self._resolve_module(collection.name, item)
                elif id(item) in names:
                    collection.add(names[id(item)])
                else:
                    message = (
                        f"Collection {collection.name!r} got a {type(item).__name__} that is no parameter of the "
                        "registered module. Add its name, or save the value with `hook.save_tensor`."
                    )
                    raise ConfigurationError(message)

    def _resolve_module(self, collection: str, item: ModuleTensors) -> None:
        name = self._modules.get(cast(torch.nn.Module, item.module))
        if name is None:
            kind = type(item.module).__name__
            message = f"`add_module_tensors` got a {kind} that the registered module does not have."
            raise ConfigurationError(message)
        for kind, wanted in (("input", item.inputs), ("output", item.outputs)):
            if wanted:
                self.collections.get(collection).include(rf"^{re.escape(name)}_{kind}_\d+$")

    def _close_earlier_hook(self, root: torch.nn.Module) -> None:
        """A notebook cell that runs twice attaches twice: the second time ends the first."""
        for hook in current.live_hooks():
            if hook is not self and isinstance(hook, Hook) and hook._root is root:  # noqa: SLF001 - one of us
                hook.say("replaced", f"Another hook now watches this {type(root).__name__}; this run is closed.")
                hook.close()


def _require(value: object, kind: type, call: str, hint: str = "") -> None:
    if not isinstance(value, kind):
        message = f"`{call}` takes a {kind.__module__}.{kind.__name__}, but got {type(value).__name__}.{hint}"
        raise ConfigurationError(message)
