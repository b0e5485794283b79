"""Decorators bind to the current binder, and what they return checks itself when it is called."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from cutaway.dataset import (
    Binder,
    ConfusionMatrixElement,
    ConfusionMatrixValue,
    DatasetMetadataType,
    LeapDataType,
    MetricDirection,
    PredictionTypeHandler,
    PreprocessResponse,
    tensorleap_custom_latent_space,
    tensorleap_custom_layer,
    tensorleap_custom_loss,
    tensorleap_custom_metric,
    tensorleap_custom_visualizer,
    tensorleap_gt_encoder,
    tensorleap_input_encoder,
    tensorleap_load_model,
    tensorleap_metadata,
    tensorleap_preprocess,
    tensorleap_unlabeled_preprocess,
)
from cutaway.dataset.current import current_binder, using
from cutaway.dataset.enums import Role
from cutaway.errors import BindingError, EncoderError

RESPONSE = PreprocessResponse(length=3, data=[1.0, 2.0, 3.0])


class LeapImage:
    """As the visualizers' class is named; only the name counts here."""


@pytest.fixture
def binder() -> Iterator[Binder]:
    with using(Binder()) as made:
        yield made


def float32(i: int, preprocess: PreprocessResponse) -> Any:
    return np.array([preprocess.data[i]], np.float32)


class TestBinding:
    def test_everything_lands_on_the_current_binder(self, binder: Binder) -> None:
        tensorleap_preprocess()(lambda: [RESPONSE, PreprocessResponse(1, [4.0])])
        tensorleap_unlabeled_preprocess()(lambda: PreprocessResponse(1, [5.0]))
        tensorleap_input_encoder("x", channel_dim=1)(float32)
        tensorleap_gt_encoder("y")(float32)
        tensorleap_metadata("m", DatasetMetadataType.float)(lambda i, preprocess: preprocess.data[i])
        tensorleap_custom_loss("l")(lambda y_true, y_pred: y_pred)
        tensorleap_custom_metric("k", direction=MetricDirection.Upward)(lambda y_pred: y_pred)
        tensorleap_custom_visualizer("v", LeapDataType.Image)(lambda image: LeapImage())
        tensorleap_custom_latent_space("z")(float32)
        tensorleap_custom_layer("Layer")(LeapImage)
        tensorleap_load_model([PredictionTypeHandler("p", ["a", "b"])])(lambda: "model")
        dataset = binder.dataset()
        assert list(dataset.subsets) == ["training", "validation", "unlabeled"]
        assert dataset.inputs[0].channel_dim == 1
        assert dataset.subsets["validation"].encode(Role.GROUND_TRUTH, "y", 0).tolist() == [4.0]
        assert dataset.subsets["training"].metadata(1) == {"m": 2.0}
        assert dataset.metrics[0].direction is MetricDirection.Upward
        assert dataset.losses[0].arguments == ("y_true", "y_pred")
        assert dataset.visualizers[0].visualizer_type is LeapDataType.Image
        assert dataset.latent_spaces[0].name == "z"
        assert dataset.custom_layers == {"Layer": LeapImage}
        assert dataset.predictions[0].labels == ("a", "b")
        assert dataset.load_model is not None
        assert dataset.load_model() == "model"

    def test_an_argument_overrides_the_current_binder(self, binder: Binder) -> None:
        other = Binder()
        tensorleap_input_encoder("x", binder=other)(float32)
        assert binder.encoders == []
        assert [one.field.name for one in other.encoders] == ["x"]

    def test_functions_see_their_own_binder_as_the_current_one(self) -> None:
        made = Binder()
        made.set_preprocess(lambda: [RESPONSE, PreprocessResponse(1, [4.0])])
        made.set_input(lambda i, preprocess: np.float32(current_binder() is made), "x")
        made.add_custom_loss(lambda y: current_binder() is made, "l")
        dataset = made.dataset()
        assert dataset.subsets["training"].encode(Role.INPUT, "x", 0) == 1
        assert dataset.losses[0].function(0)
        assert current_binder() is not made

    def test_outside_of_any_entry_there_is_one_binder_of_the_process(self) -> None:
        assert current_binder() is current_binder()

    @pytest.mark.parametrize(
        ("decorate", "said"),
        [
            (lambda: tensorleap_input_encoder("x", channel_dim=0), "channel_dim"),
            (lambda: tensorleap_input_encoder("x", channel_dim=-2), "channel_dim"),
            (lambda: tensorleap_gt_encoder(""), "must be a text"),
            (lambda: tensorleap_preprocess()(lambda x: x), "is called as"),
            (lambda: tensorleap_load_model(["p"])(lambda: None), "takes PredictionTypeHandlers"),  # type: ignore[list-item]
        ],
    )
    def test_wrong_decorations_are_refused_at_once(
        self, binder: Binder, decorate: Callable[[], Any], said: str
    ) -> None:
        with pytest.raises(BindingError, match=said):
            decorate()

    def test_a_second_model_loader_is_refused(self, binder: Binder) -> None:
        tensorleap_load_model()(lambda: 1)
        with pytest.raises(BindingError, match="bound already"):
            tensorleap_load_model()(lambda: 2)


