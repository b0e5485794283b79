"""Labels with an overlay's corrections: every kind of labels, other labels refused, and what is said to be read."""

from __future__ import annotations

import logging
import pickle
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cutaway.dataset import Binder, Dataset, PreprocessResponse, corrected, sample_weights
from cutaway.dataset.content import content_hash
from cutaway.dataset.enums import Role
from cutaway.errors import ConfigurationError, OverlayError
from cutaway.evaluation import evaluate
from cutaway.run import Run
from cutaway.run.overlay_use import overlay_of, record_overlay
from cutaway.run.overlays import Correction, Overlay, write_overlay

CLASSES = ("cat", "dog", "rhinoceros")
WAS = [0, 1, 2, 0, 1, 2]
IS = [2, 1, 2, 1, 1, 2]

Use = Callable[..., Overlay]


@pytest.fixture
def use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Use:
    """Write an overlay that makes IS of WAS, or other corrections, and name it in the environment."""

    def make(*rows: Correction, name: str = "fix-1", truth: str = "") -> Overlay:
        chosen = rows or (
            Correction("training/0", "label", "cat", "rhinoceros"),
            Correction("training/3", "label", "cat", "dog"),
        )
        folder = tmp_path / "runs" / "old"
        run = Run.open(folder) if folder.exists() else Run.create(folder)
        written = write_overlay(run, Overlay(name, CLASSES, chosen, truth))
        monkeypatch.setenv("CUTAWAY_OVERLAY", str(written.path))
        return written

    return make


@pytest.fixture(autouse=True)
def _no_overlay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUTAWAY_OVERLAY", raising=False)


def _one_hot(numbers: list[int], on: float = 1.0, off: float = 0.0) -> np.ndarray:
    return np.where(np.eye(3)[numbers] > 0, on, off)


def _torch(values: Any, dtype: str = "int64") -> Any:
    torch = pytest.importorskip("torch")
    return torch.tensor(np.asarray(values)).to(getattr(torch, dtype))


def _names(numbers: list[int]) -> list[str]:
    return [CLASSES[one] for one in numbers]


KINDS: dict[str, Callable[[list[int]], Any]] = {
    "int64": np.array,
    "uint8": lambda n: np.array(n, np.uint8),
    "float32": lambda n: np.array(n, np.float32),
    "a column": lambda n: np.array(n)[:, None],
    "one-hot": _one_hot,
    "one-hot of bytes": lambda n: _one_hot(n).astype(np.uint8),
    "smoothed": lambda n: _one_hot(n, 0.8, 0.1),
    "names": lambda n: np.array(_names(n)),
    "names as bytes": lambda n: np.array(_names(n), "S"),
    "names as objects": lambda n: np.array(_names(n), object),
    "list": list,
    "tuple": tuple,
    "list of names": _names,
    "list of rows": lambda n: _one_hot(n).tolist(),
    "list of arrays": lambda n: list(_one_hot(n)),
    "list of numpy numbers": lambda n: list(np.array(n)),
    "torch": _torch,
    "torch int32": lambda n: _torch(n, "int32"),
    "torch one-hot": lambda n: _torch(_one_hot(n), "float32"),
    "torch bfloat16 one-hot": lambda n: _torch(_one_hot(n), "bfloat16"),
    "list of torch numbers": lambda n: list(_torch(n)),
    "series": lambda n: pytest.importorskip("pandas").Series(n, index=list("abcdef")),
    "series of names": lambda n: pytest.importorskip("pandas").Series(_names(n)),
}


