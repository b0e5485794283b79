"""What the samples of a binding do when somebody's functions do not behave."""

import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.dataset import Binder, DatasetMetadataType, PreprocessResponse, SamplePreprocessResponse, SubsetResponse
from cutaway.dataset.calling import Failed
from cutaway.dataset.enums import Role
from cutaway.dataset.responses import SampleId
from cutaway.dataset.subset import Subset
from cutaway.errors import BindingError, EncoderError


def training(
    encoder: Callable[..., Any], metadata: Callable[..., Any] | None = None, ids: Sequence[SampleId] = (0, 1, 2)
) -> Subset:
    binder = Binder()
    binder.set_preprocess(lambda: [PreprocessResponse(sample_ids=ids), PreprocessResponse(length=1)])
    binder.set_input(encoder, "x")
    if metadata is not None:
        binder.set_metadata(metadata, "m")
    return binder.dataset().subsets["training"]


def fails_at(sample: int, how: Callable[[], Any]) -> Callable[..., Any]:
    return lambda i, preprocess: how() if i == sample else np.float32(i)


class TestEncoders:
    @pytest.mark.parametrize(
        ("result", "shape", "dtype"),
        [
            (3, (), "int64"),
            ([1.0, 2.0], (2,), "float64"),
            (np.zeros((2, 3), np.uint8), (2, 3), "uint8"),
            (np.float32(1), (), "float32"),
            (True, (), "bool"),
            (np.zeros(0, np.float32), (0,), "float32"),
        ],
    )
    def test_whatever_is_an_array_becomes_one(self, result: Any, shape: tuple[int, ...], dtype: str) -> None:
        values = training(lambda i, preprocess: result).encode(Role.INPUT, "x", 0)
        assert (values.shape, values.dtype) == (shape, np.dtype(dtype))

    @pytest.mark.parametrize(
        ("how", "said"),
        [
            (lambda: 1 / 0, "ZeroDivisionError: division by zero"),
            (lambda: sys.exit(3), r"it called sys.exit\(3\)"),
            (lambda: None, "it returned None"),
            (lambda: np.array([object()]), "Python objects"),
            (lambda: [[1], [1, 2]], "is no array"),
            (lambda: "text", "numbers belong here"),
            (lambda: [b"text"], "numbers belong here"),
            (lambda: {"a": 1}, "Python objects"),
        ],
    )
    def test_one_bad_sample_is_named_and_the_next_can_be_asked_for(self, how: Callable[[], Any], said: str) -> None:
        subset = training(fails_at(1, how))
        with pytest.raises(EncoderError, match=said) as caught:
            subset.encode(Role.INPUT, "x", 1)
        assert (caught.value.kind, caught.value.name, caught.value.sample) == ("input", "x", "training/1")
        assert "test_binder_samples.py:" in caught.value.place
        assert str(caught.value).startswith(caught.value.place)
        assert subset.encode(Role.INPUT, "x", 2) == 2

    def test_the_line_that_raised_is_named_not_the_definition(self) -> None:
        def encoder(i: int, preprocess: Any) -> Any:
            value = np.zeros(2)
            return value[5]

        with pytest.raises(EncoderError) as caught:
            training(encoder).encode(Role.INPUT, "x", 0)
        assert caught.value.place.endswith(f":{encoder.__code__.co_firstlineno + 2}")
        assert isinstance(caught.value.__cause__, IndexError)

    def test_an_interrupt_is_not_a_bad_sample(self) -> None:
        def interrupt(i: int, preprocess: Any) -> Any:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            training(interrupt).encode(Role.INPUT, "x", 0)

    def test_the_child_of_an_encoder_that_forks_ends_at_once(self) -> None:
        children: list[int] = []

        def forks(i: int, preprocess: Any) -> Any:
            child = os.fork()
            if child:
                children.append(child)
            return np.float32(i)

        assert training(forks).encode(Role.INPUT, "x", 2) == 2
        assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 0

    def test_unknown_names_and_positions_are_said(self) -> None:
        subset = training(lambda i, preprocess: 0.0)
        with pytest.raises(BindingError, match=r"No input 'xx' is bound for training[.] Did you mean 'x'"):
            subset.encode(Role.INPUT, "xx", 0)
        with pytest.raises(IndexError, match="3 samples"):
            subset.encode(Role.INPUT, "x", 3)
        with pytest.raises(IndexError):
            subset.encode(Role.INPUT, "x", -1)

    def test_threads_may_ask_at_once(self) -> None:
        subset = training(lambda i, preprocess: np.full(10, i), lambda i, preprocess: i, ids=range(200))
        wrong: list[int] = []

        def ask() -> None:
            wrong.extend(
                i
                for i in range(200)
                if (subset.encode(Role.INPUT, "x", i) != i).any() or subset.metadata(i) != {"m": i}
            )

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []


