"""ONNX files that try to reach outside, mislead about sizes, or exhaust: refused by name, before anything runs them.

Cases 13 to 18 of the list of hostile files; each sick file stands beside a healthy twin that loads.
"""

from __future__ import annotations

import os
import random
import socket
import struct
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from cutaway.errors import ModelError, ModelFormatError, UnsafeModel
from cutaway.frameworks.onnx.files import open_onnx
from cutaway.frameworks.onnx.structure import MOST_NODES

pytestmark = pytest.mark.timeout(60)

WEIGHTS = np.arange(12, dtype=np.float32).reshape(4, 3)
SIZE = WEIGHTS.nbytes


class RuntimeReached(AssertionError):
    """ONNX Runtime was given a file that should have been refused before."""


@pytest.fixture
def no_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where ONNX Runtime is reached at all."""

    def refuse(*_: Any, **__: Any) -> None:
        raise RuntimeReached

    monkeypatch.setattr(onnxruntime, "InferenceSession", refuse)


def external(entries: dict[str, str]) -> onnx.TensorProto:
    """A tensor that says its values lie elsewhere."""
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=WEIGHTS.shape)
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value
    return tensor


def model(*nodes: onnx.NodeProto, weights: list[onnx.TensorProto] | None = None, opset: int = 18) -> onnx.ModelProto:
    """A model x -> y of shape (n, 4) to anything."""
    nodes = nodes or (helper.make_node("MatMul", ["x", "w"], ["y"], name="product"),)
    inside = [numpy_helper.from_array(WEIGHTS, "w")] if weights is None else weights
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(list(nodes), "g", inputs, outputs, inside)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def written(folder: Path, made: onnx.ModelProto, name: str = "model.onnx") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_bytes(made.SerializeToString())
    return path


def with_external(folder: Path, entries: dict[str, str]) -> Path:
    return written(folder, model(weights=[external(entries)]))


def loads(path: Path, *, trust: bool = False) -> None:
    backend = open_onnx(path, trust=trust, custom_layers={})
    rows = np.ones((2, 4), np.float32)
    assert np.allclose(backend.predict({"x": rows})["y"], rows @ WEIGHTS)
    backend.close()


def refused(path: Path, error: type[ModelError], *words: str) -> None:
    with pytest.raises(error) as caught:
        open_onnx(path, trust=False, custom_layers={})
    for word in words:
        assert word in str(caught.value)


def test_honest_external_data_load_also_from_a_folder_below_and_at_an_offset(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    (folder / "below").mkdir(parents=True)
    (folder / "below" / "w.bin").write_bytes(b"12345678" + WEIGHTS.tobytes() + b"rest")
    loads(with_external(folder, {"location": "below/w.bin", "offset": "8", "length": str(SIZE)}))
    loads(with_external(folder, {"location": "below/w.bin", "offset": "8"}))


@pytest.mark.usefixtures("no_runtime")
class TestWhereExternalDataLie:
    """Case 13."""

    @pytest.mark.parametrize(
        "location",
        [
            "../secret.bin",
            "below/../../secret.bin",
            "./../secret.bin",
            "{outside}",
            "C:\\secret.bin",
            "C:secret.bin",
            "\\\\server\\share\\secret.bin",
            "//server/share/secret.bin",
            "file:///secret.bin",
            "file:secret.bin",
            "https://localhost/secret.bin",
            "..\\secret.bin",
            "",
            ".",
            "..",
            "a//b",
            "nul\0.bin",
        ],
    )
    def test_a_location_outside_is_refused_without_being_opened(
        self, tmp_path: Path, location: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        secret = tmp_path / "secret.bin"
        secret.write_bytes(WEIGHTS.tobytes())
        monkeypatch.setattr(socket, "socket", None)
        path = with_external(tmp_path / "model", {"location": location.format(outside=secret)})
        # An access time would move if it had been read.
        os.utime(secret, (1, 1))
        refused(path, UnsafeModel, "'w'")
        assert secret.stat().st_atime == 1

    def test_links_are_refused_and_a_copy_in_their_place_is_read(self, tmp_path: Path) -> None:
        secret = tmp_path / "secret.bin"
        secret.write_bytes(WEIGHTS.tobytes())
        folder = tmp_path / "model"
        path = with_external(folder, {"location": "w.bin"})
        (folder / "w.bin").symlink_to(secret)
        refused(path, UnsafeModel, "w.bin", "link")
        (folder / "w.bin").unlink()
        os.link(secret, folder / "w.bin")
        refused(path, UnsafeModel, "w.bin", "hard link")

    def test_a_folder_that_is_a_link_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "outside").mkdir()
        (tmp_path / "outside" / "w.bin").write_bytes(WEIGHTS.tobytes())
        path = with_external(tmp_path / "model", {"location": "below/w.bin"})
        (tmp_path / "model" / "below").symlink_to(tmp_path / "outside")
        refused(path, UnsafeModel, "below/w.bin", "link")

    @pytest.mark.parametrize("kind", ["folder", "pipe", "missing"])
    def test_what_is_no_regular_file_is_refused_at_once(self, tmp_path: Path, kind: str) -> None:
        path = with_external(tmp_path / "model", {"location": "w.bin"})
        place = tmp_path / "model" / "w.bin"
        if kind == "folder":
            place.mkdir()
        elif kind == "pipe":
            os.mkfifo(place)
        refused(path, ModelFormatError if kind == "missing" else UnsafeModel, "w.bin")

    def test_a_tensor_of_a_node_or_of_an_inner_graph_is_looked_at_too(self, tmp_path: Path) -> None:
        constant = helper.make_node("Constant", [], ["w"], value=external({"location": "../secret.bin"}))
        product = helper.make_node("MatMul", ["x", "w"], ["y"])
        refused(written(tmp_path, model(constant, product, weights=[])), UnsafeModel, "../secret.bin")
        output = helper.make_tensor_value_info("v", TensorProto.FLOAT, None)
        inner = helper.make_graph(
            [helper.make_node("MatMul", ["x", "w"], ["v"])], "b", [], [output], [external({"location": "/secret"})]
        )
        choice = helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner)
        condition = numpy_helper.from_array(np.array(True), "c")
        refused(written(tmp_path, model(choice, weights=[condition])), UnsafeModel, "/secret")


def test_a_trusted_model_may_use_links_as_caches_of_downloads_do(tmp_path: Path) -> None:
    (tmp_path / "blob").write_bytes(WEIGHTS.tobytes())
    path = with_external(tmp_path / "model", {"location": "w.bin"})
    (tmp_path / "model" / "w.bin").symlink_to(tmp_path / "blob")
    loads(path, trust=True)


@pytest.mark.usefixtures("no_runtime")
class TestHowLongExternalDataAre:
    """Cases 14 and 15."""

    @pytest.mark.parametrize(
        "entries",
        [
            {"length": str(SIZE - 4)},
            {"length": str(SIZE + 4)},
            {"offset": "-4"},
            {"offset": "4"},
            {"offset": str(2**63), "length": str(SIZE)},
            {"offset": str(2**64 - SIZE), "length": str(SIZE)},
            {"offset": "9" * 1_000_000},
            {"offset": "0x10"},
            {"offset": "1e3"},
            {"length": "-1"},
            {"length": "٤٨"},
        ],
        ids=lambda entries: str(entries)[:40],
    )
    def test_lengths_and_offsets_that_do_not_fit_are_refused(self, tmp_path: Path, entries: dict[str, str]) -> None:
        (tmp_path / "w.bin").write_bytes(WEIGHTS.tobytes())
        refused(with_external(tmp_path, {"location": "w.bin", **entries}), ModelFormatError, "'w'")

    def test_a_file_that_is_too_short_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "w.bin").write_bytes(WEIGHTS.tobytes()[:-1])
        refused(with_external(tmp_path, {"location": "w.bin"}), ModelFormatError, "w.bin", "47")

    @pytest.mark.parametrize("key", ["__class__", "__dict__", "basepath", "Location", "data_location"])
    def test_unknown_keys_are_refused(self, tmp_path: Path, key: str) -> None:
        (tmp_path / "w.bin").write_bytes(WEIGHTS.tobytes())
        refused(with_external(tmp_path, {"location": "w.bin", key: "1"}), UnsafeModel, repr(key))

    def test_a_key_given_twice_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "w.bin").write_bytes(WEIGHTS.tobytes())
        tensor = external({"location": "w.bin"})
        entry = tensor.external_data.add()
        entry.key, entry.value = "location", "../secret.bin"
        refused(written(tmp_path, model(weights=[tensor])), UnsafeModel, "'location'")

    def test_values_here_and_elsewhere_are_refused(self, tmp_path: Path) -> None:
        tensor = numpy_helper.from_array(WEIGHTS, "w")
        entry = tensor.external_data.add()
        entry.key, entry.value = "location", "w.bin"
        refused(written(tmp_path, model(weights=[tensor])), UnsafeModel, "'w'")

    def test_a_sparse_file_of_terabytes_is_not_read(self, tmp_path: Path) -> None:
        tensor = external({"location": "w.bin"})
        tensor.ClearField("dims")
        tensor.dims.extend([2**20, 2**18])
        with (tmp_path / "w.bin").open("wb") as file:
            file.truncate(2**40)
        refused(written(tmp_path, model(weights=[tensor])), UnsafeModel, str(2**40))


@pytest.mark.usefixtures("no_runtime")
class TestSizes:
    """Case 17 without running it: what a file declares is weighed before anything is allocated."""

    @pytest.mark.parametrize("dims", [[4, 4], [2], [2**31, 2**31], [-1, 12], [2**62, 8], [0], [0, 2**62]])
    def test_a_shape_that_the_values_do_not_fill_is_refused(self, tmp_path: Path, dims: list[int]) -> None:
        raw = numpy_helper.from_array(WEIGHTS, "w")
        typed = helper.make_tensor("w", TensorProto.FLOAT, WEIGHTS.shape, WEIGHTS.ravel().tolist())
        for tensor in (raw, typed):
            tensor.ClearField("dims")
            tensor.dims.extend(dims)
            refused(written(tmp_path, model(weights=[tensor])), ModelFormatError, "'w'")

    def test_an_unknown_type_is_refused(self, tmp_path: Path) -> None:
        tensor = numpy_helper.from_array(WEIGHTS, "w")
        tensor.data_type = 999
        refused(written(tmp_path, model(weights=[tensor])), ModelFormatError, "999")

    @pytest.mark.parametrize("kind", ["ConstantOfShape", "Expand"])
    @pytest.mark.parametrize("how", ["initializer", "constant"])
    def test_a_constant_that_would_fill_the_memory_is_refused(self, tmp_path: Path, kind: str, how: str) -> None:
        sizes = [200_000, 200_000]
        shape = numpy_helper.from_array(np.array(sizes, np.int64), "s")
        source = [] if how == "initializer" else [helper.make_node("Constant", [], ["s"], value_ints=sizes)]
        inputs = ["s"] if kind == "ConstantOfShape" else ["x", "s"]
        blown = helper.make_node(kind, inputs, ["y"], name="bomb")
        made = model(*source, blown, weights=[shape] if how == "initializer" else [])
        refused(written(tmp_path, made), UnsafeModel, "'bomb'", "200000")

    def test_sparse_weights_are_refused(self, tmp_path: Path) -> None:
        made = model()
        values, places = numpy_helper.from_array(np.ones(1, np.float32), "w2"), np.zeros(1, np.int64)
        sparse = helper.make_sparse_tensor(values, numpy_helper.from_array(places, "i"), [2**40])
        made.graph.sparse_initializer.append(sparse)
        refused(written(tmp_path, made), ModelFormatError, "sparse")


def test_a_small_constant_is_no_bomb(tmp_path: Path) -> None:
    shape = numpy_helper.from_array(np.array([4, 3], np.int64), "s")
    zeros = helper.make_node("ConstantOfShape", ["s"], ["z"])
    product = helper.make_node("MatMul", ["x", "w"], ["p"])
    nodes = [zeros, helper.make_node("Add", ["w", "z"], ["w2"]), product, helper.make_node("Identity", ["p"], ["y"])]
    loads(written(tmp_path, model(*nodes, weights=[numpy_helper.from_array(WEIGHTS, "w"), shape])))


@pytest.mark.usefixtures("no_runtime")
class TestStructure:
    """Case 18."""

    def test_graphs_nested_a_thousand_deep_are_refused(self, tmp_path: Path) -> None:
        # Built as bytes, from the inside out: the library that writes such messages refuses to nest them as well.
        graph = _message(11, b"y")
        for _ in range(1000):
            attribute = _field(1, b"then_branch") + _field(6, graph)
            node = _field(4, b"If") + _field(5, attribute)
            graph = _field(1, node)
        data = struct.pack("BB", 1 << 3, 8) + _field(7, graph)
        path = tmp_path / "deep.onnx"
        path.write_bytes(data)
        refused(path, ModelFormatError, "nested too deep")

    def test_graphs_nested_too_deep_for_us_are_refused(self, tmp_path: Path) -> None:
        made = model(weights=[])
        inner = _nested(20)
        made.graph.ClearField("node")
        made.graph.node.append(helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=_nested(0)))
        refused(written(tmp_path, made), ModelFormatError, "deeper than 16")

    def test_a_circle_is_refused_by_the_name_of_a_node_in_it(self, tmp_path: Path) -> None:
        nodes = [
            helper.make_node("Add", ["x", "b"], ["a"], name="first"),
            helper.make_node("Relu", ["a"], ["b"], name="second"),
            helper.make_node("Identity", ["b"], ["y"]),
        ]
        refused(written(tmp_path, model(*nodes)), ModelFormatError, "circle", "'first'")

    def test_one_name_for_two_tensors_is_refused(self, tmp_path: Path) -> None:
        twice = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Tanh", ["x"], ["y"])]
        refused(written(tmp_path, model(*twice)), ModelFormatError, "'y'")
        shadow = [helper.make_node("Relu", ["x"], ["w"]), helper.make_node("Identity", ["w"], ["y"])]
        refused(written(tmp_path, model(*shadow)), ModelFormatError, "'w'")
        weights = [numpy_helper.from_array(WEIGHTS, "w")] * 2
        refused(written(tmp_path, model(weights=weights)), ModelFormatError, "'w'")

    def test_a_million_nodes_are_refused(self, tmp_path: Path) -> None:
        node = helper.make_node("Relu", ["x"], [""]).SerializeToString()
        nodes = _field(1, node) * 1_000_000
        path = tmp_path / "many.onnx"
        graph = nodes + model().graph.SerializeToString()
        path.write_bytes(struct.pack("BB", 1 << 3, 8) + _field(7, graph))
        refused(path, ModelFormatError, str(MOST_NODES))

    @pytest.mark.parametrize("opset", [999, 0, -3])
    def test_an_operator_set_of_another_time_is_refused(self, tmp_path: Path, opset: int) -> None:
        refused(written(tmp_path, model(opset=opset)), ModelFormatError, str(opset))

    def test_a_newer_file_format_is_refused(self, tmp_path: Path) -> None:
        made = model()
        made.ir_version = 999
        refused(written(tmp_path, made), ModelFormatError, "999")

    def test_a_custom_operator_is_refused_by_its_domain(self, tmp_path: Path) -> None:
        node = helper.make_node("Run", ["x"], ["y"], name="own", domain="evil.ops")
        refused(written(tmp_path, model(node)), ModelFormatError, "evil.ops", "'own'")

    def test_functions_that_stand_for_billions_of_nodes_are_refused(self, tmp_path: Path) -> None:
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
        functions = []
        for level in range(40):
            inner = {"domain": "own"} if level else {}
            kind = f"F{level - 1}" if level else "Relu"
            calls = [
                helper.make_node(kind, ["a"], ["b"], **inner),
                helper.make_node(kind, ["b"], ["c"], **inner),
            ]
            functions.append(helper.make_function("own", f"F{level}", ["a"], ["c"], calls, opsets))
        made = model(helper.make_node("F39", ["x"], ["y"], domain="own"))
        made.opset_import.append(helper.make_opsetid("own", 1))
        made.functions.extend(functions)
        refused(written(tmp_path, made), ModelFormatError, str(2**40))

    def test_a_function_that_calls_itself_is_refused(self, tmp_path: Path) -> None:
        opsets = [helper.make_opsetid("own", 1)]
        for inner in ("Again", "Other"):
            made = model(helper.make_node("Again", ["x"], ["y"], domain="own"))
            made.opset_import.append(helper.make_opsetid("own", 1))
            for name, called in (("Again", inner), ("Other", "Again")):
                call = helper.make_node(called, ["a"], ["b"], domain="own")
                made.functions.append(helper.make_function("own", name, ["a"], ["b"], [call], opsets))
            refused(written(tmp_path, made), ModelFormatError, "calls itself")

    def test_a_bomb_inside_a_function_is_seen(self, tmp_path: Path) -> None:
        blown = [
            helper.make_node("Constant", [], ["s"], value_ints=[200_000, 200_000]),
            helper.make_node("Expand", ["a", "s"], ["b"], name="bomb"),
        ]
        made = model(helper.make_node("Blow", ["x"], ["y"], domain="own"))
        made.opset_import.append(helper.make_opsetid("own", 1))
        made.functions.append(helper.make_function("own", "Blow", ["a"], ["b"], blown, [helper.make_opsetid("", 18)]))
        refused(written(tmp_path, made), UnsafeModel, "200000")

    @pytest.mark.parametrize(
        "data", [b"", b"\x08\x08", b"PK\x03\x04" + b"\0" * 50, random.Random(0).randbytes(4096), b"{}", b"\xff" * 99]
    )
    def test_what_is_no_model_is_refused(self, tmp_path: Path, data: bytes) -> None:
        path = tmp_path / "model.onnx"
        path.write_bytes(data)
        refused(path, ModelFormatError, "model.onnx")

    def test_names_that_are_no_text_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "model.onnx"
        whole = model().SerializeToString()
        for name in (b"product", b"MatMul"):
            path.write_bytes(whole.replace(name, b"\xff" * len(name)))
            refused(path, ModelFormatError, "not text")

    def test_a_model_cut_short_anywhere_is_refused(self, tmp_path: Path) -> None:
        whole = model().SerializeToString()
        for part in range(1, 64):
            path = tmp_path / "model.onnx"
            path.write_bytes(whole[: len(whole) * part // 64])
            refused(path, ModelFormatError)

    @pytest.mark.parametrize("kind", ["folder", "pipe", "zeros"])
    def test_what_is_no_file_is_refused_at_once(self, tmp_path: Path, kind: str) -> None:
        path = tmp_path / "model.onnx"
        if kind == "folder":
            path.mkdir()
        elif kind == "pipe":
            os.mkfifo(path)
        refused(Path("/dev/zero") if kind == "zeros" else path, ModelFormatError)

    def test_a_file_beyond_what_the_format_allows_is_refused_unread(self, tmp_path: Path) -> None:
        path = tmp_path / "model.onnx"
        with path.open("wb") as file:
            file.truncate(2**40)
        refused(path, ModelFormatError, str(2**40))


def test_what_onnx_runtime_itself_does_not_take_is_a_named_error(tmp_path: Path) -> None:
    node = helper.make_node("NoSuchOperator", ["x"], ["y"])
    refused(written(tmp_path, model(node)), ModelFormatError, "NoSuchOperator")


def test_the_healthy_twins_load(tmp_path: Path) -> None:
    loads(written(tmp_path, model()))
    out_of_order = [helper.make_node("Identity", ["p"], ["y"]), helper.make_node("MatMul", ["x", "w"], ["p"])]
    loads(written(tmp_path, model(*out_of_order)))
    twin = onnx.ModelProto()
    twin.CopyFrom(model())
    twin.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [4, 3]))
    loads(written(tmp_path, twin))


def test_a_file_with_flipped_bits_loads_or_is_refused_by_name(tmp_path: Path) -> None:
    whole = model().SerializeToString()
    path = tmp_path / "model.onnx"
    verdicts = set()
    for place in range(len(whole)):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        try:
            open_onnx(path, trust=False, custom_layers={}).close()
            verdicts.add("loads")
        except ModelError as error:
            verdicts.add(type(error).__name__)
    assert verdicts <= {"loads", "ModelFormatError", "UnsafeModel"}
    assert {"loads", "ModelFormatError"} <= verdicts


def _varint(number: int) -> bytes:
    parts = []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _message(number: int, data: bytes) -> bytes:
    return _field(number, _field(1, data))


def _nested(depth: int) -> onnx.GraphProto:
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [], [output])
    for _ in range(depth):
        node = helper.make_node("If", ["c"], ["y"], then_branch=graph)
        graph = helper.make_graph([node], "g", [], [output])
    return graph
