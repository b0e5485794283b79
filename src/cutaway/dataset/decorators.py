"""The decorators that bind functions to the current binder.

Each registers the function as it is, and returns one that checks what it is given and what it returns when you call
it yourself, and that plays its part in an integration test. `binder=` binds to another binder than the current one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

import numpy as np

from cutaway.dataset.binder import Binder
from cutaway.dataset.bound_subset import encoded
from cutaway.dataset.calling import defined_at
from cutaway.dataset.current import current_binder
from cutaway.dataset.declarations import Encoder, check_channel_dim, check_name
from cutaway.dataset.enums import LatentReduction, LeapDataType, MetricDirection, Role
from cutaway.dataset.functions import Field, MetadataTypes
from cutaway.dataset.integration import in_test, outside_test, reading, run_test
from cutaway.dataset.loaded_model import LoadedModel
from cutaway.dataset.metadata_values import Unusable, metadata_columns
from cutaway.dataset.placeholders import Placeholder
from cutaway.dataset.preprocessing import check_responses
from cutaway.dataset.responses import PredictionTypeHandler, PreprocessResponse
from cutaway.dataset.results import wrong_metric, wrong_numbers, wrong_visual
from cutaway.errors import BindingError, EncoderError

__all__ = [
    "tensorleap_custom_latent_space",
    "tensorleap_custom_layer",
    "tensorleap_custom_loss",
    "tensorleap_custom_metric",
    "tensorleap_custom_visualizer",
    "tensorleap_gt_encoder",
    "tensorleap_input_encoder",
    "tensorleap_integration_test",
    "tensorleap_load_model",
    "tensorleap_metadata",
    "tensorleap_preprocess",
    "tensorleap_unlabeled_preprocess",
]

Anything = Callable[..., Any]
Decorator = Callable[[Anything], Anything]


def tensorleap_preprocess(*, binder: Binder | None = None) -> Decorator:
    """Bind the function that returns one `PreprocessResponse` for each subset."""

    def decorate(function: Anything) -> Anything:
        (binder or current_binder()).set_preprocess(function)
        return _preprocess(function, unlabeled=False)

    return decorate


def tensorleap_unlabeled_preprocess(*, binder: Binder | None = None) -> Decorator:
    """Bind the function that returns the `PreprocessResponse` of the samples without ground truth."""

    def decorate(function: Anything) -> Anything:
        (binder or current_binder()).set_unlabeled_data_preprocess(function)
        return _preprocess(function, unlabeled=True)

    return decorate


def _preprocess(function: Anything, *, unlabeled: bool) -> Anything:
    @wraps(function)
    def called() -> Any:
        if reading():
            return Placeholder()
        result = _called_outside_test(function)
        checked = check_responses(function, [result] if unlabeled else result, unlabeled=unlabeled)
        return checked[0] if unlabeled else checked

    return called


def tensorleap_input_encoder(name: str, channel_dim: int = -1, *, binder: Binder | None = None) -> Decorator:
    """Bind an input: a function of a sample's id and its response that returns a float32 array."""
    field = Field(check_name("an input", name), channel_dim=check_channel_dim("input", name, channel_dim))
    return _encoder(Role.INPUT, field, binder)


def tensorleap_gt_encoder(name: str, *, binder: Binder | None = None) -> Decorator:
    """Bind a ground truth: a function of a sample's id and its response that returns a float32 array."""
    return _encoder(Role.GROUND_TRUTH, Field(check_name("a ground truth", name)), binder)


def _encoder(role: Role, field: Field, binder: Binder | None) -> Decorator:
    kind = role.replace("_", " ")

    def decorate(function: Anything) -> Anything:
        (binder or current_binder()).add_encoder(Encoder(role, field, function, exact=True))

        @wraps(function)
        def called(sample_id: Any, preprocess: Any) -> Any:
            if reading():
                return Placeholder(f"{role.value}.{field.name}")
            _check_sample(kind, field.name, sample_id, preprocess)
            result = _called_outside_test(function, sample_id, preprocess)
            try:
                values = encoded(result, exact=True)
            except Unusable as reason:
                raise EncoderError(kind, field.name, str(sample_id), str(reason), defined_at(function)) from reason
            return values[np.newaxis] if in_test() else values

        return called

    return decorate


