"""`Dataset`: a data set and everything that is bound to it, however it was bound. Calls nobody's function by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cutaway.arrays import Array
from cutaway.dataset.arrays import ArraySubset
from cutaway.dataset.enums import SUBSETS, DataStateType
from cutaway.dataset.folder import Opening, folder_subsets
from cutaway.dataset.functions import Field, LatentSpace, Loss, MetadataField, Metric, Visualizer
from cutaway.dataset.hugging_face import class_labels, split_subsets
from cutaway.dataset.items import parts_by_name, torch_subset
from cutaway.dataset.overlay_subset import overlay_dataset
from cutaway.dataset.subset import NamedParts, Subset
from cutaway.dataset.tf_data import read_columns
from cutaway.errors import ConfigurationError

__all__ = ["Dataset"]


@dataclass(frozen=True)
class Dataset:
    """The subsets of a data set by name, and what is bound to them.

    `predictions` declare the model's outputs, in its order; empty where nobody declared them. `custom_layers` are the
    classes that a model file needs. `load_model` brings the model where the binding does. `model_inputs` has the
    encoder of an input of the model, by its name or its position, where the integration test showed it. `source` says
    what this was made from, for `source.json`: a kind, and where it has one the entry file and its digest.

    Ground truths come with the corrections of the overlay that CUTAWAY_OVERLAY names; `source` then has its digest.
    """

    subsets: Mapping[str, Subset]
    inputs: tuple[Field, ...]
    ground_truths: tuple[Field, ...] = ()
    metadata: tuple[MetadataField, ...] = ()
    predictions: tuple[Field, ...] = ()
    metrics: tuple[Metric, ...] = ()
    losses: tuple[Loss, ...] = ()
    visualizers: tuple[Visualizer, ...] = ()
    latent_spaces: tuple[LatentSpace, ...] = ()
    custom_layers: Mapping[str, Any] = field(default_factory=dict)
    load_model: Callable[[], Any] | None = None
    model_inputs: Mapping[str | int, str] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        overlaid = overlay_dataset(self.subsets, self.ground_truths)
        if overlaid is not None:
            object.__setattr__(self, "subsets", overlaid.subsets)
            object.__setattr__(self, "source", {**self.source, "overlay": overlaid.digest})

    def __len__(self) -> int:
        """How many samples all subsets have together."""
        return sum(len(subset) for subset in self.subsets.values())

    def labelled(self, subset: str) -> bool:
        """Whether the samples of a subset have ground truths."""
        return bool(self.ground_truths) and subset != DataStateType.unlabeled

    @classmethod
    def join(cls, *datasets: Dataset) -> Dataset:
        """Return one data set of the subsets of several, which must have the same inputs and ground truths.

        Everything else that is bound comes from the first. A subset without ground truths must be `unlabeled`.
        """
        first = datasets[0]
        subsets: dict[str, Subset] = {}
        for one in datasets:
            for name in one.subsets:
                if name in subsets:
                    raise ConfigurationError(
                        f"Two of the data sets have a {name} subset.", hint="Name one of them otherwise."
                    )
                _refuse_other_fields(first, one, name)
            subsets |= one.subsets
        ordered = {name: subsets[name] for name in SUBSETS if name in subsets}
        kinds = sorted({str(one.source.get("kind", "")) for one in datasets})
        return replace(first, subsets=ordered, source={**first.source, "kind": "+".join(kinds)})

    @classmethod
    def from_arrays(
        cls,
        inputs: Array | Mapping[str, Array],
        ground_truths: Array | Mapping[str, Array] | None = None,
        *,
        metadata: Mapping[str, Sequence[Any]] | None = None,
        ids: Sequence[object] | None = None,
        labels: Sequence[str] = (),
        subset: str = "training",
        channel_dim: int = -1,
    ) -> Dataset:
        """Return a data set of one subset that lies in arrays; `Dataset.join` puts several together.

        One array is the input `input` and the ground truth `ground_truth`; mappings name several. `metadata` has one
        sequence a column, `labels` names the classes, `ids` the samples (their positions otherwise). Anything that
        has a length and gives slices is an array here, so a memory map or an HDF5 data set is read as it is needed.

        >>> import numpy as np
        >>> len(Dataset.from_arrays(np.zeros((3, 8, 8, 1)), np.array([0, 1, 0]), labels=["cat", "dog"]))
        3
        """
        truths = {} if ground_truths is None else ground_truths
        columns = NamedParts(
            parts_by_name(inputs, "input"), parts_by_name(truths, "ground_truth"), dict(metadata or {})
        )
        if not columns.inputs:
            raise ConfigurationError("A data set needs at least one input, but `inputs` is empty.")
        return _of_one(ArraySubset(subset, columns, ids), columns, labels, {"kind": "arrays"}, channel_dim)

    @classmethod
    def from_torch(
        cls,
        dataset: Any,
        *,
        inputs: Sequence[str] = (),
        ground_truths: Sequence[str] = (),
        labels: Sequence[str] = (),
        subset: str = "training",
        channel_dim: int = 1,
    ) -> Dataset:
        """Return a data set of one subset over a map-style data set of torch, asked for its samples as they are needed.

        Samples are (input, ground truth) or the input alone. Where they are dictionaries, `inputs` and
        `ground_truths` name their parts, and numbers and text beside become metadata. Labels come from the data set's
        `classes` where it has them. Channels lie as torch has them, before rows and columns.
        """
        one = torch_subset(subset, dataset, inputs, ground_truths)
        classes = labels or getattr(dataset, "classes", ())
        return _of_one(one, one.first_item(), classes, {"kind": "torch"}, channel_dim)

    @classmethod
    def from_tf_data(
        cls,
        dataset: Any,
        *,
        inputs: Sequence[str] = (),
        ground_truths: Sequence[str] = (),
        labels: Sequence[str] = (),
        subset: str = "training",
        batched: bool = False,
        memory_mb: int = 4096,
    ) -> Dataset:
        """Return a data set of one subset from a `tf.data.Dataset`, read once into memory.

        It can only be read from its beginning, while samples here are known by their index; one that is larger than
        `memory_mb`, or that never ends, is refused. `batched` says that its elements are batches.
        """
        columns = read_columns(dataset, inputs, ground_truths, batched=batched, memory_mb=memory_mb)
        return _of_one(ArraySubset(subset, columns), columns, labels, {"kind": "tf_data"})

    @classmethod
    def from_huggingface(
        cls,
        dataset: Any,
        *,
        inputs: Sequence[str],
        ground_truths: Sequence[str] = (),
        labels: Sequence[str] = (),
        subset: str = "training",
    ) -> Dataset:
        """Return a data set over one of Hugging Face's `datasets`, or over all splits of a dictionary of them.

        `inputs` and `ground_truths` name columns; the others that hold numbers or text are metadata. The splits train,
        validation, test and unsupervised become our subsets. Labels come from a `ClassLabel` column.
        """
        parts = []
        for split, one in split_subsets(dataset, inputs, ground_truths, subset):
            source = {"kind": "huggingface"}
            if fingerprint := getattr(split, "_fingerprint", None):
                source["digest"] = fingerprint  # its own, of everything that was done to the data
            parts.append(_of_one(one, one.first_item(), labels or class_labels(split, ground_truths), source))
        return cls.join(*parts)

    @classmethod
    def from_folder(
        cls,
        path: str | Path,
        *,
        size: tuple[int, int] | None = None,
        mode: str | None = None,
        scale: bool = True,
        subset: str = "training",
    ) -> Dataset:
        """Return a data set of the images in a folder.

        Either the folder has one folder for each class, or it has images and a `labels.csv` with the columns `file`
        and `label`, whose other columns are metadata. Folders named training, validation, test and unlabeled (or
        train, val, valid) on top of that are the subsets. Ids are the paths inside the subset's folder. `size`
        (height, width) resizes, `mode` converts (`L` grey, `RGB`), `scale` makes float32 of 0 to 1 out of bytes.
        """
        root = Path(path).expanduser()
        subsets, labels = folder_subsets(root, Opening(size, mode, scale=scale), subset)
        source = {"kind": "folder", "path": str(root)}
        return replace(cls.join(*(_of_one(one, one.first_item(), labels, source) for one in subsets)), source=source)


def _of_one(
    subset: Subset, parts: NamedParts, labels: Sequence[str], source: Mapping[str, Any], channel_dim: int = -1
) -> Dataset:
    """Return a data set of one subset whose samples have these parts."""
    return Dataset(
        subsets={subset.name: subset},
        inputs=tuple(Field(name, channel_dim=channel_dim) for name in parts.inputs),
        ground_truths=tuple(Field(name, labels=tuple(labels)) for name in parts.ground_truths),
        metadata=tuple(MetadataField(name) for name in parts.metadata),
        source=source,
    )


def _refuse_other_fields(first: Dataset, other: Dataset, subset: str) -> None:
    for kind in ("inputs", "ground_truths"):
        ours, theirs = ([field.name for field in getattr(one, kind)] for one in (first, other))
        if ours != theirs and not (kind == "ground_truths" and subset == DataStateType.unlabeled):
            message = f"Data sets that are joined must have the same {kind}, but {subset} has {theirs} and not {ours}."
            raise ConfigurationError(message)
