"""All collections of one hook or one trial, by name, with the ones that always exist.

Not a process-wide object: `cutaway.capture` holds the current one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from cutaway.errors import ConfigurationError, did_you_mean
from cutaway.tensors.collection import Collection

__all__ = ["DEFAULT_PATTERNS", "PARAMETERS", "Collections"]

# Names are those of the PyTorch hook: parameters are `Net_fc1.weight`, gradients `gradient/Net_fc1.weight`, what a
# module receives and returns `fc1_input_0` and `fc1_output_0`. A loss is a module too: what it receives are the
# predictions and the labels, what it returns is the loss, and none of these is an input or output of the model.
# Collections without a pattern hold what the hook or the user adds to them. Activations go by their names here; the
# hook adds those that it finds by their type. LeakyReLU and its kind are no ReLUs: they have no flat part.
DEFAULT_PATTERNS: Mapping[str, tuple[str, ...]] = {
    "all": (r".*",),
    "default": (),
    "weights": (r"^(?!gradient).*weight",),
    "biases": (r"^(?!gradient).*bias",),
    "gradients": (r"^gradient",),
    "losses": (r"[Ll]oss_(?!input).*output",),
    "metrics": (),
    "optimizer_variables": (),
    "inputs": (r"^(?!.*[Ll]oss_input).*_input_\d+$",),
    "outputs": (r"^(?!.*[Ll]oss_output).*_output_\d+$",),
    "labels": (r"[Ll]oss_input_1$",),
    "predictions": (r"[Ll]oss_input_0$",),
    "layers": (r"^(?!.*[Ll]oss_(?:input|output)).*_(?:input|output)_\d+$",),
    "relu_inputs": (r"(?i)(?<![a-z])(?<!leaky_)relu\d*_input_\d+$",),
    "relu_outputs": (r"(?i)(?<![a-z])(?<!leaky_)relu\d*_output_\d+$",),
    "tanh_inputs": (r"(?i)(?<![a-z])tanh\d*_input_\d+$",),
    "sigmoid_inputs": (r"(?i)(?<![a-z])sigmoid\d*_input_\d+$",),
    "sm_metrics": (),
}
# The collections whose tensors an optimizer changes: of these the change since the last statistics is kept.
PARAMETERS = ("weights", "biases")


class Collections:
    """The collections of one hook or trial.

    >>> collections = Collections()
    >>> collections.get("relu").include("relu")
    >>> [collection.name for collection in collections.resolve("relu1_output_0")]
    ['all', 'outputs', 'layers', 'relu_outputs', 'relu']
    """

    def __init__(self, patterns: Mapping[str, Iterable[str]] = DEFAULT_PATTERNS) -> None:
        self._defaults = {name: tuple(regexes) for name, regexes in patterns.items()}
        self._collections: dict[str, Collection] = {}
        self.reset()

    def __contains__(self, name: object) -> bool:
        return name in self._collections

    def __iter__(self) -> Iterator[Collection]:
        return iter(tuple(self._collections.values()))

    def __len__(self) -> int:
        return len(self._collections)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all collections, the ones that always exist first."""
        return tuple(self._collections)

    def get(self, name: str) -> Collection:
        """Return the collection of that name, created if there is none yet."""
        found = self._collections.get(name)
        if found is None:
            found = self._collections[name] = Collection(name)
        return found

    def add_to(self, name: str, item: object) -> None:
        """Add a tensor, by name or object, to the collection of that name."""
        self.get(name).add(item)

    def reset(self) -> None:
        """Forget every custom collection and every change to the others."""
        self._collections = {
            name: Collection(name, include_regex=patterns, builtin=True) for name, patterns in self._defaults.items()
        }
        self._keep_apart()

    def resolve(self, tensor_name: str) -> list[Collection]:
        """Return every collection that the tensor belongs to."""
        return [collection for collection in self._collections.values() if collection.matches(tensor_name)]

    def check_known(self, names: Iterable[str]) -> None:
        """Refuse the name of a collection that does not exist, as written in `include_collections`."""
        if isinstance(names, str):
            raise ConfigurationError(f"`include_collections` takes a list of names: write [{names!r}].")
        for name in names:
            if name not in self._collections:
                raise ConfigurationError(
                    f"`include_collections` names {name!r}, but there is no such collection.",
                    hint=(
                        f"{did_you_mean(str(name), self._collections)} `get_collection({name!r}).include(regex)` "
                        "creates one."
                    ),
                )

    def to_dict(self) -> dict[str, dict[str, object]]:
        """Return every collection as JSON values, by name."""
        return {name: collection.to_dict() for name, collection in self._collections.items()}

    @classmethod
    def from_dict(cls, value: Mapping[str, Mapping[str, object]]) -> Collections:
        """Read what `to_dict` wrote; collections that the text does not have do not exist."""
        found = cls()
        found._collections = {
            name: Collection.from_dict(name, item, builtin=name in DEFAULT_PATTERNS) for name, item in value.items()
        }
        found._keep_apart()
        return found

    def _keep_apart(self) -> None:
        """What an optimizer keeps of a weight is named after it (`Adam_Net_fc.weight_exp_avg`), and is none."""
        variables = self._collections.get("optimizer_variables")
        for name in ("weights", "biases"):
            if name in self._collections:
                self._collections[name].apart_from = variables
