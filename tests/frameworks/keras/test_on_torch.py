"""The same files with Keras on torch. A process has one backend, so the tests of files run in another one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("keras")
pytest.importorskip("torch")

HERE = Path(__file__).parent
SELECTED = (
    "TestMlp or left_as_it_was or TestSequentialFile or cnn or lstm or TestFunctionalFile or two_inputs or transformer "
    "or TestSubclassedModel or layers_have or class_of_its_own or mixed or embedding"
)


@pytest.mark.timeout(240)
@pytest.mark.slow
def test_files_and_live_models_answer_on_torch_too() -> None:
    files = [str(HERE / name) for name in ("test_files.py", "test_keras2_files.py", "test_live_models.py")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files, "-k", SELECTED]
    environment = {**os.environ, "KERAS_BACKEND": "torch", "OMP_NUM_THREADS": "1", "PYTEST_ADDOPTS": ""}
    ended = subprocess.run(
        command, cwd=HERE.parents[2], env=environment, capture_output=True, text=True, check=False, timeout=230
    )
    assert ended.returncode == 0, ended.stdout[-4000:]
    assert " passed" in ended.stdout


@pytest.mark.slow
def test_the_backend_is_tensorflow_where_nobody_chose_and_nan_stays_nan(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    environment = {key: value for key, value in os.environ.items() if key != "KERAS_BACKEND"}
    script = (
        "from cutaway.frameworks.keras.importing import import_keras\n"
        "import sys, os\n"
        "assert 'keras' not in sys.modules\n"
        "keras = import_keras('A test')\n"
        "import tensorflow as tf\n"
        "print(keras.backend.backend(), tf.config.threading.get_intra_op_parallelism_threads())\n"
        "layers = [keras.Input((8, 8, 1)), keras.layers.Conv2D(2, 3, activation='relu'), keras.layers.Flatten()]\n"
        "from cutaway.frameworks.keras.model import wrap\n"
        "import numpy as np\n"
        "backend = wrap(keras.Sequential(layers))\n"
        "name = backend.description.inputs[0].name\n"
        "images = np.full((2, 8, 8, 1), np.nan, 'float32')\n"
        "print(all(np.isnan(values).all() for values in backend.predict({name: images}).values()))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script],
        env={**environment, "CUTAWAY_MODEL_THREADS": "1", "KERAS_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.split() == ["tensorflow", "1", "True"]
