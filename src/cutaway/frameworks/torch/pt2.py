"""A `.pt2` file, as `torch.export.save` writes it, as a `Backend`: the exported graph, run node by node where asked.

The file is looked through by pt2_check.py first, and torch is given only what passed.
"""

from __future__ import annotations

import contextlib
import copy
import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind
from torch.utils import _pytree as pytree

from cutaway.arrays import Array
from cutaway.errors import ConfigurationError, LayerUnavailable, ModelFormatError
from cutaway.frameworks.torch import answers
from cutaway.frameworks.torch.pt2_check import checked_archive
from cutaway.frameworks.torch.pt2_layers import head_of, layer_nodes, shape_of
from cutaway.frameworks.torch.random_weights import shuffled_tensors
from cutaway.frameworks.torch.scores import differentiable_copy, gradient_of_score, summed_score
from cutaway.models.backend import Arrays, Backend, Gradient, Question
from cutaway.models.description import ModelDescription, TensorSpec

__all__ = ["ExportedModel", "import_first", "open_pt2"]

_THREADS = "CUTAWAY_MODEL_THREADS"
_READERS = ("torch.export.pt2_archive._package", "torch._export.serde.serialize", "torch._inductor.cpp_builder")
# Arguments that say whether an operator trains: where they do, samples depend on the others of their batch.
_TRAINING = ("training", "train")


def import_first() -> None:
    """Import what reading a program takes, which torch leaves to the first one, before the process is limited."""
    _set_threads()
    for name in _READERS:
        with contextlib.suppress(ImportError):  # where other versions of torch have it elsewhere
            import_module(name)


def open_pt2(path: Path, *, trust: bool, custom_layers: Mapping[str, type]) -> Backend:
    """Open a `.pt2` file. `trust` leaves the check out; `custom_layers` are Keras's and do not matter here."""
    del custom_layers
    _set_threads()
    source: Any = str(path) if trust else checked_archive(path)
    try:
        program = torch.export.load(source)
    except Exception as error:  # what torch raises for programs that it cannot put together has no class in common
        reason = f"torch {torch.__version__} cannot put its program together: {str(error)[:300]}"
        raise ModelFormatError(str(path), reason) from error
    return ExportedModel(program)


class ExportedModel:
    """An exported program. Its parameters are constants: nothing of it can be trained or changed."""

    def __init__(self, program: torch.export.ExportedProgram) -> None:
        self._graph_module = program.graph_module
        self._inputs = _inputs(program)
        self._parameters = _parameters(program)
        self._changing = _changing_buffers(program)
        specs = program.graph_signature.output_specs
        self._answers = [i for i, spec in enumerate(specs) if spec.kind == OutputKind.USER_OUTPUT]
        self._names = _output_names(program, len(self._answers))
        placeholders = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
        self._placeholders = {name: placeholders[name] for name, value in self._inputs.items() if value is None}
        first = next(iter(self._placeholders.values()))
        batch = first.meta["val"].shape[0] if first.meta["val"].dim() else None
        self._layers = layer_nodes(program.graph, batch)
        head = head_of(program.graph, batch)
        if head is not None:
            self._layers[head[0]] = head[1]
        self.description = self._description_of(program.graph, None if head is None else head[0])

    def predict(self, batch: Arrays) -> Arrays:
        """Return every output that is a tensor."""
        with torch.inference_mode():
            outputs = self._outputs(self._graph_module(*self._filled(_tensors(batch))))
        return {name: answers.as_array(tensor) for name, tensor in outputs.items()}

    def activations(self, batch: Arrays, layers: Sequence[str]) -> Arrays:
        """Return the values of some layers."""
        return self.predict_with(batch, layers)[1]

    def predict_with(self, batch: Arrays, layers: Sequence[str]) -> tuple[Arrays, Arrays]:
        """Return every output and the values of some layers, from one pass."""
        nodes = {self._node(name).name for name in layers}
        found: dict[str, Array] = {}

        def look(node: str, tensor: torch.Tensor) -> torch.Tensor:
            found[node] = answers.as_array(tensor)
            return tensor

        with torch.inference_mode():
            run = _Looking(self._graph_module, nodes, look)
            outputs = self._outputs(run.run(*self._filled(_tensors(batch))))
        answered = {name: answers.as_array(tensor) for name, tensor in outputs.items()}
        return answered, {name: found[self._node(name).name] for name in layers}

    def gradient(self, batch: Arrays, question: Question) -> Gradient:
        """Differentiate by an input or by a layer, which then is where the graph begins for autograd."""
        return self.gradient_with_output(batch, question)[0]

    def gradient_with_output(self, batch: Arrays, question: Question) -> tuple[Gradient, Array]:
        """Return the gradient and the output that it was taken of, from one pass."""
        spec = next(spec for spec in self.description.outputs if spec.name == question.output)
        leaves: list[torch.Tensor] = []

        def look(_node: str, tensor: torch.Tensor) -> torch.Tensor:
            leaves.append(differentiable_copy(tensor, question.wrt))
            return leaves[0].clone()

        wrt = question.wrt if question.wrt in self._placeholders else self._node(question.wrt).name
        with torch.enable_grad():
            run = _Looking(self._graph_module, {wrt}, look)
            outputs = self._outputs(run.run(*self._filled(_tensors(batch))))
            score = summed_score(outputs[question.output], question, spec.channel_axis)
            found = gradient_of_score(score, leaves[0], question)
        return found, answers.as_array(outputs[question.output])

    def with_random_weights(self, seed: int) -> Backend:
        """Return the same program with its parameters shuffled. It shares everything else with this one."""
        other = copy.copy(self)
        held = {name: self._inputs[name] for name in self._parameters}
        other._inputs = {**self._inputs, **shuffled_tensors(held, seed)}  # noqa: SLF001 - of the same class
        return other

    def close(self) -> None:
        """Nothing is held beside memory."""

    def _description_of(self, graph: torch.fx.Graph, latent: str | None) -> ModelDescription:
        results = next(node for node in graph.nodes if node.op == "output").args[0]
        outputs = []
        for name, i in zip(self._names, self._answers, strict=True):
            node = results[i]
            if isinstance(node, torch.fx.Node) and isinstance(node.meta.get("val"), torch.Tensor):
                last = str(node.target).startswith(("aten.linear", "aten.addmm"))
                outputs.append(_spec(name, node, channels_first=not last))
        return ModelDescription(
            "pt2",
            tuple(_spec(name, node) for name, node in self._placeholders.items()),
            tuple(outputs),
            tuple(named.layer for named in self._layers.values()),
            latent,
            notes=_training_notes(graph),
            about={"nodes": sum(node.op == "call_function" for node in graph.nodes)},
        )

    def _node(self, layer: str) -> torch.fx.Node:
        if layer not in self._layers:
            raise LayerUnavailable(layer, list(self._layers))
        return self._layers[layer].node

    def _filled(self, tensors: Mapping[str, torch.Tensor]) -> list[Any]:
        """What goes into the graph. Buffers that it would change go in as copies: every call is like the first."""
        held = {name: value.clone() if name in self._changing else value for name, value in self._inputs.items()}
        return [tensors[name] if name in self._placeholders else value for name, value in held.items()]

    def _outputs(self, results: Sequence[Any]) -> dict[str, torch.Tensor]:
        named = zip(self._names, (results[i] for i in self._answers), strict=True)
        return {name: value for name, value in named if isinstance(value, torch.Tensor)}


