"""The hook for PyTorch, and one in one line: what users call. How a training is followed is in adapter.py."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, Self, TypeVar, cast

import torch

from cutaway.capture import current
from cutaway.capture.budget import DEFAULT_BUDGET
from cutaway.capture.front import forwarded, forwarded_property
from cutaway.capture.given import check_subset, hook_arguments
from cutaway.capture.hook import AdaptedHook
from cutaway.capture.observing import Observer
from cutaway.capture.settings import HookSettings
from cutaway.errors import ConfigurationError
from cutaway.frameworks.torch.adapter import TorchAdapter
from cutaway.frameworks.torch.names import unwrap
from cutaway.frameworks.torch.samples import SampledLoader
from cutaway.frameworks.torch.tensors import copy_of
from cutaway.run.leases import RunState
from cutaway.tensors.json_config import CONFIG_VARIABLES, HookConfig
from cutaway.tensors.reduction_config import ReductionConfigLike
from cutaway.tensors.save_config import SaveConfigLike

__all__ = ["Hook", "attach"]

Loader = TypeVar("Loader", bound=Iterable[Any])


class Hook:
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
        self._adapter = TorchAdapter()
        self.adapted = AdaptedHook(self._adapter, settings, front=self)
        self.settings, self.worker, self.run = settings, self.adapted.worker, self.adapted.run
        self.collections = self.adapted.collections

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
        if self._adapter.root is not None:
            message = "This hook already watches a module."
            raise ConfigurationError(message, hint="Register one root, or make a second hook.")
        self._close_earlier_hook(unwrap(module))
        self._adapter.watch_model(module)

    register_hook = register_module

    def register_loss(self, loss: torch.nn.Module) -> None:
        """Watch a loss module: its value, and what it received as predictions and labels."""
        hint = " For a function, call `hook.record_tensor_value('loss', value)` in the loop."
        _require(loss, torch.nn.Module, "register_loss", hint)
        self._adapter.watch_loss(loss)

    def register_optimizer(self, optimizer: torch.optim.Optimizer, scaler: torch.amp.GradScaler | None = None) -> None:
        """Watch an optimizer: it ends steps, and its learning rate is recorded.

        `scaler` is the GradScaler of mixed precision, so that gradients are recorded without their scale.
        """
        _require(optimizer, torch.optim.Optimizer, "register_optimizer")
        self._adapter.watch_optimizer(optimizer, scaler)

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
            self.adapted.documents.config.setdefault("batch_size", size)
        return cast(Loader, SampledLoader(self.adapted, loader, subset, ids, counts_epochs=subset == "training"))

    def record_tensor_value(self, tensor_name: str, tensor_value: torch.Tensor) -> None:
        """Record the result of a function, such as `F.mse_loss`, as upstream does: `<name>_output_0`."""
        _require(tensor_value, torch.Tensor, "record_tensor_value")
        if self.active:
            self._adapter.losses.offer_outputs(tensor_name, tensor_value)

    def save_tensor(
        self, tensor_name: str, tensor_value: Any, collections_to_write: str | Iterable[str] = "default"
    ) -> None:
        """Save a tensor now, whatever the schedule says; when this returns it survives a kill."""
        if self.active:
            value = tensor_value if isinstance(tensor_value, torch.Tensor) else torch.as_tensor(tensor_value)
            self._adapter.loop.wake()
            self.adapted.save_tensor(tensor_name, copy_of(tensor_name, value), collections_to_write)

    # -- what every hook does ----------------------------------------------------------------------------------------

    set_mode = forwarded(AdaptedHook.set_mode)
    set_epoch = forwarded(AdaptedHook.set_epoch)
    set_config = forwarded(AdaptedHook.set_config)
    set_samples = forwarded(AdaptedHook.set_samples)
    save_scalar = forwarded(AdaptedHook.save_scalar)
    save_sample_values = forwarded(AdaptedHook.save_sample_values)
    get_collection = forwarded(AdaptedHook.get_collection)
    get_collections = forwarded(AdaptedHook.get_collections)
    add_to_collection = forwarded(AdaptedHook.add_to_collection)
    on_checkpoint = forwarded(AdaptedHook.on_checkpoint)
    count_epoch = forwarded(AdaptedHook.count_epoch)
    batch_arrives = forwarded(AdaptedHook.batch_arrives)
    flush = forwarded(AdaptedHook.flush)
    close = forwarded(AdaptedHook.close)
    abandon = forwarded(AdaptedHook.abandon)
    fail = forwarded(AdaptedHook.fail)
    say = forwarded(AdaptedHook.say)
    should_stop = forwarded_property(AdaptedHook.should_stop)
    mode = forwarded_property(AdaptedHook.mode)
    step = forwarded_property(AdaptedHook.step)
    out_dir = forwarded_property(AdaptedHook.out_dir)
    selection = forwarded_property(AdaptedHook.selection)
    __exit__ = forwarded(AdaptedHook.__exit__)
    __repr__ = forwarded(AdaptedHook.__repr__)

    @property
    def active(self) -> bool:
        """Whether it captures: not where it is switched off, closed, or has failed."""
        return self.adapted.active

    @property
    def idle(self) -> bool:
        """Whether steps are only counted for now, since none of the next ones is recorded."""
        return self.adapted.steps.idle

    def __enter__(self) -> Self:
        return self

    def __deepcopy__(self, _: object) -> Self:
        # A copy of whatever holds a hook holds the same one: a run has one writer.
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # A model that holds its hook is saved without it, and loads without Cutaway.
        return type(None), ()

    def _close_earlier_hook(self, root: torch.nn.Module) -> None:
        """A notebook cell that runs twice attaches twice: the second time ends the first."""
        for hook in current.live_hooks():
            if hook is not self and isinstance(hook, Hook) and hook._adapter.root is root:  # noqa: SLF001 - one of us
                hook.say("replaced", f"Another hook now watches this {type(root).__name__}; this run is closed.")
                hook.close()


def attach(
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer | None = None,
    loss: torch.nn.Module | None = None,
    **settings: Any,
) -> Hook:
    """Watch a training: `with cutaway.attach(model, optimizer) as hook:`. `settings` are the arguments of `Hook`."""
    hook = Hook(**settings)
    try:
        hook.register_module(model)
        if loss is not None:
            hook.register_loss(loss)
        if optimizer is not None:
            hook.register_optimizer(optimizer)
    except ConfigurationError:
        # Nobody else holds this hook who could close it.
        hook.close(RunState.FAILED)
        raise
    return hook


def _require(value: object, kind: type, call: str, hint: str = "") -> None:
    if not isinstance(value, kind):
        message = f"`{call}` takes a {kind.__module__}.{kind.__name__}, but got {type(value).__name__}."
        raise ConfigurationError(message, hint=hint)
