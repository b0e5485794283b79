"""Ways in, out and around that were found by attacking: each was open once, and each has a healthy twin beside it."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.engine.call_filter import _MACHINES, _REFUSED_WORDS, program
from cutaway.engine.crossing_errors import error_from
from cutaway.engine.scratch import remove_scratch
from cutaway.errors import ModelCrashed, ModelError, ModelFormatError, UnsafeModel
from cutaway.models import Limits
from cutaway.models.child import ChildBackend
from cutaway.models.crossing import BadDescription, description_from
from cutaway.models.recognising import recognise
from tests import toy_format
from tests.unit.engine.test_confinement import ALLOWED, MISSING, REFUSED, decide

ROW = {"x": np.ones((1, 4), np.float32)}


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., ChildBackend]:
    """A model of the toy format, in a process of its own."""
    folder = tmp_path / "installed"
    folder.mkdir()
    toy_format.install(folder, monkeypatch)

    def load(**does: Any) -> ChildBackend:
        path = toy_format.write(tmp_path / "model.toy", **does)
        return ChildBackend(path, "toy", Limits(seconds=20, memory_mb=400))

    return load


# The filter over system calls, alone: where the fence around writing is old or missing, it is all there is.


def filtered(code: str) -> str:
    """Run code in a process with the filter and without any other limit; what it prints, or the errors it meets."""
    start = """
        import ctypes, fcntl, os, sys, time
        from cutaway.engine.call_filter import filter_calls
        from cutaway.engine.system_calls import Unavailable, system_call
        def call(number, *arguments):
            try:
                return system_call(number, *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
            except Unavailable as error:
                return str(error)
        try:
            filter_calls()
        except Unavailable as error:
            print("unavailable:", error)
            sys.exit()
    """
    whole = textwrap.dedent(start) + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, timeout=60, check=False)
    if done.stdout.startswith("unavailable"):
        pytest.skip(done.stdout)
    return done.stdout + done.stderr


@pytest.fixture
def signals() -> Iterator[list[int]]:
    """The signals about files that reach this process."""
    got: list[int] = []
    before = signal.signal(signal.SIGIO, lambda number, _: got.append(number))
    yield got
    signal.signal(signal.SIGIO, before)


@pytest.mark.skipif(sys.platform != "linux", reason="the limits of Linux")
def test_the_kernel_sends_no_signals_to_others_for_a_model(signals: list[int]) -> None:
    # As the owner of a pipe, another process is sent whatever signal one likes when the pipe can be read.
    said = filtered(f"""
        readable, writable = os.pipe()
        try:
            fcntl.fcntl(readable, fcntl.F_SETOWN, {os.getpid()})
        except PermissionError as error:
            print(error)
        fcntl.fcntl(readable, fcntl.F_SETFL, fcntl.fcntl(readable, fcntl.F_GETFL) | os.O_ASYNC)
        os.write(writable, b"x")
        time.sleep(0.1)
        print(os.read(readable, 1))
    """)
    assert "not permitted" in said
    assert "b'x'" in said
    assert signals == []


@pytest.mark.skipif(sys.platform != "linux", reason="the limits of Linux")
def test_a_file_is_not_emptied_by_who_only_asks_to_read_it(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("precious")
    said = filtered(f"""
        for how in (lambda: os.open({str(kept)!r}, os.O_RDONLY | os.O_TRUNC), lambda: os.truncate({str(kept)!r}, 0)):
            try:
                how()
            except PermissionError:
                print("refused")
        print(open({str(kept)!r}).read())
        with open({str(tmp_path / "own")!r}, "w") as file:
            print(file.write("12345"))
    """)
    assert said.split() == ["refused", "refused", "precious", "5"]


@pytest.mark.skipif(sys.platform != "linux" or os.uname().machine != "x86_64", reason="numbers of calls on x86-64")
@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("scheduling of others", "call(141, 0, os.getppid(), 5)"),
        ("queues that stay", "call(68, 0, 0o1600)"),
        ("semaphores that stay", "call(64, 0, 1, 0o1600)"),
        ("memory of others", "call(30, 0, None, 0)"),
        ("mounts", "call(433, -100, ctypes.c_char_p(b'/'), 0)"),
    ],
)
def test_what_stays_or_reaches_others_is_refused(what: str, code: str) -> None:
    assert "not permitted" in filtered(f"print({code})"), what
    assert filtered("print(call(39))").strip().isdigit()


@pytest.mark.skipif(sys.platform != "linux", reason="the limits of Linux")
def test_flags_of_a_file_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("kept")
    said = filtered(f"""
        file = os.open({str(tmp_path / "kept")!r}, os.O_RDONLY)
        try:
            fcntl.ioctl(file, 0x40086602, (0x40).to_bytes(8, "little"))
        except OSError as error:
            print(error)
        print(fcntl.ioctl(file, 0x541B, b"0000"))
    """)
    assert "not permitted" in said
    assert r"b'\x04\x00\x00\x00'" in said


@pytest.mark.parametrize("name", ["x86_64", "aarch64"])
def test_words_in_arguments_are_looked_at_on_both_processors(name: str) -> None:
    known, code = _MACHINES[name], program(name, 4711)
    for numbers, words in _REFUSED_WORDS.values():
        for word in words:
            assert decide(code, known.audit, numbers[known.column], 3, word) == REFUSED
        assert decide(code, known.audit, numbers[known.column], 3, 3) == ALLOWED
    calls = {"x86_64": ((2, (0,)), (257, (0, 0))), "aarch64": ((56, (0, 0)),)}[name]
    for number, before in calls:
        assert decide(code, known.audit, number, *before, os.O_RDONLY | 0o1000) == REFUSED
        for flags in (os.O_RDONLY, os.O_WRONLY | 0o1000, os.O_RDWR | 0o1000, os.O_RDONLY | os.O_CLOEXEC):
            assert decide(code, known.audit, number, *before, flags) == ALLOWED
    assert decide(code, known.audit, 437) == MISSING


# What a process leaves behind, and what it answers.


@pytest.mark.parametrize("depth", [3, 3_000])
def test_folders_within_folders_are_removed_with_the_model(toy: Callable[..., ChildBackend], depth: int) -> None:
    code = f"import os\nfor _ in range({depth}):\n    os.mkdir('d')\n    os.chdir('d')\nopen('f', 'w').close()"
    model = toy(predict="run", **{"with": code})
    scratch = Path(str(model.description.about["cwd"]))
    assert scratch.is_dir()
    model.predict(ROW)
    model.close()
    assert not scratch.exists()


def test_what_cannot_be_read_is_removed_too_and_what_links_lead_to_stays(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "kept").write_text("kept")
    scratch = tmp_path / "scratch"
    (scratch / "locked" / "inner").mkdir(parents=True)
    (scratch / "locked" / "inner" / "file").write_text("x")
    (scratch / "link").symlink_to(tmp_path / "outside")
    (scratch / "locked" / "link").symlink_to(tmp_path / "outside")
    (scratch / "locked" / "inner").chmod(0)
    (scratch / "locked").chmod(0o300)
    remove_scratch(scratch)
    assert not scratch.exists()
    assert (tmp_path / "outside" / "kept").read_text() == "kept"
    remove_scratch(scratch)


@pytest.mark.parametrize("shape", [[0, 2**61, 2**61], [2**40, 0, 2**40], [0, 2**62]])
def test_an_answer_of_no_bytes_and_an_impossible_shape_is_refused(
    toy: Callable[..., ChildBackend], shape: list[int]
) -> None:
    model = toy(predict="lie", **{"with": [{"name": "scores", "dtype": "float32", "shape": shape, "at": 0}]})
    with pytest.raises(ModelCrashed, match="no proper shape"):
        model.predict(ROW)
    model.close()


def test_an_answer_of_no_bytes_is_an_answer(toy: Callable[..., ChildBackend]) -> None:
    model = toy(predict="lie", **{"with": [{"name": "scores", "dtype": "float32", "shape": [0, 3], "at": 0}]})
    assert model.predict(ROW)["scores"].shape == (0, 3)
    model.close()


def test_halves_of_characters_do_not_cross(toy: Callable[..., ChildBackend]) -> None:
    assert str(error_from({"class": "ModelError", "message": "a\ud800b"})) == "a?b"
    described = {"format": "toy", "inputs": [], "outputs": [], "layers": [], "notes": ["a\ud800b"]}
    with pytest.raises(BadDescription, match="text"):
        description_from(described)
    assert description_from({**described, "notes": ["äb"]}).notes == ("äb",)
    model = toy(predict="raise", **{"with": "broken \udc80"})
    with pytest.raises(ModelError, match="broken"):
        model.predict(ROW)
    model.close()


# Recognising


def test_a_folder_of_very_deep_folders_is_survived(tmp_path: Path) -> None:
    (tmp_path / "saved_model.pb").write_bytes(b"\x08\x01\x12\x02ab")
    (tmp_path / "variables").mkdir()
    assert recognise(tmp_path, Limits()).format == "saved_model"
    inside = os.open(tmp_path, os.O_RDONLY)
    for _ in range(3_000):
        os.mkdir("d", dir_fd=inside)
        deeper = os.open("d", os.O_RDONLY, dir_fd=inside)
        os.close(inside)
        inside = deeper
    os.close(inside)
    with pytest.raises((UnsafeModel, ModelError)):
        recognise(tmp_path, Limits())
    remove_scratch(tmp_path / "d")


def test_a_folder_of_very_many_empty_folders_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutaway.models.recognising._MOST_FILES", 20)
    (tmp_path / "saved_model.pb").write_bytes(b"\x08\x01\x12\x02ab")
    for i in range(18):
        (tmp_path / str(i)).mkdir()
    assert recognise(tmp_path, Limits()).format == "saved_model"
    for i in range(18):
        (tmp_path / str(i) / "inner").mkdir()
    with pytest.raises(UnsafeModel, match="more than 20 files"):
        recognise(tmp_path, Limits())


# ONNX: tensors where nobody looked


def values(name: str, location: str = "") -> Any:
    """A tensor of 4 numbers, in the file or in another one."""
    import onnx

    if not location:
        return onnx.helper.make_tensor(name, onnx.TensorProto.FLOAT, [4], [5.0, 5.0, 5.0, 5.0])
    tensor = onnx.TensorProto(name=name, data_type=onnx.TensorProto.FLOAT, dims=[4])
    tensor.data_location = onnx.TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", location
    return tensor


def branch(output: str, node: Any, weights: tuple[Any, ...] = ()) -> Any:
    from onnx import TensorProto, helper

    return helper.make_graph(
        [node], output, [], [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)], weights
    )


def in_a_graph_of_a_graph_of_a_function(tensor: Any) -> tuple[list[Any], list[Any]]:
    from onnx import helper

    make = helper.make_node
    innermost = branch("o", make("Identity", ["w"], ["o"]), (tensor,))
    inner = branch("p", make("If", ["c"], ["p"], then_branch=innermost, else_branch=innermost))
    nodes = [
        make("ReduceMax", ["a"], ["m"], keepdims=0),
        make("Equal", ["m", "m"], ["c"]),
        make("If", ["c"], ["s"], then_branch=inner, else_branch=inner),
        make("Add", ["a", "s"], ["r"]),
    ]
    function = helper.make_function("own", "F", ["a"], ["r"], nodes, [helper.make_opsetid("", 17)])
    return [make("F", ["x"], ["y"], domain="own")], [function]


def in_what_a_call_gives_a_function(tensor: Any) -> tuple[list[Any], list[Any]]:
    from onnx import AttributeProto, helper

    constant = helper.make_node("Constant", [], ["s"])
    constant.attribute.add(name="value", ref_attr_name="v", type=AttributeProto.TENSOR)
    nodes = [constant, helper.make_node("Add", ["a", "s"], ["r"])]
    function = helper.make_function("own", "F", ["a"], ["r"], nodes, [helper.make_opsetid("", 17)])
    function.attribute.append("v")
    return [helper.make_node("F", ["x"], ["y"], domain="own", v=tensor)], [function]


def in_a_sparse_constant(tensor: Any) -> tuple[list[Any], list[Any]]:
    from onnx import AttributeProto, SparseTensorProto, TensorProto, helper

    places = helper.make_tensor("i", TensorProto.INT64, [4], [0, 1, 2, 3])
    constant = helper.make_node("Constant", [], ["s"])
    constant.attribute.add(
        name="sparse_value",
        type=AttributeProto.SPARSE_TENSOR,
        sparse_tensor=SparseTensorProto(dims=[4], values=tensor, indices=places),
    )
    return [constant, helper.make_node("Add", ["x", "s"], ["y"])], []


@pytest.mark.parametrize(
    "hidden", [in_a_graph_of_a_graph_of_a_function, in_what_a_call_gives_a_function, in_a_sparse_constant]
)
def test_weights_in_other_files_are_found_wherever_they_are_named(
    hidden: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from cutaway.frameworks.onnx.files import open_onnx

    path = tmp_path / "model" / "m.onnx"
    path.parent.mkdir()

    def predicted(location: str = "") -> Any:
        nodes, functions = hidden(values("w", location))
        ends = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["N", 4]) for name in "xy"]
        graph = onnx.helper.make_graph(nodes, "g", ends[:1], ends[1:])
        opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("own", 1)]
        model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=9, functions=functions)
        path.write_bytes(model.SerializeToString())
        return open_onnx(path, trust=False, custom_layers={}).predict(ROW)["y"][0, 0]

    assert predicted() == 6
    # Not where the process happens to be: ONNX Runtime looks there for a model that it was given in memory.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret").write_bytes(struct.pack("<4f", 7, 7, 7, 7))
    with pytest.raises(ModelFormatError, match="missing"):
        predicted("secret")
    for location in (str(tmp_path / "secret"), "../secret"):
        with pytest.raises(UnsafeModel, match="inside the model's own folder"):
            predicted(location)
    (path.parent / "beside").write_bytes(struct.pack("<4f", 8, 8, 8, 8))
    assert predicted("beside") == 9