class _Looking(torch.fx.Interpreter):
    """Runs the graph and puts what `look` returns in the place of some nodes' values."""

    def __init__(
        self, module: torch.fx.GraphModule, nodes: set[str], look: Callable[[str, torch.Tensor], torch.Tensor]
    ) -> None:
        super().__init__(module)
        self._nodes, self._look = nodes, look

    def run_node(self, n: torch.fx.Node) -> Any:
        value = super().run_node(n)
        return self._look(n.name, value) if n.name in self._nodes else value


def _inputs(program: torch.export.ExportedProgram) -> dict[str, Any]:
    """Return what goes into each placeholder of the graph; None stands for what a batch brings."""
    filled: dict[str, Any] = {}
    for spec in program.graph_signature.input_specs:
        if spec.kind == InputKind.USER_INPUT:
            filled[spec.arg.name] = spec.arg.value if isinstance(spec.arg, ConstantArgument) else None
            continue
        held = program.state_dict if spec.target in program.state_dict else program.constants
        value = held[str(spec.target)]
        filled[spec.arg.name] = value.detach() if isinstance(value, torch.Tensor) else value
    return filled


def _parameters(program: torch.export.ExportedProgram) -> list[str]:
    specs = program.graph_signature.input_specs
    return [spec.arg.name for spec in specs if spec.kind == InputKind.PARAMETER]


def _changing_buffers(program: torch.export.ExportedProgram) -> set[str]:
    buffers = {spec.arg.name for spec in program.graph_signature.input_specs if spec.kind == InputKind.BUFFER}
    if _training_notes(program.graph):
        return buffers
    changes = [
        node for node in program.graph.nodes if getattr(getattr(node.target, "_schema", None), "is_mutable", False)
    ]
    return buffers & {argument.name for node in changes for argument in node.all_input_nodes}


def _output_names(program: torch.export.ExportedProgram, count: int) -> list[str]:
    tree = pytree.tree_unflatten([torch.empty(0) for _ in range(count)], program.call_spec.out_spec)
    names = list(answers.named_tensors(tree))
    return names if len(names) == count else [f"output_{i}" for i in range(count)]


def _spec(name: str, node: torch.fx.Node, *, channels_first: bool = True) -> TensorSpec:
    shape = shape_of(node)
    axis = answers.class_axis(len(shape), channels_first=channels_first)
    return TensorSpec(name, shape, answers.dtype_name(node.meta["val"]), axis)


def _training_notes(graph: torch.fx.Graph) -> tuple[str, ...]:
    for node in graph.nodes:
        schema = getattr(node.target, "_schema", None)
        for i, argument in enumerate(schema.arguments if schema is not None else ()):
            given = node.args[i] if i < len(node.args) else node.kwargs.get(argument.name)
            if argument.name in _TRAINING and given is True:
                return (
                    f"It was exported in training mode: {node.name} behaves as in training, so that a sample's answer "
                    "depends on its batch. Call `model.eval()` before `torch.export.export`.",
                )
    return ()


def _tensors(batch: Arrays) -> dict[str, torch.Tensor]:
    return {name: answers.as_tensor(values, torch.device("cpu")) for name, values in batch.items()}


def _set_threads() -> None:
    given = os.environ.get(_THREADS)
    if given:
        if not given.isdigit() or int(given) < 1:
            raise ConfigurationError(f"{_THREADS} must be a number of threads from 1 on, but got {given!r}.")
        torch.set_num_threads(int(given))