class TestEncoders:
    def test_a_call_returns_what_the_function_returns(self, binder: Binder) -> None:
        encoder = tensorleap_input_encoder("x")(float32)
        assert encoder(1, RESPONSE).tolist() == [2.0]
        assert encoder.__name__ == "float32"

    @pytest.mark.parametrize(
        ("sample", "response", "said"),
        [
            ("1", RESPONSE, "the ids of this subset are int"),
            (1, PreprocessResponse(sample_ids=["1"]), "the ids of this subset are str"),
            (True, RESPONSE, "the ids of this subset are int"),
            (1, [1, 2], "a PreprocessResponse, but got list"),
        ],
    )
    def test_a_call_with_something_else_is_refused(self, binder: Binder, sample: Any, response: Any, said: str) -> None:
        for decorator in (tensorleap_input_encoder("x"), tensorleap_gt_encoder("y")):
            with pytest.raises(BindingError, match=said):
                decorator(float32)(sample, response)

    @pytest.mark.parametrize(
        ("result", "said"),
        [
            (None, "it returned None"),
            ([1.0], "numpy array of float32"),
            (np.zeros(2), r"it returned float64. Return float32: `.astype\(np.float32\)`"),
            (np.zeros(2, np.int64), "it returned int64"),
        ],
    )
    def test_anything_but_float32_is_refused_also_in_the_data_set(self, binder: Binder, result: Any, said: str) -> None:
        tensorleap_preprocess()(lambda: [RESPONSE, PreprocessResponse(1, [4.0])])
        encoder = tensorleap_input_encoder("x")(lambda i, preprocess: result)
        with pytest.raises(EncoderError, match=said):
            encoder(0, RESPONSE)
        with pytest.raises(EncoderError, match=said):
            binder.dataset().subsets["training"].encode(Role.INPUT, "x", 0)

    def test_what_the_function_raises_comes_out_as_it_is(self, binder: Binder) -> None:
        with pytest.raises(ZeroDivisionError):
            tensorleap_input_encoder("x")(lambda i, preprocess: 1 / 0)(0, RESPONSE)


