"""`.keras` and `.h5` files that try to run code, leave their folder or exhaust the machine: cases 1 to 9.

Each hostile file is a healthy one with one thing changed; the healthy one loads.
"""

from __future__ import annotations

import base64
import contextlib
import copy
import io
import json
import marshal
import os
import resource
import stat
import struct
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

pytest.importorskip("keras")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras

from cutaway.errors import ModelError, ModelFormatError, UnsafeModel
from cutaway.frameworks.keras.files import open_h5, open_keras

Parts = dict[str, bytes]
ROWS = np.ones((3, 4), "float32")


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the same small model as `m.keras` and `m.h5`."""
    folder = tmp_path_factory.mktemp("healthy")
    model = keras.Sequential(
        [
            keras.Input((4,), name="x"),
            keras.layers.Dense(3, activation="relu", name="d"),
            keras.layers.Dense(2, name="e"),
        ]
    )
    model.compile("adam", "mse")
    model.save(folder / "m.keras")
    model.save(folder / "m.h5")
    return folder


@pytest.fixture(autouse=True)
def _nothing_changes(tmp_path: Path) -> Any:
    """After every test: no marker was written, Keras is as safe as before, nothing was left open to the world."""
    marker = tmp_path / "marker"
    before = (keras.config.floatx(), safe_mode(), Path.cwd(), set(tmp_path.parent.iterdir()))
    registered = dict(keras.saving.get_custom_objects())
    yield
    assert not marker.exists()
    assert (keras.config.floatx(), safe_mode(), Path.cwd(), set(tmp_path.parent.iterdir())) == before
    assert dict(keras.saving.get_custom_objects()) == registered


def safe_mode() -> Any:
    from keras.src.saving.serialization_lib import in_safe_mode

    return in_safe_mode()


def parts_of(path: Path) -> Parts:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path: Path, parts: Parts) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def with_config(healthy: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    parts = parts_of(healthy / "m.keras")
    config = json.loads(parts["config.json"])
    change(config)
    return write(tmp_path / "m.keras", {**parts, "config.json": json.dumps(config).encode()})


def with_layer(healthy: Path, tmp_path: Path, layer: dict[str, Any]) -> Path:
    return with_config(healthy, tmp_path, lambda config: config["config"]["layers"].append(copy.deepcopy(layer)))


def h5_copy(healthy: Path, tmp_path: Path) -> Path:
    path = tmp_path / "m.h5"
    path.write_bytes((healthy / "m.h5").read_bytes())
    return path


def opened(path: Path) -> Any:
    return (open_h5 if path.suffix == ".h5" else open_keras)(path, trust=False, custom_layers={})


def bytecode(marker: Path) -> str:
    """A function that writes the marker, as Keras stores Lambda layers."""
    space: dict[str, Any] = {}
    exec(f"def f(x):\n    open({str(marker)!r}, 'w').close()\n    return x", space)
    return base64.b64encode(marshal.dumps(space["f"].__code__)).decode()


def code(marker: Path) -> dict[str, Any]:
    return {
        "class_name": "__lambda__",
        "config": {"code": bytecode(marker), "defaults": None, "closure": None, "value": bytecode(marker)},
    }


def entry(module: str | None, class_name: str, config: Any, registered: str | None = None) -> dict[str, Any]:
    return {"module": module, "class_name": class_name, "config": config, "registered_name": registered}


def function(module: str, name: str) -> dict[str, Any]:
    return entry(module, "function", name, name)


def activation(name: str, what: Any) -> dict[str, Any]:
    return entry("keras.layers", "Activation", {"name": name, "activation": what})


@pytest.mark.parametrize("name", ["m.keras", "m.h5"])
def test_the_healthy_file_loads_and_answers(healthy: Path, name: str) -> None:
    assert opened(healthy / name).predict({"x": ROWS})["e"].shape == (3, 2)


# 1: code inside of a .keras file


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_lambda_layer_is_refused_by_its_name(healthy: Path, tmp_path: Path, wrapped: bool) -> None:
    layer = entry("keras.layers", "Lambda", {"name": "sneaky", "function": code(tmp_path / "marker")})
    if wrapped:
        inner = [entry("keras.layers", "TimeDistributed", {"name": "steps", "layer": layer})]
        layer = entry("keras", "Sequential", {"name": "inner", "layers": inner})
    with pytest.raises(UnsafeModel, match=r"layer 'sneaky' is a Lambda layer.*trust=True"):
        opened(with_layer(healthy, tmp_path, layer))


@pytest.mark.parametrize("place", ["activation", "kernel_initializer", "kernel_regularizer", "bias_constraint"])
def test_code_in_the_place_of_a_setting_is_refused(healthy: Path, tmp_path: Path, place: str) -> None:
    def change(config: dict[str, Any]) -> None:
        config["config"]["layers"][1]["config"][place] = code(tmp_path / "marker")

    with pytest.raises(UnsafeModel, match="layer 'd' is Python code inside the file"):
        opened(with_config(healthy, tmp_path, change))


def test_a_lambda_layer_runs_where_the_file_is_trusted(tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((4,), name="x"), keras.layers.Lambda(lambda x: 2 * x, name="twice")])
    model.save(tmp_path / "m.keras")
    backend = open_keras(tmp_path / "m.keras", trust=True, custom_layers={})
    assert np.array_equal(backend.predict({"x": ROWS})["twice"], 2 * ROWS)


# 2: code inside of an .h5 file


@pytest.mark.parametrize("form", ["list", "mapping"])
def test_a_lambda_in_h5_is_refused_by_its_name(healthy: Path, tmp_path: Path, form: str) -> None:
    path = h5_copy(healthy, tmp_path)
    held = [bytecode(tmp_path / "marker"), None, None] if form == "list" else code(tmp_path / "marker")
    layer = {"class_name": "Lambda", "config": {"name": "sneaky", "function_type": "lambda", "function": held}}
    with h5py.File(path, "r+") as file:
        config = json.loads(file.attrs["model_config"])
        config["config"]["layers"].append(layer)
        file.attrs["model_config"] = json.dumps(config)
    with pytest.raises(UnsafeModel, match="layer 'sneaky' is a Lambda layer"):
        opened(path)


def test_operations_of_tensorflow_in_a_file_of_keras_2_are_named_with_the_way_out(
    healthy: Path, tmp_path: Path
) -> None:
    path = h5_copy(healthy, tmp_path)
    with h5py.File(path, "r+") as file:
        config = json.loads(file.attrs["model_config"])
        config["config"]["layers"].append({"class_name": "TFOpLambda", "config": {"name": "tf.math.add"}})
        file.attrs["model_config"] = json.dumps(config)
        file.attrs["keras_version"] = "2.15.0"
    with pytest.raises(ModelFormatError, match=r"layer 'tf.math.add' is a TFOpLambda of Keras 2.*tf.saved_model.save"):
        opened(path)


# 3: modules that are no part of Keras


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("subprocess", "Popen"),
        ("builtins", "eval"),
        ("antigravity", "fly"),
        ("keras.src.utils.file_utils", "get_file"),
        ("keras.src.saving.saving_lib", "load_model"),
        ("keras.layers.os", "system"),
        ("keras", "__builtins__"),
        (None, "Popen"),
    ],
)
def test_classes_of_other_modules_are_refused_and_never_imported(
    healthy: Path, tmp_path: Path, module: str | None, name: str
) -> None:
    layer = entry(module, name, {"name": "sneaky", "args": ["touch", str(tmp_path / "marker")]})
    imported = set(sys.modules)
    with pytest.raises(UnsafeModel, match="layer 'sneaky' is a `"):
        opened(with_layer(healthy, tmp_path, layer))
    assert not {name for name in set(sys.modules) - imported if name.startswith(("antigravity", "subprocess"))}


def test_a_registered_name_does_not_reach_past_the_check(healthy: Path, tmp_path: Path) -> None:
    layer = entry("keras.layers", "Dense", {"name": "sneaky", "units": 3}, registered="os>system")
    with pytest.raises(UnsafeModel, match="`os>system`"):
        opened(with_layer(healthy, tmp_path, layer))


def test_a_class_of_ones_own_loads_only_where_it_is_given(healthy: Path, tmp_path: Path) -> None:
    class Twice(keras.layers.Layer):
        def call(self, x: Any) -> Any:
            return 2 * x

    path = with_layer(healthy, tmp_path, entry("my_layers", "Twice", {"name": "mine"}, "my_layers>Twice"))
    with pytest.raises(UnsafeModel, match=r"`my_layers>Twice`.*tensorleap_custom_layer"):
        opened(path)
    backend = open_keras(path, trust=False, custom_layers={"Twice": Twice})
    assert backend.description.layers[-1].kind == "Twice"


# 4: functions of Keras that change the process


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("keras.config", "enable_unsafe_deserialization"),
        ("keras.src.backend.common.global_state", "set_global_attribute"),
        ("keras.saving", "load_model"),
        ("keras.models", "load_model"),
        ("keras.utils", "get_file"),
        ("builtins", "exec"),
        ("builtins", "enable_unsafe_deserialization"),
        ("os", "system"),
        ("keras.layers", "deserialize"),
    ],
)
def test_functions_that_are_no_part_of_a_model_are_refused(
    healthy: Path, tmp_path: Path, module: str, name: str
) -> None:
    with pytest.raises(UnsafeModel, match=f"layer 'sneaky' names the function `{module}.{name}`"):
        opened(with_layer(healthy, tmp_path, activation("sneaky", function(module, name))))
    lambda_layer = entry("keras.layers", "Lambda", {"name": "sneaky", "function": function(module, name)})
    with pytest.raises(UnsafeModel, match="layer 'sneaky'"):
        opened(with_layer(healthy, tmp_path, lambda_layer))


@pytest.mark.parametrize("module", ["keras.activations", "builtins"])
def test_functions_that_keras_saves_by_name_are_not_refused(healthy: Path, tmp_path: Path, module: str) -> None:
    backend = opened(with_layer(healthy, tmp_path, activation("fine", function(module, "gelu"))))
    assert backend.description.layers[-1].name == "fine"


def test_what_a_model_was_compiled_with_is_shown_and_never_made(healthy: Path, tmp_path: Path) -> None:
    def change(config: dict[str, Any]) -> None:
        config["compile_config"]["loss"] = entry("os", "system", {"command": f"touch {tmp_path / 'marker'}"})

    assert opened(with_config(healthy, tmp_path, change)).description.training.loss == "system"


# 5: files of this machine, and the network


@pytest.mark.parametrize("where", ["/etc/passwd", "file:///etc/passwd", "https://example.invalid/words.txt"])
@pytest.mark.parametrize("kind", ["StringLookup", "IntegerLookup", "TextVectorization"])
def test_vocabularies_by_path_are_refused(healthy: Path, tmp_path: Path, kind: str, where: str) -> None:
    layer = entry("keras.layers", kind, {"name": "words", "vocabulary": where})
    with pytest.raises(UnsafeModel, match=r"layer 'words' reads a file of this machine"):
        opened(with_layer(healthy, tmp_path, layer))


@pytest.mark.parametrize(
    ("kind", "config"),
    [("TFSMLayer", {"filepath": "/tmp/elsewhere"}), ("TorchModuleWrapper", {"module": "gASVAAAA"}), ("JaxLayer", {})],
)
def test_layers_that_load_something_else_are_refused(
    healthy: Path, tmp_path: Path, kind: str, config: dict[str, Any]
) -> None:
    with pytest.raises(UnsafeModel, match="layer 'sneaky' is a"):
        opened(with_layer(healthy, tmp_path, entry("keras.layers", kind, {"name": "sneaky", **config})))


# 6: names that leave the folder


@pytest.mark.parametrize("name", ["../marker", "assets/../../marker", "/marker", "..\\marker", "C:\\marker"])
def test_members_whose_names_leave_the_folder_are_refused(healthy: Path, tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "m.keras", {**parts_of(healthy / "m.keras"), name: b"out"})
    with pytest.raises(UnsafeModel, match="leaves its folder"):
        opened(path)


def test_a_name_that_goes_on_behind_its_end_is_refused(healthy: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.keras", {**parts_of(healthy / "m.keras"), "config.json#../marker": b"out"})
    path.write_bytes(path.read_bytes().replace(b"config.json#", b"config.json\x00"))
    with pytest.raises(UnsafeModel, match="leaves its folder"):
        opened(path)


def test_symbolic_links_in_an_archive_are_refused(healthy: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.keras", parts_of(healthy / "m.keras"))
    link = zipfile.ZipInfo("assets")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, "/etc")
    with pytest.raises(UnsafeModel, match="'assets' in the archive is a symbolic link"):
        opened(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_is_there_twice_is_refused(healthy: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.keras", parts_of(healthy / "m.keras"))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("config.json", b"{}")
    with pytest.raises(UnsafeModel, match=r"'config.json' twice"):
        opened(path)


# 7: bombs


def growth(attempt: Callable[[], None]) -> int:
    """How many MB the process took more at its peak."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    attempt()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024


