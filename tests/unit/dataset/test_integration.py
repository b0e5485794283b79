"""The integration test: run for real with one sample, and read for what goes where."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.dataset import (
    Binder,
    LeapDataType,
    PredictionTypeHandler,
    PreprocessResponse,
    tensorleap_custom_loss,
    tensorleap_custom_metric,
    tensorleap_custom_visualizer,
    tensorleap_gt_encoder,
    tensorleap_input_encoder,
    tensorleap_integration_test,
    tensorleap_load_model,
    tensorleap_metadata,
    tensorleap_preprocess,
    visualize,
)
from cutaway.dataset.current import using
from cutaway.errors import BindingError


class LeapImage:
    """As the visualizers' class is named; only the name counts here."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape


class Bound:
    """The decorated functions of a data set with two inputs, and how often its model was loaded."""

    def __init__(self, model: Callable[[], Any], outputs: tuple[str, ...] = ("digits",)) -> None:
        self.loaded = 0

        def load() -> Any:
            self.loaded += 1
            return model()

        self.preprocess = tensorleap_preprocess()(lambda: [PreprocessResponse(2), PreprocessResponse(1)])
        self.image = tensorleap_input_encoder("image")(lambda i, preprocess: np.ones((4, 4, 1), np.float32))
        self.size = tensorleap_input_encoder("size")(lambda i, preprocess: np.ones(2, np.float32))
        self.truth = tensorleap_gt_encoder("digit")(lambda i, preprocess: np.ones(3, np.float32))
        self.metadata = tensorleap_metadata("index")(lambda i, preprocess: i)
        self.loss = tensorleap_custom_loss("loss")(lambda y_true, y_pred: np.abs(y_true - y_pred).sum(1))
        self.metric = tensorleap_custom_metric("metric")(lambda pred, image: pred.sum(1))
        self.picture = tensorleap_custom_visualizer("picture", LeapDataType.Image)(lambda data: LeapImage(data.shape))
        self.load = tensorleap_load_model([PredictionTypeHandler(name, []) for name in outputs])(load)


def keras_like() -> Callable[..., Any]:
    return lambda inputs, training=False: np.zeros((len(inputs[0]), 3), np.float32)


class Session:
    """As a session of ONNX Runtime."""

    class Input:
        def __init__(self, name: str, kind: str) -> None:
            self.name, self.type = name, kind

    def get_inputs(self) -> list[Any]:
        return [self.Input("pixels", "tensor(float)"), self.Input("extent", "tensor(int64)")]

    def run(self, outputs: Any, feed: Any) -> list[Any]:
        assert feed["extent"].dtype == np.int64
        return [np.zeros((len(feed["pixels"]), 3), np.float32)]


@pytest.fixture
def binder() -> Iterator[Binder]:
    with using(Binder()) as made:
        yield made


def test_a_model_that_is_called_shows_what_goes_where(binder: Binder) -> None:
    bound = Bound(keras_like)
    seen = {}

    def check(idx: int, preprocess: PreprocessResponse) -> Any:
        image, size, truth = bound.image(idx, preprocess), bound.size(idx, preprocess), bound.truth(idx, preprocess)
        model = bound.load()
        prediction = model([size, image], training=False)
        bound.loss(truth, prediction)
        bound.metric(image=image, pred=prediction)
        seen["picture"] = bound.picture(image)
        seen["image"], seen["index"] = image.shape, bound.metadata(idx, preprocess)
        return prediction

    test = tensorleap_integration_test()(check)
    result = test(1, bound.preprocess()[0])
    assert result.shape == (1, 3)
    dataset = binder.dataset()
    assert dataset.losses[0].wiring == {"y_true": "ground_truth.digit", "y_pred": "prediction.digits"}
    assert dataset.metrics[0].wiring == {"pred": "prediction.digits", "image": "input.image"}
    assert dataset.visualizers[0].wiring == {"data": "input.image"}
    assert dataset.model_inputs == {0: "size", 1: "image"}
    assert bound.loaded == 1


def test_encoders_have_a_batch_axis_inside_and_visualizers_do_not(binder: Binder) -> None:
    bound = Bound(keras_like)
    seen: list[Any] = []

    def check(idx: int, preprocess: PreprocessResponse) -> None:
        image = bound.image(idx, preprocess)
        seen.append((getattr(image, "shape", None), getattr(bound.picture(image), "shape", None)))

    tensorleap_integration_test()(check)(0, bound.preprocess()[0])
    assert seen[0] == ((1, 4, 4, 1), (4, 4, 1))
    assert bound.image(0, PreprocessResponse(1)).shape == (4, 4, 1)


