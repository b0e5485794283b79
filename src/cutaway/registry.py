"""Where rules, analyses, adapters and model formats are found: ours by their dotted names, others' by entry points.

Imports nothing of what it lists before somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from cutaway.errors import ConfigurationError, did_you_mean

__all__ = ["BUILT_IN", "load", "names"]

# A package of somebody else adds to a kind with an entry point of the group `cutaway.<kind>`; ours come first.
BUILT_IN: Mapping[str, Mapping[str, str]] = {
    # Each a class of `cutaway.capture.adapter`: what a framework must bring so that its trainings can be watched.
    "frameworks": {
        "torch": "cutaway.frameworks.torch.adapter:TorchAdapter",
    },
    # Each a class of `cutaway.analysis.population.contract`, in the order in which people ask.
    "analyses": {
        "map": "cutaway.analysis.built_in.map:MapOfSamples",
        "similar": "cutaway.analysis.built_in.similar:SimilarSamples",
        "clusters": "cutaway.analysis.built_in.clusters:ClustersOfMap",
        "class distances": "cutaway.analysis.built_in.class_distances:DistancesToClasses",
        "units": "cutaway.analysis.built_in.units:UnitsOfLatents",
        "curve": "cutaway.analysis.built_in.curve:CurvesOfMetadata",
        "confusion": "cutaway.analysis.built_in.confusion:ConfusionOfClasses",
        "heat maps": "cutaway.analysis.built_in.heat_maps:HeatMapsOfSample",
        "loss heat maps": "cutaway.analysis.built_in.loss_heat_maps:LossHeatMapsOfSample",
        "batches": "cutaway.analysis.built_in.batches:BatchesOfTraining",
        "mislabeled": "cutaway.analysis.built_in.mislabeled:Mislabeled",
        "ambiguous": "cutaway.analysis.built_in.ambiguous:Ambiguous",
        "duplicates": "cutaway.analysis.built_in.duplicates:Duplicates",
        "leakage": "cutaway.analysis.built_in.leakage:Leakage",
        "outliers": "cutaway.analysis.built_in.outliers:Outliers",
        "to label": "cutaway.analysis.built_in.to_label:ToLabel",
        "insights": "cutaway.analysis.built_in.insights:InsightsOfAll",
        "compare": "cutaway.analysis.built_in.compare:ComparedWithAnother",
    },
    # What a data set's entry file brings that a model file needs: `custom_layers(path) -> {name: class}`.
    "entries": {
        "entry_file": "cutaway.dataset.entry:custom_layers",
    },
    # How a file of a format becomes a `Backend`: `open_file(path, *, trust, custom_layers) -> Backend`.
    "model_formats": {
        "h5": "cutaway.frameworks.keras.files:open_h5",
        "keras": "cutaway.frameworks.keras.files:open_keras",
        "onnx": "cutaway.frameworks.onnx.files:open_onnx",
        "pt2": "cutaway.frameworks.torch.pt2:open_pt2",
        "saved_model": "cutaway.frameworks.tensorflow.saved_model:open_saved_model",
    },
    # What a format imports before its process is limited, so that limits count the model only: `import_first()`.
    "model_imports": {
        "h5": "cutaway.frameworks.keras.importing:import_first",
        "keras": "cutaway.frameworks.keras.importing:import_first",
        "onnx": "cutaway.frameworks.onnx.files:import_first",
        "pt2": "cutaway.frameworks.torch.pt2:import_first",
        "saved_model": "cutaway.frameworks.tensorflow.settings:prepare",
    },
    # How a live object becomes a `Backend`, by the package that its class comes from: `wrap(object) -> Backend`.
    "model_objects": {
        "keras": "cutaway.frameworks.keras.model:wrap",
        "onnxruntime": "cutaway.frameworks.onnx.session:wrap",
        "torch": "cutaway.frameworks.torch.model:wrap",
    },
    # How a copy of a live object is kept, by its package: `keep(object, batch, folder) -> KeptModel`.
    "model_keepers": {
        "keras": "cutaway.frameworks.keras.keeping:keep",
        "torch": "cutaway.frameworks.torch.keeping:keep",
    },
    "rules": {
        "AllZero": "cutaway.rules.built_in.all_zero:AllZero",
        "CheckInputImages": "cutaway.rules.built_in.check_input_images:CheckInputImages",
        "ClassImbalance": "cutaway.rules.built_in.class_imbalance:ClassImbalance",
        "Confusion": "cutaway.rules.built_in.confusion:Confusion",
        "DataLeak": "cutaway.rules.built_in.data_leak:DataLeak",
        "DeadRelu": "cutaway.rules.built_in.dead_relu:DeadRelu",
        "DeadUnits": "cutaway.rules.built_in.dead_units:DeadUnits",
        "ExplodingTensor": "cutaway.rules.built_in.exploding_tensor:ExplodingTensor",
        "FeatureImportanceOverweight": (
            "cutaway.rules.built_in.feature_importance_overweight:FeatureImportanceOverweight"
        ),
        "HookSilent": "cutaway.rules.built_in.hook_silent:HookSilent",
        "LearningRateTooHigh": "cutaway.rules.built_in.learning_rate_too_high:LearningRateTooHigh",
        "LearningRateTooLow": "cutaway.rules.built_in.learning_rate_too_low:LearningRateTooLow",
        "LossNotDecreasing": "cutaway.rules.built_in.loss_not_decreasing:LossNotDecreasing",
        "LossSpike": "cutaway.rules.built_in.loss_spike:LossSpike",
        "NLPSequenceRatio": "cutaway.rules.built_in.nlp_sequence_ratio:NLPSequenceRatio",
        "NotLearning": "cutaway.rules.built_in.not_learning:NotLearning",
        "Overfit": "cutaway.rules.built_in.overfit:Overfit",
        "Overtraining": "cutaway.rules.built_in.overtraining:Overtraining",
        "PoorWeightInitialization": "cutaway.rules.built_in.poor_weight_initialization:PoorWeightInitialization",
        "SaturatedActivation": "cutaway.rules.built_in.saturated_activation:SaturatedActivation",
        "SimilarAcrossRuns": "cutaway.rules.built_in.similar_across_runs:SimilarAcrossRuns",
        "SlowStep": "cutaway.rules.built_in.slow_step:SlowStep",
        "StalledTrainingRule": "cutaway.rules.built_in.stalled_training_rule:StalledTrainingRule",
        "TensorVariance": "cutaway.rules.built_in.tensor_variance:TensorVariance",
        "TreeDepth": "cutaway.rules.built_in.tree_depth:TreeDepth",
        "UnchangedTensor": "cutaway.rules.built_in.unchanged_tensor:UnchangedTensor",
        "VanishingGradient": "cutaway.rules.built_in.vanishing_gradient:VanishingGradient",
        "WeightUpdateRatio": "cutaway.rules.built_in.weight_update_ratio:WeightUpdateRatio",
    },
}


def names(kind: str) -> list[str]:
    """Return the names of everything of a kind, ours and others', sorted."""
    return sorted({*BUILT_IN[kind], *_others(kind)})


