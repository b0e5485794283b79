"""Reads YAML that anybody may have written: plain values only, of bounded size and depth. Executes nothing."""

from __future__ import annotations

import errno
import os
import stat
from collections import Counter
from pathlib import Path
from typing import Any

from cutaway.errors import MissingExtraError

__all__ = ["read_plain_yaml"]

# Settings have no use for aliases; a file of nested ones stands for more than any memory holds.
_MOST_ALIASES = 16
_DEEPEST = 32
# A number of a hundred thousand digits takes longer to read than everything else together.
_LONGEST = 4096


def read_plain_yaml(path: Path, *, largest: int, what: str) -> Any:
    """Return what a file says: texts, numbers, yes and no, lists and mappings of them; None where it is empty.

    Raises `ValueError`, its message beginning with the file and where it is known the line, for more than `largest`
    bytes, for what is no YAML or stands for more than plain values, and for a key that is written twice, of which one
    would be lost. `what` is what the file should have been.
    """
    try:
        import yaml  # the training process may do without it
    except ImportError:
        raise MissingExtraError(f"Reading {path.name}", "all") from None
    content = _beginning(path, largest + 1)
    if len(content) > largest:
        raise ValueError(f"{path} is larger than {largest // 1024} kB, so it is no {what}.")
    try:
        text = content.decode()
        _refuse_bombs(path, text, what)
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        _refuse_doubles(path, root)
        return None if root is None else loader.construct_document(root)
    except _Refused:
        raise
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark is not None else ""
        reason = getattr(error, "problem", None) or type(error).__name__
        message = f"{path}{line}: not readable as {what}: {reason}. Only plain values are read."
        raise ValueError(message) from error


def _beginning(path: Path, most: int) -> bytes:
    """Return the first bytes of a plain file; a pipe or a device would keep whoever reads it waiting for ever."""
    # Without waiting: opening a pipe that nobody writes to takes for ever too.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with open(handle, "rb") as file:  # noqa: PTH123 - a descriptor
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a plain file")
        return file.read(most)


class _Refused(ValueError):
    """What is refused here, told from what the parser says."""


def _refuse_bombs(path: Path, text: str, what: str) -> None:
    """Raise for what would take long or much memory to read; looks at one event of the text after the other."""
    import yaml

    aliases = depth = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        aliases += isinstance(event, yaml.AliasEvent)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if aliases > _MOST_ALIASES:
            raise _Refused(f"{path} has more than {_MOST_ALIASES} aliases (`*name`). Write them out.")
        if depth > _DEEPEST:
            raise _Refused(f"{path} has lists in lists more than {_DEEPEST} deep, so it is no {what}.")
        if isinstance(event, yaml.ScalarEvent) and len(event.value) > _LONGEST:
            raise _Refused(f"{path}: a value is longer than {_LONGEST} characters, so it is no {what}.")


def _refuse_doubles(path: Path, root: Any) -> None:
    """Raise for a key that a mapping has twice: the second would take the place of the first, silently."""
    import yaml

    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            counts = Counter(key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode))
            double, times = next(iter(counts.most_common(1)), ("", 0))
            if times > 1:
                raise _Refused(f"{path}:{node.start_mark.line + 1}: `{double}` is there twice. Keep one of them.")
            waiting += [value for _, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value