def test_an_encoder_that_calls_another_gets_its_plain_sample(binder: Binder) -> None:
    bound = Bound(keras_like)
    outer = tensorleap_input_encoder("outer")(lambda i, preprocess: bound.image(i, preprocess)[:, :, 0])
    shapes: list[Any] = []
    test = tensorleap_integration_test()(lambda i, preprocess: shapes.append(outer(i, preprocess)))
    test(0, bound.preprocess()[0])
    assert shapes[0].shape == (1, 4, 4)


@pytest.mark.parametrize("by_name", [True, False])
def test_a_session_shows_what_goes_where(binder: Binder, by_name: bool) -> None:
    bound = Bound(Session)

    def check(idx: int, preprocess: PreprocessResponse) -> None:
        session = bound.load()
        names = ["pixels", "extent"] if by_name else [one.name for one in session.get_inputs()]
        image, size = bound.image(idx, preprocess), bound.size(idx, preprocess)
        outputs = session.run(None, {names[0]: image, names[1]: size})
        bound.loss(bound.truth(idx, preprocess), outputs[0])

    tensorleap_integration_test()(check)(0, bound.preprocess()[0])
    dataset = binder.dataset()
    keys = ["pixels", "extent"] if by_name else [0, 1]
    assert dataset.model_inputs == dict(zip(keys, ["image", "size"], strict=True))
    assert dataset.losses[0].wiring["y_pred"] == "prediction.digits"


@pytest.mark.parametrize(
    "touch",
    [
        lambda x: x[0],
        lambda x: x[..., None],
        lambda x: x.astype("float32"),
        lambda x: np.expand_dims(x, 0),
        lambda x: np.concatenate([x, x]),
        lambda x: 1 - x / 255.0,
        lambda x: x.numpy() if hasattr(x, "numpy") else x,
        lambda x: np.argmax(x, axis=-1),
        lambda x: next(iter(x)),
    ],
)
def test_what_is_made_of_a_value_still_comes_from_it(binder: Binder, touch: Callable[[Any], Any]) -> None:
    bound = Bound(keras_like)
    tensorleap_integration_test()(lambda i, preprocess: bound.picture(touch(bound.image(i, preprocess))))
    assert binder.dataset().visualizers[0].wiring == {"data": "input.image"}


def test_several_outputs_are_told_apart(binder: Binder) -> None:
    bound = Bound(keras_like, outputs=("digits", "boxes"))

    def check(i: int, preprocess: PreprocessResponse) -> None:
        digits, boxes = bound.load().predict(bound.image(i, preprocess))
        bound.loss(bound.truth(i, preprocess), boxes)
        bound.metric(digits, bound.image(i, preprocess))

    tensorleap_integration_test()(check)
    dataset = binder.dataset()
    assert dataset.losses[0].wiring["y_pred"] == "prediction.boxes"
    assert dataset.metrics[0].wiring["pred"] == "prediction.digits"
    assert bound.loaded == 0


def test_what_is_shown_in_the_test_is_passed_over_when_it_is_read(binder: Binder) -> None:
    bound = Bound(keras_like)
    tensorleap_integration_test()(lambda i, preprocess: visualize(bound.picture(bound.image(i, preprocess))))
    assert binder.dataset().visualizers[0].wiring == {"data": "input.image"}


def test_without_a_test_names_decide(binder: Binder) -> None:
    Bound(keras_like)
    assert binder.dataset().losses[0].wiring == {}


class TestSeveralCalls:
    def test_a_visualizer_of_both_ground_truth_and_prediction_is_two_named_by_their_arguments(
        self, binder: Binder
    ) -> None:
        bound = Bound(keras_like)

        def check(i: int, preprocess: PreprocessResponse) -> None:
            bound.picture(bound.truth(i, preprocess))
            bound.picture(bound.load()(bound.image(i, preprocess)))

        tensorleap_integration_test()(check)
        assert [(one.name, one.wiring) for one in binder.dataset().visualizers] == [
            ("picture(ground_truth.digit)", {"data": "ground_truth.digit"}),
            ("picture(prediction.digits)", {"data": "prediction.digits"}),
        ]

    def test_a_metric_of_two_predictions_is_two_that_keep_their_direction(self, binder: Binder) -> None:
        bound = Bound(keras_like, outputs=("left", "right"))

        def check(i: int, preprocess: PreprocessResponse) -> None:
            image = bound.image(i, preprocess)
            for prediction in bound.load()(image):
                bound.metric(prediction, image)

        tensorleap_integration_test()(check)
        made = binder.dataset().metrics
        # The input is the same in both, and no part of the names.
        assert [one.name for one in made] == ["metric(prediction.left)", "metric(prediction.right)"]
        assert {one.direction for one in made} == {binder.metrics[0].direction}

    def test_a_call_that_is_repeated_or_says_nothing_new_is_no_call_of_its_own(self, binder: Binder) -> None:
        bound = Bound(keras_like)

        def check(i: int, preprocess: PreprocessResponse) -> None:
            image = bound.image(i, preprocess)
            for shown in (image, image, np.zeros((1, 4, 4, 1), np.float32)):
                bound.picture(shown)

        tensorleap_integration_test()(check)
        [picture] = binder.dataset().visualizers
        assert (picture.name, picture.wiring, picture.uncalled) == ("picture", {"data": "input.image"}, False)

    def test_a_visualizer_that_is_never_called_says_so(self, binder: Binder) -> None:
        bound = Bound(keras_like)
        assert not binder.dataset().visualizers[0].uncalled
        tensorleap_integration_test()(bound.image)
        [picture] = binder.dataset().visualizers
        assert (picture.name, picture.wiring, picture.uncalled) == ("picture", {}, True)


