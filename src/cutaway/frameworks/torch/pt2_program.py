"""What the program in a `.pt2` may hold, as torch 2.9 to 2.13 write it: the graph, its signature, its sizes.

Returns the program written anew from what was checked. Guards, stack traces and other notes of the exporter are left
out: torch runs guards as code, looks names in notes up, and needs neither to run the graph.
"""

from __future__ import annotations

import json
import re
from typing import Any

from cutaway.frameworks.torch.pt2_expressions import clean_expression
from cutaway.frameworks.torch.pt2_operators import clean_target
from cutaway.frameworks.torch.pt2_words import (
    Malformed,
    Unsafe,
    Word,
    boolean,
    fixed,
    floating,
    identifier,
    integer,
    listed,
    mapped,
    one_of,
    optional,
    record,
    shown,
    text,
    union,
)

__all__ = ["ITEM_SIZES", "clean_program", "clean_tensor", "parameter_name"]

SCHEMA = 8
_MOST_NODES = 100_000
_DEEPEST_GRAPH = 4
_STRIDED = 7
# Bytes of one number, by torch's code of its dtype.
ITEM_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 2, 7: 4, 8: 8, 9: 4, 10: 8, 11: 16, 12: 1, 13: 2, 28: 2, 34: 4, 35: 8}
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,999}")
_STACK = re.compile(r"[A-Za-z0-9_.@<>\[\]() -]*,[A-Za-z0-9_.@\-]*,[A-Za-z0-9_.<>]*")
_SYMBOL = re.compile(r"[a-z]{1,8}\d{1,6}")
_CONTAINERS = ("builtins.tuple", "builtins.list", "builtins.dict", "collections.OrderedDict")


def parameter_name(value: Any) -> str:
    """The name of a parameter, buffer or constant."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise Unsafe(f"it has a parameter of an odd name: {shown(value)}")
    return value


# A model that was exported on a GPU runs where we are.
_cpu = fixed({"type": "cpu", "index": None})
_expression = record(
    expr_str=clean_expression,
    hint=optional(union({"as_int": integer, "as_bool": boolean, "as_float": floating}, "hint")),
)
_size = union({"as_int": integer, "as_expr": _expression}, "size")
_named = record(name=identifier)
_sym_int = union({"as_name": identifier, "as_int": integer}, "size")
_sym_float = union({"as_name": identifier, "as_float": floating}, "number")
_sym_bool = union({"as_name": identifier, "as_bool": boolean}, "truth value")
_maybe_tensor = union({"as_tensor": _named, "as_none": boolean}, "tensor")

clean_tensor = record(
    dtype=one_of(*ITEM_SIZES),
    sizes=listed(_size, 64),
    requires_grad=boolean,
    device=_cpu,
    strides=listed(_size, 64),
    storage_offset=_size,
    layout=one_of(_STRIDED),
)
_constant = union(
    {"as_none": boolean, "as_int": integer, "as_float": floating, "as_string": text, "as_bool": boolean}, "constant"
)
_arguments: dict[str, Word] = {
    "as_none": boolean,
    "as_tensor": _named,
    "as_tensors": listed(_named),
    "as_int": integer,
    "as_ints": listed(integer),
    "as_float": floating,
    "as_floats": listed(floating),
    "as_string": text,
    "as_sym_int": _sym_int,
    "as_sym_ints": listed(_sym_int),
    "as_scalar_type": one_of(*ITEM_SIZES),
    "as_memory_format": one_of(1, 2, 3, 4),
    "as_layout": one_of(_STRIDED),
    "as_device": _cpu,
    "as_bool": boolean,
    "as_bools": listed(boolean),
    "as_sym_bool": _sym_bool,
    "as_sym_bools": listed(_sym_bool),
    "as_optional_tensors": listed(_maybe_tensor),
    "as_optional_tensor": _maybe_tensor,
    "as_sym_float": _sym_float,
    "as_sym_floats": listed(_sym_float),
    "as_complex": record(real=floating, imag=floating),
    "as_nested_tensors": listed(listed(_named)),
}
_plain = {kind: _arguments[kind] for kind in ("as_none", "as_int", "as_float", "as_bool", "as_string")}
_input = union({"as_tensor": _named, **_plain}, "input")
_output = union({**_plain, "as_tensor": _named, "as_sym_int": _sym_int}, "output")
_signature = record(
    input_specs=listed(
        union(
            {
                "user_input": record(arg=_input),
                "parameter": record(arg=_named, parameter_name=parameter_name),
                "buffer": record(arg=_named, buffer_name=parameter_name, persistent=boolean),
                "tensor_constant": record(arg=_named, tensor_constant_name=parameter_name),
                "constant_input": record(name=identifier, value=_constant),
            },
            "input",
        )
    ),
    output_specs=listed(
        union(
            {
                "user_output": record(arg=_output),
                "buffer_mutation": record(arg=_named, buffer_name=parameter_name),
            },
            "output",
        )
    ),
)
_values: dict[str, Word] = {
    "tensor_values": mapped(identifier, clean_tensor),
    "sym_int_values": mapped(identifier, _size),
    "sym_bool_values": mapped(identifier, union({"as_bool": boolean, "as_expr": _expression}, "truth value")),
    "is_single_tensor_return": boolean,
    "sym_float_values": optional(mapped(identifier, union({"as_float": floating, "as_expr": _expression}, "number"))),
}


def clean_program(program: Any) -> dict[str, Any]:
    """Return the program, written anew. Raises `Unsafe` or `Malformed`."""
    if not isinstance(program, dict) or not isinstance(program.get("graph_module"), dict):
        raise Malformed("its program has no graph")
    version = record(schema_version=record(major=integer, minor=integer))(program)["schema_version"]
    if version["major"] != SCHEMA:
        raise Malformed(
            f"it was written in version {version['major']} of torch's schema, and {SCHEMA} is read. Export the model "
            "again with torch 2.9 or newer"
        )
    module = program["graph_module"]
    graph = _graph(module.get("graph"), 0)
    signature = _signature(module.get("signature"))
    inputs = sum("user_input" in spec or "constant_input" in spec for spec in signature["input_specs"])
    outputs = sum("user_output" in spec for spec in signature["output_specs"])
    entry = {
        "fqn": "",
        "signature": {
            "inputs": [],
            "outputs": [],
            "in_spec": _spec([_tuple(inputs), {"type": "builtins.dict", "context": "[]", "children_spec": []}]),
            "out_spec": json.dumps([1, _output_tree(module.get("module_call_graph"), outputs)]),
            "forward_arg_names": None,
        },
    }
    return {
        "graph_module": {"graph": graph, "signature": signature, "module_call_graph": [entry], "metadata": {}},
        "opset_version": mapped(identifier, integer)(program.get("opset_version")),
        "range_constraints": _ranges(program.get("range_constraints")),
        "schema_version": version,
        "verifiers": listed(one_of("TRAINING", "ATEN"), 4)(program.get("verifiers")),
        "torch_version": text(program.get("torch_version")),
        "guards_code": [],
    }


def _ranges(value: Any) -> dict[str, Any]:
    """Keep the bounds of single symbols; torch counts up to their numbers, so these have bounds too."""
    clean = mapped(text, record(min_val=optional(integer), max_val=optional(integer)))(value)
    return {name: bounds for name, bounds in clean.items() if _SYMBOL.fullmatch(name)}


def _graph(graph: Any, depth: int) -> dict[str, Any]:
    if depth > _DEEPEST_GRAPH:
        raise Unsafe(f"its graphs lie in one another deeper than {_DEEPEST_GRAPH}")
    if not isinstance(graph, dict):
        raise Malformed("its program has no graph")
    if graph.get("custom_obj_values"):
        raise Unsafe(f"it holds objects of classes of its own: {shown(graph['custom_obj_values'])}")

    def inner(value: Any) -> Any:
        return record(name=identifier, graph=lambda graph: _graph(graph, depth + 1))(value)

    arguments = {**_arguments, "as_graph": inner}
    node = record(
        target=clean_target,
        inputs=listed(record(name=_argument_name, arg=union(arguments, "argument"), kind=optional(one_of(0, 1, 2)))),
        outputs=listed(union(_arguments, "result")),
        metadata=_metadata,
        is_hop_single_tensor_return=optional(boolean),
        name=optional(identifier),
    )
    fields = record(inputs=listed(_input), outputs=listed(_output), nodes=listed(node, _MOST_NODES), **_values)
    clean: dict[str, Any] = fields(graph)
    return {**clean, "sym_float_values": clean["sym_float_values"] or {}, "custom_obj_values": {}}


def _argument_name(value: Any) -> str:
    return "" if value == "" else identifier(value)


def _metadata(value: Any) -> dict[str, str]:
    """Keep of the exporter's notes only which module a node belongs to."""
    stack = value.get("nn_module_stack", "") if isinstance(value, dict) else ""
    entries = stack.split(";") if isinstance(stack, str) and len(stack) < 20_000 else []
    plain = bool(entries) and all(_STACK.fullmatch(entry) for entry in entries)
    return {"nn_module_stack": stack} if plain else {}