def load(kind: str, name: str) -> Any:
    """Return what a name stands for, imported now; upper and lower case are the same.

    >>> load("rules", "vanishinggradient").__name__
    'VanishingGradient'
    """
    ours = next((one for one in BUILT_IN[kind] if one.lower() == name.lower()), None)
    if ours is not None:  # before others' entry points are looked up, which takes milliseconds
        module, _, attribute = BUILT_IN[kind][ours].partition(":")
        return getattr(import_module(module), attribute)
    others = _others(kind)
    found = next((one for one in others if one.lower() == name.lower()), None)
    if found is None:
        known, noun = names(kind), "analysis" if kind == "analyses" else kind.removesuffix("s")
        raise ConfigurationError(
            f"There is no {noun} {name!r}.", hint=f"{did_you_mean(name, known)} There are {_listed(known)}."
        )
    entry = others[found]
    try:
        return entry.load()
    except (ImportError, AttributeError) as error:
        package = entry.dist.name if entry.dist is not None else "an installed package"
        message = f"{found!r} of {package} cannot be loaded from {entry.value!r}: {error}."
        raise ConfigurationError(message) from error


def _others(kind: str) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=f"cutaway.{kind}") if entry.name not in BUILT_IN[kind]}


def _listed(known: list[str]) -> str:
    return f"{', '.join(known[:-1])} and {known[-1]}" if len(known) > 1 else known[0]
