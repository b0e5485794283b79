"""A frozen graph with its weights shuffled: the constants of floating-point numbers that its variables have become."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from cutaway.models.random_weights import shuffled_all

__all__ = ["randomised"]


def randomised(frozen: Any, seed: int) -> Any:
    """Return the function with its weights shuffled. Its operations have the same names."""
    graph = frozen.graph.as_graph_def()
    constants = {node.name: node for node in graph.node if node.op == "Const" and _is_float(node)}
    anew = shuffled_all({name: tf.make_ndarray(node.attr["value"].tensor) for name, node in constants.items()}, seed)
    for name, values in anew.items():
        dtype = constants[name].attr["dtype"].type
        constants[name].attr["value"].tensor.CopyFrom(tf.make_tensor_proto(values, dtype=dtype))
    wrapped = tf.compat.v1.wrap_function(lambda: tf.graph_util.import_graph_def(graph, name=""), [])
    inputs, outputs = ([wrapped.graph.get_tensor_by_name(one.name) for one in side] for side in _sides(frozen))
    return wrapped.prune(inputs, outputs)


def _sides(frozen: Any) -> tuple[Any, Any]:
    return frozen.inputs, frozen.outputs


def _is_float(node: Any) -> bool:
    return bool(tf.as_dtype(node.attr["dtype"].type).is_floating)