def same(one: Any, other: Any) -> bool:
    if isinstance(one, list | tuple):
        return type(one) is type(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    if hasattr(one, "dtype") and one.dtype.__class__.__module__.startswith("numpy") and one.dtype.kind in "US":
        return bool((np.asarray(one) == np.asarray(other)).all())
    if hasattr(one, "tolist"):
        alike = type(one) is type(other) and one.dtype == other.dtype and one.shape == other.shape
        return bool(alike and one.tolist() == other.tolist())
    return type(one) is type(other) and one == other


@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_every_kind_are_corrected_and_stay_what_they_were(kind: str, use: Use) -> None:
    use()
    labels, before = KINDS[kind](WAS), KINDS[kind](WAS)
    result = corrected(labels)
    assert same(result, KINDS[kind](IS))
    assert same(labels, before), "the original labels were touched"


@pytest.mark.parametrize("kind", KINDS)
def test_applying_twice_is_the_same_as_once(kind: str, use: Use) -> None:
    use()
    once = corrected(KINDS[kind](WAS))
    assert same(corrected(once), once)


@pytest.mark.parametrize("kind", KINDS)
def test_without_an_overlay_the_labels_themselves_come_back(kind: str) -> None:
    labels = KINDS[kind](WAS)
    assert corrected(labels) is labels


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_the_way_back_gives_the_labels_that_were(data: st.DataObject, use: Use) -> None:
    labels = data.draw(st.lists(st.integers(0, 2), min_size=1, max_size=20))
    places = data.draw(st.sets(st.integers(0, len(labels) - 1), min_size=1))
    targets = {place: data.draw(st.integers(0, 2)) for place in sorted(places)}
    there = [
        Correction(f"training/{place}", "label", CLASSES[labels[place]], CLASSES[target])
        for place, target in targets.items()
    ]
    back = [Correction(one.sample, "label", one.new, one.old) for one in there]
    number = uuid.uuid4().hex
    use(*there, name=f"there-{number}")
    changed = corrected(np.array(labels))
    assert changed.tolist() == [targets.get(place, label) for place, label in enumerate(labels)]
    use(*back, name=f"back-{number}")
    assert corrected(changed).tolist() == labels


def test_ids_are_taken_as_hooks_take_them(use: Use) -> None:
    use(Correction("training/img_3.png", "label", "cat", "dog"), Correction("training/x/9", "label", "cat", "dog"))
    ids = ["img_1.png", "training/img_3.png", None, np.str_("x/9")]
    assert corrected([0, 0, 0, 0], ids=ids) == [0, 1, 0, 1]
    assert corrected([0, 0, 0, 0], ids=[b"img_1", b"img_3.png", b"c", b"x/9"]) == [0, 1, 0, 1]
    with pytest.raises(ConfigurationError, match="got 4 ids for 2 labels"):
        corrected([0, 0], ids=ids)


def test_numbers_as_ids(use: Use) -> None:
    use(Correction("training/107", "label", "cat", "dog"))
    assert corrected([0, 0], ids=np.array([106, 107])) == [0, 1]


def test_other_subsets_stay_as_they_are(use: Use) -> None:
    use()
    assert corrected([0, 0], subset="validation") == [0, 0]
    with pytest.raises(ConfigurationError, match="Did you mean 'training'"):
        corrected([0], subset="train")


def test_an_overlay_for_other_labels_is_refused_with_counts(use: Use) -> None:
    use()
    with pytest.raises(
        OverlayError, match="made for other labels: 1 of the 2 labels that it corrects are not"
    ) as error:
        corrected(np.array([1, 1, 2, 0, 1, 2]))
    assert "training/0 was 'cat' and is 'dog' now" in str(error.value)
    with pytest.raises(OverlayError, match="which is none of the 3 classes"):
        corrected(np.array([9, 1, 2, 0, 1, 2]))
    with pytest.raises(OverlayError, match="2 of the 2"):
        corrected(np.full(6, np.nan))


def test_ids_of_something_else_are_refused(use: Use, caplog: pytest.LogCaptureFixture) -> None:
    use(Correction("training/img_3.png", "label", "cat", "dog"))
    with pytest.raises(OverlayError, match=r"such as 'training/img_3.png', and none of them is among the 2 ids here"):
        corrected([0, 0])
    use(Correction("training/0", "label", "cat", "dog"), Correction("training/9", "label", "cat", "dog"), name="b")
    with caplog.at_level(logging.WARNING):
        assert corrected([0, 0]) == [1, 0]
    assert "corrects 2 samples of which 1 are not here" in caplog.text


@pytest.mark.parametrize("labels", [np.zeros((6, 2, 2)), 7, {"a": 1}, "cat"])
def test_what_cannot_be_labels_is_refused(labels: Any, use: Use) -> None:
    use(Correction("training/0", "label", "cat", "dog"))
    with pytest.raises((ConfigurationError, OverlayError)):
        corrected(labels)


def test_a_missing_or_damaged_overlay_stops_the_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTAWAY_OVERLAY", str(tmp_path / "gone.parquet"))
    for call in (lambda: corrected([1]), lambda: sample_weights(1), lambda: Dataset.from_arrays(np.zeros((1, 2)), [0])):
        with pytest.raises(OverlayError, match="there is no such file"):
            call()
    (tmp_path / "gone.parquet").write_bytes(b"PAR1 but not really PAR1")
    with pytest.raises(OverlayError, match="cannot be read"):
        corrected([1])


def test_weights_say_what_is_dropped_and_what_counts_less(use: Use) -> None:
    assert sample_weights(3).tolist() == [1, 1, 1]
    use(
        Correction("training/1", "drop", "no", "yes"),
        Correction("training/2", "weight", "1", "0.25"),
        Correction("training/2", "label", "cat", "dog"),
    )
    assert sample_weights(4).tolist() == [1, 0, 0.25, 1]
    assert sample_weights(["2", "training/1", 7]).tolist() == [0.25, 0, 1]
    assert sample_weights(4, subset="test").tolist() == [1, 1, 1, 1]
    with pytest.raises(ConfigurationError, match="samples >= 0"):
        sample_weights(-1)


def _binding(labels: np.ndarray) -> Dataset:
    binder = Binder()
    images = np.arange(len(labels) * 4, dtype=np.float32).reshape(len(labels), 4)
    binder.set_preprocess(
        lambda: [PreprocessResponse(length=len(labels), data=labels), PreprocessResponse(length=2, data=labels)]
    )
    binder.set_input(lambda i, _: images[i], "image")
    binder.set_ground_truth(lambda i, response: np.float32(np.eye(3)[response.data[i]]), "digit")
    return binder.dataset()


def _truths(dataset: Dataset, subset: str = "training") -> list[int]:
    name, found = dataset.ground_truths[0].name, dataset.subsets[subset]
    return [int(found.encode(Role.GROUND_TRUTH, name, i).argmax()) for i in range(len(found))]


def test_a_bound_data_set_applies_the_overlay_as_it_is_asked(use: Use) -> None:
    assert _truths(_binding(np.array(WAS))) == WAS
    digest = use(truth="digit").digest
    dataset = _binding(np.array(WAS))
    assert _truths(dataset) == IS
    assert _truths(dataset, "validation") == WAS[:2]
    assert dataset.source["overlay"] == digest


def test_arrays_apply_it_too_in_slices_and_singly_and_stay_untouched(use: Use) -> None:
    use()
    labels = np.array(WAS)
    dataset = Dataset.from_arrays(np.zeros((6, 2)), labels, labels=CLASSES)
    subset = dataset.subsets["training"]
    many = subset.encode_many(Role.GROUND_TRUTH, "ground_truth", 2, 5)
    assert many is not None
    assert many.tolist() == IS[2:5]
    assert [int(subset.encode(Role.GROUND_TRUTH, "ground_truth", i)) for i in range(6)] == IS
    assert labels.tolist() == WAS
    again = pickle.loads(pickle.dumps(subset))  # as workers of a loader get it
    assert int(again.encode(Role.GROUND_TRUTH, "ground_truth", 0)) == 2


def test_joining_and_replacing_keep_it_once(use: Use) -> None:
    use()
    training = Dataset.from_arrays(np.zeros((6, 2)), np.array(WAS))
    joined = Dataset.join(training, Dataset.from_arrays(np.zeros((2, 2)), np.array([0, 1]), subset="test"))
    assert joined.subsets["training"] is training.subsets["training"]
    assert "overlay" in joined.source


def test_inputs_and_so_content_hashes_stay_the_same(use: Use) -> None:
    before = _binding(np.array(WAS)).subsets["training"]
    use()
    after = _binding(np.array(WAS)).subsets["training"]
    for i in range(6):
        assert content_hash({"image": before.encode(Role.INPUT, "image", i)}) == content_hash(
            {"image": after.encode(Role.INPUT, "image", i)}
        )


def test_a_data_set_of_other_labels_or_other_samples_is_refused(use: Use) -> None:
    use()
    with pytest.raises(OverlayError, match="made for other labels"):
        _truths(_binding(np.array([1, 1, 1, 1, 1, 1])))
    use(Correction("training/img", "label", "cat", "dog"), name="b")
    with pytest.raises(OverlayError, match="this data set has none of them: its ids begin with 'training/0'"):
        _binding(np.array(WAS))


def test_of_several_ground_truths_the_named_one_is_corrected(use: Use) -> None:
    use(truth="b")
    both = {"a": np.array(WAS), "b": np.array(WAS)}
    subset = Dataset.from_arrays(np.zeros((6, 2)), both).subsets["training"]
    assert [int(subset.encode(Role.GROUND_TRUTH, "a", i)) for i in range(6)] == WAS
    assert [int(subset.encode(Role.GROUND_TRUTH, "b", i)) for i in range(6)] == IS
    use(truth="c", name="c")
    with pytest.raises(OverlayError, match="ground truth 'c', and this data set has a, b"):
        Dataset.from_arrays(np.zeros((6, 2)), both)


def test_an_evaluation_measures_with_the_corrected_labels_and_says_so(use: Use, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Linear(4, 3).eval()
    plain = evaluate(_binding(np.array(WAS)), model, tmp_path / "plain", keep_model=False)
    digest = use(truth="digit").digest
    done = evaluate(_binding(np.array(WAS)), model, tmp_path / "with", keep_model=False)
    table = done.table("training")
    assert table["ground_truth.digit.label"].to_pylist() == IS
    assert table["hash"].to_pylist() == plain.table("training")["hash"].to_pylist()
    assert done.source.binding.overlay == digest
    assert plain.source.binding.overlay is None
    assert done.source.key != plain.source.key
    assert overlay_of(done.run) is None, "measuring is not training"


def test_an_evaluation_with_an_overlay_for_other_labels_stops(use: Use, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    use()
    with pytest.raises(OverlayError, match="made for other labels"):
        evaluate(_binding(np.array([1] * 6)), torch.nn.Linear(4, 3).eval(), tmp_path / "with", keep_model=False)


def test_a_run_records_what_was_read_and_by_whom(use: Use, tmp_path: Path) -> None:
    run = Run.create(tmp_path / "new")
    overlay = use()
    record_overlay(run)
    assert overlay_of(run) is None, "nothing was read yet"
    dataset = _binding(np.array(WAS))
    record_overlay(run)
    assert overlay_of(run) is None, "a data set that nobody asks is not read"
    _truths(dataset)
    record_overlay(run)
    told = overlay_of(run)
    assert told is not None
    assert (told["digest"], told["name"], told["corrections"]) == (overlay.digest, "fix-1", {"label": 2})
    assert told["read"] == [{"by": "data set", "subset": "training", "samples": 2}]
    corrected(np.array(WAS))
    record_overlay(run)
    told = overlay_of(run)
    assert told is not None
    assert [one["by"] for one in told["read"]] == ["corrected", "data set"]


def test_a_hook_records_it_at_its_first_step_and_not_before_it_was_read(use: Use, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    smd = pytest.importorskip("cutaway.torch")
    digest = use().digest

    def train(folder: str, *, read: bool) -> Run:
        model = torch.nn.Linear(2, 3)
        with smd.Hook(tmp_path / folder) as hook:
            hook.register_module(model)
            labels = corrected(torch.tensor(WAS)) if read else torch.tensor(WAS)
            torch.nn.functional.cross_entropy(model(torch.zeros(6, 2)), labels).backward()
            at_once = overlay_of(Run.open(tmp_path / folder))
            assert (at_once is not None) is read
        return Run.open(tmp_path / folder)

    assert overlay_of(train("unread", read=False)) is None
    told = overlay_of(train("read", read=True))
    assert told is not None
    assert told["digest"] == digest
