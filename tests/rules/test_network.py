"""What a run knows of its network, as far as advice depends on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutaway.rules.built_in.poor_weight_initialization import PoorWeightInitialization
from cutaway.rules.documentation import what_to_try
from cutaway.rules.network import SeenNetwork, network_of
from cutaway.run import Run
from cutaway.run.layout import COLLECTIONS_FILE, MODEL_ORDER_FILE
from cutaway.tensors.collections import Collections


def run_of(folder: Path, **types: str) -> Run:
    run = Run.create(folder / "run")
    if types:
        run.write_document(MODEL_ORDER_FILE, {"forward": list(types), "types": types})
    return run


def test_activations_are_named_in_the_order_of_the_forward_each_once(tmp_path: Path) -> None:
    run = run_of(tmp_path, all="Net", b="GELU", fc="Linear", a="ReLU", c="GELU", head="Linear")
    assert network_of(run) == SeenNetwork(("GELU", "ReLU"))
    assert (network_of(run).open, network_of(run).saturating) == (("GELU", "ReLU"), ())


def test_what_shapes_the_answer_is_none_between_the_layers(tmp_path: Path) -> None:
    run = run_of(tmp_path, all="Net", a="ReLU", head="Linear", answer="Sigmoid")
    assert network_of(run) == SeenNetwork(("ReLU",))


def test_of_a_run_of_an_earlier_release_the_collections_tell(tmp_path: Path) -> None:
    run, collections = run_of(tmp_path), Collections()
    assert network_of(run) == SeenNetwork()
    collections.get("tanh_inputs").include(r"^(?:2)_input_\d+$")
    run.write_document(COLLECTIONS_FILE, {"included": [], "collections": collections.to_dict()})
    assert network_of(run) == SeenNetwork(("Tanh",))


def test_a_document_that_holds_something_else_is_passed_over(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    run.write_document(MODEL_ORDER_FILE, {"forward": ["a", 3, "b"], "types": {"a": 7, "b": "ReLU"}})
    assert network_of(run) == SeenNetwork()
    run.write_document(MODEL_ORDER_FILE, {"forward": {"a": 1}, "types": ["ReLU"]})
    assert network_of(run) == SeenNetwork()


@pytest.mark.parametrize(
    ("activations", "said"), [(("ReLU",), "(He, "), (("Tanh",), "Initialise for Tanh (Xavier, "), ((), "Xavier before")]
)
def test_advice_about_first_weights_goes_by_the_activation(activations: tuple[str, ...], said: str) -> None:
    assert said in what_to_try(PoorWeightInitialization, SeenNetwork(activations))


def test_a_hook_writes_the_type_of_each_layer_that_the_forward_called(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    smd = pytest.importorskip("cutaway.torch")
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.SiLU(), torch.nn.Linear(4, 2))
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        model(torch.ones(1, 4)).sum().backward()
    told = Run.open(tmp_path / "run").document(MODEL_ORDER_FILE)
    assert told is not None
    assert [told["types"][name] for name in told["forward"]] == ["Sequential", "Linear", "SiLU", "Linear"]
    assert network_of(Run.open(tmp_path / "run")) == SeenNetwork(("SiLU",))
