"""Makes a `Dataset` of what a binder was told: checks that it is whole, calls preprocess, adds the wiring."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cutaway.dataset.bound_subset import BoundSubset
from cutaway.dataset.current import inside
from cutaway.dataset.dataset import Dataset
from cutaway.dataset.declarations import Encoder, overlap
from cutaway.dataset.enums import Role
from cutaway.dataset.functions import AnyFunction, Field, MetadataField, Visualizer
from cutaway.dataset.integration import Wires, read_wires
from cutaway.dataset.overlay_subset import for_evaluation
from cutaway.errors import BindingError, did_you_mean

if TYPE_CHECKING:
    from cutaway.dataset.binder import Binder

__all__ = ["assemble", "check_first_samples"]


def assemble(binder: Binder, source: Mapping[str, Any]) -> Dataset:
    """Return the data set of a binder. Raises `BindingError` for what is missing or contradicts itself."""
    _check_inputs(binder)
    _check_subsets(binder)
    _check_masks(binder)
    subsets = {name: BoundSubset(binder, name, parts) for name, parts in binder.parts().items()}
    wires = read_wires(binder)
    loader = binder.model_loader
    return Dataset(
        subsets=subsets,
        inputs=_fields(binder, Role.INPUT),
        ground_truths=_fields(binder, Role.GROUND_TRUTH),
        metadata=_metadata(binder),
        predictions=tuple(binder.predictions),
        metrics=_wired(binder, "metric", binder.metrics, wires),
        losses=_wired(binder, "loss", binder.losses, wires),
        visualizers=_wired(binder, "visualizer", _visualizers(binder, wires), wires),
        latent_spaces=_wired(binder, "latent space", binder.latent_spaces, wires),
        custom_layers={one.name: one.layer for one in binder.layers},
        load_model=inside(binder, loader) if loader is not None else None,
        model_inputs=wires.model_inputs,
        source=dict(source),
    )


def check_first_samples(dataset: Dataset) -> None:
    """Encode the first sample of every subset with everything that is bound; raises the first error."""
    # Looking is not training: it must not count as having read the corrections of an overlay.
    for name, subset in for_evaluation(dataset.subsets).items():
        if not len(subset):
            continue
        for field in dataset.inputs:
            subset.encode(Role.INPUT, field.name, 0)
        if dataset.labelled(name):
            for field in dataset.ground_truths:
                subset.encode(Role.GROUND_TRUTH, field.name, 0)
        subset.metadata(0)


def _check_inputs(binder: Binder) -> None:
    if not any(one.role is Role.INPUT for one in binder.encoders):
        raise BindingError(
            "No input is bound.",
            hint=(
                "Decorate the function that encodes one with `@tensorleap_input_encoder('name')`, or call "
                "`set_input(function, 'name')`."
            ),
        )


def _check_subsets(binder: Binder) -> None:
    """Every `subset=` names one that was set, and each of those has every input and ground truth."""
    known = [one.name for one in binder.subset_functions if one.name is not None]
    bound = [(one.field.name, one.subset) for one in binder.encoders]
    bound += [(one.field.name, one.subset) for one in binder.metadata_functions]
    for name, subset in bound:
        if subset is not None and subset not in known:
            raise BindingError(
                f"{name!r} is bound to subset {subset!r}, which was never set.",
                hint=(
                    f"{did_you_mean(str(subset), known)} There are {', '.join(known) or 'none'}: call "
                    "`set_subset(ratio, function, name)`."
                ),
            )
    for role in Role:
        for subset in known:
            has = {one.field.name for one in binder.encoders if one.role is role and overlap(one.subset, subset)}
            lacks = [field.name for field in _fields(binder, role) if field.name not in has]
            if lacks:
                raise BindingError(
                    f"Subset {subset!r} has no {role.replace('_', ' ')} {lacks[0]!r}, which another subset has.",
                    hint=f"Bind one with `subset={subset!r}`.",
                )


def _check_masks(binder: Binder) -> None:
    inputs = [one.name for one in _fields(binder, Role.INPUT)]
    for one in binder.encoders:
        if one.masked_input is not None and one.masked_input not in inputs:
            raise BindingError(
                f"`masked_input` of ground truth {one.field.name!r} is {one.masked_input!r}, which is no input.",
                hint=f"{did_you_mean(str(one.masked_input), inputs)} There are {', '.join(inputs)}.",
            )


def _fields(binder: Binder, role: Role) -> tuple[Field, ...]:
    """Return the inputs or ground truths, each once, however many subsets it is bound for."""
    return tuple(_first_of_each(one for one in binder.encoders if one.role is role))


def _first_of_each(encoders: Iterable[Encoder]) -> Iterable[Field]:
    found: dict[str, Field] = {}
    for one in encoders:
        found.setdefault(one.field.name, one.field)
    return found.values()


def _metadata(binder: Binder) -> tuple[MetadataField, ...]:
    found: dict[str, MetadataField] = {}
    for one in binder.metadata_functions:
        found.setdefault(one.field.name, one.field)
    return tuple(found.values())


def _wired(binder: Binder, kind: str, functions: Iterable[AnyFunction], wires: Wires) -> tuple[AnyFunction, ...]:
    """Return functions as the integration test calls them: one that it calls with several arguments is several."""
    return tuple(
        replace(one, name=name, function=inside(binder, one.function), wiring=wiring)
        for one in functions
        for name, wiring in (wires.calls(kind, one.name) or {one.name: {}}).items()
    )


def _visualizers(binder: Binder, wires: Wires) -> Iterable[Visualizer]:
    for one in binder.visualizers:
        uncalled = binder.integration_test is not None and not wires.calls("visualizer", one.name)
        heatmap = None if one.heatmap is None else inside(binder, one.heatmap)
        yield replace(one, heatmap=heatmap, uncalled=uncalled)
