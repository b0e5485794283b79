"""The door for PyTorch users: `import cutaway.torch as smd`."""

from cutaway.capture import current
from cutaway.capture.current import (
    add_to_collection,
    add_to_default_collection,
    del_hook,
    get_collection,
    get_collections,
    reset_collections,
)
from cutaway.frameworks.torch.hook import Hook, attach
from cutaway.tensors.collection import Collection
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.reduction_config import ReductionConfig
from cutaway.tensors.save_config import SaveConfig, SaveConfigMode

modes = ModeKeys
# The seeds' name for the same class.
TornasoleHook = Hook


def get_hook() -> Hook | None:
    """Return the current hook of this process, or None."""
    hook = current.get_hook()
    return hook if isinstance(hook, Hook) else None


__all__ = [
    "Collection",
    "Hook",
    "ModeKeys",
    "ReductionConfig",
    "SaveConfig",
    "SaveConfigMode",
    "TornasoleHook",
    "add_to_collection",
    "add_to_default_collection",
    "attach",
    "del_hook",
    "get_collection",
    "get_collections",
    "get_hook",
    "modes",
    "reset_collections",
]