class TestFailures:
    def test_a_body_that_needs_data_is_refused_with_its_line(self, binder: Binder) -> None:
        bound = Bound(keras_like)

        def check(i: int, preprocess: PreprocessResponse) -> None:
            image = bound.image(i, preprocess)
            raise TypeError(f"cannot convert {type(image).__name__}")

        tensorleap_integration_test()(check)
        line = check.__code__.co_firstlineno + 2
        with pytest.raises(BindingError, match=rf"test_integration.py:{line}: .*may only call decorated functions"):
            binder.dataset()

    def test_a_model_is_only_called(self, binder: Binder) -> None:
        bound = Bound(keras_like)
        tensorleap_integration_test()(lambda i, preprocess: bound.load().layers[0])
        with pytest.raises(BindingError, match="asks the model for `layers`"):
            binder.dataset()

    def test_the_model_has_as_many_outputs_as_are_declared(self, binder: Binder) -> None:
        bound = Bound(keras_like, outputs=("a", "b"))
        test = tensorleap_integration_test()(lambda i, preprocess: bound.load()([bound.image(i, preprocess)]))
        with pytest.raises(BindingError, match=r"The model has 1 outputs, but 2 predictions are declared \(a, b\)"):
            test(0, bound.preprocess()[0])

    @pytest.mark.parametrize(
        ("feed", "said"),
        [({"pixel": 0, "extent": 0}, "Did you mean 'pixels'"), ({"pixels": 0}, "'extent' is missing")],
    )
    def test_inputs_of_a_session_are_checked_by_name(self, binder: Binder, feed: dict[str, int], said: str) -> None:
        bound = Bound(Session)
        test = tensorleap_integration_test()(lambda i, preprocess: bound.load().run(None, feed))
        with pytest.raises(BindingError, match=said):
            test(0, bound.preprocess()[0])

    def test_a_second_test_is_refused(self, binder: Binder) -> None:
        tensorleap_integration_test()(lambda i, preprocess: None)
        with pytest.raises(BindingError, match="bound already"):
            tensorleap_integration_test()(lambda i, preprocess: None)

    def test_what_the_body_raises_for_real_comes_out_as_it_is(self, binder: Binder) -> None:
        with pytest.raises(ZeroDivisionError):
            tensorleap_integration_test()(lambda i, preprocess: 1 / 0)(0, PreprocessResponse(1))


@pytest.mark.parametrize("batch", [None, 4])
def test_a_real_session_of_onnx_runtime_works_in_both_passes(binder: Binder, tmp_path: Path, batch: int | None) -> None:
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=0)],
        "sums",
        [helper.make_tensor_value_info("x", kind, [batch, 4, 4, 1])],
        [helper.make_tensor_value_info("y", kind, [batch, 4])],
        [helper.make_tensor("axes", onnx.TensorProto.INT64, [2], [2, 3])],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    bound = Bound(lambda: runtime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"]))

    def check(i: int, preprocess: PreprocessResponse) -> Any:
        session = bound.load()
        outputs = session.run(None, {session.get_inputs()[0].name: bound.image(i, preprocess)})
        bound.metric(outputs[0], bound.image(i, preprocess))
        return outputs[0]

    test = tensorleap_integration_test()(check)
    assert test(0, bound.preprocess()[0]).tolist() == [[4.0, 4.0, 4.0, 4.0]]
    dataset = binder.dataset()
    assert dataset.model_inputs == {0: "image"}
    assert dataset.metrics[0].wiring["pred"] == "prediction.digits"


def test_a_module_of_torch_takes_and_gives_arrays(binder: Binder) -> None:
    torch = pytest.importorskip("torch")
    bound = Bound(lambda: torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(16, 3)))

    def check(i: int, preprocess: PreprocessResponse) -> Any:
        prediction = bound.load().eval()(bound.image(i, preprocess))
        bound.loss(bound.truth(i, preprocess), prediction)
        return prediction

    result = tensorleap_integration_test()(check)(0, bound.preprocess()[0])
    assert isinstance(result, np.ndarray)
    assert result.shape == (1, 3)
    assert binder.dataset().model_inputs == {0: "image"}
