"""Words and numbers shared by writing and reading tensors: modes, collections, schedules, reductions, statistics.

Knows no framework and no file.
"""

from cutaway.tensors.collection import Collection
from cutaway.tensors.collections import Collections
from cutaway.tensors.modes import ModeKeys, modes
from cutaway.tensors.reduction_config import ReductionConfig
from cutaway.tensors.save_config import SaveConfig, SaveConfigMode

__all__ = ["Collection", "Collections", "ModeKeys", "ReductionConfig", "SaveConfig", "SaveConfigMode", "modes"]
