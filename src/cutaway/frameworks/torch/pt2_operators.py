"""Which operators the graph of a `.pt2` may call.

torch looks a name such as `torch.os.system` up attribute by attribute and calls what it finds, so only names that are
known to be operators pass. Of torch's own, those are left out that open files, or whose arguments torch trusts.
"""

from __future__ import annotations

import re
from functools import cache

import torch

from cutaway.frameworks.torch.pt2_words import Malformed, Unsafe, shown

__all__ = ["clean_target"]

_ATEN = re.compile(r"torch\.ops\.aten\.([A-Za-z_][A-Za-z0-9_]*)\.([A-Za-z_][A-Za-z0-9_]*)")
# Numbers that are computed from sizes.
_PLAIN = frozenset(
    [f"_operator.{name}" for name in (
        "add", "and_", "eq", "floordiv", "ge", "gt", "le", "lt", "mod", "mul", "ne", "neg", "or_", "pos", "sub",
        "truediv",
    )]
    + [f"torch.{name}" for name in (
        "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt",
    )]
    + [f"torch._sym_{name}" for name in ("sqrt",)]
    + ["math.trunc"]
    + [f"torch.ops.prims.{name}.default" for name in ("convert_element_type", "iota", "view_of")]
    + [f"torch.ops.higher_order.{name}" for name in ("wrap_with_autocast", "wrap_with_set_grad_enabled")]
)  # fmt: skip
# Files; layouts whose inner sizes are not checked against their memory; and operators that take sizes, strides or
# places as they are, and read or write behind the end of a tensor.
_REFUSED = re.compile(
    r"from_file|nested|sparse|mkldnn|quantize|fbgemm|_test_|_make_per_|record_stream"
    r"|_reshape_alias|segment_reduce|max_pool\w*_backward"
)
_ARGUMENTS = re.compile(
    r"(Optional\[)?(List\[)?(Optional\[)?"
    r"(Tensor|int|float|bool|number|complex|str|ScalarType|Layout|Device|MemoryFormat|Generator)\]*"
)


def clean_target(value: object) -> str:
    """Return the name of an operator that may be called. Raises `Unsafe` for every other name."""
    if isinstance(value, str) and value in _PLAIN:
        return value
    match = _ATEN.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise Unsafe(
            f"its graph calls {shown(value)}. Only torch's own operators are called, as `torch.ops.aten.linear.default`"
        )
    name, overload = match.groups()
    full = f"aten::{name}" if overload == "default" else f"aten::{name}.{overload}"
    if full not in _dispatcher_operators():
        raise Malformed(f"its graph calls {value}, which is no tensor operator of torch {torch.__version__}")
    if _REFUSED.search(name) or not _takes_plain_values(name, overload):
        raise Unsafe(f"its graph calls {value}, which opens files or trusts what it is given")
    return str(value)


@cache
def _dispatcher_operators() -> frozenset[str]:
    """The operators of torch's dispatcher: `aten::save` and other built-ins of TorchScript are not among them."""
    return frozenset(torch._C._dispatch_get_all_op_names())  # noqa: SLF001 - torch has no public way


def _takes_plain_values(name: str, overload: str) -> bool:
    schema = getattr(getattr(torch.ops.aten, name), overload)._schema  # noqa: SLF001 - torch has no public way
    return all(_ARGUMENTS.fullmatch(str(argument.real_type)) for argument in schema.arguments)