def _output_tree(entries: Any, outputs: int) -> dict[str, Any]:
    """How the outputs lie in tuples, lists and dicts, so that they can be named; any other shape becomes a tuple."""
    try:
        spec = next(entry["signature"]["out_spec"] for entry in entries if entry["fqn"] == "")
        version, tree = json.loads(spec)
        clean = _tree(tree, 0)
    except (StopIteration, TypeError, KeyError, ValueError, RecursionError):
        return _tuple(outputs)
    return clean if version == 1 and _leaves(clean) == outputs else _tuple(outputs)


def _tree(tree: Any, depth: int) -> dict[str, Any]:
    if depth > 16:
        raise Malformed("its outputs are nested too deep")
    if tree["type"] is None:
        return _LEAF
    if tree["type"] not in _CONTAINERS:
        raise Malformed("its outputs lie in a class of its own")
    context = "null"
    if tree["type"] in _CONTAINERS[2:]:
        keys = json.loads(tree["context"])
        if not (isinstance(keys, list) and all(isinstance(key, (str, int)) for key in keys)):
            raise Malformed("its outputs have odd names")
        context = json.dumps(keys)
    children = [_tree(child, depth + 1) for child in tree["children_spec"]]
    return {"type": tree["type"], "context": context, "children_spec": children}


_LEAF: dict[str, Any] = {"type": None, "context": None, "children_spec": []}


def _leaves(tree: dict[str, Any]) -> int:
    return 1 if tree["type"] is None else sum(_leaves(child) for child in tree["children_spec"])


def _tuple(count: int) -> dict[str, Any]:
    return {"type": "builtins.tuple", "context": "null", "children_spec": [_LEAF] * count}


def _spec(children: list[dict[str, Any]]) -> str:
    return json.dumps([1, {"type": "builtins.tuple", "context": "null", "children_spec": children}])