@pytest.mark.parametrize("member", ["config.json", "model.weights.h5", "assets/words.txt"])
def test_a_member_that_unpacks_to_a_thousand_times_its_size_is_refused(
    healthy: Path, tmp_path: Path, member: str
) -> None:
    path = tmp_path / "m.keras"
    parts = parts_of(healthy / "m.keras")
    parts.pop(member, None)
    write(path, parts)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive, archive.open(member, "w") as file:
        for _ in range(200):
            file.write(bytes(1024 * 1024))

    def attempt() -> None:
        with pytest.raises(UnsafeModel, match=f"'{member}' in the archive would unpack"):
            opened(path)

    assert path.stat().st_size < 1024 * 1024
    assert growth(attempt) < 100


def test_an_archive_within_the_archive_is_not_opened(healthy: Path, tmp_path: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(64 * 1024 * 1024))
    path = write(tmp_path / "m.keras", {**parts_of(healthy / "m.keras"), "assets/inner.zip": inner.getvalue()})
    assert opened(path).predict({"x": ROWS})["e"].shape == (3, 2)


def test_too_many_members_are_refused(healthy: Path, tmp_path: Path) -> None:
    parts = parts_of(healthy / "m.keras") | {f"assets/{i}": b"" for i in range(10_000)}
    with pytest.raises(UnsafeModel, match=r"10,003 members"):
        opened(write(tmp_path / "m.keras", parts))