class TestOthers:
    def test_preprocess_checks_its_responses(self, binder: Binder) -> None:
        good = tensorleap_preprocess()(lambda: [RESPONSE])
        assert good() == [RESPONSE]
        with using(Binder()), pytest.raises(BindingError, match="Return a list"):
            tensorleap_preprocess()(lambda: RESPONSE)()
        unlabeled = tensorleap_unlabeled_preprocess()(lambda: RESPONSE)
        assert unlabeled() is RESPONSE
        with using(Binder()), pytest.raises(BindingError, match="Return one PreprocessResponse"):
            tensorleap_unlabeled_preprocess()(list)()

    def test_metadata_checks_its_values_and_returns_them_unchanged(self, binder: Binder) -> None:
        assert tensorleap_metadata("a")(lambda i, preprocess: {"b": 1})(0, RESPONSE) == {"b": 1}
        with pytest.raises(EncoderError, match="declared type"):
            tensorleap_metadata("c")(lambda i, preprocess: None)(0, RESPONSE)

    @pytest.mark.parametrize(
        ("result", "said"),
        [
            (np.zeros((2, 3)), "shape"),
            (np.float32(1), "shape"),
            (None, "None"),
            (["a", "b"], "numbers"),
            (np.zeros(3), "3 values for a batch of 2"),
        ],
    )
    def test_a_loss_or_metric_gives_one_number_a_sample(self, binder: Binder, result: Any, said: str) -> None:
        binder.set_batch_size_to_validate(2)
        with pytest.raises(EncoderError, match=said):
            tensorleap_custom_loss("l")(lambda y: result)(0)
        with pytest.raises(EncoderError, match=said):
            tensorleap_custom_metric("m")(lambda y: result)(0)

    @pytest.mark.parametrize(
        "result",
        [
            np.zeros(2),
            [1.0, 2],
            {"a": np.zeros(2), "b": [1, 2]},
            [[ConfusionMatrixElement("cat", ConfusionMatrixValue.Positive, 0.9)], []],
        ],
    )
    def test_everything_that_a_metric_may_return_is_taken(self, binder: Binder, result: Any) -> None:
        binder.set_batch_size_to_validate(2)
        assert tensorleap_custom_metric("m")(lambda y: result)(0) is result

    def test_directions_by_key_need_these_keys(self, binder: Binder) -> None:
        up = MetricDirection.Upward
        assert tensorleap_custom_metric("a", {"k": up})(lambda y: {"k": [1.0]})(0) == {"k": [1.0]}
        with pytest.raises(EncoderError, match="names 'k', but it returned j"):
            tensorleap_custom_metric("b", {"k": up})(lambda y: {"j": [1.0]})(0)
        with pytest.raises(EncoderError, match="is given by key"):
            tensorleap_custom_metric("c", compute_insights={"k": True})(lambda y: [1.0])(0)

    def test_a_visualizer_returns_the_class_of_its_type(self, binder: Binder) -> None:
        assert isinstance(
            tensorleap_custom_visualizer("v", LeapDataType.Image)(lambda image: LeapImage())(0), LeapImage
        )
        with pytest.raises(
            EncoderError, match=r"it returned int, but its type is LeapDataType.Text: return a LeapText"
        ):
            tensorleap_custom_visualizer("w", LeapDataType.Text)(lambda image: 3)(0)

    def test_words_stand_for_the_members_of_enumerations(self, binder: Binder) -> None:
        show = tensorleap_custom_visualizer("v", "Image")(lambda image: LeapImage())  # type: ignore[arg-type]
        age = tensorleap_metadata("age", "float")(lambda i, preprocess: None)  # type: ignore[arg-type]
        tensorleap_custom_metric("m", "Upward")(lambda y: y)  # type: ignore[arg-type]
        assert isinstance(show(0), LeapImage)
        assert age(0, RESPONSE) is None
        assert binder.visualizers[0].visualizer_type is LeapDataType.Image
        assert binder.metadata_functions[0].field.metadata_type is DatasetMetadataType.float
        assert binder.metrics[0].direction is MetricDirection.Upward

    def test_a_model_loader_returns_a_model(self, binder: Binder) -> None:
        assert tensorleap_load_model()(lambda: "model")() == "model"
        with using(Binder()), pytest.raises(EncoderError, match="it returned None"):
            tensorleap_load_model()(lambda: None)()
