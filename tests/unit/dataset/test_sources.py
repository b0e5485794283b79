"""Data sets without a binder: arrays, torch data sets, folders, tf.data and Hugging Face give the same object."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cutaway.dataset import Dataset
from cutaway.dataset.enums import Role
from cutaway.dataset.subset import Subset
from cutaway.errors import BindingError, ConfigurationError, EncoderError

RNG = np.random.default_rng(0)
PICTURES = RNG.random((6, 8, 8, 1), dtype=np.float32)
DIGITS = np.array([0, 1, 2, 0, 1, 2])
NAMES = ["zero", "one", "two"]


def only(dataset: Dataset) -> Subset:
    (subset,) = dataset.subsets.values()
    return subset


class TestArrays:
    def test_slices_and_single_samples_agree(self) -> None:
        subset = only(Dataset.from_arrays(PICTURES, DIGITS))
        many = subset.encode_many(Role.INPUT, "input", 1, 4)
        assert many is not None
        assert np.array_equal(many, PICTURES[1:4])
        assert np.array_equal(subset.encode(Role.INPUT, "input", 2), PICTURES[2])
        assert subset.encode(Role.GROUND_TRUTH, "ground_truth", 2) == 2

    def test_ids_are_positions_unless_given(self) -> None:
        assert only(Dataset.from_arrays(PICTURES)).ids(4, 9) == ["4", "5"]
        assert only(Dataset.from_arrays(PICTURES, ids=list("abcdef"))).ids(4, 9) == ["e", "f"]

    def test_metadata_comes_as_plain_values(self) -> None:
        columns = {"age": np.arange(6), "name": [*"abcdef"], "share": np.linspace(0, 1, 6)}
        row = only(Dataset.from_arrays(PICTURES, metadata=columns)).metadata(5)
        assert row == {"age": 5, "name": "f", "share": 1.0}
        assert type(row["age"]) is int

    def test_a_memory_map_is_read_in_slices(self, tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", PICTURES)
        subset = only(Dataset.from_arrays(np.load(tmp_path / "x.npy", mmap_mode="r")))
        assert np.array_equal(subset.encode_many(Role.INPUT, "input", 0, 6), PICTURES)

    def test_rows_that_do_not_match_are_counted(self) -> None:
        with pytest.raises(ConfigurationError, match=r"'input': 6, 'ground_truth': 5"):
            Dataset.from_arrays(PICTURES, DIGITS[:5])

    def test_an_id_that_stands_twice_is_named(self) -> None:
        with pytest.raises(ConfigurationError, match="'a' stands twice"):
            Dataset.from_arrays(PICTURES, ids=["a", "b", "a", "c", "d", "e"])

    def test_object_arrays_are_refused(self) -> None:
        with pytest.raises(ConfigurationError, match="padded"):
            Dataset.from_arrays(np.array([[1], [1, 2]], dtype=object))

    def test_an_unknown_subset_offers_the_nearest(self) -> None:
        with pytest.raises(ConfigurationError, match="Did you mean 'training'"):
            Dataset.from_arrays(PICTURES, subset="trainig")


class TestJoining:
    def test_subsets_of_several_stand_in_their_order(self) -> None:
        joined = Dataset.join(
            Dataset.from_arrays(PICTURES, DIGITS, subset="test"),
            Dataset.from_arrays(PICTURES, DIGITS),
            Dataset.from_arrays(PICTURES, subset="unlabeled"),
        )
        assert list(joined.subsets) == ["training", "test", "unlabeled"]
        assert len(joined) == 18
        assert joined.labelled("test")
        assert not joined.labelled("unlabeled")

    def test_the_same_subset_twice_is_refused(self) -> None:
        with pytest.raises(ConfigurationError, match="training"):
            Dataset.join(Dataset.from_arrays(PICTURES), Dataset.from_arrays(PICTURES))

    def test_other_inputs_are_refused(self) -> None:
        with pytest.raises(ConfigurationError, match=r"\['left'\] and not \['input'\]"):
            Dataset.join(Dataset.from_arrays(PICTURES), Dataset.from_arrays({"left": PICTURES}, subset="test"))


class TestTorch:
    def test_pairs_become_an_input_and_a_ground_truth(self) -> None:
        torch = pytest.importorskip("torch")
        data = torch.utils.data.TensorDataset(torch.from_numpy(PICTURES), torch.from_numpy(DIGITS))
        dataset = Dataset.from_torch(data, labels=NAMES)
        assert [field.name for field in dataset.inputs] == ["input"]
        assert dataset.ground_truths[0].labels == tuple(NAMES)
        assert np.array_equal(only(dataset).encode(Role.INPUT, "input", 3), PICTURES[3])
        assert only(dataset).encode(Role.GROUND_TRUTH, "ground_truth", 5) == 2

    def test_dictionaries_say_their_parts_and_the_rest_is_metadata(self) -> None:
        data = [{"x": PICTURES[i], "y": DIGITS[i], "who": f"p{i}", "mask": PICTURES[i]} for i in range(6)]
        dataset = Dataset.from_torch(data, inputs=["x"], ground_truths=["y"])
        assert [field.name for field in dataset.metadata] == ["who"]
        assert only(dataset).metadata(4) == {"who": "p4"}

    def test_a_dictionary_without_names_asks_for_them(self) -> None:
        with pytest.raises(EncoderError, match=r"inputs=\[\.\.\.\]"):
            Dataset.from_torch([{"x": PICTURES[0]}])

    def test_a_stream_is_refused(self) -> None:
        with pytest.raises(ConfigurationError, match="list"):
            Dataset.from_torch(iter([1, 2]))

    def test_one_call_serves_everything_that_is_asked_of_a_sample(self) -> None:
        calls = []

        class Counting:
            def __len__(self) -> int:
                return 3

            def __getitem__(self, index: int) -> tuple[np.ndarray, int]:
                calls.append(index)
                return PICTURES[index], index

        subset = only(Dataset.from_torch(Counting()))
        calls.clear()
        subset.encode(Role.INPUT, "input", 1)
        subset.encode(Role.GROUND_TRUTH, "ground_truth", 1)
        subset.metadata(1)
        assert calls == [1]

    @pytest.mark.parametrize("failure", [ValueError("broken file"), SystemExit(3)])
    def test_a_sample_that_fails_is_named_and_the_next_one_works(self, failure: BaseException) -> None:
        class Flaky:
            def __len__(self) -> int:
                return 3

            def __getitem__(self, index: int) -> tuple[np.ndarray, int]:
                if index == 1:
                    raise failure
                return PICTURES[index], index

        subset = only(Dataset.from_torch(Flaky(), subset="test"))
        with pytest.raises(EncoderError, match="test/1") as caught:
            subset.encode(Role.INPUT, "input", 1)
        assert Path(__file__).name in caught.value.place
        assert np.array_equal(subset.encode(Role.INPUT, "input", 2), PICTURES[2])


def picture(path: Path, level: int, size: tuple[int, int] = (8, 6)) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full((*size, 3), level, np.uint8)).save(path)


class TestFolders:
    def test_class_folders_are_the_labels(self, tmp_path: Path) -> None:
        for i, name in enumerate(("cat", "dog")):
            picture(tmp_path / name / "a.png", 100 * i + 55)
        dataset = Dataset.from_folder(tmp_path)
        subset = only(dataset)
        assert dataset.ground_truths[0].labels == ("cat", "dog")
        assert subset.ids(0, 2) == ["cat/a.png", "dog/a.png"]
        assert subset.encode(Role.GROUND_TRUTH, "label", 1) == 1
        image = subset.encode(Role.INPUT, "image", 1)
        assert image.shape == (8, 6, 3)
        assert np.allclose(image, 155 / 255)

    def test_folders_named_like_subsets_are_the_subsets(self, tmp_path: Path) -> None:
        for split in ("train", "val"):
            picture(tmp_path / split / "cat" / "a.png", 9)
            picture(tmp_path / split / "dog" / "b.png", 9)
        dataset = Dataset.from_folder(tmp_path)
        assert list(dataset.subsets) == ["training", "validation"]

    def test_two_folders_for_one_subset_are_refused(self, tmp_path: Path) -> None:
        picture(tmp_path / "train" / "cat" / "a.png", 9)
        picture(tmp_path / "training" / "cat" / "a.png", 9)
        with pytest.raises(BindingError, match="'train' and 'training'"):
            Dataset.from_folder(tmp_path)

    def test_a_table_of_labels_brings_metadata_with_types(self, tmp_path: Path) -> None:
        picture(tmp_path / "one.png", 1)
        picture(tmp_path / "deep" / "two.png", 2)
        (tmp_path / "labels.csv").write_text(
            "file,label,age,site\none.png,cat,3,A\ndeep/two.png,dog,,B\n", encoding="utf-8"
        )
        subset = only(Dataset.from_folder(tmp_path, mode="L", size=(4, 4), scale=False))
        assert [subset.metadata(i) for i in range(2)] == [{"age": 3, "site": "A"}, {"age": None, "site": "B"}]
        image = subset.encode(Role.INPUT, "image", 1)
        assert image.shape == (4, 4, 1)
        assert image.dtype == np.uint8

    @pytest.mark.parametrize(
        ("line", "reason"),
        [("../secret.png,cat", "outside of the folder"), ("missing.png,cat", "there is no file")],
    )
    def test_a_line_that_leads_nowhere_is_named(self, tmp_path: Path, line: str, reason: str) -> None:
        folder = tmp_path / "data"
        picture(folder / "one.png", 1)
        picture(tmp_path / "secret.png", 1)
        (folder / "labels.csv").write_text(f"file,label\none.png,cat\n{line}\n", encoding="utf-8")
        with pytest.raises(BindingError, match=f"labels.csv:3: .*{reason}"):
            Dataset.from_folder(folder)

    def test_a_damaged_image_is_an_error_of_its_own_sample(self, tmp_path: Path) -> None:
        picture(tmp_path / "cat" / "a.png", 1)
        (tmp_path / "cat" / "b.png").write_bytes((tmp_path / "cat" / "a.png").read_bytes()[:40])
        subset = only(Dataset.from_folder(tmp_path))
        with pytest.raises(EncoderError, match=r"^input 'image' failed for sample 'training/cat/b\.png'"):
            subset.encode(Role.INPUT, "image", 1)
        assert subset.encode(Role.INPUT, "image", 0).shape == (8, 6, 3)

    def test_an_empty_folder_says_what_belongs_there(self, tmp_path: Path) -> None:
        with pytest.raises(BindingError, match="one folder for each class"):
            Dataset.from_folder(tmp_path)


class TestHuggingFace:
    def test_splits_become_subsets_and_class_labels_names(self) -> None:
        datasets = pytest.importorskip("datasets")
        features = datasets.Features(
            x=datasets.Sequence(datasets.Value("float32")),
            y=datasets.ClassLabel(names=NAMES),
            who=datasets.Value("string"),
        )
        rows = {"x": PICTURES.reshape(6, 64).tolist(), "y": DIGITS.tolist(), "who": [*"abcdef"]}
        split = datasets.Dataset.from_dict(rows, features=features)
        dataset = Dataset.from_huggingface(
            datasets.DatasetDict(train=split, test=split), inputs=["x"], ground_truths=["y"]
        )
        assert list(dataset.subsets) == ["training", "test"]
        assert dataset.ground_truths[0].labels == tuple(NAMES)
        assert dataset.subsets["test"].metadata(2) == {"who": "c"}
        assert np.allclose(dataset.subsets["test"].encode(Role.INPUT, "x", 2), PICTURES[2].ravel())

    def test_an_unknown_column_offers_the_nearest(self) -> None:
        datasets = pytest.importorskip("datasets")
        with pytest.raises(ConfigurationError, match="Did you mean 'image'"):
            Dataset.from_huggingface(datasets.Dataset.from_dict({"image": [1.0]}), inputs=["imgae"])

    def test_a_stream_is_refused(self) -> None:
        datasets = pytest.importorskip("datasets")
        stream = datasets.Dataset.from_dict({"x": [1.0]}).to_iterable_dataset()
        with pytest.raises(ConfigurationError, match="streaming"):
            Dataset.from_huggingface(stream, inputs=["x"])


class TestTfData:
    def test_pairs_and_batches_of_them_are_the_same_data_set(self) -> None:
        tf = pytest.importorskip("tensorflow")
        single = tf.data.Dataset.from_tensor_slices((PICTURES, DIGITS))
        for data, batched in ((single, False), (single.batch(4), True)):
            subset = only(Dataset.from_tf_data(data, labels=NAMES, batched=batched))
            assert len(subset) == 6
            assert np.array_equal(subset.encode_many(Role.INPUT, "input", 0, 6), PICTURES)

    def test_text_beside_is_metadata(self) -> None:
        tf = pytest.importorskip("tensorflow")
        data = tf.data.Dataset.from_tensor_slices({"x": PICTURES, "y": DIGITS, "who": [*"abcdef"]})
        subset = only(Dataset.from_tf_data(data, inputs=["x"], ground_truths=["y"]))
        assert subset.metadata(3) == {"who": "d"}

    def test_endless_and_oversized_ones_are_refused(self) -> None:
        tf = pytest.importorskip("tensorflow")
        data = tf.data.Dataset.from_tensor_slices((np.zeros((64, 100, 100)), np.zeros(64)))
        with pytest.raises(ConfigurationError, match="for ever"):
            Dataset.from_tf_data(data.repeat())
        with pytest.raises(ConfigurationError, match="memory_mb=1"):
            Dataset.from_tf_data(data, memory_mb=1)
