"""A latent space of somebody's own: their function of one sample as a function of a batch, with its limits."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset.calling import defined_at
from cutaway.dataset.enums import LatentReduction
from cutaway.dataset.functions import LatentSpace
from cutaway.dataset.responses import SamplePreprocessResponse
from cutaway.errors import BindingError

__all__ = ["LARGEST_SPACE", "WIDE_SPACE", "latent_space"]

WIDE_SPACE, LARGEST_SPACE = 1024, 4096

log = logging.getLogger("cutaway.dataset")


def latent_space(
    name: str,
    function: Callable[..., Any],
    *,
    use_for_analysis: bool = False,
    reduce: LatentReduction = LatentReduction.MEAN_POOL,
    n_components: int = 512,
    channel_axis: int = -1,
) -> LatentSpace:
    """Return the space. Its function takes a `SamplePreprocessResponse` and stacks what theirs gives each sample."""
    if reduce not in list(LatentReduction):
        raise BindingError(f"`reduce` of latent space {name!r} must be a LatentReduction, but got {reduce!r}.")
    if isinstance(n_components, bool) or not isinstance(n_components, int) or not 1 <= n_components <= LARGEST_SPACE:
        raise BindingError(
            f"`1 <= n_components <= {LARGEST_SPACE}` must hold for latent space {name!r}, but got {n_components!r}."
        )
    if n_components > WIDE_SPACE:
        log.warning("Latent space %r has %d components; above %d a map takes long.", name, n_components, WIDE_SPACE)

    def of_batch(samples: SamplePreprocessResponse) -> Array:
        return np.stack([np.asarray(function(one, samples.preprocess_response)) for one in samples.sample_ids])

    return LatentSpace(
        name,
        of_batch,
        (),
        "samples",
        place=defined_at(function),
        use_for_analysis=use_for_analysis,
        reduce=LatentReduction(reduce),
        n_components=n_components,
        channel_axis=channel_axis,
    )
