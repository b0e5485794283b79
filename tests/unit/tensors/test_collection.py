"""One collection: what belongs to it, and what it refuses."""

from collections.abc import Callable

import pytest

from cutaway.errors import ConfigurationError, InvalidCollectionConfiguration
from cutaway.tensors.collection import Collection, ModuleTensors
from cutaway.tensors.modes import modes
from cutaway.tensors.reduction_config import ReductionConfig
from cutaway.tensors.save_config import SaveConfig, SaveConfigMode


def test_a_pattern_finds_a_name_anywhere() -> None:
    collection = Collection("relu")
    collection.include(["relu", "^tanh"])
    assert collection.matches("net.relu1_output_0")
    assert collection.matches("tanh_output_0")
    assert not collection.matches("net.tanh_output_0")


def test_a_name_belongs_as_it_stands() -> None:
    collection = Collection("picked")
    collection.add("a.b")
    collection.add(["c", ("d", {"e"})])
    assert collection.tensor_names == {"a.b", "c", "d", "e"}
    assert collection.matches("a.b")
    assert not collection.matches("axb")


def test_what_is_included_later_counts_for_names_seen_before() -> None:
    collection = Collection("late")
    assert not collection.matches("relu")
    collection.include("relu")
    assert collection.matches("relu")
    assert not collection.matches("fc")
    collection.tensor_names.add("fc")
    assert collection.matches("fc")


def test_objects_wait_for_the_hook() -> None:
    collection, tensor, module = Collection("objects"), object(), object()
    collection.add(tensor)
    collection.add_module_tensors(module, inputs=True)
    assert collection.pending == [tensor, ModuleTensors(module, inputs=True, outputs=True)]


def test_a_pattern_is_kept_once() -> None:
    collection = Collection("relu", include_regex="relu")
    collection.include("relu")
    assert collection.include_regex == ["relu"]


@pytest.mark.parametrize("wrong", ["(", ["fine", "*"]])
def test_a_bad_pattern_is_refused_at_once_and_none_is_kept(wrong: object) -> None:
    collection = Collection("bad")
    with pytest.raises(ConfigurationError, match=r"`include` must be a valid regular expression, but got '[(*]'"):
        collection.include(wrong)
    assert collection.include_regex == []


@pytest.mark.parametrize("wrong", [3, ["a", 3]])
def test_what_is_no_text_is_refused_as_a_pattern(wrong: object) -> None:
    with pytest.raises(ConfigurationError, match="include"):
        Collection("bad").include(wrong)


@pytest.mark.parametrize("wrong", ["", "  ", None, 3])
def test_a_collection_needs_a_name(wrong: object) -> None:
    with pytest.raises(ConfigurationError, match="name must be a text"):
        Collection(wrong)


def test_adding_neither_inputs_nor_outputs_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="inputs or outputs"):
        Collection("none").add_module_tensors(object(), inputs=False, outputs=False)


def test_a_custom_collection_that_can_hold_nothing_is_refused() -> None:
    with pytest.raises(InvalidCollectionConfiguration, match="'empty'"):
        Collection("empty").check()
    Collection("metrics", builtin=True).check()


@pytest.mark.parametrize(
    "fill",
    [
        lambda collection: collection.include("x"),
        lambda collection: collection.add("x"),
        lambda collection: collection.add(object()),
        lambda collection: collection.add_module_tensors(object()),
    ],
)
def test_one_way_to_hold_a_tensor_is_enough(fill: Callable[[Collection], None]) -> None:
    collection = Collection("custom")
    fill(collection)
    collection.check()


def test_its_settings_take_what_users_write() -> None:
    collection = Collection("relu")
    assert collection.save_config is None
    assert collection.reduction_config is None
    collection.save_config = {modes.TRAIN: SaveConfigMode(3)}
    collection.reduction_config = "mean,l1_norm"
    assert collection.save_config == SaveConfig({modes.TRAIN: SaveConfigMode(3)})
    assert collection.reduction_config == ReductionConfig(reductions=["mean"], norms=["l1"])
    with pytest.raises(ConfigurationError):
        collection.save_config = 10


@pytest.mark.parametrize(("name", "drawn"), [("losses", False), ("metrics", False), ("weights", True)])
def test_single_numbers_have_no_histogram_unless_asked(name: str, drawn: bool) -> None:
    collection = Collection(name)
    assert collection.save_histogram is drawn
    collection.save_histogram = not drawn
    assert collection.save_histogram is not drawn


def test_a_collection_survives_a_document() -> None:
    collection = Collection("relu", include_regex="relu", save_config={"save_interval": 3}, reduction_config="abs_max")
    collection.add(["b", "a"])
    back = Collection.from_dict("relu", collection.to_dict())
    assert back.to_dict() == collection.to_dict()
    assert back.to_dict()["tensor_names"] == ["a", "b"]
