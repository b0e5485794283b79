"""All collections together: the default ones, custom ones, and unknown names."""

import json

import pytest

from cutaway.errors import ConfigurationError
from cutaway.tensors.collections import DEFAULT_PATTERNS, Collections


@pytest.mark.parametrize(
    ("tensor", "collections"),
    [
        ("Net_fc1.weight", {"weights"}),
        ("Net_fc1.bias", {"biases"}),
        ("gradient/Net_fc1.weight", {"gradients"}),
        ("gradient/Net_fc1.bias", {"gradients"}),
        ("CrossEntropyLoss_output_0", {"losses"}),
        ("CrossEntropyLoss_input_0", {"predictions"}),
        ("CrossEntropyLoss_input_1", {"labels"}),
        ("my_loss_output_0", {"losses"}),
        ("Net_input_0", {"inputs", "layers"}),
        ("Net_output_0", {"outputs", "layers"}),
        ("layer1.0.conv1_output_12", {"outputs", "layers"}),
        ("scalar/learning_rate", set()),
        ("relu_output_0", {"outputs", "layers", "relu_outputs"}),
        ("layer1.0.relu2_input_0", {"inputs", "layers", "relu_inputs"}),
        ("block.ReLU_output_1", {"outputs", "layers", "relu_outputs"}),
        ("leaky_relu_output_0", {"outputs", "layers"}),
        ("act.LeakyReLU_output_0", {"outputs", "layers"}),
        ("prelu1_output_0", {"outputs", "layers"}),
        ("relu.fc_output_0", {"outputs", "layers"}),
        ("tanh_input_0", {"inputs", "layers", "tanh_inputs"}),
        ("gate.Sigmoid3_input_0", {"inputs", "layers", "sigmoid_inputs"}),
        ("sigmoid_output_0", {"outputs", "layers"}),
    ],
)
def test_default_collections_hold_what_the_pytorch_hook_names(tensor: str, collections: set[str]) -> None:
    assert {collection.name for collection in Collections().resolve(tensor)} == collections | {"all"}


def test_the_default_collections_always_exist() -> None:
    assert set(Collections().names) == {
        *("all", "default", "weights", "biases", "gradients", "losses", "metrics", "optimizer_variables"),
        *("inputs", "outputs", "labels", "predictions", "layers", "sm_metrics"),
        *("relu_inputs", "relu_outputs", "tanh_inputs", "sigmoid_inputs"),
    }
    for collection in Collections():
        collection.check()


def test_a_collection_is_created_on_first_use() -> None:
    collections = Collections()
    assert "relu" not in collections
    relu = collections.get("relu")
    assert collections.get("relu") is relu
    assert "relu" in collections
    assert len(collections) == len(DEFAULT_PATTERNS) + 1


def test_adding_to_a_collection_creates_it() -> None:
    collections = Collections()
    collections.add_to("relu", "relu1_output_0")
    assert "relu" in {collection.name for collection in collections.resolve("relu1_output_0")}


def test_reset_forgets_every_change() -> None:
    collections = Collections()
    collections.get("relu").include("relu")
    collections.get("weights").include("kernel")
    collections.reset()
    assert collections.to_dict() == Collections().to_dict()


def test_an_unknown_collection_is_refused_with_the_nearest() -> None:
    collections = Collections()
    collections.check_known(["weights", "losses"])
    with pytest.raises(ConfigurationError, match=r"'wieghts'.*Did you mean 'weights'.*get_collection\('wieghts'\)"):
        collections.check_known(["losses", "wieghts"])
    collections.get("wieghts")
    collections.check_known(["wieghts"])


def test_one_name_in_place_of_a_list_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"write \['weights'\]"):
        Collections().check_known("weights")


def test_collections_survive_a_document() -> None:
    collections = Collections()
    collections.get("relu").include("relu")
    collections.get("losses").save_config = {"save_interval": 1}
    document = json.loads(json.dumps(collections.to_dict()))
    assert Collections.from_dict(document).to_dict() == collections.to_dict()


def test_a_document_with_fewer_collections_brings_no_others() -> None:
    assert Collections.from_dict({"weights": {"tensor_names": ["w"]}}).names == ("weights",)
