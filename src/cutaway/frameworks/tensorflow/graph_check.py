"""Decides whether the graphs of a SavedModel only compute. Reads the protocol buffer; runs and loads nothing.

Operations without state are allowed but for those that touch files, code or other machines. Of those with state only
what models need is allowed: variables, tables, random numbers, control flow. The two functions that store and restore
the variables are every SavedModel's own; they are allowed where nothing but the saver calls them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

from google.protobuf.message import DecodeError
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow.python.framework import dtypes, op_def_registry

from cutaway.errors import ModelFormatError, UnsafeModel
from cutaway.wording import listed

__all__ = ["check_graphs", "parsed_graph"]

_OF_SAVER = {"SaveV2", "RestoreV2", "MergeV2Checkpoints", "ShardedFilename"}
_NOT_PURE = re.compile(
    r"_.*|.*(File|Dataset|PyFunc|Remote|Reader|Snapshot|Summary|TPU|Tpu|Mlir|Collective).*|Debug.*|ImmutableConst"
    r"|Xla(Launch|CustomCall|CallModule).*"
    # A vocabulary, and descriptions of messages, by the paths of their files.
    r"|GenerateVocabRemapping|(Decode|Encode)Proto.*"
)
_STATE = re.compile(
    r"StatefulPartitionedCall|If|While|Case|Assert|CheckNumerics(V2)?|GuaranteeConst|Empty|DisableCopyOnRead"
    r"|VarHandleOp|Variable(V2)?|TemporaryVariable|VariableShape|VarIsInitializedOp|ReadVariableOp"
    r"|Assign(Add|Sub)?VariableOp|DestroyResourceOp|ResourceStridedSliceAssign|ResourceGather(Nd)?"
    r"|ResourceScatter\w+|Resource(Sparse)?Apply\w+|Anonymous\w*HashTable\w*|(Mutable|MutableDense)?HashTable\w*"
    r"|LookupTable(Find|Insert|Size|Export|Import|Remove)V2|InitializeTableV2|TensorArray\w*|Stack(Push|Pop|Close)?(V2)?"
    r"|Random(Uniform|UniformInt|StandardNormal|Gamma|Poisson|PoissonV2|Shuffle)|TruncatedNormal|Multinomial"
    r"|ParameterizedTruncatedNormal|Stateful(Uniform|UniformInt|UniformFullInt|StandardNormal|StandardNormalV2|TruncatedNormal)"
    r"|StatefulRandomBinomial|RngReadAndSkip|RngSkip|StatelessRandomGetAlg|NonDeterministicInts|CudnnRNN\w*"
)
# Constants of one value are stored as that value; TensorFlow makes the whole array of it.
LARGEST_CONSTANT = 256 * 1024 * 1024
# Variables that are not stored with the others, such as counters.
SLACK = 16 * 1024 * 1024
SHOWN = 8


def parsed_graph(content: bytes, path: str) -> Any:
    """Return the message that a `saved_model.pb` holds."""
    message = saved_model_pb2.SavedModel()
    try:
        message.ParseFromString(content)
    except DecodeError as error:
        raise ModelFormatError(path, f"its saved_model.pb is damaged or cut short: {error}") from error
    if not message.meta_graphs:
        raise ModelFormatError(path, "its saved_model.pb has no graph.")
    return message


def check_graphs(message: Any, stored: int, path: str) -> None:
    """Raise `UnsafeModel` for a SavedModel that does more than compute; `stored` is the bytes of its variables."""
    found: set[str] = set()
    for graph in message.meta_graphs:
        _check_assets(graph, path)
        _check_variables(graph, stored, path)
        own = {function.signature.name for function in graph.graph_def.library.function}
        savers = _saver_functions(graph)
        for where, nodes in _functions(graph.graph_def):
            for node in nodes:
                _check_constant(node, path)
                if node.op not in own and not (where in savers and node.op in _OF_SAVER):
                    found |= _harm(node.op)
    if found:
        shown = listed(sorted(found), SHOWN)
        raise UnsafeModel(
            path,
            f"its graphs have operations that reach beyond the model, or that are not known: {shown}.",
            hint="Load it with `trust=True` (`--trust`) if you know who wrote it.",
        )


def _harm(name: str) -> set[str]:
    """The name of an operation that is not allowed, or nothing."""
    known = op_def_registry.get(name)
    if known is None:
        return {f"{name} (unknown)"}
    allowed = _STATE.fullmatch(name) if known.is_stateful else not _NOT_PURE.fullmatch(name)
    return set() if allowed else {name}


def _functions(graph_def: Any) -> Iterator[tuple[str, Iterable[Any]]]:
    """The nodes of the graph itself, under no name, and of each function."""
    yield "", graph_def.node
    for function in graph_def.library.function:
        yield function.signature.name, function.node_def


def _saver_functions(graph: Any) -> set[str]:
    """The functions that only the saver calls."""
    saver = graph.saver_def
    nodes = {saver.save_tensor_name.partition(":")[0], saver.restore_op_name} - {""}
    for signature in graph.signature_def.values():
        nodes -= {tensor.name.partition(":")[0] for tensor in signature.outputs.values()}
    of_saver: set[str] = set()
    of_others = set(graph.object_graph_def.concrete_functions)
    for where, members in _functions(graph.graph_def):
        for node in members:
            named = {*_named_functions(node), node.op}
            if where == "" and node.name in nodes:
                of_saver |= named
            else:
                of_others |= named
    for node in graph.object_graph_def.nodes:
        of_others |= {*node.function.concrete_functions, node.bare_concrete_function.concrete_function_name}
    return of_saver - of_others


def _named_functions(node: Any) -> Iterator[str]:
    for attribute in node.attr.values():
        if attribute.HasField("func"):
            yield attribute.func.name
        yield from (function.name for function in attribute.list.func)


def _check_assets(graph: Any, path: str) -> None:
    for asset in graph.asset_file_def:
        name = PurePosixPath(asset.filename)
        if name.is_absolute() or ".." in name.parts or "://" in asset.filename:
            raise UnsafeModel(path, f"its asset {asset.filename!r} lies outside of its folder.")


def _check_variables(graph: Any, stored: int, path: str) -> None:
    declared = sum(
        _size(node.variable.shape, node.variable.dtype)
        for node in graph.object_graph_def.nodes
        if node.HasField("variable")
    )
    if declared > stored + SLACK:
        raise UnsafeModel(path, f"its variables declare {declared:,} bytes, but {stored:,} are stored.")


def _check_constant(node: Any, path: str) -> None:
    if node.op != "Const":
        return
    tensor = node.attr["value"].tensor
    declared = _size(tensor.tensor_shape, tensor.dtype)
    if declared > LARGEST_CONSTANT and declared > 2 * tensor.ByteSize():
        reason = f"its constant {node.name!r} declares {declared:,} bytes, but {tensor.ByteSize():,} are stored."
        raise UnsafeModel(path, reason)


def _size(shape: Any, dtype: int) -> int:
    kind = dtypes.as_dtype(dtype) if dtype else dtypes.float32
    size = kind.size if kind.is_numpy_compatible and kind not in (dtypes.string, dtypes.resource, dtypes.variant) else 1
    return math.prod(int(max(dimension.size, 0)) for dimension in shape.dim) * int(size or 1)
