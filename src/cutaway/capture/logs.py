"""How loud the `cutaway` loggers are, from the environment. Adds no handler and changes no other logger."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping

from cutaway.errors import ConfigurationError, did_you_mean

__all__ = ["apply_log_level"]

_VARIABLES = ("CUTAWAY_LOG_LEVEL", "TORNASOLE_LOG_LEVEL", "SMDEBUG_LOG_LEVEL")
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", "OFF")


def apply_log_level(environment: Mapping[str, str] = os.environ) -> None:
    """Set the level of the logger `cutaway` from the environment, or from the seed's logger `tornasole`."""
    logger = logging.getLogger("cutaway")
    for variable in _VARIABLES:
        text = environment.get(variable, "").strip().upper()
        if text and text not in _LEVELS:
            message = f"{variable} must be one of {', '.join(_LEVELS)}, but got {text!r}."
            raise ConfigurationError(message, hint=did_you_mean(text, _LEVELS))
        if text:
            logger.setLevel(logging.CRITICAL + 1 if text == "OFF" else text)
            return
    seeds = logging.getLogger("tornasole").level
    if seeds != logging.NOTSET:
        logger.setLevel(seeds)