def tensorleap_metadata(name: str, metadata_type: MetadataTypes = None, *, binder: Binder | None = None) -> Decorator:
    """Bind metadata: a function that returns a number, text or boolean, or a flat dictionary of these."""

    def decorate(function: Anything) -> Anything:
        bound = binder or current_binder()
        bound.set_metadata(function, name=name, metadata_type=metadata_type)
        field = bound.metadata_functions[-1].field

        @wraps(function)
        def called(sample_id: Any, preprocess: Any) -> Any:
            if reading():
                return None
            _check_sample("metadata", name, sample_id, preprocess)
            result = _called_outside_test(function, sample_id, preprocess)
            try:
                metadata_columns(field, result)
            except Unusable as reason:
                raise EncoderError("metadata", name, str(sample_id), str(reason), defined_at(function)) from reason
            return result

        return called

    return decorate


def tensorleap_custom_latent_space(
    name: str | None = None,
    use_ls_for_analysis: bool = False,  # noqa: FBT001, FBT002  # positional in scripts that exist
    reduce: LatentReduction = LatentReduction.MEAN_POOL,
    n_components: int = 512,
    channel_axis: int = -1,
    *,
    binder: Binder | None = None,
) -> Decorator:
    """Bind a latent space of your own: a function of a sample's id and its response that returns an array."""

    def decorate(function: Anything) -> Anything:
        own = name or function.__name__
        (binder or current_binder()).add_custom_latent_space(
            function,
            own,
            use_ls_for_analysis=use_ls_for_analysis,
            reduce=reduce,
            n_components=n_components,
            channel_axis=channel_axis,
        )

        @wraps(function)
        def called(sample_id: Any, preprocess: Any) -> Any:
            if reading():
                return Placeholder()
            _check_sample("latent space", own, sample_id, preprocess)
            return encoded(_called_outside_test(function, sample_id, preprocess), exact=False)

        return called

    return decorate


def tensorleap_custom_loss(name: str, *, binder: Binder | None = None) -> Decorator:
    """Bind a loss: a function of batches that returns one number for each sample."""

    def decorate(function: Anything) -> Anything:
        bound = binder or current_binder()
        bound.add_custom_loss(function, name)
        return _of_batch("loss", name, function, lambda result: wrong_numbers(result, bound.batch_size_to_validate))

    return decorate


def tensorleap_custom_metric(
    name: str,
    direction: MetricDirection | Mapping[str, MetricDirection] | None = MetricDirection.Downward,
    compute_insights: bool | Mapping[str, bool] | None = None,  # noqa: FBT001
    *,
    binder: Binder | None = None,
) -> Decorator:
    """Bind a metric: a function of batches that returns one number a sample, or a dictionary of these."""

    def decorate(function: Anything) -> Anything:
        bound = binder or current_binder()
        bound.add_custom_metric(function, name, direction, compute_insights)
        metric = bound.metrics[-1]
        return _of_batch(
            "metric", name, function, lambda result: wrong_metric(metric, result, bound.batch_size_to_validate)
        )

    return decorate


def _of_batch(kind: str, name: str, function: Anything, wrong: Callable[[Any], str]) -> Anything:
    @wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        now = reading()
        if now:
            return now.call(kind, name, function, arguments, named)
        result = _called_outside_test(function, *arguments, **named)
        reason = wrong(result)
        if reason:
            raise EncoderError(kind, name, "batch", reason, defined_at(function))
        return result

    return called


