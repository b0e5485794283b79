"""`Model`: any model, from any format, as one object. Chooses the latent layer, fits batches, asks its backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

import numpy as np

from cutaway.arrays import Array, Float32Array, Int64Array
from cutaway.errors import (
    AnalysisUnavailable,
    ConfigurationError,
    GradientUnavailable,
    LayerUnavailable,
    did_you_mean,
)
from cutaway.models.backend import LOSSES, Arrays, Backend, Gradient, Question
from cutaway.models.batches import Batch, fitted, given_axes, portions, rows_of
from cutaway.models.description import Layer, ModelDescription, SavedTraining, TensorSpec
from cutaway.models.latents import choose_layer, pooled
from cutaway.models.random_weights import RANDOM_WEIGHTS

__all__ = ["Model"]


class Model:
    """A model whose outputs, layers and gradients can be asked for, whatever framework it came from.

    A batch is one array, several in the order of the inputs, or a mapping by their names. `channels_last` says how
    the channels of image batches lie that are given to it: True (NHWC) or False (NCHW); they are moved to where the
    model has them. None, the default, takes batches as the model's own inputs are and moves nothing.
    """

    def __init__(self, backend: Backend, *, channels_last: bool | None = None, limits: Sequence[str] = ()) -> None:
        self.description: ModelDescription = backend.description
        self.limits = tuple(limits)
        self._backend = backend
        self._channels_last = channels_last

    def __repr__(self) -> str:
        inputs = ", ".join(f"{spec.name}{list(spec.shape)}" for spec in self.inputs)
        outputs = ", ".join(f"{spec.name}{list(spec.shape)}" for spec in self.outputs)
        return f"Model({self.description.format}: {inputs} -> {outputs})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """The named inputs, in the model's order."""
        return self.description.inputs

    @property
    def outputs(self) -> tuple[TensorSpec, ...]:
        """The named outputs, in the model's order."""
        return self.description.outputs

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers whose values can be asked for, from the inputs to the outputs."""
        return self.description.layers

    @property
    def training(self) -> SavedTraining:
        """The loss, optimizer and metrics that the model carried."""
        return self.description.training

    @property
    def channels_last(self) -> bool | None:
        """How the channels of image batches lie that are given to this model; None where it takes them as its own."""
        return self._channels_last

    @property
    def latent_layer(self) -> str:
        """The layer that `latent` takes when none is named: what goes into the head of the model."""
        return choose_layer(self.description)

    def predict(self, batch: Batch) -> dict[str, Array]:
        """Return every output by name, one row for each sample of the batch."""
        return self._in_portions(batch, self._backend.predict)

    def activations(self, batch: Batch, layers: Sequence[str]) -> dict[str, Array]:
        """Return the outputs of the named layers, as they are inside the model."""
        known = [layer.name for layer in self.layers]
        for name in layers:
            if name not in known:
                raise LayerUnavailable(name, known)
        return self._in_portions(batch, lambda arrays: self._backend.activations(arrays, layers))

    def predict_with(self, batch: Batch, layers: Sequence[str]) -> tuple[dict[str, Array], dict[str, Array]]:
        """Return every output and the values of the named layers, from one pass where the format can, else from two."""
        known = [layer.name for layer in self.layers]
        for name in layers:
            if name not in known:
                raise LayerUnavailable(name, known)
        together = getattr(self._backend, "predict_with", None)
        if together is None:
            return self.predict(batch), self.activations(batch, layers)
        # Outputs and layers may share names: what comes back as one mapping keeps them apart by a prefix.
        found = self._in_portions(batch, lambda arrays: _side_by_side(*together(arrays, layers)))
        outputs = {name.removeprefix(_OUTPUT): values for name, values in found.items() if name.startswith(_OUTPUT)}
        return outputs, {name.removeprefix(_LAYER): found[name] for name in found if name.startswith(_LAYER)}

    def latent(self, batch: Batch, layer: str | None = None) -> Float32Array:
        """Return one vector a sample: the output of a layer, averaged over everything but samples and channels."""
        name = layer or self.latent_layer
        return self.vectors(name, self.activations(batch, [name])[name])

    def vectors(self, layer: str, values: Array) -> Float32Array:
        """Return one vector a sample of the values of a layer, as `latent` does."""
        return pooled(values, next(one.channel_axis for one in self.layers if one.name == layer))

    def gradient(
        self,
        batch: Batch,
        output: str | None = None,
        target: int | Sequence[int] | Int64Array | None = None,
        *,
        loss: str | None = None,
        labels: Array | None = None,
        wrt: str = "input",
    ) -> Gradient:
        """Return the gradient of each sample's score, or loss, by an input or a layer, and the value of that.

        The score is `output[i, target[i]]`, by default of the first output and of the predicted class; on outputs
        with more axes it is summed over them. `wrt="input"` means the first input; a name means that input or layer.
        """
        arrays, question = self._asked(batch, output, target, loss=loss, labels=labels, wrt=wrt)
        parts = [
            self._backend.gradient(part.arrays, part.question(question)) for part in portions(arrays, self._batch_size)
        ]
        return self._joined(parts, rows_of(arrays), question)

    def gradient_with_output(
        self,
        batch: Batch,
        output: str | None = None,
        target: int | Sequence[int] | Int64Array | None = None,
        *,
        loss: str | None = None,
        labels: Array | None = None,
        wrt: str = "input",
    ) -> tuple[Gradient, Array]:
        """Return what `gradient` does and the values of that output, from one pass where the format can, else two."""
        arrays, question = self._asked(batch, output, target, loss=loss, labels=labels, wrt=wrt)
        together = getattr(self._backend, "gradient_with_output", None)
        if together is None:
            gradient = self.gradient(batch, output, target, loss=loss, labels=labels, wrt=wrt)
            return gradient, self.predict(batch)[question.output]
        answers = [together(part.arrays, part.question(question)) for part in portions(arrays, self._batch_size)]
        rows = rows_of(arrays)
        values = np.concatenate([values for _, values in answers])[:rows]
        return self._joined([gradient for gradient, _ in answers], rows, question), values

    def with_random_weights(self, seed: int = 0) -> Model:
        """Return this model with the values of each tensor of weights in a random order, drawn by `seed`.

        It knows nothing of what was learned, and has the same layers. This model stays as it is, and has to stay open.
        Raises `AnalysisUnavailable` where the format does not let weights be changed, or there are none.
        """
        if seed < 0:
            raise ConfigurationError(f"`seed >= 0` must hold, but got seed={seed}.")
        make: Callable[[int], Backend] | None = getattr(self._backend, "with_random_weights", None)
        if make is None:
            reason = f"models of format {self.description.format!r} do not let their weights be changed."
            raise AnalysisUnavailable(RANDOM_WEIGHTS, reason)
        return Model(make(seed), channels_last=self._channels_last, limits=self.limits)

    def close(self) -> None:
        """End the process of a model from a file; closing twice is allowed."""
        self._backend.close()

    @property
    def _batch_size(self) -> int | None:
        """The one batch size that the model takes, where it was saved with a fixed one."""
        return next((spec.batch_size for spec in self.inputs if spec.batch_size is not None), None)

    def _fitted(self, batch: Batch) -> dict[str, Array]:
        return fitted(batch, self.inputs, channels_last=self._channels_last)

    def _asked(
        self,
        batch: Batch,
        output: str | None,
        target: int | Sequence[int] | Int64Array | None,
        *,
        loss: str | None,
        labels: Array | None,
        wrt: str,
    ) -> tuple[dict[str, Array], Question]:
        """Return a batch as the model takes it, and what is differentiated by what."""
        if self.description.differentiable:
            raise GradientUnavailable(self.description.differentiable)
        arrays = self._fitted(batch)
        rows = rows_of(arrays)
        name = self._output(output)
        targets = _targets(target, rows, next(spec for spec in self.outputs if spec.name == name))
        return arrays, Question(name, self._wrt(wrt), targets, _loss(loss, labels), _labels(labels, loss, rows))

    def _joined(self, parts: Sequence[Gradient], rows: int, question: Question) -> Gradient:
        """Return the gradients of the portions of a batch as one, by an input in the axes that it was given with."""
        gradient, activation = (
            sides[0] if len(sides) == 1 else np.concatenate(sides) for sides in zip(*parts, strict=True)
        )
        spec = next((spec for spec in self.inputs if spec.name == question.wrt), None)
        if spec is None:
            return Gradient(gradient[:rows], activation[:rows])
        last = self._channels_last
        return Gradient(
            given_axes(gradient[:rows], spec, channels_last=last),
            given_axes(activation[:rows], spec, channels_last=last),
        )

    def _in_portions(self, batch: Batch, ask: Callable[[Arrays], Arrays]) -> dict[str, Array]:
        arrays = self._fitted(batch)
        answers = [ask(part.arrays) for part in portions(arrays, self._batch_size)]
        if len(answers) == 1 and self._batch_size is None:
            return dict(answers[0])
        rows = rows_of(arrays)
        return {name: np.concatenate([answer[name] for answer in answers])[:rows] for name in answers[0]}

    def _output(self, name: str | None) -> str:
        known = [spec.name for spec in self.outputs]
        if name is None:
            return known[0]
        if name not in known:
            raise ConfigurationError(
                f"The model has no output {name!r}.", hint=f"{did_you_mean(name, known)} It has {known}."
            )
        return name

    def _wrt(self, name: str) -> str:
        inputs = [spec.name for spec in self.inputs]
        if name in inputs:
            return name
        if name == "input":
            return inputs[0]
        layers = [layer.name for layer in self.layers]
        if name in layers:
            return name
        raise LayerUnavailable(name, [*inputs, *layers])


_OUTPUT, _LAYER = "output ", "layer "


def _side_by_side(outputs: Arrays, layers: Arrays) -> Arrays:
    named = {f"{_OUTPUT}{name}": values for name, values in outputs.items()}
    return {**named, **{f"{_LAYER}{name}": values for name, values in layers.items()}}


def _targets(target: int | Sequence[int] | Int64Array | None, rows: int, output: TensorSpec) -> Int64Array | None:
    if target is None:
        return None
    targets = np.asarray(target)
    if targets.dtype.kind not in "iu" or targets.shape not in ((), (rows,)):
        raise ConfigurationError(
            f"`target` must be one class, or one for each of the {rows} samples, but got {target!r}."
        )
    axis = output.channel_axis
    classes = output.shape[axis] if axis is not None and output.shape else None
    if targets.size and (targets.min() < 0 or (classes is not None and targets.max() >= classes)):
        counted = "0" if classes is None else f"0 to {classes - 1}"
        raise ConfigurationError(
            f"Classes of output {output.name!r} count from {counted}, but got `target={target!r}`."
        )
    return np.broadcast_to(targets, (rows,)).astype(np.int64)


def _labels(labels: Array | None, loss: str | None, rows: int) -> Array | None:
    if labels is None:
        return None
    if loss is None:
        raise ConfigurationError("`labels` are for a loss.", hint=f"Name it with `loss=`: {', '.join(LOSSES)}.")
    values = np.asarray(labels)
    if values.shape[:1] != (rows,):
        raise ConfigurationError(f"`labels` must have a row for each of the {rows} samples, but got {values.shape}.")
    return values


def _loss(loss: str | None, labels: Array | None) -> str | None:
    if loss is None:
        return None
    if loss not in LOSSES:
        raise ConfigurationError(
            f"There is no loss {loss!r}.", hint=f"{did_you_mean(loss, LOSSES)} There are {', '.join(LOSSES)}."
        )
    if labels is None:
        raise ConfigurationError(f"The gradient of {loss} needs `labels`, one row for each sample.")
    return loss
