"""What has to be said to TensorFlow before it starts: how many threads it takes, and that it keeps its logs short.

Never called for a live model: a process that somebody else set up keeps its settings.
"""

from __future__ import annotations

import logging
import os
import sys

__all__ = ["THREADS", "model_threads", "prepare"]

# The process that a model from a file lives in is told by this how many threads it may compute with.
THREADS = "CUTAWAY_MODEL_THREADS"

_log = logging.getLogger("cutaway.models")


def model_threads() -> int | None:
    """Return how many threads a model may compute with, or None where nobody said."""
    text = os.environ.get(THREADS, "")
    return int(text) if text.isdecimal() and int(text) > 0 else None


def prepare() -> None:
    """Import TensorFlow with as many threads as the model may take."""
    alone = "tensorflow" not in sys.modules
    if alone:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import tensorflow as tf

    if alone:
        # Fused convolutions of TensorFlow's CPU build turn NaN into numbers: a broken sample would look answered.
        tf.config.optimizer.set_experimental_options({"remapping": False})
    threads = model_threads()
    if threads is None:
        return
    try:
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
    except RuntimeError:
        # TensorFlow has run something already, as in a trusted file's own process; its threads then stay as they are.
        _log.debug("TensorFlow had started before it was told to use %s threads.", threads)
