"""Hides what looks like a secret in a configuration, before any of it is shown. Goes by the names of keys only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

__all__ = ["HIDDEN", "hidden", "is_secret"]

HIDDEN = "(hidden)"
# Deeper than any configuration that a person wrote; what lies below is not shown.
MOST_DEPTH = 50
_WORDS = re.compile(
    r"(?i)(?:^|[_\-. ])(?:tokens?|passw(?:or)?ds?|passwd|pwd|passphrase|secrets?|credentials?|dsn|cookies?"
    r"|(?:api|access|private|secret|signing|encryption|ssh)[_\-]?keys?|apikey)(?:$|[_\-. ])|(?:^|[_\-. ])aws_"
)
# Numbers of tokens are what language models count; nobody's secret is one.
_COUNTED = (bool, int, float)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_IN_URL = re.compile(r"(?<=://)[^/@\s]+:[^/@\s]+(?=@)")


def is_secret(key: str) -> bool:
    """Whether a key names something that nobody should see.

    >>> is_secret("api_key"), is_secret("wandbApiKey"), is_secret("AWS_SECRET_ACCESS_KEY"), is_secret("tokenizer")
    (True, True, True, False)
    """
    return _WORDS.search(_CAMEL.sub("_", key)) is not None


def hidden(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration whose secrets are masked, however deep they lie.

    >>> hidden({"lr": 0.1, "logging": {"password": "x"}, "max_tokens": 512})
    {'lr': 0.1, 'logging': {'password': '(hidden)'}, 'max_tokens': 512}
    """
    return {str(key): _shown(str(key), value, 0) for key, value in config.items()}


def _shown(key: str, value: Any, depth: int) -> Any:
    if depth > MOST_DEPTH:
        return HIDDEN
    if is_secret(key) and not isinstance(value, _COUNTED) and value not in (None, ""):
        return HIDDEN
    if isinstance(value, Mapping):
        return {str(one): _shown(str(one), held, depth + 1) for one, held in value.items()}
    if isinstance(value, list | tuple):
        return _listed(value, depth)
    return _IN_URL.sub(HIDDEN, value) if isinstance(value, str) else value


def _listed(values: list[Any] | tuple[Any, ...], depth: int) -> list[Any]:
    """Mask within a list; in a command line, what follows or stands in an option with a secret's name."""
    shown: list[Any] = []
    after = False
    for value in values:
        option, _, given = value.partition("=") if isinstance(value, str) else ("", "", "")
        names = option.startswith("-") and is_secret(option.lstrip("-").replace("-", "_"))
        if after and not option.startswith("-"):
            shown.append(HIDDEN)
        elif names and given:
            shown.append(f"{option}={HIDDEN}")
        else:
            shown.append(_shown("", value, depth + 1))
        after = names and not given
    return shown
