"""The forms of an analysis's name: its words in commands and files follow from it by one rule. Loads no analysis."""

from __future__ import annotations

from cutaway import registry
from cutaway.errors import ConfigurationError, did_you_mean

__all__ = ["analysis_names", "command_name", "file_name", "name_of"]


def analysis_names() -> list[str]:
    """Return the names of all analyses, ours in the order in which people ask, then those of other packages."""
    ours = list(registry.BUILT_IN["analyses"])
    return [*ours, *(name for name in registry.names("analyses") if name not in ours)]


def command_name(name: str) -> str:
    """Return an analysis's word in a command.

    >>> command_name("to label")
    'to-label'
    """
    return name.replace(" ", "-")


def file_name(name: str) -> str:
    """Return an analysis's word in the names of files.

    >>> file_name("to label")
    'to_label'
    """
    return name.replace(" ", "_")


def name_of(word: str) -> str:
    """Return the analysis that a word names in any of its forms. Raises `ConfigurationError` for other words.

    >>> name_of("to-label"), name_of("class_distances")
    ('to label', 'class distances')
    """
    wanted = " ".join(word.replace("-", " ").replace("_", " ").split()).lower()
    names = analysis_names()
    found = next((name for name in names if name.lower() == wanted), None)
    if found is None:
        commands = [command_name(name) for name in names]
        near = did_you_mean(word, commands)
        raise ConfigurationError(f"There is no analysis {word!r}.", hint=f"{near} There are {', '.join(commands)}.")
    return found
