"""A signature of a SavedModel as one flat graph, of which any value can be asked for: its layers, the latent one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

from cutaway.models.description import Layer, TensorSpec
from cutaway.models.random_weights import shuffled_all

__all__ = ["batch_first", "candidates", "flattened", "head_input", "randomised"]

# Operations that people would call layers, or parts of one.
_LAYERS = {
    "Conv2D", "Conv3D", "DepthwiseConv2dNative", "Conv2DBackpropInput", "MatMul", "BatchMatMulV2", "Einsum", "BiasAdd",
    "AddV2", "Mul", "ConcatV2", "Relu", "Relu6", "LeakyRelu", "Elu", "Selu", "Sigmoid", "Tanh", "Softplus", "Softmax",
    "FusedBatchNormV3", "MaxPool", "AvgPool", "MaxPool3D", "AvgPool3D", "Mean", "Max", "Reshape", "GatherV2",
    "ResourceGather", "StatelessWhile", "While", "TensorListStack", "Transpose", "StridedSlice",
}  # fmt: skip
_PASSES = {
    "Identity", "Softmax", "Sigmoid", "LogSoftmax", "BiasAdd", "AddV2", "Add", "Squeeze", "NoOp", "Cast", "Relu",
    "StopGradient", "PreventGradient",
}  # fmt: skip
_CALL = "StatefulPartitionedCall/"
_HEADS = {"MatMul", "Conv2D", "Conv3D", "Einsum", "BatchMatMulV2"}


def flattened(function: Any) -> Any:
    """Return the function with its variables as constants, and calls written out."""
    # Loops stay whole: what they are taken apart to has no gradient.
    frozen = convert_variables_to_constants_v2(function, lower_control_flow=False)
    for operation in frozen.graph.get_operations():
        # A gradient of somebody's own (as Keras gives `silu`) lives in the process that wrote the folder, not in the
        # folder. Without its name the operations that it stands for are differentiated themselves.
        if operation.type == "IdentityN" and "_gradient_op_type" in operation.node_def.attr:
            operation._clear_attr("_gradient_op_type")  # noqa: SLF001  there is no public way
    return frozen


def candidates(frozen: Any, batch: int | None) -> list[Any]:
    """Return the tensors that could be layers: with a row for each sample as far as their shapes say."""
    used = _used(frozen)
    found = []
    for operation in frozen.graph.get_operations():
        if operation.type not in _LAYERS or not operation.outputs or operation.name not in used:
            continue
        tensor = operation.outputs[0]
        shape = tensor.shape
        if shape.rank is not None and shape.rank >= 2 and shape[0] == batch and tensor.dtype.is_floating:
            found.append(tensor)
    return found


def batch_first(frozen: Any, tensors: Sequence[Any], inputs: Sequence[TensorSpec]) -> list[tuple[Any, Layer]]:
    """Return the tensors that have as many rows as the batch, found out with one, and the layers that they are."""
    # A product of axes can be of any size too: no batch has that many rows by chance.
    rows = inputs[0].batch_size or 3
    zeros = [tf.zeros([rows, *(size or 8 for size in spec.shape[1:])], spec.dtype) for spec in inputs]
    values = frozen.prune(frozen.inputs, list(tensors))(*zeros) if tensors else []
    return [
        (tensor, Layer(layer_name(tensor.op), tensor.op.type, tuple(tensor.shape.as_list()), _channel_axis(tensor)))
        for tensor, value in zip(tensors, values, strict=True)
        if value.shape[0] == rows
    ]


def head_input(output: Any, layers: Sequence[Layer]) -> str | None:
    """Return the layer that goes into the last operation that computes something, found from an output backwards."""
    names = {layer.name for layer in layers}
    operation = output.op
    while operation.type in _PASSES and operation.inputs:
        operation = operation.inputs[0].op
    before = operation.inputs[0].op if operation.type in _HEADS else operation
    while layer_name(before) not in names and before.inputs:
        before = before.inputs[0].op
    return layer_name(before) if layer_name(before) in names else None


def layer_name(operation: Any) -> str:
    """Return the name of an operation without the calls around it, which say nothing."""
    name = str(operation.name)
    while name.startswith(_CALL):
        name = name.removeprefix(_CALL)
    return name


def _used(frozen: Any) -> set[str]:
    """The operations that an output depends on."""
    used: set[str] = set()
    waiting = [tensor.op for tensor in frozen.outputs]
    while waiting:
        operation = waiting.pop()
        if operation.name not in used:
            used.add(operation.name)
            waiting += [tensor.op for tensor in operation.inputs]
    return used


def _channel_axis(tensor: Any) -> int:
    try:
        layout = tensor.op.get_attr("data_format")
    except ValueError:
        return -1
    return 1 if layout in (b"NCHW", b"NCDHW") and tensor.shape.rank >= 3 else -1


def randomised(frozen: Any, seed: int) -> Any:
    """Return the function with its weights shuffled: the constants of floating-point numbers that its variables became.

    Its operations have the same names.
    """
    graph = frozen.graph.as_graph_def()
    constants = {node.name: node for node in graph.node if node.op == "Const" and _is_float(node)}
    anew = shuffled_all({name: tf.make_ndarray(node.attr["value"].tensor) for name, node in constants.items()}, seed)
    for name, values in anew.items():
        dtype = constants[name].attr["dtype"].type
        constants[name].attr["value"].tensor.CopyFrom(tf.make_tensor_proto(values, dtype=dtype))
    wrapped = tf.compat.v1.wrap_function(lambda: tf.graph_util.import_graph_def(graph, name=""), [])
    find = wrapped.graph.get_tensor_by_name
    return wrapped.prune([find(one.name) for one in frozen.inputs], [find(one.name) for one in frozen.outputs])


def _is_float(node: Any) -> bool:
    return bool(tf.as_dtype(node.attr["dtype"].type).is_floating)
