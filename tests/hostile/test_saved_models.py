"""SavedModel folders that read or write files, run Python, hide in their saver or exhaust the machine: case 19.

The hostile ones are made by TensorFlow itself where it can, and by changing a healthy one's graph where it cannot.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from cutaway.errors import ModelFormatError, UnsafeModel
from cutaway.frameworks.tensorflow.saved_model import open_saved_model

ROWS = np.ones((3, 4), "float32")


class Served(tf.Module):
    """A model whose function does something beside computing."""

    def __init__(self, beside: Callable[[Any], Any]) -> None:
        self.w = tf.Variable(tf.ones((4, 2)))
        self.beside = beside

    @tf.function(input_signature=[tf.TensorSpec([None, 4], name="x")])
    def serve(self, x: Any) -> dict[str, Any]:
        """Return a product."""
        return {"y": tf.nn.relu(tf.matmul(self.beside(x), self.w))}


def saved(folder: Path, beside: Callable[[Any], Any] = lambda x: x) -> Path:
    model = Served(beside)
    tf.saved_model.save(model, str(folder), signatures=model.serve)
    return folder


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("healthy") / "model")


@pytest.fixture
def copied(healthy: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(healthy, tmp_path / "model"))


def changed(folder: Path, change: Callable[[Any], None]) -> Path:
    """The folder with its graph changed."""
    message = saved_model_pb2.SavedModel.FromString((folder / "saved_model.pb").read_bytes())
    change(message.meta_graphs[0])
    (folder / "saved_model.pb").write_bytes(message.SerializeToString())
    return folder


def opened(folder: Path, *, trust: bool = False) -> Any:
    return open_saved_model(folder, trust=trust, custom_layers={})


def served_function(graph: Any) -> Any:
    return next(f for f in graph.graph_def.library.function if any(n.op == "MatMul" for n in f.node_def))


def saver_function(graph: Any) -> Any:
    return next(f for f in graph.graph_def.library.function if any(n.op == "SaveV2" for n in f.node_def))


def test_the_healthy_folder_loads_and_answers(healthy: Path) -> None:
    assert np.array_equal(opened(healthy).predict({"x": ROWS})["y"], np.full((3, 2), 4.0))


def writes(marker: Path, x: Any) -> Any:
    with tf.control_dependencies([tf.io.write_file(str(marker), "was here")]):
        return tf.identity(x)


def reads(marker: Path, x: Any) -> Any:
    return x + tf.cast(tf.strings.length(tf.io.read_file(str(marker))), tf.float32)


def lists(marker: Path, x: Any) -> Any:
    return x + tf.cast(tf.size(tf.io.matching_files(f"{marker.parent}/*")), tf.float32)


def python(marker: Path, x: Any) -> Any:
    return tf.ensure_shape(tf.py_function(lambda v: v, [x], tf.float32), [None, 4])


def stateless_python(marker: Path, x: Any) -> Any:
    return tf.ensure_shape(tf.numpy_function(lambda v: v, [x], tf.float32, stateful=False), [None, 4])


def prints(marker: Path, x: Any) -> Any:
    with tf.control_dependencies([tf.print("was here", output_stream=f"file://{marker}")]):
        return tf.identity(x)


def records(marker: Path, x: Any) -> Any:
    count = tf.data.TFRecordDataset(str(marker)).reduce(0.0, lambda total, _: total + 1)
    return x + count


def remaps(marker: Path, x: Any) -> Any:
    """Reads a file that is named by a value, under a name that has no file in it."""
    found = tf.raw_ops.GenerateVocabRemapping(
        new_vocab_file=str(marker), old_vocab_file=str(marker), new_vocab_offset=0, num_new_vocab=1, old_vocab_size=-1
    )
    return x + tf.cast(found.num_present, tf.float32)


def decodes(marker: Path, x: Any) -> Any:
    """Reads what a message consists of from a file."""
    fields = tf.io.decode_proto([b""], "some.Message", ["field"], [tf.float32], descriptor_source=str(marker))
    return x + tf.cast(tf.size(fields.sizes), tf.float32)


def restores(marker: Path, x: Any) -> Any:
    return (
        x + tf.raw_ops.RestoreV2(prefix=str(marker), tensor_names=["a"], shape_and_slices=[""], dtypes=[tf.float32])[0]
    )


def saves(marker: Path, x: Any) -> Any:
    saving = tf.raw_ops.SaveV2(prefix=str(marker), tensor_names=["a"], shape_and_slices=[""], tensors=[x])
    with tf.control_dependencies([saving]):
        return tf.identity(x)


@pytest.mark.parametrize(
    ("act", "operation"),
    [
        (writes, "WriteFile"),
        (reads, "ReadFile"),
        (lists, "MatchingFiles"),
        (python, "EagerPyFunc"),
        (stateless_python, "PyFuncStateless"),
        (prints, "PrintV2"),
        (records, "TFRecordDataset"),
        (remaps, "GenerateVocabRemapping"),
        (decodes, "DecodeProtoV2"),
        (restores, "RestoreV2"),
        (saves, "SaveV2"),
    ],
)
def test_operations_that_reach_beyond_the_model_are_listed_and_refused(
    act: Callable[[Path, Any], Any], operation: str, tmp_path: Path
) -> None:
    marker = tmp_path / "marker"
    folder = saved(tmp_path / "model", lambda x: act(marker, x))
    with pytest.raises(UnsafeModel, match=rf"{operation}.*trust=True"):
        opened(folder)
    assert not list(tmp_path.glob("marker*"))


def test_a_folder_that_is_trusted_may_write(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    folder = saved(tmp_path / "model", lambda x: writes(marker, x))
    opened(folder, trust=True).predict({"x": ROWS})
    assert marker.read_text() == "was here"


def test_an_unknown_operation_is_refused(copied: Path) -> None:
    def change(graph: Any) -> None:
        next(n for n in served_function(graph).node_def if n.op == "Relu").op = "LaunchMissiles"

    with pytest.raises(UnsafeModel, match=r"LaunchMissiles \(unknown\)"):
        opened(changed(copied, change))


def test_a_file_operation_in_a_function_that_nothing_calls_is_refused_too(copied: Path) -> None:
    def change(graph: Any) -> None:
        function = graph.graph_def.library.function.add()
        function.signature.name = "sleeping"
        function.node_def.add(name="r", op="ReadFile")

    with pytest.raises(UnsafeModel, match="ReadFile"):
        opened(changed(copied, change))


def test_the_saver_is_no_hiding_place(copied: Path) -> None:
    def change(graph: Any) -> None:
        saver_function(graph).node_def.add(name="w", op="WriteFile")

    with pytest.raises(UnsafeModel, match="WriteFile"):
        opened(changed(copied, change))


@pytest.mark.parametrize("way", ["called", "offered", "signature"])
def test_the_saver_functions_are_for_the_saver_alone(copied: Path, way: str) -> None:
    """Called by the model, or offered as one of its functions, they would write where an input says."""

    def change(graph: Any) -> None:
        name = saver_function(graph).signature.name
        if way == "called":
            call = served_function(graph).node_def.add(name="call", op="StatefulPartitionedCall")
            call.attr["f"].func.name = name
        elif way == "offered":
            next(n for n in graph.object_graph_def.nodes if n.HasField("function")).function.concrete_functions.append(
                name
            )
        else:
            outputs = graph.signature_def["serving_default"].outputs
            next(iter(outputs.values())).name = graph.saver_def.save_tensor_name

    with pytest.raises(UnsafeModel, match="SaveV2"):
        opened(changed(copied, change))


def test_a_constant_that_declares_more_than_it_stores_is_refused(copied: Path) -> None:
    def change(graph: Any) -> None:
        node = served_function(graph).node_def.add(name="bomb", op="Const")
        node.attr["dtype"].type = tf.float32.as_datatype_enum
        tensor = node.attr["value"].tensor
        tensor.dtype = tf.float32.as_datatype_enum
        tensor.tensor_shape.dim.add(size=40_000_000_000)
        tensor.float_val.append(1)

    with pytest.raises(UnsafeModel, match="'bomb' declares 160,000,000,000 bytes"):
        opened(changed(copied, change))


def test_variables_that_declare_more_than_is_stored_are_refused(copied: Path) -> None:
    def change(graph: Any) -> None:
        variable = next(n.variable for n in graph.object_graph_def.nodes if n.HasField("variable"))
        variable.shape.dim[0].size = 10**10

    with pytest.raises(UnsafeModel, match="its variables declare 80,000,000,000 bytes"):
        opened(changed(copied, change))


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "gs://bucket/words"])
def test_assets_outside_of_the_folder_are_refused(copied: Path, name: str) -> None:
    with pytest.raises(UnsafeModel, match="lies outside of its folder"):
        opened(changed(copied, lambda graph: graph.asset_file_def.add(filename=name)))


@pytest.mark.parametrize("name", ["saved_model.pb", "variables/variables.index", "assets"])
def test_links_in_the_folder_are_refused(copied: Path, tmp_path: Path, name: str) -> None:
    path = copied / name
    elsewhere = tmp_path / "elsewhere"
    if path.is_dir():
        shutil.move(path, elsewhere)
    elif path.exists():
        elsewhere.write_bytes(path.read_bytes())
        path.unlink()
    else:
        elsewhere.mkdir()
    path.symlink_to(elsewhere)
    with pytest.raises(UnsafeModel, match="is a symbolic link"):
        opened(copied)


def test_a_pipe_in_the_folder_is_refused_and_not_waited_for(copied: Path) -> None:
    os.mkfifo(copied / "assets.pipe")
    with pytest.raises(UnsafeModel, match="neither a file nor a folder"):
        opened(copied)


@pytest.mark.parametrize("quarters", range(4))
def test_a_graph_that_is_cut_short_says_so(copied: Path, quarters: int) -> None:
    content = (copied / "saved_model.pb").read_bytes()
    (copied / "saved_model.pb").write_bytes(content[: len(content) * quarters // 4])
    with pytest.raises(ModelFormatError, match=r"saved_model.pb"):
        opened(copied)


@pytest.mark.parametrize("name", ["variables/variables.index", "variables/variables.data-00000-of-00001"])
def test_variables_that_are_missing_or_cut_short_are_said(copied: Path, name: str) -> None:
    content = (copied / name).read_bytes()
    (copied / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(ModelFormatError, match="TensorFlow cannot read it"):
        opened(copied)
    (copied / name).unlink()
    with pytest.raises(ModelFormatError, match="TensorFlow cannot read it"):
        opened(copied)


def test_a_folder_without_a_graph_says_so(tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match=r"has no saved_model.pb"):
        opened(tmp_path)