def tensorleap_custom_visualizer(
    name: str,
    visualizer_type: LeapDataType,
    heatmap_function: Anything | None = None,
    *,
    binder: Binder | None = None,
) -> Decorator:
    """Bind a visualizer: a function of one sample, without a batch axis, that returns a `Leap...` object."""

    def decorate(function: Anything) -> Anything:
        bound = binder or current_binder()
        bound.set_visualizer(function, name, visualizer_type, heatmap_function)
        declared = bound.visualizers[-1].visualizer_type

        @wraps(function)
        def called(*arguments: Any, **named: Any) -> Any:
            now = reading()
            if now:
                return now.call("visualizer", name, function, arguments, named)
            if in_test():
                arguments = tuple(_without_batch(one) for one in arguments)
                named = {key: _without_batch(one) for key, one in named.items()}
            result = _called_outside_test(function, *arguments, **named)
            reason = wrong_visual(declared, result)
            if reason:
                raise EncoderError("visualizer", name, "call", reason, defined_at(function))
            return result

        return called

    return decorate


def tensorleap_custom_layer(name: str, *, binder: Binder | None = None) -> Callable[[type], type]:
    """Bind a layer class that the model file needs to be loaded. The class stays what it is."""

    def decorate(layer: type) -> type:
        (binder or current_binder()).set_custom_layer(layer, name)
        return layer

    return decorate


def tensorleap_load_model(
    prediction_types: Sequence[PredictionTypeHandler] = (), *, binder: Binder | None = None
) -> Decorator:
    """Bind the function that loads the model; one `PredictionTypeHandler` for each of its outputs, in order."""

    def decorate(function: Anything) -> Anything:
        bound = binder or current_binder()
        if bound.model_loader is not None:
            raise BindingError("A function that loads the model is bound already.", hint="Bind one.")
        for one in prediction_types:
            if not isinstance(one, PredictionTypeHandler):
                raise BindingError(f"`tensorleap_load_model` takes PredictionTypeHandlers, but got {one!r}.")
            bound.add_prediction(one.name, one.labels, one.channel_dim)
        bound.model_loader = function

        @wraps(function)
        def called() -> Any:
            now = reading()
            if now:
                return now.model()
            model = _called_outside_test(function)
            if model is None:
                raise EncoderError("model", function.__name__, "load", "it returned None.", defined_at(function))
            return LoadedModel(model, [one.name for one in bound.predictions]) if in_test() else model

        return called

    return decorate


def tensorleap_integration_test(*, binder: Binder | None = None) -> Decorator:
    """Bind the test that shows, with one sample, what goes into the model and into each metric, loss and visualizer.

    Calling it runs it for real, then once more without data to read the wiring.
    """

    def decorate(function: Anything) -> Anything:
        bound = binder or current_binder()
        if bound.integration_test is not None:
            raise BindingError("An integration test is bound already.", hint="Bind one.")
        bound.integration_test = function

        @wraps(function)
        def called(sample_id: Any, preprocess: Any) -> Any:
            _check_sample("integration test", function.__name__, sample_id, preprocess)
            return run_test(bound, function, sample_id, preprocess)

        return called

    return decorate


def _called_outside_test(function: Anything, *arguments: Any, **named: Any) -> Any:
    with outside_test():
        return function(*arguments, **named)


def _check_sample(kind: str, name: str, sample_id: Any, preprocess: Any) -> None:
    if not isinstance(preprocess, PreprocessResponse):
        raise BindingError(
            f"{kind.capitalize()} {name!r} is called with a sample id and a PreprocessResponse, "
            f"but got {type(preprocess).__name__}."
        )
    given = sample_id.item() if isinstance(sample_id, np.generic) else sample_id
    if type(given) is not preprocess.sample_id_type:
        raise BindingError(
            f"{kind.capitalize()} {name!r} was given the sample id {sample_id!r} ({type(sample_id).__name__}), "
            f"but the ids of this subset are {preprocess.sample_id_type.__name__}."
        )


def _without_batch(value: Any) -> Any:
    shape: tuple[int, ...] = getattr(value, "shape", ())
    return value[0] if len(shape) > 0 and shape[0] == 1 else value
