"""The callables that we hang on a user's modules, parameters and optimizer.

A tap never changes what passes through it, never raises into training, and is dead in every copy of what it hangs on:
deepcopy, pickle and `torch.save` turn it into a plain do-nothing function that needs no Cutaway to load.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch.compiler import is_compiling
from torch.utils.hooks import RemovableHandle

from cutaway.errors import ConfigurationError

if TYPE_CHECKING:
    from cutaway.capture.hook import AdaptedHook

__all__ = ["RemovableTaps", "Tap"]


class Tap:
    """Calls `function` while its hook is active."""

    # torch warns when it saves a tensor with hooks on it, unless they say that they expect to be left out.
    __torch_unserializable__ = True

    __slots__ = ("_function", "_hook", "_where")

    def __init__(self, hook: AdaptedHook, function: Callable[..., None], where: str) -> None:
        self._hook = hook
        self._function = function
        self._where = where

    def __call__(self, *args: Any) -> None:
        # While torch traces a model (compile, export) there are no values to see; hooks must leave no mark there.
        # Asked first: the compiler then sees that nothing else of this hook can matter to it.
        if is_compiling() or not self._hook.active:
            return
        try:
            self._function(*args)
        except ConfigurationError:
            # What can only be known at the first step, such as an empty collection, is still the user's to fix.
            raise
        except Exception as error:  # noqa: BLE001 - watching must not break what is watched
            self._hook.fail(error, self._where)

    def __reduce__(self) -> tuple[Any, ...]:
        # A null context's exit takes any arguments and returns None: a hook that does nothing, and needs no Cutaway.
        return getattr, (contextlib.nullcontext(), "__exit__")


class RemovableTaps:
    """The taps of one hook. Most hang only while steps are recorded: else they cost a small step one percent."""

    def __init__(self) -> None:
        self._ways: list[Callable[[], RemovableHandle]] = []
        self._handles: list[RemovableHandle] = []
        self._kept: list[RemovableHandle] = []
        self._hanging = True

    def keep(self, handle: RemovableHandle) -> None:
        """Take over a tap that hangs until the end."""
        self._kept.append(handle)

    def add(self, way: Callable[[], RemovableHandle]) -> None:
        """Hang a tap now, and again whenever `hang` is called."""
        self._ways.append(way)
        if self._hanging:
            self._handles.append(way())

    def hang(self) -> None:
        """Hang all taps, unless they do already."""
        if not self._hanging:
            self._hanging = True
            self._handles = [way() for way in self._ways]

    def drop(self) -> None:
        """Take all taps down until they are hung again."""
        self._hanging = False
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def remove(self) -> None:
        """Take everything down for good."""
        self.drop()
        for handle in self._kept:
            handle.remove()
        self._kept.clear()
