"""What the modules inside a live model are called with and return, through hooks that hang for one forward only.

A module that is called again in the same forward has its later outputs under `<name>:1`, `<name>:2` and so on. What
goes into a module is `<name>.input`. Nothing is left on the modules, also where the forward raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from cutaway.frameworks.torch.taps import Tap

__all__ = ["INPUT", "ModuleCall", "as_in_prediction", "calls", "head_of", "watching"]

INPUT = ".input"

# Takes the name of a value and the value; returns what goes on in its place, or None.
Look = Callable[[str, torch.Tensor], torch.Tensor | None]

_HEADS = (torch.nn.Linear, torch.nn.Bilinear, torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Conv3d)


@dataclass(frozen=True)
class ModuleCall:
    """One call of a module during a forward: the name of its output, and the shapes of its first input and output."""

    name: str
    module: torch.nn.Module
    input_shape: tuple[int, ...]
    shape: tuple[int, ...]


@contextmanager
def as_in_prediction(root: torch.nn.Module) -> Iterator[None]:
    """Let every module behave as in prediction and no hook of Cutaway notice, then restore just what was.

    The modes are set one by one, not by `eval()`: a user's own `train` or `eval` may do more than that.
    """
    modules = list(root.modules())
    modes = [module.training for module in modules]
    hung = [(hooks, dict(hooks)) for module in modules for hooks in _hooks(module) if hooks and _has_taps(hooks)]
    try:
        # Setting costs a module more than looking, and most are as they should be.
        for module in modules:
            if module.training:
                module.training = False
        for hooks, before in hung:
            for key, hook in before.items():
                if isinstance(hook, Tap):
                    del hooks[key]
        yield
    finally:
        for hooks, before in hung:
            hooks.clear()
            hooks.update(before)
        for module, mode in zip(modules, modes, strict=True):
            if module.training != mode:
                module.training = mode


@contextmanager
def watching(named: Mapping[str, torch.nn.Module], wanted: Mapping[str, str], look: Look) -> Iterator[None]:
    """Show `look` the wanted values as they arise; `wanted` maps their names to the names of their modules."""
    with ExitStack() as hooks:
        for name in set(wanted.values()):
            count = [0]
            after = _after(name, wanted, look, count)
            hooks.callback(named[name].register_forward_hook(after).remove)
            if f"{name}{INPUT}" in wanted:
                before = _before(f"{name}{INPUT}", look, count)
                hooks.callback(named[name].register_forward_pre_hook(before).remove)
        yield


@contextmanager
def calls(named: Mapping[str, torch.nn.Module]) -> Iterator[list[ModuleCall]]:
    """Note every call of the named modules whose output holds a tensor, in the order of their ends."""
    found: list[ModuleCall] = []
    counts: dict[str, int] = {}

    def note(name: str) -> Callable[..., None]:
        def after(module: torch.nn.Module, args: Any, output: Any) -> None:
            count = counts.get(name, 0)
            counts[name] = count + 1
            tensor, given = first_tensor(output), first_tensor(args)
            if tensor is not None:
                shape = () if given is None else tuple(given.shape)
                found.append(ModuleCall(_numbered(name, count), module, shape, tuple(tensor.shape)))

        return after

    with ExitStack() as hooks:
        for name, module in named.items():
            hooks.callback(module.register_forward_hook(note(name)).remove)
        yield found


def head_of(order: list[ModuleCall]) -> ModuleCall | None:
    """Return the last call of a module with parameters of its own, where that is a linear layer or a convolution."""
    own = [call for call in order if next(call.module.parameters(recurse=False), None) is not None]
    return own[-1] if own and isinstance(own[-1].module, _HEADS) else None


def first_tensor(value: Any) -> torch.Tensor | None:
    """Return the first tensor of a module's output: of a tuple, as LSTM and attention return them, its first."""
    if isinstance(value, torch.Tensor):
        return value
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, (tuple, list)) else ()
    return next((found for item in items if (found := first_tensor(item)) is not None), None)


def _after(name: str, wanted: Mapping[str, str], look: Look, count: list[int]) -> Callable[..., Any]:
    def after(_module: torch.nn.Module, _args: Any, output: Any) -> Any:
        label = _numbered(name, count[0])
        count[0] += 1
        tensor = first_tensor(output)
        if label not in wanted or tensor is None:
            return None
        instead = look(label, tensor)
        return None if instead is None else _replaced(output, tensor, instead)

    return after


def _before(label: str, look: Look, count: list[int]) -> Callable[..., Any]:
    def before(_module: torch.nn.Module, args: Any) -> Any:
        tensor = first_tensor(args)
        if count[0] or tensor is None:
            return None
        instead = look(label, tensor)
        return None if instead is None else _replaced(args, tensor, instead)

    return before


def _replaced(value: Any, old: torch.Tensor, new: torch.Tensor) -> Any:
    if value is old:
        return new
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_replaced(item, old, new) for item in value))
    if isinstance(value, (tuple, list)):
        return type(value)(_replaced(item, old, new) for item in value)
    if isinstance(value, dict):
        for key, item in value.items():
            value[key] = _replaced(item, old, new)
    return value


def _numbered(name: str, count: int) -> str:
    return f"{name}:{count}" if count else name


def _hooks(module: torch.nn.Module) -> tuple[dict[int, Any], dict[int, Any]]:
    return module._forward_hooks, module._forward_pre_hooks  # noqa: SLF001 - torch has no way to pause one hook


def _has_taps(hooks: Mapping[int, Any]) -> bool:
    return any(isinstance(hook, Tap) for hook in hooks.values())
