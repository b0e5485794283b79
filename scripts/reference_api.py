"""Writes the reference of every public name, from signatures and docstrings. Renders text and touches no file."""

import enum
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, ForwardRef

__all__ = ["MODULES", "NOT_DESCRIBED", "api_page", "public_names"]

# What users import from, in the order in which they meet it.
MODULES = (
    "cutaway",
    "cutaway.torch",
    "cutaway.trial",
    "cutaway.run",
    "cutaway.rules",
    "cutaway.dataset",
    "cutaway.models",
    "cutaway.evaluation",
    "cutaway.analysis",
    "cutaway.tensors",
    "cutaway.errors",
    "cutaway.testing.adapters",
    "cutaway.testing.models",
    "cutaway.testing.rules",
    "cutaway.testing.storage",
)
NOT_DESCRIBED = "(not described)"
_WIDTH = 100
_LONGEST_DEFAULT = 60

_INTRODUCTION = """\
# Names

Every public name, by the module that it is imported from. This page is made from the code by
`python -m scripts.make_reference`; the words are those that `help(name)` prints.

Names that start with an underscore, and modules that are not listed here, may change at any time.
"""


class _Verbatim:
    """An annotation or default that is printed as it stands in the code, without quotes around it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def public_names(module: ModuleType) -> list[str]:
    """The names that a module offers, those without underscores first."""
    return sorted(module.__all__, key=lambda name: (name.startswith("_"), name.lower()))


def api_page() -> str:
    """Return the whole page."""
    parts = [_INTRODUCTION]
    described: dict[int, str] = {}
    for name in MODULES:
        module = importlib.import_module(name)
        parts.append(f"## `{name}`\n\n{_sentence(module)}")
        parts += [
            f"### `{name}.{member}`\n\n{_described(getattr(module, member), name, member, described)}"
            for member in public_names(module)
        ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _described(value: object, module: str, name: str, described: dict[int, str]) -> str:
    """Describe a value, or say where it already is."""
    path = f"{module}.{name}"
    if not callable(value):
        return f"`{name} = {value!r}`"
    first = described.setdefault(id(value), path)
    if first != path:
        anchor = re.sub(r"[^\w-]", "", first.lower())
        return f"The same as [`{first}`](#{anchor})."
    if isinstance(value, type):
        return _class(name, value)
    return f"{_block(name, value)}\n\n{_text(value)}"


def _class(name: str, kind: type) -> str:
    members = [f"- {line}" for line in _members(kind)]
    if issubclass(kind, enum.Enum):
        values = ", ".join(f"`{member.name}`" for member in kind)
        head = f"One of {values}."
    else:
        head = _block(name, kind)
    return "\n\n".join([head, _text(kind), "\n".join(members)]).strip()


def _members(kind: type) -> Iterator[str]:
    """Yield a line for each public method and property that is ours."""
    for name in sorted({name for one in kind.__mro__ for name in vars(one)}):
        found = inspect.getattr_static(kind, name)
        if name.startswith("_") or not _is_ours(found):
            continue
        if name.startswith("test_"):
            # The tests of a contract: their names are its sentences.
            yield name.removeprefix("test_").replace("_", " ")
        elif isinstance(found, property):
            yield f"`{name}`: {_sentence(found)}"
        else:
            yield f"`{name}{_signature(getattr(kind, name))}`: {_sentence(getattr(kind, name))}"


def _is_ours(found: object) -> bool:
    function = found.fget if isinstance(found, property) else getattr(found, "__func__", found)
    return inspect.isfunction(function) and function.__module__.startswith("cutaway")


def _signature(value: Callable[..., Any]) -> str:
    try:
        signature = inspect.signature(value)
    except ValueError:
        # An error that takes what the builtin one takes.
        return "(message)"
    parameters = [
        one.replace(annotation=_annotation(one.annotation), default=_default(one.default))
        for one in signature.parameters.values()
        if one.name not in ("self", "cls")
    ]
    returned = _annotation(signature.return_annotation) if not isinstance(value, type) else inspect.Signature.empty
    return str(signature.replace(parameters=parameters, return_annotation=returned))


def _block(name: str, value: Callable[..., Any]) -> str:
    """The signature as a block of code, one argument a line where it is long."""
    line = name + _signature(value)
    if len(line) > _WIDTH and "(" in line:
        head, _, rest = line.partition("(")
        arguments, _, tail = rest.rpartition(")")
        line = "\n".join([f"{head}(", *(f"    {one}," for one in _split(arguments)), f"){tail}"])
    return f"```text\n{line}\n```"


def _split(arguments: str) -> Iterator[str]:
    """Yield the arguments of a signature; commas inside brackets and quotes belong to an argument."""
    depth, quoted, start = 0, False, 0
    for i, character in enumerate(arguments):
        quoted ^= character == "'"
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth and not quoted:
            yield arguments[start:i].strip()
            start = i + 1
    yield arguments[start:].strip()


def _annotation(annotation: object) -> object:
    text = annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else annotation
    return _Verbatim(text) if isinstance(text, str) else text


def _default(default: object) -> object:
    if isinstance(default, enum.Enum):
        return _Verbatim(f"{type(default).__name__}.{default.name}")
    is_long = default is not inspect.Parameter.empty and len(repr(default)) > _LONGEST_DEFAULT
    return _Verbatim("...") if is_long or repr(default) == "<factory>" else default


def _text(value: object) -> str:
    """The docstring as Markdown: its words, then its examples as they would look in an interpreter."""
    document = inspect.getdoc(value)
    if not document:
        return NOT_DESCRIBED
    lines = document.splitlines()
    first = next((i for i, line in enumerate(lines) if line.lstrip().startswith(">>>")), len(lines))
    words = "\n".join(lines[:first]).strip()
    examples = re.sub(r" +# doctest: \+SKIP", "", "\n".join(lines[first:])).strip()
    return f"{words}\n\n```pycon\n{examples}\n```" if examples else words


def _sentence(value: object) -> str:
    """The first line of a docstring."""
    document = inspect.getdoc(value)
    return document.split("\n\n")[0].replace("\n", " ") if document else NOT_DESCRIBED
