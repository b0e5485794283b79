"""`Binder`: a data set as it is described by functions. Keeps what it is told; `dataset()` makes a `Dataset` of it.

One binding is one object, and any number live beside each other. Two styles of the same calls are understood: those
that name a subset (`set_input(function, subset, input_type, name)`) and those that do not (`set_input(function, name,
channel_dim)`); which one is meant is decided by the arguments alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any, overload

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset.assembling import assemble, check_first_samples
from cutaway.dataset.calling import defined_at
from cutaway.dataset.dataset import Dataset
from cutaway.dataset.declarations import (
    MISSING,
    CustomLayer,
    Encoder,
    MetadataFunction,
    SubsetFunction,
    check_channel_dim,
    check_components,
    check_labels,
    check_name,
    check_word,
    check_words,
    matched,
    overlap,
    refuse_second,
)
from cutaway.dataset.enums import (
    DatasetInputType,
    DatasetMetadataType,
    DatasetOutputType,
    LatentReduction,
    LeapDataType,
    MetricDirection,
    Role,
)
from cutaway.dataset.functions import (
    Field,
    LatentSpace,
    Loss,
    MetadataField,
    MetadataTypes,
    Metric,
    Visualizer,
)
from cutaway.dataset.preprocessing import SubsetPart, prepare
from cutaway.dataset.responses import SamplePreprocessResponse
from cutaway.dataset.signatures import check_heatmap, check_takes, declared
from cutaway.errors import BindingError

__all__ = ["Binder"]

_ENCODER = ("sample_id", "preprocess")


class Binder:
    """Describes a data set by functions of a sample's id.

    `cache_container` is a dictionary for whatever your functions share: filled in preprocess, read in encoders.

    >>> import numpy as np
    >>> from cutaway.dataset import PreprocessResponse
    >>> binder = Binder()
    >>> binder.set_preprocess(lambda: [PreprocessResponse(2, [1.0, 2.0]), PreprocessResponse(1, [3.0])])
    >>> binder.set_input(lambda i, preprocess: np.float32(preprocess.data[i]), "x")
    >>> len(binder.dataset())
    3
    """

    def __init__(self) -> None:
        self.cache_container: dict[str, Any] = {"word_to_index": {}}
        self.subset_functions: list[SubsetFunction] = []
        self.encoders: list[Encoder] = []
        self.metadata_functions: list[MetadataFunction] = []
        self.predictions: list[Field] = []
        self.losses: list[Loss] = []
        self.metrics: list[Metric] = []
        self.visualizers: list[Visualizer] = []
        self.latent_spaces: list[LatentSpace] = []
        self.layers: list[CustomLayer] = []
        self.model_loader: Callable[[], Any] | None = None
        self.integration_test: Callable[..., Any] | None = None
        self.batch_size_to_validate: int | None = None
        self._lock = threading.RLock()
        self._parts: dict[str, list[SubsetPart]] | None = None

    def __repr__(self) -> str:
        # Without its address: the reference shows the binder of the process, and must not change with it.
        return "Binder()"

    def set_subset(self, ratio: float, function: Callable[[], Any], name: str) -> None:
        """Bind a function that returns the subsets `[training, validation, ...]`, under a name for `subset=`.

        `ratio` is the share of each subset that is used, above 0 and up to 1, which takes all; fewer are taken evenly
        from the whole length. The samples of several such functions are taken together, and their ids then begin with
        the name.
        """
        check_name("a subset", name)
        check_takes("subset", name, function)
        if isinstance(ratio, bool) or not isinstance(ratio, int | float) or not 0 < ratio <= 1:
            raise BindingError(f"`0 < ratio <= 1` must hold for subset {name!r}, but got ratio={ratio!r}.")
        if "/" in name:
            raise BindingError(
                f"The name of subset {name!r} has a slash, which separates it from the ids.", hint="Leave it out."
            )
        refuse_second("Subset", name, [one.name or "" for one in self.subset_functions])
        self._refuse_mixture(named=True)
        self._add_subset(SubsetFunction(function, name, float(ratio)))

    def set_preprocess(self, function: Callable[[], Any]) -> None:
        """Bind the function that returns one response for each subset. It is called once in the life of the binder."""
        check_takes("preprocess", "preprocess", function)
        if any(not one.unlabeled for one in self.subset_functions):
            self._refuse_mixture(named=False)
            raise BindingError("A preprocess function is bound already.", hint="Return all subsets from one function.")
        self._add_subset(SubsetFunction(function))

    def set_unlabeled_data_preprocess(self, function: Callable[[], Any]) -> None:
        """Bind the function that returns the one response of the samples without ground truth."""
        check_takes("unlabeled preprocess", "unlabeled", function)
        if any(one.unlabeled for one in self.subset_functions):
            raise BindingError("A preprocess function of unlabeled samples is bound already.", hint="Bind one.")
        self._add_subset(SubsetFunction(function, unlabeled=True))

    @overload
    def set_input(self, function: Callable[..., Any], name: str, channel_dim: int = -1) -> None: ...

    @overload
    def set_input(self, function: Callable[..., Any], subset: str, input_type: DatasetInputType, name: str) -> None: ...

    def set_input(
        self,
        function: Callable[..., Any],
        *positional: Any,
        name: Any = MISSING,
        channel_dim: Any = MISSING,
        subset: Any = MISSING,
        input_type: Any = MISSING,
    ) -> None:
        """Bind an input: a function of a sample's id and its response that returns an array without a batch axis.

        Either `set_input(function, name, channel_dim=-1)`, or `set_input(function, subset, input_type, name)` for the
        samples of one named subset.
        """
        named = {"name": name, "channel_dim": channel_dim, "subset": subset, "input_type": input_type}
        call = matched(Binder.set_input, (self, function, *positional), named)
        field = Field(
            check_name("an input", call["name"]),
            channel_dim=check_channel_dim("input", call["name"], call.get("channel_dim", -1)),
            type=_type_as_declared(DatasetInputType, "`input_type`", call.get("input_type")),
        )
        self.add_encoder(Encoder(Role.INPUT, field, function, call.get("subset")))

    @overload
    def set_ground_truth(self, function: Callable[..., Any], name: str) -> None: ...

    @overload
    def set_ground_truth(
        self,
        function: Callable[..., Any],
        subset: str,
        ground_truth_type: DatasetOutputType,
        name: str,
        labels: Sequence[str] | None = None,
        masked_input: str | None = None,
    ) -> None: ...

    def set_ground_truth(
        self,
        function: Callable[..., Any],
        *positional: Any,
        name: Any = MISSING,
        subset: Any = MISSING,
        ground_truth_type: Any = MISSING,
        labels: Any = MISSING,
        masked_input: Any = MISSING,
    ) -> None:
        """Bind a ground truth: what an output of the model should be for a sample. Never called on unlabeled samples.

        Either `set_ground_truth(function, name)`, or, for the samples of one named subset,
        `set_ground_truth(function, subset, ground_truth_type, name, labels=None, masked_input=None)`.
        `labels` name its classes. `masked_input` is the name of the input that a mask belongs to, kept as declared.
        """
        named = {
            "name": name,
            "subset": subset,
            "ground_truth_type": ground_truth_type,
            "labels": labels,
            "masked_input": masked_input,
        }
        call = matched(Binder.set_ground_truth, (self, function, *positional), named)
        field = Field(
            check_name("a ground truth", call["name"]),
            check_labels("ground truth", call["name"], call.get("labels")),
            type=_type_as_declared(DatasetOutputType, "`ground_truth_type`", call.get("ground_truth_type")),
        )
        masked = call.get("masked_input")
        self.add_encoder(Encoder(Role.GROUND_TRUTH, field, function, call.get("subset"), masked_input=masked))

    @overload
    def set_metadata(self, function: Callable[..., Any], name: str, metadata_type: MetadataTypes = None) -> None: ...

    @overload
    def set_metadata(
        self, function: Callable[..., Any], subset: str, metadata_type: DatasetMetadataType, name: str
    ) -> None: ...

    def set_metadata(
        self,
        function: Callable[..., Any],
        *positional: Any,
        name: Any = MISSING,
        metadata_type: Any = MISSING,
        subset: Any = MISSING,
    ) -> None:
        """Bind metadata: a function that returns a number, text or boolean, or a flat dictionary of these.

        Either `set_metadata(function, name, metadata_type=None)`, or `set_metadata(function, subset, metadata_type,
        name)` for the samples of one named subset.

        A dictionary makes a column `<name>_<key>` of each key. Missing values need a declared `metadata_type`.
        """
        named = {"name": name, "metadata_type": metadata_type, "subset": subset}
        call = matched(Binder.set_metadata, (self, function, *positional), named)
        own, only = check_name("metadata", call["name"]), call.get("subset")
        types = check_words(DatasetMetadataType, f"`metadata_type` of {own!r}", call["metadata_type"])
        check_takes("metadata", own, function, *_ENCODER)
        taken = [other.field.name for other in self.metadata_functions if overlap(other.subset, only)]
        refuse_second("Metadata", own, taken)
        self.metadata_functions.append(MetadataFunction(MetadataField(own, types), function, only))

    def add_encoder(self, encoder: Encoder) -> None:
        """Bind an input or ground truth that is described already."""
        kind, name = encoder.role.replace("_", " "), encoder.field.name
        check_takes(kind, name, encoder.function, *_ENCODER)
        same = [one for one in self.encoders if one.role is encoder.role and overlap(one.subset, encoder.subset)]
        refuse_second(kind.capitalize(), name, [one.field.name for one in same])
        self.encoders.append(encoder)

    def add_prediction(self, name: str, labels: Sequence[str], channel_dim: int = -1) -> None:
        """Declare the next output of the model: its name, and its classes along `channel_dim`."""
        refuse_second("Prediction", check_name("a prediction", name), [one.name for one in self.predictions])
        self.predictions.append(
            Field(name, check_labels("prediction", name, labels), check_channel_dim("prediction", name, channel_dim))
        )

    def add_custom_loss(self, function: Callable[..., Any], name: str) -> None:
        """Bind a loss: a function of batches that returns one number for each sample."""
        refuse_second("Loss", check_name("a loss", name), [one.name for one in self.losses])
        self.losses.append(declared(Loss, "loss", name, function))

    def add_custom_metric(
        self,
        function: Callable[..., Any],
        name: str,
        direction: MetricDirection | Mapping[str, MetricDirection] | None = MetricDirection.Downward,
        compute_insights: bool | Mapping[str, bool] | None = None,  # noqa: FBT001  # positional in scripts that exist
    ) -> None:
        """Bind a metric: a function of batches that returns one number a sample, or a dictionary of these."""
        refuse_second("Metric", check_name("a metric", name), [one.name for one in self.metrics])
        metric = declared(Metric, "metric", name, function)
        better = check_words(MetricDirection, f"`direction` of metric {name!r}", direction)
        self.metrics.append(replace(metric, direction=better, compute_insights=compute_insights))

    def set_visualizer(
        self,
        function: Callable[..., Any],
        name: str,
        visualizer_type: LeapDataType,
        heatmap_visualizer: Callable[..., Any] | None = None,
    ) -> None:
        """Bind a visualizer: a function of one sample, without a batch axis, that returns a `Leap...` object.

        `heatmap_visualizer` takes the same arguments and maps a heat map through the same geometry.
        """
        refuse_second("Visualizer", check_name("a visualizer", name), [one.name for one in self.visualizers])
        visualizer = declared(Visualizer, "visualizer", name, function)
        if heatmap_visualizer is not None:
            check_heatmap(visualizer, heatmap_visualizer)
        kind = check_word(LeapDataType, f"`visualizer_type` of visualizer {name!r}", visualizer_type)
        self.visualizers.append(replace(visualizer, visualizer_type=kind, heatmap=heatmap_visualizer))

    def add_custom_latent_space(
        self,
        function: Callable[..., Any],
        name: str,
        *,
        use_ls_for_analysis: bool = False,
        reduce: LatentReduction = LatentReduction.MEAN_POOL,
        n_components: int = 512,
        channel_axis: int = -1,
    ) -> None:
        """Bind a latent space of your own: a function of a sample's id and its response that returns an array."""
        refuse_second("Latent space", check_name("a latent space", name), [one.name for one in self.latent_spaces])
        check_takes("latent space", name, function, *_ENCODER)
        by = check_word(LatentReduction, f"`reduce` of latent space {name!r}", reduce)
        check_components(name, n_components)

        def of_batch(samples: SamplePreprocessResponse) -> Array:
            return np.stack([np.asarray(function(one, samples.preprocess_response)) for one in samples.sample_ids])

        self.latent_spaces.append(
            LatentSpace(
                name,
                of_batch,
                (),
                "samples",
                place=defined_at(function),
                use_for_analysis=use_ls_for_analysis,
                reduce=by,
                n_components=n_components,
                channel_axis=channel_axis,
            )
        )

    def set_custom_layer(
        self,
        custom_layer: type,
        name: str,
        inspect_layer: bool = False,  # noqa: FBT001, FBT002  # positional in scripts that exist
        kernel_index: int | None = None,
        use_custom_latent_space: bool = False,  # noqa: FBT001, FBT002
    ) -> None:
        """Bind a layer class that the model file needs to be loaded."""
        refuse_second("Custom layer", check_name("a custom layer", name), [one.name for one in self.layers])
        if not isinstance(custom_layer, type):
            raise BindingError(f"Custom layer {name!r} must be a class, but got {custom_layer!r}.")
        self.layers.append(CustomLayer(name, custom_layer, inspect_layer, kernel_index, use_custom_latent_space))

    def set_batch_size_to_validate(self, batch_size: int) -> None:
        """Let decorated metrics and losses that you call yourself check that they return so many values."""
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
            raise BindingError(f"`batch_size >= 1` must hold, but got batch_size={batch_size!r}.")
        self.batch_size_to_validate = batch_size

    def parts(self) -> dict[str, list[SubsetPart]]:
        """Return the samples by subset, from the preprocess functions, which are called the first time only."""
        with self._lock:
            if self._parts is None:
                self._parts = prepare(self)
            return self._parts

    def dataset(self, source: Mapping[str, Any] | None = None) -> Dataset:
        """Return the data set: calls the preprocess functions, and reads the wiring off the integration test."""
        return assemble(self, source or {"kind": "binder"})

    def check(self) -> None:
        """Call every encoder and metadata function on the first sample of every subset; raises the first error."""
        check_first_samples(self.dataset())
        # Scripts that end with this call are run for this line; everything else about the check is `cutaway check`'s.
        print("Successful!")  # noqa: T201

    def _add_subset(self, one: SubsetFunction) -> None:
        with self._lock:
            self.subset_functions.append(one)
            self._parts = None

    def _refuse_mixture(self, *, named: bool) -> None:
        other = [one for one in self.subset_functions if (one.name is not None) != named and not one.unlabeled]
        if other:
            raise BindingError(
                "`set_subset` and `set_preprocess` cannot both be used in one binding.", hint="Choose one."
            )


def _type_as_declared(words: type[StrEnum], what: str, given: Any) -> str:
    """Return the kind of an input or ground truth; empty where none was given."""
    return "" if given is None else check_word(words, what, given).value
