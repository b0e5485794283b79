"""How large a graph becomes when its functions are put in place of their calls, counted before anything is put."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import onnx

from cutaway.errors import ModelFormatError
from cutaway.frameworks.onnx.structure import DEEPEST, MOST_NODES, inner_graphs

__all__ = ["check_functions"]

# Functions of exporters call others, a few levels deep.
DEEPEST_CALL = 4 * DEEPEST
Key = tuple[str, str, str]


def check_functions(model: onnx.ModelProto, path: Path) -> None:
    """Raise `ModelFormatError` where functions call themselves, or a few of them stand for far too many nodes."""
    bodies = {(one.domain, one.name, one.overload): one for one in model.functions}
    sizes: dict[Key, int] = {}

    def size(nodes: Iterable[onnx.NodeProto], above: tuple[Key, ...]) -> int:
        total = 0
        for node in _all(nodes):
            key = (node.domain, node.op_type, node.overload)
            if key not in bodies:
                total += 1
                continue
            if key in above or len(above) > DEEPEST_CALL:
                raise ModelFormatError(str(path), f"its function {node.op_type!r} calls itself, or others too deep.")
            if key not in sizes:
                sizes[key] = size(bodies[key].node, (*above, key))
            total += sizes[key]
        return total

    total = size(model.graph.node, ())
    if total > MOST_NODES:
        reason = f"its functions stand for {total} nodes, and at most {MOST_NODES} are taken."
        raise ModelFormatError(str(path), reason)


def _all(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    for node in nodes:
        yield node
        for graph in inner_graphs([node]):
            yield from _all(graph.node)