class TestMetadata:
    def test_columns_come_from_every_function(self) -> None:
        binder = Binder()
        binder.set_preprocess(lambda: [PreprocessResponse(1), PreprocessResponse(1)])
        binder.set_input(lambda i, preprocess: 0.0, "x")
        binder.set_metadata(lambda i, preprocess: {"a": 1, "b": "two"}, "d")
        binder.set_metadata(lambda i, preprocess: "7", "label", DatasetMetadataType.int)
        binder.set_metadata(lambda i, preprocess: float("nan"), "age", DatasetMetadataType.float)
        columns = binder.dataset().subsets["training"].metadata(0)
        assert columns == {"d_a": 1, "d_b": "two", "label": 7, "age": None}

    @pytest.mark.parametrize(
        ("how", "said"),
        [
            (lambda: None, "Missing values need a declared type: give `metadata_type="),
            (lambda: float("nan"), "it returned nan"),
            (lambda: [1, 2], "it returned list"),
            (lambda: np.zeros(3), r"ndarray of shape \(3,\)"),
            (lambda: {"a": {"b": 1}}, "it returned dict"),
            (lambda: 1 / 0, "ZeroDivisionError"),
        ],
    )
    def test_what_cannot_be_a_column_is_named(self, how: Callable[[], Any], said: str) -> None:
        subset = training(lambda i, preprocess: 0.0, fails_at(1, how))
        with pytest.raises(EncoderError, match=said) as caught:
            subset.metadata(1)
        assert (caught.value.kind, caught.value.name, caught.value.sample) == ("metadata", "m", "training/1")
        assert subset.metadata(2) == {"m": 2.0}

    def test_two_functions_cannot_make_one_column(self) -> None:
        binder = Binder()
        binder.set_preprocess(lambda: [PreprocessResponse(1), PreprocessResponse(1)])
        binder.set_input(lambda i, preprocess: 0.0, "x")
        binder.set_metadata(lambda i, preprocess: {"b": 1}, "a")
        binder.set_metadata(lambda i, preprocess: 2, "a_b")
        with pytest.raises(EncoderError, match="'a_b' is made by another function"):
            binder.dataset().subsets["training"].metadata(0)


ODD_IDS = ["a/b", "../../etc/passwd", "%2e%2e", "two\nlines", "x" * 10_000, "Case", "case", "\N{PILE OF POO}", "", " "]


class TestIds:
    def test_any_text_is_an_id_and_stays_what_it_is(self) -> None:
        seen: list[Any] = []
        subset = training(lambda i, preprocess: np.float32(len(seen.append(i) or "")), ids=ODD_IDS)
        assert subset.ids(0, 99) == ODD_IDS
        for index in range(len(ODD_IDS)):
            subset.encode(Role.INPUT, "x", index)
        assert seen == ODD_IDS

    @given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), unique=True, max_size=20))
    def test_distinct_texts_are_kept_in_order(self, ids: list[str]) -> None:
        assert list(PreprocessResponse(sample_ids=ids).sample_ids) == ids

    @pytest.mark.parametrize(
        ("make", "said"),
        [
            (PreprocessResponse, "got neither"),
            (lambda: PreprocessResponse(length=1, sample_ids=[1]), "got both"),
            (lambda: PreprocessResponse(length=-1), "must be a number of samples"),
            (lambda: PreprocessResponse(length=1.5), "must be a number of samples"),
            (lambda: PreprocessResponse(length=True), "must be a number of samples"),
            (lambda: PreprocessResponse(sample_ids=["a", "b", "a"]), "'a' is there twice"),
            (lambda: PreprocessResponse(sample_ids=[1, "1"]), "'1' is there twice"),
            (lambda: PreprocessResponse(sample_ids=[1, "a"]), "all integers or all texts"),
            (lambda: PreprocessResponse(sample_ids=[1.5]), "must be an integer or a text"),
            (lambda: PreprocessResponse(sample_ids=["\ud800"]), "no valid text"),
            (lambda: PreprocessResponse(sample_ids=["a"], sample_id_type=int), "the sample ids are str"),
            (lambda: PreprocessResponse(length=1, sample_id_type=float), "must be int or str"),
            (lambda: PreprocessResponse(length=1, state="trainin"), "Did you mean 'training'"),
        ],
    )
    def test_ids_that_cannot_be_told_apart_are_refused(self, make: Callable[[], Any], said: str) -> None:
        with pytest.raises(BindingError, match=said):
            make()

    def test_a_length_gives_whole_numbers(self) -> None:
        response = PreprocessResponse(length=np.int64(3))
        assert (list(response.sample_ids), response.sample_id_type, len(response)) == ([0, 1, 2], int, 3)
        assert PreprocessResponse(sample_ids=np.array([5, 6])).sample_id_type is int
        assert PreprocessResponse(sample_ids=["a"]).sample_id_type is str
        assert SubsetResponse(length=2, data="d").data == "d"

    def test_responses_are_compared_and_hashed_as_objects(self) -> None:
        one, other = PreprocessResponse(1), PreprocessResponse(1)
        assert len({one, other}) == 2

    def test_functions_are_given_the_ids_of_their_own_binding(self) -> None:
        subset = training(lambda i, preprocess: 0.0, ids=[7, 8, 9])
        given_to = subset.sample_response([0, 2])  # type: ignore[attr-defined]
        assert isinstance(given_to, SamplePreprocessResponse)
        assert (given_to.sample_ids, given_to.preprocess_response) == ([7, 9], subset.response())

    def test_a_batch_of_two_preprocess_functions_has_no_one_response(self) -> None:
        binder = Binder()
        for name in ("a", "b"):
            binder.set_subset(1, lambda: [SubsetResponse(1), SubsetResponse(1)], name)
        binder.set_input(lambda i, preprocess: 0.0, "x")
        subset = binder.dataset().subsets["training"]
        assert subset.sample_response([1]).sample_ids == [0]  # type: ignore[attr-defined]
        with pytest.raises(Failed, match="mixes the samples"):
            subset.sample_response([0, 1])  # type: ignore[attr-defined]
