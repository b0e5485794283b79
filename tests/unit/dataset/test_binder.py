"""What a binder understands, and the data set that it makes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.dataset import (
    Binder,
    Dataset,
    DatasetInputType,
    DatasetMetadataType,
    DatasetOutputType,
    DataStateType,
    LeapDataType,
    MetricDirection,
    PreprocessResponse,
    SamplePreprocessResponse,
    SubsetResponse,
)
from cutaway.dataset.enums import Role
from cutaway.errors import BindingError


def two_subsets() -> list[PreprocessResponse]:
    return [PreprocessResponse(length=4, data=np.arange(4.0)), PreprocessResponse(length=2, data=np.arange(2.0) + 10)]


def encode(sample_id: Any, preprocess: PreprocessResponse) -> Any:
    return np.array([preprocess.data[sample_id]], dtype=np.float32)


@pytest.fixture
def binder() -> Binder:
    made = Binder()
    made.set_preprocess(two_subsets)
    made.set_input(encode, "x")
    made.set_ground_truth(encode, "y")
    return made


def first(dataset: Dataset, subset: str = "training") -> float:
    return float(dataset.subsets[subset].encode(Role.INPUT, "x", 0)[0])


class TestTheDataSet:
    def test_has_a_subset_for_each_response(self, binder: Binder) -> None:
        dataset = binder.dataset()
        assert {name: len(subset) for name, subset in dataset.subsets.items()} == {"training": 4, "validation": 2}
        assert first(dataset, "validation") == 10.0
        assert [one.name for one in dataset.ground_truths] == ["y"]
        assert dataset.source == {"kind": "binder"}

    def test_calls_preprocess_once(self, binder: Binder) -> None:
        calls = []
        other = Binder()
        other.set_preprocess(lambda: calls.append(1) or two_subsets())
        other.set_input(encode, "x")
        assert len(other.dataset()) == len(other.dataset()) == 6
        assert calls == [1]

    def test_two_binders_live_in_one_process(self, binder: Binder) -> None:
        other = Binder()
        other.set_preprocess(lambda: [PreprocessResponse(1, [5.0]), PreprocessResponse(1, [6.0])])
        other.set_input(encode, "x")
        other.cache_container["word_to_index"]["a"] = 1
        assert first(other.dataset()) == 5.0
        assert first(binder.dataset()) == 0.0
        assert binder.cache_container == {"word_to_index": {}}

    def test_needs_an_input_and_a_preprocess_function(self) -> None:
        empty = Binder()
        with pytest.raises(BindingError, match="No input is bound"):
            empty.dataset()
        empty.set_input(encode, "x")
        with pytest.raises(BindingError, match="No preprocess function is bound"):
            empty.dataset()

    def test_check_calls_everything_once(self, binder: Binder, capsys: pytest.CaptureFixture[str]) -> None:
        seen: list[Any] = []
        binder.set_metadata(lambda i, preprocess: seen.append(i) or 1, "m")
        binder.check()
        assert seen == [0, 0]
        assert capsys.readouterr().out == "Successful!\n"


class TestBothStyles:
    def test_the_styles_say_the_same(self) -> None:
        styles = Binder(), Binder(), Binder()
        for made in styles:
            made.set_subset(1, two_subsets, "all")
        seed, named, current = styles
        seed.set_input(encode, "all", DatasetInputType.Image, "x")
        named.set_input(function=encode, subset="all", input_type=DatasetInputType.Image, name="x")
        current.set_input(encode, "x", 1)
        seed.set_ground_truth(encode, "all", DatasetOutputType.Classes, "y", labels=["a", "b"], masked_input=None)
        named.set_ground_truth(
            function=encode, subset="all", ground_truth_type=DatasetOutputType.Classes, name="y", labels=["a", "b"]
        )
        current.set_ground_truth(encode, "y")
        seed.set_metadata(encode, "all", DatasetMetadataType.int, "m")
        named.set_metadata(function=encode, subset="all", metadata_type=DatasetMetadataType.int, name="m")
        current.set_metadata(encode, "m", DatasetMetadataType.int)
        one, two, three = (made.dataset() for made in styles)
        assert one.inputs == two.inputs
        assert (one.inputs[0].name, one.inputs[0].type, one.inputs[0].channel_dim) == ("x", "image", -1)
        assert (three.inputs[0].name, three.inputs[0].type, three.inputs[0].channel_dim) == ("x", "", 1)
        assert one.ground_truths == two.ground_truths
        assert one.ground_truths[0].labels == ("a", "b")
        assert one.metadata == two.metadata == three.metadata

    def test_a_mixture_of_position_and_name_is_understood(self) -> None:
        made = Binder()
        made.set_metadata(encode, "all", DatasetMetadataType.float, name="m")
        assert made.metadata_functions[0].subset == "all"
        made.set_metadata(encode, name="n", metadata_type={"a": DatasetMetadataType.int})
        assert made.metadata_functions[1].subset is None

    def test_arguments_that_fit_no_style_are_refused_with_both(self) -> None:
        with pytest.raises(
            BindingError, match=r"set_input\(function, name, channel_dim\)` or `set_input\(function, su"
        ):
            Binder().set_input(encode)  # type: ignore[call-overload]

    @pytest.mark.parametrize(
        ("bind", "said"),
        [
            (lambda made: made.set_input(encode, ""), "must be a text"),
            (lambda made: made.set_input(encode, "x", 0), "channel_dim"),
            (lambda made: made.set_input(encode, "x", DatasetInputType.Image), "channel_dim"),
            (lambda made: made.set_input(encode, "s", "imag", "x"), "DatasetInputType.Image"),
            (lambda made: made.set_input("no function", "x"), "must be a function"),
            (lambda made: made.set_input(lambda i: i, "x"), r"is called as `<lambda>\(sample_id, preprocess\)`"),
            (lambda made: made.set_input(lambda self, i, p: i, "x"), "Remove `self`"),
            (lambda made: made.set_subset(0, two_subsets, "s"), "0 < ratio <= 1"),
            (lambda made: made.set_subset(1.5, two_subsets, "s"), "0 < ratio <= 1"),
            (lambda made: made.set_subset(1, two_subsets, "a/b"), "slash"),
            (lambda made: made.set_preprocess(lambda x: x), "is called as"),
            (lambda made: made.add_prediction("p", ["a", "a"]), "'a' twice"),
            (lambda made: made.add_prediction("p", "ab"), "list of class names"),
            (lambda made: made.set_visualizer(encode, "v", "Imag"), "LeapDataType.Image"),
            (lambda made: made.set_custom_layer("no class", "l"), "must be a class"),
            (lambda made: made.add_custom_metric(encode, "m", "up"), "MetricDirection"),
            (lambda made: made.set_batch_size_to_validate(0), "batch_size >= 1"),
            (lambda made: made.add_custom_latent_space(encode, "z", n_components=5000), "4096"),
        ],
    )
    def test_wrong_arguments_are_refused_at_once(self, bind: Callable[[Binder], None], said: str) -> None:
        with pytest.raises(BindingError, match=said):
            bind(Binder())


class TestSubsets:
    def test_the_place_in_the_list_decides_where_no_state_is_given(self) -> None:
        made = Binder()
        made.set_preprocess(lambda: [PreprocessResponse(n + 1) for n in range(4)])
        made.set_input(encode, "x")
        sizes = {name: len(subset) for name, subset in made.dataset().subsets.items()}
        assert sizes == {"training": 1, "validation": 2, "test": 3, "unlabeled": 4}

    def test_a_state_comes_before_the_place(self) -> None:
        made = Binder()
        made.set_preprocess(
            lambda: [
                PreprocessResponse(1, state=DataStateType.validation),
                PreprocessResponse(2, state=DataStateType.training),
            ]
        )
        made.set_input(encode, "x")
        assert {name: len(subset) for name, subset in made.dataset().subsets.items()} == {
            "training": 2,
            "validation": 1,
        }

    def test_unlabeled_samples_come_from_their_own_function_and_have_no_ground_truth(self, binder: Binder) -> None:
        called = []
        binder.set_unlabeled_data_preprocess(lambda: PreprocessResponse(3, np.zeros(3)))
        binder.set_ground_truth(lambda i, preprocess: called.append(i), "z")
        dataset = binder.dataset()
        assert len(dataset.subsets["unlabeled"]) == 3
        assert not dataset.labelled("unlabeled")
        with pytest.raises(BindingError, match="have no ground truth"):
            dataset.subsets["unlabeled"].encode(Role.GROUND_TRUTH, "z", 0)
        assert called == []

    @pytest.mark.parametrize(
        ("responses", "said"),
        [
            (lambda: [PreprocessResponse(1)], "the subset validation is missing; there is training"),
            (lambda: PreprocessResponse(1), "returned PreprocessResponse. Return a list"),
            (list, "an empty list"),
            (lambda: [1, 2], "returned int"),
            (lambda: [PreprocessResponse(1)] * 2, "the same response twice"),
            (
                lambda: [PreprocessResponse(1, state=DataStateType.training) for _ in range(2)],
                "two responses are train",
            ),
            (lambda: [PreprocessResponse(1) for _ in range(5)], "has no `state`"),
            (lambda: 1 / 0, r"test_binder.py:\d+: <lambda> failed: ZeroDivisionError"),
        ],
    )
    def test_responses_that_make_no_data_set_are_refused(self, responses: Callable[[], Any], said: str) -> None:
        made = Binder()
        made.set_preprocess(responses)
        made.set_input(encode, "x")
        with pytest.raises(BindingError, match=said):
            made.dataset()

    def test_a_second_preprocess_function_is_refused(self, binder: Binder) -> None:
        with pytest.raises(BindingError, match="bound already"):
            binder.set_preprocess(two_subsets)
        with pytest.raises(BindingError, match="cannot both be used"):
            binder.set_subset(1, two_subsets, "s")

    def test_a_ratio_takes_an_even_share(self) -> None:
        made = Binder()
        made.set_subset(0.25, lambda: [SubsetResponse(8, np.arange(8.0)), SubsetResponse(1, np.zeros(1))], "s")
        made.set_input(encode, "s", DatasetInputType.Numeric, "x")
        dataset = made.dataset()
        assert dataset.subsets["training"].ids(0, 9) == ["0", "4"]
        assert dataset.subsets["validation"].ids(0, 9) == ["0"]

    @given(st.integers(1, 500), st.floats(0.001, 1))
    def test_any_ratio_takes_distinct_samples_in_order_and_never_none(self, length: int, ratio: float) -> None:
        made = Binder()
        made.set_subset(ratio, lambda: [SubsetResponse(length), SubsetResponse(1)], "s")
        made.set_input(encode, "x")
        taken = [int(own) for own in made.dataset().subsets["training"].ids(0, length)]
        assert taken == sorted(set(taken))
        assert len(taken) == max(1, round(length * ratio))
        assert all(0 <= own < length for own in taken)

    def test_several_named_subsets_are_taken_together(self) -> None:
        made = Binder()
        made.set_subset(1, two_subsets, "a")
        made.set_subset(1, lambda: [SubsetResponse(1, ["7"]), SubsetResponse(1, ["8"])], "b")
        made.set_input(encode, "a", DatasetInputType.Numeric, "x")
        made.set_input(lambda i, preprocess: [float(preprocess.data[i])], "b", DatasetInputType.Numeric, "x")
        training = made.dataset().subsets["training"]
        assert training.ids(0, 5) == ["a/0", "a/1", "a/2", "a/3", "b/0"]
        assert [float(training.encode(Role.INPUT, "x", i)[0]) for i in range(5)] == [0, 1, 2, 3, 7]

    def test_each_named_subset_needs_every_input(self) -> None:
        made = Binder()
        made.set_subset(1, two_subsets, "a")
        made.set_subset(1, two_subsets, "b")
        made.set_input(encode, "a", DatasetInputType.Numeric, "x")
        with pytest.raises(BindingError, match="Subset 'b' has no input 'x'"):
            made.dataset()

    def test_an_unknown_subset_is_named_with_the_nearest(self) -> None:
        made = Binder()
        made.set_subset(1, two_subsets, "images")
        made.set_input(encode, "image", DatasetInputType.Image, "x")
        with pytest.raises(BindingError, match="Did you mean 'images'"):
            made.dataset()


class TestNames:
    @pytest.mark.parametrize(
        "bind",
        [
            lambda made: made.set_input(encode, "x"),
            lambda made: made.set_ground_truth(encode, "x"),
            lambda made: made.set_metadata(encode, "x"),
            lambda made: made.add_prediction("x", ["a"]),
            lambda made: made.add_custom_loss(encode, "x"),
            lambda made: made.add_custom_metric(encode, "x"),
            lambda made: made.set_visualizer(encode, "x", LeapDataType.Image),
            lambda made: made.set_custom_layer(dict, "x"),
            lambda made: made.add_custom_latent_space(encode, "x"),
            lambda made: made.set_unlabeled_data_preprocess(two_subsets),
        ],
    )
    def test_a_name_is_bound_once_in_its_kind(self, bind: Callable[[Binder], None]) -> None:
        made = Binder()
        bind(made)
        with pytest.raises(BindingError, match=r"bound (twice|already)"):
            bind(made)

    def test_an_input_and_a_ground_truth_may_share_a_name(self) -> None:
        made = Binder()
        made.set_input(encode, "x")
        made.set_ground_truth(encode, "x")

    def test_a_mask_names_an_input_or_nothing(self) -> None:
        made = Binder()
        made.set_subset(1, two_subsets, "s")
        made.set_input(encode, "s", DatasetInputType.Image, "image")
        made.set_ground_truth(encode, "s", DatasetOutputType.Mask, "mask", None, "image")
        assert made.dataset().ground_truths[0].type == "mask"
        assert made.encoders[1].masked_input == "image"
        made.set_ground_truth(encode, "s", DatasetOutputType.Mask, "other", masked_input="imag")
        with pytest.raises(BindingError, match="Did you mean 'image'"):
            made.dataset()


class TestFunctions:
    def test_arguments_and_the_injected_one_are_read_off(self, binder: Binder) -> None:
        def metric(y_pred: Any, y_true: Any, samples: SamplePreprocessResponse, scale: float = 1.0) -> Any:
            return y_pred

        def spelled(y_pred: Any, samples: "SamplePreprocessResponse") -> Any:
            return y_pred

        binder.add_custom_metric(metric, "m", {"a": MetricDirection.Upward}, {"a": True})
        binder.add_custom_loss(spelled, "l")
        dataset = binder.dataset()
        assert dataset.metrics[0].arguments == ("y_pred", "y_true")
        assert dataset.metrics[0].injected == "samples"
        assert dataset.metrics[0].direction == {"a": MetricDirection.Upward}
        assert dataset.losses[0].arguments == ("y_pred",)
        assert dataset.losses[0].injected == "samples"
        assert "test_binder.py:" in dataset.losses[0].place

    def test_two_injected_arguments_are_refused(self, binder: Binder) -> None:
        def metric(a: SamplePreprocessResponse, b: SamplePreprocessResponse) -> None: ...

        with pytest.raises(BindingError, match="has 2 parameters of type SamplePreprocessResponse"):
            binder.add_custom_metric(metric, "m")

    def test_a_heat_map_function_takes_what_its_visualizer_takes(self, binder: Binder) -> None:
        binder.set_visualizer(lambda image: image, "good", LeapDataType.Image, lambda image: image)
        with pytest.raises(BindingError, match="Give both the same arguments"):
            binder.set_visualizer(lambda image: image, "bad", LeapDataType.Image, lambda data: data)

    def test_layers_and_predictions_are_kept_as_declared(self, binder: Binder) -> None:
        class Layer:
            pass

        binder.set_custom_layer(Layer, "Mine", inspect_layer=True, kernel_index=2)
        binder.add_prediction("digits", ["0", "1"], channel_dim=1)
        dataset = binder.dataset()
        assert dataset.custom_layers == {"Mine": Layer}
        assert (dataset.predictions[0].labels, dataset.predictions[0].channel_dim) == (("0", "1"), 1)
        assert binder.layers[0].kernel_index == 2

    def test_a_latent_space_of_ones_own_is_a_function_of_the_samples(self, binder: Binder) -> None:
        binder.add_custom_latent_space(encode, "mine", use_ls_for_analysis=True)
        dataset = binder.dataset()
        space = dataset.latent_spaces[0]
        subset = dataset.subsets["training"]
        assert (space.arguments, space.injected, space.use_for_analysis) == ((), "samples", True)
        assert space.function(samples=subset.sample_response([1, 3])).tolist() == [[1.0], [3.0]]  # type: ignore[attr-defined]