def test_a_list_of_a_million_members_is_not_read(tmp_path: Path) -> None:
    head = struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 20, 20, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0)
    listed = b"".join(head + f"{i:07}".encode() for i in range(1_000_000))
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, len(listed), 0, 0)
    (tmp_path / "m.keras").write_bytes(listed + end)
    with pytest.raises(ModelFormatError, match="list of members alone"):
        opened(tmp_path / "m.keras")


def test_members_that_share_their_bytes_are_refused(healthy: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.keras"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts_of(healthy / "m.keras").items():
            archive.writestr(name, content)
        first = archive.infolist()[-1]
        for i in range(20):
            again = copy.copy(first)
            again.filename = again.orig_filename = f"assets/{i}"
            archive.filelist.append(again)
            archive.NameToInfo[again.filename] = again
        archive._didModify = True
    with pytest.raises(UnsafeModel, match="its members claim"):
        opened(path)


@pytest.mark.parametrize("declared", [10, 100_000])
def test_a_configuration_of_another_size_than_declared_is_refused(healthy: Path, tmp_path: Path, declared: int) -> None:
    path = write(tmp_path / "m.keras", parts_of(healthy / "m.keras"))
    content = bytearray(path.read_bytes())
    at = content.find(b"config.json", content.find(b"PK\x01\x02")) - 46
    content[at + 24 : at + 28] = struct.pack("<I", declared)
    path.write_bytes(bytes(content))
    with pytest.raises((UnsafeModel, ModelFormatError)):
        opened(path)


@pytest.mark.parametrize("depth", [150_000, 400])
def test_a_configuration_that_is_nested_too_deeply_is_refused(healthy: Path, tmp_path: Path, depth: int) -> None:
    text = b'{"class_name": "Sequential", "config": {"a": ' + b"[" * depth + b"]" * depth + b"}}"
    path = write(tmp_path / "m.keras", {**parts_of(healthy / "m.keras"), "config.json": text})
    with pytest.raises(UnsafeModel, match="nested"):
        opened(path)


# 8: HDF5 that points elsewhere


def external_link(file: h5py.File, elsewhere: Path) -> None:
    file["away"] = h5py.ExternalLink(str(elsewhere), "/secret")


def soft_link(file: h5py.File, _: Path) -> None:
    file["away"] = h5py.SoftLink("/model_weights")


def virtual(file: h5py.File, elsewhere: Path) -> None:
    layout = h5py.VirtualLayout(shape=(3,), dtype="f4")
    layout[:] = h5py.VirtualSource(str(elsewhere), "secret", shape=(3,))
    file.create_virtual_dataset("away", layout)


def external_storage(file: h5py.File, elsewhere: Path) -> None:
    file.create_dataset("away", shape=(3,), dtype="f4", external=[(str(elsewhere), 0, h5py.h5f.UNLIMITED)])


@pytest.mark.parametrize("kind", ["h5", "keras"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (external_link, "'/away' is a link into another file"),
        (soft_link, "'/away' is a soft link"),
        (virtual, "'/away' is a virtual data set"),
        (external_storage, "'/away' keeps its values in another file"),
    ],
)
def test_hdf5_that_points_elsewhere_is_refused(
    healthy: Path, tmp_path: Path, change: Callable[[h5py.File, Path], None], message: str, kind: str
) -> None:
    elsewhere = tmp_path / "elsewhere.h5"
    with h5py.File(elsewhere, "w") as file:
        file["secret"] = np.ones(3, "f4")
    with pytest.raises(UnsafeModel, match=message):
        opened(with_hdf5(healthy, tmp_path, kind, lambda file: change(file, elsewhere)))


def with_hdf5(healthy: Path, tmp_path: Path, kind: str, change: Callable[[h5py.File], None]) -> Path:
    """The healthy file with its HDF5 changed: the .h5 itself, or the weights in the archive."""
    if kind == "h5":
        path = h5_copy(healthy, tmp_path)
        with h5py.File(path, "r+") as file:
            change(file)
        return path
    parts = parts_of(healthy / "m.keras")
    weights = tmp_path / "weights"
    weights.write_bytes(parts["model.weights.h5"])
    with h5py.File(weights, "r+") as file:
        change(file)
    return write(tmp_path / "m.keras", {**parts, "model.weights.h5": weights.read_bytes()})


@pytest.mark.parametrize("kind", ["h5", "keras"])
def test_groups_that_hold_each_other_do_not_go_on_for_ever(healthy: Path, tmp_path: Path, kind: str) -> None:
    def change(file: h5py.File) -> None:
        group = file.create_group("ring")
        group["again"] = file["ring"]

    assert opened(with_hdf5(healthy, tmp_path, kind, change)).description.inputs


# 9: declared sizes


@pytest.mark.parametrize("kind", ["h5", "keras"])
@pytest.mark.parametrize("chunks", [None, (1024, 1024)])
def test_a_data_set_of_149_gib_is_refused(healthy: Path, tmp_path: Path, kind: str, chunks: Any) -> None:
    path = with_hdf5(
        healthy,
        tmp_path,
        kind,
        lambda file: file.create_dataset("bomb", shape=(200_000, 200_000), dtype="f4", chunks=chunks),
    )

    def attempt() -> None:
        with pytest.raises(UnsafeModel, match=r"'/bomb' declares 160,000,000,000 bytes, but 0 are stored"):
            opened(path)

    assert growth(attempt) < 100


def test_packed_zeros_in_hdf5_are_refused(healthy: Path, tmp_path: Path) -> None:
    def change(file: h5py.File) -> None:
        file.create_dataset("bomb", data=np.zeros(30_000_000, "f4"), compression="gzip", chunks=(1_000_000,))

    with pytest.raises(UnsafeModel, match="'/bomb' declares 120,000,000 bytes"):
        opened(with_hdf5(healthy, tmp_path, "h5", change))


@pytest.mark.parametrize("units", [10**10, 10**6])
def test_layers_that_declare_more_weights_than_the_file_has_are_refused(
    healthy: Path, tmp_path: Path, units: int
) -> None:
    def change(config: dict[str, Any]) -> None:
        config["config"]["layers"][2]["config"]["units"] = units

    def attempt() -> None:
        with pytest.raises(UnsafeModel, match=r"its layers declare [\d,]+ weights, but the file holds 25 numbers"):
            opened(with_config(healthy, tmp_path, change))

    assert growth(attempt) < 300


def test_a_refused_model_leaves_nothing_behind_that_the_next_scope_would_allocate(
    healthy: Path, tmp_path: Path
) -> None:
    def change(config: dict[str, Any]) -> None:
        config["config"]["layers"][2]["config"]["units"] = 10**10

    with pytest.raises(UnsafeModel, match="its layers declare"):
        opened(with_config(healthy, tmp_path, change))
    with keras.StatelessScope():
        pass


def test_an_h5_that_declares_more_weights_than_it_has_is_refused(healthy: Path, tmp_path: Path) -> None:
    def change(file: h5py.File) -> None:
        config = json.loads(file.attrs["model_config"])
        config["config"]["layers"][2]["config"]["units"] = 10**9
        file.attrs["model_config"] = json.dumps(config)

    with pytest.raises(UnsafeModel, match="its layers declare"):
        opened(with_hdf5(healthy, tmp_path, "h5", change))


# Anything else


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where values are in a configuration."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in items for place in places(item, (*path, key)))]


@pytest.mark.parametrize("seed", range(60))
def test_a_configuration_with_anything_in_it_loads_or_is_refused(healthy: Path, tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    odd = [
        None,
        [],
        {},
        "",
        -1,
        10**30,
        1.5,
        "os.system",
        ["a"],
        {"class_name": ["x"], "config": 3},
        True,
        "\x00",
        [[]],
    ]

    def change(config: dict[str, Any]) -> None:
        for _ in range(int(random.integers(1, 4))):
            *way, last = places(config)[int(random.integers(1, len(places(config))))]
            inside: Any = config
            for key in way:
                inside = inside[key]
            inside[last] = copy.deepcopy(odd[int(random.integers(len(odd)))])

    # Nothing but our own errors comes out of it.
    with contextlib.suppress(ModelError):
        opened(with_config(healthy, tmp_path, change))


# Cut short


@pytest.mark.parametrize("name", ["m.keras", "m.h5"])
@pytest.mark.parametrize("eighths", range(8))
def test_a_file_that_is_cut_short_says_so(healthy: Path, tmp_path: Path, name: str, eighths: int) -> None:
    content = (healthy / name).read_bytes()
    path = tmp_path / name
    path.write_bytes(content[: len(content) * eighths // 8])
    with pytest.raises(ModelFormatError):
        opened(path)
