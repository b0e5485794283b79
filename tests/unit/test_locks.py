"""No class has a lock of its own and values that functools keeps: those have locks, too, which all instances share."""

from __future__ import annotations

import ast
from pathlib import Path

import cutaway

PACKAGE = Path(cutaway.__path__[0])
LOCKS = {"Lock", "RLock", "Condition"}


def test_who_has_a_lock_keeps_values_without_cached_property() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}: {one.name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for one in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(one, ast.ClassDef) and {"cached_property"} & _names(one) and LOCKS & _names(one)
    ]
    assert found == []


def _names(tree: ast.ClassDef) -> set[str]:
    """The names that stand anywhere in a class."""
    return {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute)
    }
