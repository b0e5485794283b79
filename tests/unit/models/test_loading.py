"""`load`: files, live objects, functions that save, and what is none of them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway import registry
from cutaway.errors import ConfigurationError, ModelError, UnsafeModel
from cutaway.models import Limits, Model, load
from tests import toy_format

Write = Callable[..., Path]
ROWS = np.ones((2, 4), np.float32)


def test_a_file_is_loaded_into_a_process_of_its_own(toy: Write) -> None:
    path = toy()
    for source in (path, str(path), str(path).encode()):
        if isinstance(source, bytes):
            with pytest.raises(ModelError, match=r"A builtins\.bytes is no model"):
                load(source)
            continue
        with load(source) as model:
            assert model.predict(ROWS)["scores"].shape == (2, 3)
            assert model.limits[0].startswith("memory: ")


def test_a_relative_path_is_found(toy: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = toy()
    monkeypatch.chdir(path.parent)
    with load(path.name) as model:
        assert model.description.format == "toy"


def test_a_trusted_file_is_opened_here_without_its_checks(toy: Write) -> None:
    path = toy(unsafe=True, predict="pid")
    with pytest.raises(UnsafeModel):
        load(path)
    with load(path, trust=True) as model:
        import os

        assert model.predict(ROWS)["scores"][0, 0] == os.getpid()
        assert model.limits == ("none: the model is trusted and runs in this process.",)


def test_a_format_of_another_package_is_named_by_its_suffix_where_no_content_tells(toy: Write) -> None:
    path = toy()
    with load(path) as model:
        assert model.description.format == "toy"
    other = path.rename(path.with_suffix(".bin"))
    with pytest.raises(ModelError, match="its content is none of the formats that are read"):
        load(other)


def test_an_entry_file_brings_custom_layers_into_the_process(
    toy: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = tmp_path / "leap_binder.py"
    entry.write_text(
        "from cutaway.dataset import tensorleap_custom_layer\n\n\n"
        "@tensorleap_custom_layer('Twice')\nclass Twice:\n    pass\n"
    )
    with load(toy(), entry_file=entry) as model:
        assert model.description.notes == ("Twice",)
    with pytest.raises(ConfigurationError, match=r"no entry file at .*missing\.py"):
        load(toy(), entry_file=tmp_path / "missing.py")


def test_a_function_that_saves_a_model_is_called_with_a_path(toy: Write) -> None:
    toy()
    targets: list[Path] = []

    def leap_save_model(target_file_path: Path) -> None:
        targets.append(target_file_path)
        toy_format.write(target_file_path.with_suffix(".toy"))

    model = load(leap_save_model)
    assert isinstance(targets[0], Path)
    assert targets[0].parent.is_dir()
    assert model.predict(ROWS)["scores"].shape == (2, 3)
    assert model.description.notes == ()
    model.close()
    assert not targets[0].parent.exists()


def test_a_function_that_saves_nothing_or_fails_is_told_with_its_line(tmp_path: Path) -> None:
    def leap_save_model(target_file_path: Path) -> None:
        """Forget to save."""

    def fails(target_file_path: Path) -> None:
        raise RuntimeError("no weights")

    with pytest.raises(ModelError, match=r"'leap_save_model' was to save one model.*it wrote nothing there"):
        load(leap_save_model)
    with pytest.raises(ModelError, match=r"test_loading\.py:\d+: 'fails' failed to save its model: RuntimeError: no w"):
        load(fails)


@pytest.mark.parametrize("source", [None, 3, [1], {"a": 1}, object(), np.ones(3)])
def test_what_is_no_model_is_named_with_what_is_accepted(source: object) -> None:
    with pytest.raises(ModelError, match=rf"\.{type(source).__name__} is no model.*live Keras or torch model"):
        load(source)
    with pytest.raises(ModelError, match="'Path' is a class, not a model"):
        load(Path)


def test_a_live_object_is_found_by_the_package_of_its_class(monkeypatch: pytest.MonkeyPatch) -> None:
    wrapped = []
    module = type("Module", (), {"__module__": "torch.nn.modules.module"})

    def wrap(given: object) -> toy_format.ToyBackend:
        wrapped.append(given)
        return toy_format.ToyBackend({})

    class Net(module):
        pass

    known = registry.load
    monkeypatch.setattr(registry, "load", lambda kind, name: wrap if name == "torch" else known(kind, name))
    net = Net()
    model = load(net, channels_last=True)
    assert isinstance(model, Model)
    assert wrapped == [net]
    assert model.limits == ("none: a live model runs in this process.",)
    assert model.channels_last is True


def test_limits_reach_the_process(toy: Write) -> None:
    with load(toy(), limits=Limits(memory_mb=500, threads=1)) as model:
        assert "500 MB" in model.limits[0]
        assert model.description.about["threads"] == "1"


def test_importing_models_imports_no_framework() -> None:
    script = (
        "import sys, cutaway.models\n"
        "heavy = 'torch keras tensorflow onnx onnxruntime h5py PIL pandas sklearn pyarrow'.split()\n"
        "print(sorted(set(heavy) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_example_shows_the_outputs_of_a_live_module() -> None:
    torch = pytest.importorskip("torch")

    class Two(torch.nn.Module):
        def forward(self, x: Any) -> dict[str, Any]:
            return {"twice": 2 * x, "half": x / 2}

    batch = np.ones((3, 2), np.float32)
    with load(Two(), example=batch) as model:
        assert [spec.name for spec in model.outputs] == ["twice", "half"]
        assert np.array_equal(model.predict(batch)["twice"], 2 * batch)
