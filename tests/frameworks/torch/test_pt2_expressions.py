"""Sizes in a .pt2: arithmetic passes and keeps its value, whatever else is refused."""

from __future__ import annotations

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from sympy.printing.repr import srepr
from torch.utils._sympy import functions

from cutaway.frameworks.torch.pt2_expressions import clean_expression
from cutaway.frameworks.torch.pt2_words import Unsafe

SYMBOLS = [sympy.Symbol(name, positive=True, integer=True) for name in ("s0", "s77", "u3")]
FUNCTIONS = {name: getattr(functions, name) for name in ("FloorDiv", "Mod", "ModularIndexing", "PythonMod")}

leaves = st.one_of(st.sampled_from(SYMBOLS), st.integers(-1000, 1000).map(sympy.Integer))
expressions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] * pair[1]),
        st.tuples(inner, st.integers(2, 9)).map(lambda pair: functions.FloorDiv(pair[0], sympy.Integer(pair[1]))),
    ),
    max_leaves=8,
)


@given(expressions)
def test_what_torch_writes_passes_and_means_the_same(expression: sympy.Expr) -> None:
    clean = clean_expression(srepr(expression))
    assert sympy.sympify(clean, locals=FUNCTIONS) == expression
    assert clean_expression(clean) == clean


@pytest.mark.parametrize(
    "expression",
    [
        "true",
        "Symbol('s77', positive=True, integer=True)",
        "Integer(-3)",
        "Rational(1, 2)",
        "GreaterThan(Symbol('s0', integer=True), Integer(2))",
        "Pow(Symbol('s0', integer=True), Integer(2))",
        "Pow(Symbol('s0', integer=True), Integer(-1))",
        "And(Equality(Symbol('u0', integer=True), Integer(1)), Not(true))",
    ],
)
def test_other_forms_that_torch_writes_pass(expression: str) -> None:
    assert clean_expression(expression) == expression


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').system('true')",
        "Integer(__import__('os').getpid())",
        "Symbol('s0').__class__",
        "Symbol('s0', **{'integer': True})",
        "Symbol(*['s0'])",
        "Symbol('s0', integer=evil())",
        "Symbol('s0', commutative=True)",
        "Symbol('lambda')",
        "Symbol('s0\\n')",
        "Symbol('__class__0')",
        "Function('f')(Integer(1))",
        "Lambda(Symbol('x0'), Integer(1))",
        "Integer('1')",
        "Integer(1.5)",
        "Integer(True)",
        "Integer(10**10**10)",
        "Integer(99999999999999999999999)",
        "Pow(Integer(10), Integer(1000000000))",
        "Pow(Integer(10), Pow(Integer(10), Integer(8)))",
        "Pow(Integer(10), Symbol('s0'))",
        "Pow(Integer(10))",
        "PowByNatural(Integer(10), Integer(10000))",
        "factorial(Integer(10000000))",
        "S('__import__(\"os\")')",
        "sympify('1')",
        "Add(Integer(1), evaluate=False)",
        "1 + 1",
        "1",
        "s0",
        "(lambda: 1)()",
        "[x for x in ()]",
        "f'{1}'",
        "'text'",
        "",
        "(" * 3000,
        "Add(" * 500 + "Integer(1)" + ")" * 500,
        "Integer(1)" * 1000,
        "Integer(1)\0",
        None,
        1,
        ["Integer(1)"],
    ],
)
def test_everything_else_is_refused(expression: object) -> None:
    with pytest.raises(Unsafe):
        clean_expression(expression)


@given(st.text(max_size=200))
def test_any_text_is_refused_or_is_arithmetic(text: str) -> None:
    try:
        clean = clean_expression(text)
    except Unsafe:
        return
    assert clean_expression(clean) == clean
