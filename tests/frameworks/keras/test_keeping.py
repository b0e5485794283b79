"""A copy of a live Keras model: a file that answers the same, or the reason why there is none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("keras")

import keras

from cutaway import registry
from cutaway.frameworks.keras.keeping import keep
from cutaway.frameworks.keras.model import wrap
from cutaway.models.loading import load
from tests.frameworks.keras.making import batch_for, cnn, two_inputs


@pytest.mark.parametrize("make", [cnn, two_inputs])
def test_a_model_is_kept_as_a_file_that_answers_the_same(make: object, tmp_path: Path) -> None:
    model = make()  # type: ignore[operator]
    live = wrap(model)
    batch = batch_for(live.description.inputs)
    kept = keep(model, batch, tmp_path / "kept")
    assert (kept.path, kept.format, kept.reason) == (tmp_path / "kept" / "model.keras", "keras", "")
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["model.keras"]
    with load(kept.path, trust=True) as copy:
        for name, values in copy.predict(batch).items():
            assert np.allclose(values, live.predict(batch)[name], atol=1e-5)


def test_what_cannot_be_read_again_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    inputs = keras.Input((3,), name="x")
    model = keras.Model(inputs, keras.layers.Lambda(lambda x: x * 2)(inputs))
    kept = keep(model, {"x": np.ones((2, 3), np.float32)}, tmp_path)
    assert kept.path is None
    assert kept.reason.startswith("Functional cannot be saved and read again.")
    assert list(tmp_path.iterdir()) == []


def test_it_is_found_through_the_registry() -> None:
    assert registry.load("model_keepers", "keras") is keep
