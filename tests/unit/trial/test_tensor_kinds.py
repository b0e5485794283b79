"""What names tell: those of the PyTorch hook, those in the manner of Keras, and those of strangers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.trial.tensor_kinds import kind_of, layer_of, model_prefix

TORCH = ["Net_conv1.weight", "Net_conv1.bias", "gradient/Net_conv1.weight", "relu0_output_0", "Net_head.weight"]


@pytest.mark.parametrize(
    ("name", "kind", "layer"),
    [
        ("Net_conv1.weight", "weight", "conv1"),
        ("Net_blocks.3.attention.query.bias", "bias", "blocks.3.attention.query"),
        ("gradient/Net_conv1.weight", "gradient", "conv1"),
        ("relu0_output_0", "output", "relu0"),
        ("blocks.3.mlp_input_1", "input", "blocks.3.mlp"),
        ("Net_output_0", "output", "Net"),
        ("dense_1/kernel:0", "weight", "dense_1"),
        ("gradient/dense_1/bias:0", "gradient", "dense_1"),
        ("batch_norm/gamma", "weight", "batch_norm"),
        ("batch_norm/beta:0", "bias", "batch_norm"),
        ("encoder/dense_1/outputs", "output", "encoder/dense_1"),
        ("Net_scale", "other", "Net"),
        ("größe", "other", "größe"),
    ],
)
def test_a_name_says_what_it_is_and_where(name: str, kind: str, layer: str) -> None:
    assert (kind_of(name, []), layer_of(name, "Net_")) == (kind, layer)


@pytest.mark.parametrize(
    ("collections", "kind"),
    [(["losses"], "loss"), (["weights"], "weight"), (["labels"], "input"), (["gradients", "weights"], "gradient")],
)
def test_a_collection_says_more_than_a_name(collections: list[str], kind: str) -> None:
    assert kind_of("whatever", collections) == kind


@pytest.mark.parametrize(
    ("names", "model", "prefix"),
    [
        (TORCH, "", "Net_"),
        (TORCH, "Net", "Net_"),
        (["My_Net_fc.weight", "My_Net_out.bias"], "My_Net", "My_Net_"),
        (["conv_1.weight", "conv_2.weight"], "", ""),
        (["A_fc.weight", "B_fc.weight"], "", ""),
        (["dense/kernel:0"], "", ""),
        ([], "", ""),
    ],
)
def test_what_stands_before_parameters_is_the_model_where_that_is_known(
    names: list[str], model: str, prefix: str
) -> None:
    assert model_prefix(names, model) == prefix


@settings(deadline=None)
@given(name=st.text(), prefix=st.sampled_from(["", "Net_"]))
def test_any_name_has_a_kind_and_a_layer(name: str, prefix: str) -> None:
    kind_of(name, [])
    assert layer_of(name, prefix) or not name.removeprefix("gradient/")
    model_prefix([name])
