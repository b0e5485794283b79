"""Which tensors there are: of a step, of a mode, of a collection, by pattern."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.errors import ConfigurationError
from cutaway.tensors import Collections, modes
from cutaway.tensors.reader import TensorReader
from cutaway.trial import Trial, create_trial, no_refresh
from cutaway.trial.model_tensors import ModelTensors
from tests.unit.trial.conftest import Write

ONE = np.ones(3, np.float32)


@pytest.fixture
def trial(write: Write) -> Trial:
    writing = write()
    collections = Collections()
    collections.get("mine").include("^fc")
    collections.add_to("mine", "exact_name")
    writing.collections(collections)
    writing.step(0, {"Net_fc.weight": ONE, "Net_fc.bias": ONE}, {"gradient/Net_fc.weight": ONE})
    writing.step(1, {"fc_input_0": ONE, "exact_name": ONE}, {"Net_fc.weight": ONE}, mode="EVAL", mode_step=0)
    writing.step(2, seen={"fc_output_0": ONE})
    writing.close()
    return create_trial(writing.run.path)


def test_names_are_sorted_and_hold_saved_tensors_and_those_with_statistics(trial: Trial) -> None:
    everything = ["Net_fc.bias", "Net_fc.weight", "exact_name", "fc_input_0", "fc_output_0", "gradient/Net_fc.weight"]
    assert trial.tensor_names() == everything
    assert trial.tensors() == everything
    assert all(trial.has_tensor(name) for name in everything)


def test_names_of_a_step_are_those_with_anything_there(trial: Trial) -> None:
    assert trial.tensor_names(step=0) == ["Net_fc.bias", "Net_fc.weight", "gradient/Net_fc.weight"]
    assert trial.tensor_names(step=1) == ["Net_fc.weight", "exact_name", "fc_input_0"]
    assert trial.tensor_names(step=0, mode=modes.EVAL) == ["Net_fc.weight", "exact_name", "fc_input_0"]
    assert trial.tensor_names(step=2) == ["fc_output_0"]
    assert trial.tensor_names(step=99) == []
    assert trial.tensor_names(step=1, mode=modes.PREDICT) == []


def test_names_of_a_mode_are_those_of_its_steps(trial: Trial) -> None:
    assert trial.tensor_names(mode=modes.EVAL) == ["Net_fc.weight", "exact_name", "fc_input_0"]
    assert "exact_name" not in trial.tensor_names(mode=modes.TRAIN)
    assert trial.tensor_names(mode=modes.PREDICT) == []


@pytest.mark.parametrize(
    ("regex", "names"),
    [
        ("weight$", ["Net_fc.weight", "gradient/Net_fc.weight"]),
        (["bias", "^exact"], ["Net_fc.bias", "exact_name"]),
        ("nothing", []),
        ([], []),
    ],
)
def test_a_pattern_finds_anywhere_in_the_name(trial: Trial, regex: str | list[str], names: list[str]) -> None:
    assert trial.tensor_names(regex=regex) == names
    assert trial.tensors_matching_regex(regex) == names


def test_names_of_a_collection(trial: Trial) -> None:
    assert trial.tensor_names(collection="mine") == ["exact_name", "fc_input_0", "fc_output_0"]
    assert trial.tensors_in_collection("weights") == ["Net_fc.weight"]
    assert trial.tensor_names(collection=trial.collection("gradients")) == ["gradient/Net_fc.weight"]
    assert trial.tensor_names(step=2, collection="mine") == ["fc_output_0"]


def test_a_pattern_and_a_collection_together_are_refused(trial: Trial) -> None:
    with pytest.raises(ValueError, match="not both"):
        trial.tensor_names(regex="a", collection="weights")


def test_a_bad_pattern_is_refused_with_its_text(trial: Trial) -> None:
    with pytest.raises(ConfigurationError, match=r"'\('"):
        trial.tensor_names(regex="(")


def test_an_unknown_collection_is_said_with_the_nearest(trial: Trial) -> None:
    with pytest.raises(ConfigurationError, match="Did you mean 'weights'"):
        trial.tensor_names(collection="wieghts")
    with pytest.raises(ConfigurationError):
        trial.collection("wieghts")


def test_collections_are_those_that_were_written(trial: Trial) -> None:
    assert trial.collections()["mine"].include_regex == ["^fc"]
    assert trial.collection("mine").tensor_names == {"exact_name"}


def test_collections_that_a_running_hook_adds_to_are_read_again(write: Write) -> None:
    writing = write()
    writing.step(0, {"fc_input_0": ONE})
    trial = create_trial(writing.run.path)
    assert "late" not in trial.collections()
    collections = Collections()
    collections.get("late").include("fc")
    writing.collections(collections)
    assert trial.tensor_names(collection="late") == ["fc_input_0"]


def test_a_tensor_that_is_saved_after_its_step_was_listed_is_seen_at_once(write: Write) -> None:
    writing = write()
    writing.step(0, {"fc_input_0": ONE})
    trial = create_trial(writing.run.path)
    assert trial.tensor_names() == ["fc_input_0"]
    writing.tensors(0, {"late": ONE * 2})
    assert trial.tensor_names() == ["fc_input_0", "late"]
    assert trial.value("late", 0).tolist() == (ONE * 2).tolist()
    with no_refresh(trial):
        writing.tensors(0, {"later": ONE})
        assert "later" not in trial.tensor_names()
    writing.close()
    assert trial.tensor_names() == ["fc_input_0", "late", "later"]


def test_what_an_optimizer_keeps_of_a_weight_is_no_weight(write: Write) -> None:
    collections = Collections()
    collections.get("optimizer_variables").add(["Adam_Net_fc.weight_exp_avg", "Adam_Net_fc.bias_exp_avg"])
    writing = write()
    writing.collections(collections)
    writing.step(0, {}, dict.fromkeys(("Net_fc.weight", "Net_fc.bias", "Adam_Net_fc.weight_exp_avg"), ONE))
    writing.statistics(0, {"Adam_Net_fc.bias_exp_avg": ONE})
    trial = create_trial(writing.run.path)
    assert trial.tensor_names(collection="weights") == ["Net_fc.weight"]
    assert trial.tensor_names(collection="biases") == ["Net_fc.bias"]
    assert "Adam_Net_fc.weight_exp_avg" in trial.tensor_names(collection="optimizer_variables")
    facts = {name: ModelTensors(trial).facts(name) for name in trial.tensor_names()}
    assert (facts["Net_fc.weight"].kind, facts["Adam_Net_fc.weight_exp_avg"].kind) == ("weight", "other")


def test_collections_of_several_workers_are_joined(write: Write) -> None:
    writing = write()
    for worker, name in (("worker_1", "mine"), ("worker_2", "theirs")):
        collections = Collections()
        collections.add_to(name, f"of_{worker}")
        writing.run.write_document(f"trace/collections-{worker}.json", collections.to_dict())
    trial = create_trial(writing.run.path)
    assert trial.collection("mine").tensor_names == {"of_worker_1"}
    assert trial.collection("theirs").tensor_names == {"of_worker_2"}


def test_inputs_labels_and_predictions_are_the_values_of_their_collections(write: Write) -> None:
    writing = write()
    inputs = {f"Net_input_{i}": ONE * i for i in (0, 1, 2, 10)}
    loss = {"CrossEntropyLoss_input_0": ONE * 20, "CrossEntropyLoss_input_1": ONE * 21}
    writing.step(0, {**inputs, **loss}, {"other_input_0": ONE}, mode="EVAL", mode_step=3)
    trial = create_trial(writing.run.path)
    assert [value[0] for value in trial.inputs(0)] == [0, 1, 2, 10]
    assert [value[0] for value in trial.labels(0)] == [21]
    assert [value[0] for value in trial.predictions(3, modes.EVAL)] == [20]


def test_a_trial_is_what_rules_read_from(trial: Trial) -> None:
    reader: TensorReader = trial
    assert isinstance(trial, TensorReader)
    np.testing.assert_array_equal(reader.value("Net_fc.weight", 0), ONE)
    assert reader.mode(1) is modes.EVAL


def test_a_tensor_is_found_among_many_however_often_one_looks(write: Write) -> None:
    writing = write()
    for step in range(20):
        writing.step(step, {f"tensor_{i}": ONE * i for i in range(12)} | ({"odd": ONE} if step % 2 else {}))
    trial = create_trial(writing.run.path)
    for i in range(12):
        assert trial.tensor(f"tensor_{i}").value(7)[0] == i
    assert trial.tensor("odd").steps() == list(range(1, 20, 2))
    assert len(trial.tensor_names()) == 13
