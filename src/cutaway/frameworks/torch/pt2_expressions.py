"""The symbolic sizes in a `.pt2`, by a small grammar of our own.

torch hands these texts to sympy, which evaluates them as Python. So only calls of some named functions on symbols and
whole numbers pass, as torch writes them, and what is handed on is written anew from what was understood.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from cutaway.frameworks.torch.pt2_words import Unsafe, shown

__all__ = ["clean_expression"]

_LONGEST = 4_000
_LARGEST = 2**63
_HIGHEST_POWER = 8
_DEEPEST = 30
_SYMBOL = re.compile(r"[a-z]{1,8}\d{1,9}")
_ASSUMPTIONS = frozenset({"integer", "positive", "nonnegative", "nonzero", "finite", "real"})
_POWERS = frozenset({"Pow", "PowByNatural", "FloatPow"})
_FUNCTIONS = _POWERS | {
    "Add", "And", "CeilDiv", "CeilToInt", "CleanDiv", "Equality", "FloatTrueDiv", "FloorDiv", "FloorToInt",
    "GreaterThan", "Identity", "IntTrueDiv", "LessThan", "Max", "Min", "Mod", "ModularIndexing", "Mul", "Not", "Or",
    "PythonMod", "RoundToInt", "StrictGreaterThan", "StrictLessThan", "ToFloat", "TruncToFloat", "TruncToInt",
    "Unequality", "Where",
}  # fmt: skip


def clean_expression(text: Any) -> str:
    """Return the expression, written anew. Raises `Unsafe` for anything that is not plain arithmetic."""
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise Unsafe(f"it has a size that is no expression of at most {_LONGEST:,} characters: {shown(text)}")
    try:
        return _written(ast.parse(text, mode="eval").body, 0)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, Unsafe):
            raise
        raise Unsafe(f"it has a size that is no expression: {shown(text)}") from error


def _written(node: ast.AST, depth: int) -> str:
    if depth > _DEEPEST:
        raise Unsafe(f"it has a size whose expression is nested deeper than {_DEEPEST}")
    if isinstance(node, ast.Name) and node.id in ("true", "false"):
        return node.id
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        raise _odd(node)
    name = node.func.id
    if name == "Symbol":
        return _symbol(node)
    if name in ("Integer", "Rational"):
        return _number_expression(node)
    if name not in _FUNCTIONS or node.keywords:
        raise _odd(node)
    arguments = [_written(argument, depth + 1) for argument in node.args]
    if name in _POWERS and not _is_low(node.args[1:]):
        raise Unsafe(f"it has a size with a power that is not a number up to {_HIGHEST_POWER}: {_source_of(node)}")
    return f"{name}({', '.join(arguments)})"


def _symbol(node: ast.Call) -> str:
    names = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
    if len(node.args) != 1 or len(names) != 1 or not (isinstance(names[0], str) and _SYMBOL.fullmatch(names[0])):
        raise _odd(node)
    assumptions = []
    for keyword in node.keywords:
        value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
        if keyword.arg not in _ASSUMPTIONS or not isinstance(value, bool):
            raise _odd(node)
        assumptions.append(f", {keyword.arg}={value}")
    return f"Symbol('{names[0]}'{''.join(assumptions)})"


def _number_expression(node: ast.Call) -> str:
    values = [_integer_of_literal(argument) for argument in node.args]
    count = {"Integer": 1, "Rational": 2}[node.func.id] if isinstance(node.func, ast.Name) else 0
    if node.keywords or len(values) != count or None in values:
        raise _odd(node)
    return f"{'Integer' if count == 1 else 'Rational'}({', '.join(map(str, values))})"


def _integer_of_literal(node: ast.AST) -> int | None:
    negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    value = inner.value if isinstance(inner, ast.Constant) else None
    if type(value) is not int or value > _LARGEST or (isinstance(node, ast.UnaryOp) and not negative):
        return None
    return -value if negative else value


def _is_low(arguments: list[ast.expr]) -> bool:
    """Whether a power's exponent is a small number: large ones would take sympy for ever."""
    if len(arguments) != 1 or not isinstance(arguments[0], ast.Call) or len(arguments[0].args) != 1:
        return False
    exponent = _integer_of_literal(arguments[0].args[0])
    return exponent is not None and abs(exponent) <= _HIGHEST_POWER


def _odd(node: ast.AST) -> Unsafe:
    return Unsafe(f"it has a size that is not plain arithmetic, and torch would run it as code: {_source_of(node)}")


def _source_of(node: ast.AST) -> str:
    return shown(ast.unparse(node))
