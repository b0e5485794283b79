"""What goes into which input, what comes out as which prediction, and what each function is given."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cutaway.dataset import Dataset
from cutaway.dataset.functions import Field, LatentSpace, Loss, Metric, Visualizer
from cutaway.errors import BindingError
from cutaway.evaluation.wiring import InputWire, SampleShapes, first_sample, shapes_of, wire
from cutaway.models import ModelDescription, TensorSpec


def description(inputs: list[TensorSpec], *outputs: TensorSpec) -> ModelDescription:
    return ModelDescription("test", tuple(inputs), outputs or (TensorSpec("out", (None, 10), channel_axis=-1),))


def dataset(*inputs: Field, truths: tuple[Field, ...] = (Field("classes"),), **bound: object) -> Dataset:
    return Dataset({}, inputs, truths, **bound)  # type: ignore[arg-type]


def nothing(*_: object) -> None: ...


FLAT = TensorSpec("x", (None, 8))
NCHW = TensorSpec("x", (None, 3, 32, 32), channel_axis=1)
NHWC = TensorSpec("x", (None, 32, 32, 3), channel_axis=-1)


class TestInputs:
    def test_equal_names_go_together_whatever_their_order(self) -> None:
        model = description([TensorSpec("a", (None, 4)), TensorSpec("b", (None, 4))])
        wiring = wire(dataset(Field("b"), Field("a")), model, SampleShapes({"b": (4,), "a": (4,)}))
        assert {name: one.encoder for name, one in wiring.inputs.items()} == {"a": "a", "b": "b"}

    def test_the_only_encoder_goes_into_the_only_input(self) -> None:
        wiring = wire(dataset(Field("image")), description([FLAT]), SampleShapes({"image": (8,)}))
        assert wiring.inputs == {"x": InputWire("image")}
        assert any("the only one" in note for note in wiring.notes)

    def test_shapes_decide_where_only_one_way_fits(self) -> None:
        model = description([TensorSpec("in_1", (None, 4)), TensorSpec("in_2", (None, 7))])
        wiring = wire(dataset(Field("p"), Field("q")), model, SampleShapes({"p": (7,), "q": (4,)}))
        assert wiring.inputs["in_1"].encoder == "q"
        assert wiring.inputs["in_2"].encoder == "p"

    def test_two_alike_under_other_names_are_not_guessed(self) -> None:
        model = description([TensorSpec("in_1", (None, 4)), TensorSpec("in_2", (None, 4))])
        with pytest.raises(BindingError, match=r"takes 'in_1' \(4\), 'in_2' \(4\).*encoders 'p' \(4\), 'q' \(4\)"):
            wire(dataset(Field("p"), Field("q")), model, SampleShapes({"p": (4,), "q": (4,)}))

    def test_a_missing_encoder_is_named(self) -> None:
        model = description([TensorSpec("a", (None, 4)), TensorSpec("b", (None, 4))])
        with pytest.raises(BindingError, match="input 'b'"):
            wire(dataset(Field("a")), model, SampleShapes({"a": (4,)}))

    def test_an_encoder_too_many_is_said_and_harmless(self) -> None:
        wiring = wire(
            dataset(Field("x"), Field("shown")), description([FLAT]), SampleShapes({"x": (8,), "shown": (2,)})
        )
        assert "Encoder 'shown' goes into no input of the model." in wiring.notes

    def test_a_batch_axis_too_many_is_recognised(self) -> None:
        with pytest.raises(
            BindingError, match=r"shape \(8,\), but encoder 'image' gives \(1, 8\). An encoder returns one"
        ):
            wire(dataset(Field("image")), description([FLAT]), SampleShapes({"image": (1, 8)}))

    def test_a_wrong_shape_says_both(self) -> None:
        with pytest.raises(BindingError, match=r"takes samples of shape \(8,\), but encoder 'x' gives \(9,\)"):
            wire(dataset(Field("x")), description([FLAT]), SampleShapes({"x": (9,)}))


class TestChannels:
    @pytest.mark.parametrize(
        ("spec", "channel_dim", "shape", "move"),
        [
            (NHWC, -1, (32, 32, 3), ""),
            (NCHW, 1, (3, 32, 32), ""),
            (NCHW, -1, (32, 32, 3), "first"),
            (NHWC, 1, (3, 32, 32), "last"),
            (NCHW, 3, (32, 32, 3), "first"),
            (NCHW, -1, (3, 32, 32), ""),
        ],
    )
    def test_declarations_decide(self, spec: TensorSpec, channel_dim: int, shape: tuple[int, ...], move: str) -> None:
        wiring = wire(dataset(Field("x", channel_dim=channel_dim)), description([spec]), SampleShapes({"x": shape}))
        assert wiring.inputs["x"].move == move

    def test_a_move_is_noted(self) -> None:
        wiring = wire(dataset(Field("x")), description([NCHW]), SampleShapes({"x": (32, 32, 3)}))
        assert any("moved from the last axis to the first" in note for note in wiring.notes)

    def test_what_fits_only_turned_but_is_declared_otherwise_says_what_to_declare(self) -> None:
        with pytest.raises(BindingError, match="`channel_dim=-1` of the encoder"):
            wire(dataset(Field("x", channel_dim=1)), description([NCHW]), SampleShapes({"x": (32, 32, 3)}))
        with pytest.raises(BindingError, match="`channel_dim=1` of the encoder"):
            wire(dataset(Field("x")), description([NHWC]), SampleShapes({"x": (3, 32, 32)}))

    def test_a_model_that_was_told_how_batches_come_moves_them_itself(self) -> None:
        shapes = SampleShapes({"x": (32, 32, 3)})
        assert wire(dataset(Field("x")), description([NCHW]), shapes, channels_last=True).inputs["x"].move == ""


class TestPredictions:
    def test_declared_predictions_name_the_outputs_in_order(self) -> None:
        model = description([FLAT], TensorSpec("out_0", (None, 10)), TensorSpec("out_1", (None, 4)))
        bound = dataset(Field("x"), truths=(), predictions=(Field("classes"), Field("boxes")))
        assert wire(bound, model, SampleShapes({"x": (8,)})).predictions == {"out_0": "classes", "out_1": "boxes"}

    def test_undeclared_outputs_keep_their_names(self) -> None:
        assert wire(dataset(Field("x")), description([FLAT]), SampleShapes({"x": (8,)})).predictions == {"out": "out"}

    def test_more_declared_than_there_are_is_an_error(self) -> None:
        bound = dataset(Field("x"), predictions=(Field("a"), Field("b")))
        with pytest.raises(BindingError, match="declares 2 predictions"):
            wire(bound, description([FLAT]), SampleShapes({"x": (8,)}))

    def test_a_prediction_is_compared_with_the_ground_truth_of_its_name(self) -> None:
        model = description([FLAT], TensorSpec("a", (None, 3)), TensorSpec("b", (None, 3)))
        bound = dataset(Field("x"), truths=(Field("b"), Field("a")))
        wiring = wire(bound, model, SampleShapes({"x": (8,)}, {"a": (3,), "b": (3,)}))
        assert wiring.ground_truths == {"a": "a", "b": "b"}

    def test_numbers_of_classes_fit_an_output_of_classes(self) -> None:
        model = description([FLAT], TensorSpec("p", (None, 10)), TensorSpec("q", (None, 2)))
        bound = dataset(Field("x"), truths=(Field("one_hot"), Field("number")))
        wiring = wire(bound, model, SampleShapes({"x": (8,)}, {"one_hot": (10,), "number": ()}))
        assert wiring.ground_truths == {"p": "one_hot", "q": "number"}

    def test_a_ground_truth_goes_to_the_only_output_of_its_shape_where_there_are_more_outputs(self) -> None:
        model = description([FLAT], TensorSpec("kind", (None, 3)), TensorSpec("size", (None, 1)))
        bound = dataset(Field("x"), truths=(Field("species"),))
        wiring = wire(bound, model, SampleShapes({"x": (8,)}, {"species": (3,)}))
        assert wiring.ground_truths == {"kind": "species"}
        assert any(
            "'kind' is compared with ground truth 'species': the only one of its shape" in n for n in wiring.notes
        )

    def test_a_ground_truth_that_two_outputs_fit_is_said_to_be_compared_with_none(self) -> None:
        model = description([FLAT], TensorSpec("p", (None, 3)), TensorSpec("q", (None, 3)))
        wiring = wire(dataset(Field("x"), truths=(Field("s"),)), model, SampleShapes({"x": (8,)}, {"s": (3,)}))
        assert wiring.ground_truths == {}
        assert any("Ground truth 's' is compared with no output" in note for note in wiring.notes)

    def test_one_prediction_and_two_like_ground_truths_stay_apart(self) -> None:
        bound = dataset(Field("x"), truths=(Field("a"), Field("b")))
        wiring = wire(bound, description([FLAT]), SampleShapes({"x": (8,)}, {"a": (10,), "b": (10,)}))
        assert wiring.ground_truths == {}
        assert any("compared with no ground truth" in note for note in wiring.notes)


class TestArguments:
    def wired(self, *arguments: str, **wiring: str) -> dict[str, str]:
        metric = Metric("m", nothing, arguments, wiring=wiring)
        bound = dataset(Field("x"), metrics=(metric,))
        found = wire(bound, description([FLAT]), SampleShapes({"x": (8,)}, {"classes": (10,)}))
        return dict(found.functions["metric.m"])

    def test_the_integration_test_decides_first(self) -> None:
        assert self.wired("prediction", prediction="ground_truth.classes") == {"prediction": "ground_truth.classes"}

    def test_equal_names_come_next(self) -> None:
        assert self.wired("x", "classes", "out") == {
            "x": "input.x",
            "classes": "ground_truth.classes",
            "out": "prediction.out",
        }

    @pytest.mark.parametrize("word", ["ground_truth", "gt", "y_true", "label", "labels", "target"])
    def test_words_for_the_ground_truth(self, word: str) -> None:
        assert self.wired(word) == {word: "ground_truth.classes"}

    @pytest.mark.parametrize("word", ["prediction", "pred", "y_pred", "output"])
    def test_words_for_the_prediction(self, word: str) -> None:
        assert self.wired(word) == {word: "prediction.out"}

    def test_an_unknown_name_is_answered_with_the_nearest(self) -> None:
        with pytest.raises(BindingError, match=r"Argument 'clases' of metric 'm' .* Did you mean 'classes'"):
            self.wired("clases")

    def test_what_the_integration_test_showed_and_is_not_there_is_said(self) -> None:
        with pytest.raises(BindingError, match=r"wired to 'prediction.boxes', which there is not"):
            self.wired("p", p="prediction.boxes")

    def test_a_name_of_two_things_is_not_guessed(self) -> None:
        bound = dataset(Field("x"), truths=(Field("out"),), losses=(Loss("l", nothing, ("out",)),))
        with pytest.raises(BindingError, match=r"could be prediction.out or ground_truth.out"):
            wire(bound, description([FLAT]), SampleShapes({"x": (8,)}, {"out": (10,)}))

    def test_every_kind_of_function_is_wired_and_the_whole_goes_into_json(self) -> None:
        bound = dataset(
            Field("x"),
            losses=(Loss("l", nothing, ("gt", "pred")),),
            visualizers=(Visualizer("v", nothing, ("data",)),),
            latent_spaces=(LatentSpace("s", nothing, ("x",)),),
        )
        wiring = wire(bound, description([FLAT]), SampleShapes({"x": (8,)}, {"classes": (10,)}))
        assert set(wiring.functions) == {"loss.l", "visualizer.v", "latent.s"}
        assert json.loads(json.dumps(wiring.to_dict()))["functions"]["visualizer.v"] == {"data": "input.x"}

    @pytest.mark.parametrize(("argument", "kept"), [("overlay", False), ("data", True)])
    def test_a_visualizer_that_the_integration_test_never_calls_is_left_out_where_its_names_say_nothing(
        self, argument: str, kept: bool
    ) -> None:
        visualizer = Visualizer("v", nothing, (argument,), uncalled=True)
        shapes = SampleShapes({"x": (8,)}, {"classes": (10,)})
        wiring = wire(dataset(Field("x"), visualizers=(visualizer,)), description([FLAT]), shapes)
        assert ("visualizer.v" in wiring.functions) == kept
        told = "Visualizer 'v' is left out: the integration test never calls it. Argument 'overlay' of visualizer 'v'"
        assert any(note.startswith(told) for note in wiring.notes) != kept

    def test_without_an_integration_test_a_visualizer_whose_names_say_nothing_is_refused(self) -> None:
        bound = dataset(Field("x"), visualizers=(Visualizer("v", nothing, ("overlay",)),))
        with pytest.raises(BindingError, match="Argument 'overlay' of visualizer 'v'"):
            wire(bound, description([FLAT]), SampleShapes({"x": (8,)}, {"classes": (10,)}))


def test_the_shapes_are_those_of_the_first_sample() -> None:
    bound = Dataset.from_arrays(np.zeros((4, 8), np.float32), np.zeros(4, np.int64))
    shapes = shapes_of(first_sample(bound))
    assert list(shapes.inputs.values()) == [(8,)]
    assert list(shapes.ground_truths.values()) == [()]
