"""The populations that pages look at: the table of an evaluation without its latent vectors, and what was analysed.

Reads files only. Nothing here imports a framework or a library of analyses: whatever needs one runs in a process of
its own.
"""

from cutaway.studio.populations.loaded import Loaded
from cutaway.studio.populations.the_populations import Populations

__all__ = ["Loaded", "Populations"]
