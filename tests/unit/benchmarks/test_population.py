"""The data of the population's benchmark, and the whole of it on few samples."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.population import __main__ as population
from benchmarks.population.gpu import latents_like_a_classifiers
from benchmarks.population.images import VARIABLE, enlarged_digits, find_mnist, read_images
from benchmarks.population.prepared import Sizes
from benchmarks.population.timing import in_turn


@pytest.fixture
def mnist(tmp_path: Path) -> Path:
    """A file in the layout of Keras."""
    path = tmp_path / "mnist.npz"
    images = np.random.default_rng(0).integers(0, 256, (20, 28, 28), np.uint8)
    labels = np.arange(20, dtype=np.uint8) % 10
    np.savez(path, x_train=images, y_train=labels, x_test=images[:5], y_test=labels[:5])
    return path


class TestFindingMnist:
    def test_a_given_file_comes_before_the_variable(self, mnist: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(VARIABLE, str(mnist.with_name("other.npz")))
        assert find_mnist(mnist) == mnist

    def test_the_variable_comes_before_what_keras_downloaded(
        self, mnist: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(VARIABLE, str(mnist))
        assert find_mnist(None) == mnist

    def test_a_named_file_that_is_not_there_is_an_error(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(VARIABLE, str(tmp_path / "none.npz"))
        with pytest.raises(FileNotFoundError, match="There is no file"):
            find_mnist(None)

    def test_without_any_there_is_none(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv(VARIABLE, raising=False)
        monkeypatch.setenv("HOME", str(tmp_path))
        assert find_mnist(None) is None

    def test_its_images_lie_between_0_and_1(self, mnist: Path) -> None:
        images = read_images(mnist, 10, 5)
        assert images.train.shape == (10, 1, 28, 28)
        assert (images.train.dtype, images.train.max() <= 1, images.real) == (np.float32, True, True)
        assert images.train_labels.tolist() == list(range(10))


class TestDigitsInItsPlace:
    def test_there_are_as_many_as_are_asked_for_and_no_two_alike(self) -> None:
        images = enlarged_digits(3000, 400)
        assert (images.train.shape, images.test.shape) == ((3000, 1, 28, 28), (400, 1, 28, 28))
        assert not images.real
        assert len(np.unique(images.train.reshape(3000, -1), axis=0)) == 3000

    def test_they_are_the_same_each_time(self) -> None:
        assert np.array_equal(enlarged_digits(100, 10).train, enlarged_digits(100, 10).train)


def test_functions_take_turns_after_a_first_call_that_is_not_timed() -> None:
    called: list[str] = []
    seconds = in_turn({"a": lambda: called.append("a"), "b": lambda: called.append("b")}, 3)
    assert "".join(called) == "ab" + "ab" + "ba" + "ab"
    assert {name: len(times) for name, times in seconds.items()} == {"a": 3, "b": 3}


def test_made_latents_are_like_a_classifiers() -> None:
    latents = latents_like_a_classifiers(500, device="cpu")
    assert (latents.shape, latents.dtype) == ((500, 128), np.float32)
    assert latents.min() == 0
    assert 0.2 < (latents == 0).mean() < 0.8
    assert np.array_equal(latents, latents_like_a_classifiers(500, device="cpu"))


@pytest.mark.slow
def test_the_whole_benchmark_runs_on_few_digits_and_judges_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(population, "QUICK", Sizes(600, 100, 2_000, 50))
    out = tmp_path / "rows.json"
    assert population.main(["--quick", "--no-peers", "--json", str(out)]) == 0
    rows = json.loads(out.read_text())["rows"]
    assert [row for row in rows if "reason" in row] == []
    assert {row["key"].split("-")[0] for row in rows} == {
        "map",
        "",
        "align",
        "place",
        "exact",
        "large",
        "fours",
        "heat",
        "sanity",
    }
    assert {row["verdict"] for row in rows} == {"-"}
    assert "The bars are for real MNIST, which was not found, so nothing is judged." in capsys.readouterr().out
