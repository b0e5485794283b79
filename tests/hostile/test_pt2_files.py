"""`.pt2` files that try to run code, leave their folder or exhaust the machine, and broken ones.

Each attack that this torch falls for is first shown to be real, by a load with `trust=True`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from cutaway.errors import ModelError, ModelFormatError, UnsafeModel  # noqa: E402
from cutaway.frameworks.torch.pt2 import open_pt2  # noqa: E402
from cutaway.frameworks.torch.pt2_check import checked_archive  # noqa: E402
from tests.frameworks.torch.exporting import exported  # noqa: E402
from tests.frameworks.torch.networks import BATCHES, MLP  # noqa: E402
from tests.hostile.pt2_archives import (  # noqa: E402
    CONSTANTS,
    PROGRAM,
    WEIGHTS,
    Members,
    Program,
    Touches,
    call,
    edit,
    graph_of,
    members_of,
    pickled,
    saved,
    write,
)

Attack = Callable[[Members, Path], None]


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported(MLP, tmp_path_factory.mktemp("pt2"))


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    return tmp_path / "ran"


def opened(path: Path, *, trust: bool = False) -> Any:
    return open_pt2(path, trust=trust, custom_layers={})


def use(path: Path) -> None:
    """Open a file and do with it all that can be done."""
    backend = opened(path)
    backend.predict(BATCHES[MLP])
    backend.activations(BATCHES[MLP], [layer.name for layer in backend.description.layers])


def code(marker: Path) -> str:
    return f"__import__('os').mkdir({str(marker)!r})"


# -- what runs code ----------------------------------------------------------------------------------------------------


def legacy_weights(members: Members, marker: Path) -> None:
    members["data/weights/model.pt"] = saved({"fc1.weight": Touches(marker)})


def legacy_constants(members: Members, marker: Path) -> None:
    members["data/constants/model.pt"] = saved({"constant": Touches(marker)})


def pickled_weight(members: Members, marker: Path) -> None:
    members["data/weights/weight_0"] = saved(Touches(marker))
    edit(members, WEIGHTS, lambda listing: listing["config"]["fc1.weight"].update(use_pickle=True))


def pickled_constant(members: Members, marker: Path) -> None:
    members["data/constants/tensor_0"] = saved(Touches(marker))
    entry = {"path_name": "tensor_0", "is_param": False, "use_pickle": True, "tensor_meta": None}
    edit(members, CONSTANTS, lambda listing: listing["config"].update(evil=entry))


def opaque_object(members: Members, marker: Path) -> None:
    members["data/constants/opaque_obj_0"] = pickled(Touches(marker))
    entry = {"path_name": "opaque_obj_0", "is_param": False, "use_pickle": True, "tensor_meta": None}
    edit(members, CONSTANTS, lambda listing: listing["config"].update(evil=entry))


def opaque_object_under_another_name(members: Members, marker: Path) -> None:
    """The list of constants names a member that lies elsewhere in the archive."""
    members["extra/obj"] = pickled(Touches(marker))
    entry = {"path_name": "opaque_obj_/../../../extra/obj", "is_param": False, "use_pickle": False, "tensor_meta": None}
    edit(members, CONSTANTS, lambda listing: listing["config"].update(evil=entry))


def sizes_that_are_code(members: Members, marker: Path) -> None:
    def change(program: Program) -> None:
        graph_of(program)["tensor_values"]["x"]["sizes"][1] = {"as_expr": {"expr_str": code(marker), "hint": None}}

    edit(members, PROGRAM, change)


def names_that_are_code(members: Members, marker: Path) -> None:
    """torch writes the names of inputs into a function's head, where defaults are evaluated when it is defined."""
    evil = f"x=({code(marker)} or 0)"
    members[PROGRAM] = members[PROGRAM].replace(b'{"name": "x"}', json.dumps({"name": evil}).encode())
    edit(members, PROGRAM, lambda program: _rename(graph_of(program)["tensor_values"], "x", evil))


def _rename(values: dict[str, Any], old: str, new: str) -> None:
    values[new] = values.pop(old)


def function_by_name(members: Members, marker: Path) -> None:
    """torch finds the function, but its own check of the finished program stops it."""

    def change(program: Program) -> None:
        graph = graph_of(program)
        graph["nodes"].insert(0, call("torch.os.mkdir", {"as_string": str(marker)}))
        graph["tensor_values"]["evil"] = graph["tensor_values"]["p_fc1_bias"]
        program["verifiers"] = []

    edit(members, PROGRAM, change)


def function_as_argument(members: Members, marker: Path) -> None:
    """torch looks the function up by its name, and the operator calls what it is given."""

    def change(program: Program) -> None:
        arguments = ({"as_bool": False}, {"as_operator": "torch.os.mkdir"}, {"as_string": str(marker)})
        graph = graph_of(program)
        node = call("torch.ops.higher_order.wrap_with_set_grad_enabled", *arguments)
        graph["nodes"].insert(0, {**node, "is_hop_single_tensor_return": True})
        graph["tensor_values"]["evil"] = graph["tensor_values"]["p_fc1_bias"]

    edit(members, PROGRAM, change)


def torchscripts_save(members: Members, marker: Path) -> None:
    """`aten::save` is no tensor operator, but TorchScript's way to write any file. This torch fails to call it."""

    def change(program: Program) -> None:
        node = call("torch.ops.aten.save.default", {"as_tensor": {"name": "x"}}, {"as_string": str(marker)})
        node["inputs"][0]["name"], node["inputs"][1]["name"] = "item", "filename"
        graph_of(program)["nodes"].insert(0, {**node, "outputs": []})
        program["verifiers"] = []

    edit(members, PROGRAM, change)


def mapped_file(members: Members, marker: Path) -> None:
    """`aten::from_file` maps any file, and makes one where there is none."""

    def change(program: Program) -> None:
        arguments = ({"as_string": str(marker)}, {"as_bool": True}, {"as_int": 16})
        node = call("torch.ops.aten.from_file.default", *arguments)
        for given, name in zip(node["inputs"], ("filename", "shared", "size"), strict=True):
            given["name"] = name
        graph = graph_of(program)
        graph["nodes"].insert(0, node)
        graph["tensor_values"]["evil"] = graph["tensor_values"]["p_fc1_bias"]

    edit(members, PROGRAM, change)


RUNS_CODE: list[Attack] = [
    legacy_weights,
    legacy_constants,
    pickled_weight,
    pickled_constant,
    opaque_object,
    sizes_that_are_code,
    names_that_are_code,
    function_as_argument,
    mapped_file,
]


@pytest.mark.parametrize("attack", RUNS_CODE)
def test_the_attack_is_real(attack: Attack, healthy: Path, tmp_path: Path, marker: Path) -> None:
    members = members_of(healthy)
    attack(members, marker)
    with contextlib.suppress(Exception):  # torch often raises only after the code has run
        backend = opened(write(tmp_path / "evil.pt2", members), trust=True)
        with contextlib.suppress(Exception):
            backend.predict(BATCHES[MLP])
        backend.activations(BATCHES[MLP], ["fc2"])
    assert marker.exists()


@pytest.mark.parametrize("attack", [*RUNS_CODE, opaque_object_under_another_name, function_by_name, torchscripts_save])
def test_it_is_refused_before_anything_runs(attack: Attack, healthy: Path, tmp_path: Path, marker: Path) -> None:
    members = members_of(healthy)
    attack(members, marker)
    with pytest.raises((UnsafeModel, ModelFormatError)) as caught:
        use(write(tmp_path / "evil.pt2", members))
    assert "evil.pt2" in str(caught.value)
    assert not marker.exists()
    if attack is not torchscripts_save:
        assert isinstance(caught.value, UnsafeModel)
        assert "trust=True" in str(caught.value)


# -- what runs code in places that our archive does not take over ------------------------------------------------------


def sample_inputs(members: Members, marker: Path) -> None:
    members["data/sample_inputs/model.pt"] = saved(((Touches(marker),), {}))


def guards(members: Members, marker: Path) -> None:
    edit(members, PROGRAM, lambda program: program.update(guards_code=[code(marker)]))


def tree_that_imports(members: Members, marker: Path) -> None:
    """The context of a tree may name an enum, whose module torch imports."""
    enum = json.dumps([{"__enum__": True, "fqn": "imported_by_attack:Kind", "name": "A"}])
    tree = {"type": "builtins.dict", "context": enum, "children_spec": [{"type": None, "context": None}]}
    tree["children_spec"][0]["children_spec"] = []

    def change(program: Program) -> None:
        program["graph_module"]["module_call_graph"][0]["signature"]["out_spec"] = json.dumps([1, tree])

    edit(members, PROGRAM, change)


@pytest.mark.parametrize("attack", [sample_inputs, guards, tree_that_imports])
def test_what_is_left_out_is_never_reached(
    attack: Attack, healthy: Path, tmp_path: Path, marker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "imported_by_attack.py").write_text(
        f"import enum, os\nos.mkdir({str(marker)!r})\nKind = enum.Enum('Kind', 'A')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    members = members_of(healthy)
    attack(members, marker)
    path = write(tmp_path / "evil.pt2", members)
    wanted = opened(healthy).predict(BATCHES[MLP])["output"]
    assert np.array_equal(next(iter(opened(path).predict(BATCHES[MLP]).values())), wanted)
    assert not marker.exists()
    with contextlib.suppress(Exception):  # the code has run by then
        torch.export.load(str(path)).module()(torch.tensor(BATCHES[MLP]["x"]))
    assert marker.exists()


# -- operators and arguments -------------------------------------------------------------------------------------------

TARGETS = [
    "torch.load",
    "torch.hub.load",
    "torch.os.system",
    "torch.serialization.pickle.loads",
    "torch._C._jit_get_operation",
    "torch.ops.load_library",
    "torch.ops.evil.op.default",
    "torch.ops.aten.linear",
    "torch.ops.aten.linear.default.__class__",
    "torch.ops.aten.__init__.default",
    "torch.ops.aten._sparse_coo_tensor_unsafe.default",
    "torch.ops.aten._nested_view_from_buffer.default",
    "torch.ops.aten.set_.source_Storage",
    "torch.ops.aten._reshape_alias.default",
    "torch.ops.aten._reshape_alias_copy.default",
    "torch.ops.aten.segment_reduce.default",
    "torch.ops.aten.max_pool2d_with_indices_backward.default",
    "torch.ops.aten.adaptive_max_pool2d_backward.default",
    "torch.ops.aten.record_stream.default",
    "torch.ops.higher_order.cond",
    "torch.ops.higher_order.triton_kernel_wrapper_functional",
    "_operator.methodcaller",
    "_operator.attrgetter",
    "_operator.pow",
    "_operator.call",
    "math.factorial",
    "mathematics",
    "#extension:op",
    "builtins.eval",
    "",
    None,
    17,
    ["torch.load"],
]


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_no_tensor_operator_is_not_called(target: Any, healthy: Path, tmp_path: Path) -> None:
    members = members_of(healthy)
    edit(members, PROGRAM, lambda program: graph_of(program)["nodes"][0].update(target=target))
    with pytest.raises((UnsafeModel, ModelFormatError), match="calls"):
        opened(write(tmp_path / "evil.pt2", members))


@pytest.mark.parametrize(
    "argument",
    [
        {"as_operator": "torch.os.system"},
        {"as_custom_obj": {"name": "evil", "class_fqn": "__torch__.Evil"}},
        {"as_graph": {"name": "a b", "graph": {}}},
        {"as_string_to_argument": {}},
        {"as_tensor": {"name": "x); evil("}},
        {"as_sym_int": {"as_name": "x\n  evil()"}},
        {"as_layout": 1},
        {"as_scalar_type": 99},
        {"as_int": 2**70},
        {"as_int": True},
        {"as_int": "1"},
        {"as_float": "__import__('os')"},
        {"as_bool": 1},
        {"as_tensor": {"name": "x"}, "as_int": 1},
        {},
        [],
    ],
)
def test_odd_arguments_are_refused(argument: Any, healthy: Path, tmp_path: Path) -> None:
    members = members_of(healthy)
    edit(members, PROGRAM, lambda program: graph_of(program)["nodes"][0]["inputs"][0].update(arg=argument))
    with pytest.raises((UnsafeModel, ModelFormatError)):
        opened(write(tmp_path / "evil.pt2", members))


def test_objects_of_own_classes_are_refused(healthy: Path, tmp_path: Path) -> None:
    members = members_of(healthy)
    values = {"evil": {"name": "evil", "class_fqn": "__torch__.torch.classes.Evil"}}
    edit(members, PROGRAM, lambda program: graph_of(program).update(custom_obj_values=values))
    with pytest.raises(UnsafeModel, match="classes of its own"):
        opened(write(tmp_path / "evil.pt2", members))
    members = members_of(healthy)
    members["data/constants/custom_obj_0"] = b"anything"
    with pytest.raises(UnsafeModel, match="pickle"):
        opened(write(tmp_path / "evil.pt2", members))


def test_compiled_code_is_refused(healthy: Path, tmp_path: Path) -> None:
    members = {**members_of(healthy), "data/aotinductor/model/model.so": b"\x7fELF"}
    with pytest.raises(UnsafeModel, match="machine code"):
        opened(write(tmp_path / "evil.pt2", members))


def test_archives_of_older_torch_say_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "old.pt2"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("serialized_exported_program.json", "serialized_state_dict.pt", "version"):
            archive.writestr(name, b"8.1")
    with pytest.raises(UnsafeModel, match=r"before 2\.9.*torch\.export\.save"):
        opened(path)


# -- the archive itself ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["../outside", "model/../../outside", "/etc/passwd", "model//x", "model\\..\\x", "C:/x", "model/extra/../../../x"],
)
def test_members_outside_the_folder_are_refused(name: str, healthy: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "evil.pt2", members_of(healthy))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(zipfile.ZipInfo(name), b"data")
    with pytest.raises(UnsafeModel, match="outside its folder"):
        opened(path)


def test_links_are_refused(healthy: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "evil.pt2", members_of(healthy))
    info = zipfile.ZipInfo("model/extra/link")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(UnsafeModel, match="link"):
        opened(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_is_there_twice_is_refused(healthy: Path, tmp_path: Path) -> None:
    members = members_of(healthy)
    path = write(tmp_path / "evil.pt2", members)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(f"model/{PROGRAM}", members[PROGRAM])
    with pytest.raises(UnsafeModel, match="twice"):
        opened(path)


def test_compressed_members_are_refused_before_they_are_unpacked(healthy: Path, tmp_path: Path) -> None:
    members = members_of(healthy)
    path = tmp_path / "bomb.pt2"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f"model/{name}", b"\0" * 30_000_000 if name == "data/weights/weight_0" else data)
    assert path.stat().st_size < 100_000
    with pytest.raises(UnsafeModel, match="bytes, but the file"):
        opened(path)


def test_a_single_compressed_member_is_refused(healthy: Path, tmp_path: Path) -> None:
    members = members_of(healthy)
    path = tmp_path / "packed.pt2"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            how = zipfile.ZIP_DEFLATED if name == "data/weights/weight_0" else zipfile.ZIP_STORED
            archive.writestr(f"model/{name}", data, how)
    with pytest.raises(UnsafeModel, match="compressed"):
        opened(path)


def test_members_that_share_their_bytes_are_refused(healthy: Path, tmp_path: Path) -> None:
    """A list of members that all point to the same bytes: small on disk, large once read."""
    data = write(tmp_path / "evil.pt2", {**members_of(healthy), "extra/big": b"a" * 50_000}).read_bytes()
    start = data.rindex(b"PK\x05\x06")
    count, _, length, offset = struct.unpack_from("<HHII", data, start + 8)
    listing = data[offset : offset + length]
    entry = listing[listing.rindex(b"PK\x01\x02") :]
    copies = b"".join(entry.replace(b"extra/big", b"extra/%03d" % i) for i in range(100))
    end = data[: start + 8][start:] + struct.pack("<HHII", count + 100, count + 100, length + len(copies), offset)
    (tmp_path / "evil.pt2").write_bytes(data[:start] + copies + end + data[start + 20 :])
    with pytest.raises((UnsafeModel, ModelFormatError)):
        opened(tmp_path / "evil.pt2")


def test_a_million_members_are_refused_at_once(healthy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutaway.frameworks.torch.pt2_check._MOST_MEMBERS", 20)
    members = {**members_of(healthy), **{f"extra/{i}": b"" for i in range(20)}}
    with pytest.raises(UnsafeModel, match="members"):
        opened(write(tmp_path / "evil.pt2", members))


def test_members_that_torch_does_not_write_are_refused(healthy: Path, tmp_path: Path) -> None:
    for name in ("models/other.json", "data/weights/evil.so", "code/__torch__.py", "data.pkl"):
        with pytest.raises(UnsafeModel, match="does not write"):
            opened(write(tmp_path / "evil.pt2", {**members_of(healthy), name: b"{}"}))


def test_a_missing_member_is_named(healthy: Path, tmp_path: Path) -> None:
    whole = members_of(healthy)
    for name in ("archive_format", "archive_version", PROGRAM, WEIGHTS, CONSTANTS, "data/weights/weight_2"):
        members = {key: value for key, value in whole.items() if key != name}
        with pytest.raises(ModelFormatError, match=re.escape(name)):
            opened(write(tmp_path / "broken.pt2", members))


def test_two_folders_are_one_too_many(healthy: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "evil.pt2", members_of(healthy))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("other/archive_format", b"pt2")
    with pytest.raises((UnsafeModel, ModelFormatError)):
        opened(path)


def test_cut_short_anywhere_it_says_so(healthy: Path, tmp_path: Path) -> None:
    data = healthy.read_bytes()
    path = tmp_path / "short.pt2"
    for i in range(64):
        path.write_bytes(data[: len(data) * i // 64])
        with pytest.raises(ModelFormatError, match="cut short or damaged"):
            opened(path)
    for missing in range(1, 23):
        path.write_bytes(data[:-missing])
        with pytest.raises(ModelFormatError, match="cut short or damaged"):
            opened(path)


def test_a_flipped_bit_is_noticed_or_does_not_matter(healthy: Path, tmp_path: Path) -> None:
    data, path = healthy.read_bytes(), tmp_path / "flipped.pt2"
    wanted = opened(healthy).predict(BATCHES[MLP])["output"]
    random = np.random.default_rng(0)
    refused = 0
    for at in random.integers(0, len(data), 150):
        flipped = bytearray(data)
        flipped[at] ^= 1 << int(random.integers(8))
        path.write_bytes(flipped)
        try:
            got = opened(path).predict(BATCHES[MLP])["output"]
        except ModelError:
            refused += 1
        else:
            assert np.array_equal(got, wanted)
    assert refused > 50


def test_other_files_are_no_archive(tmp_path: Path) -> None:
    for data in (b"", b"PK\x03\x04", b"\x80\x02}", os.urandom(1000), b"PK\x05\x06" + b"\0" * 18):
        (tmp_path / "other.pt2").write_bytes(data)
        with pytest.raises(ModelFormatError):
            opened(tmp_path / "other.pt2")


# -- what the lists say ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "document",
    [
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b"1" * 10_000,
        b"[]",
        b"null",
        b"{",
        b"\xff\xfe",
        b'{"config": []}',
        b'{"graph_module": {"graph": null}}',
    ],
)
def test_json_that_is_no_program_is_refused(document: bytes, healthy: Path, tmp_path: Path) -> None:
    for member in (PROGRAM, WEIGHTS):
        with pytest.raises((ModelFormatError, UnsafeModel)):
            opened(write(tmp_path / "evil.pt2", {**members_of(healthy), member: document}))


def sized(**changes: Any) -> Callable[[dict[str, Any]], None]:
    def change(listing: dict[str, Any]) -> None:
        listing["config"]["fc1.weight"]["tensor_meta"].update(changes)

    return change


def whole(*numbers: int) -> list[dict[str, int]]:
    return [{"as_int": number} for number in numbers]


@pytest.mark.parametrize(
    "change",
    [
        sized(sizes=whole(8, 5)),
        sized(sizes=whole(80, 4)),
        sized(sizes=whole(2**62, 2**62)),
        sized(sizes=whole(2**42, 1), strides=whole(0, 0)),
        sized(sizes=whole(-8, -4)),
        sized(strides=whole(-4, 1)),
        sized(strides=whole(5, 1)),
        sized(strides=whole(2**62, 1)),
        sized(strides=whole(1)),
        sized(storage_offset={"as_int": 1}),
        sized(storage_offset={"as_int": -1}),
        sized(storage_offset={"as_int": 2**62}),
        sized(dtype=8),
        sized(dtype=99),
        sized(dtype="float32"),
        sized(layout=1),
        sized(sizes=[{"as_expr": {"expr_str": "Symbol('s0')", "hint": None}}] * 2),
        lambda listing: listing["config"]["fc1.weight"].update(path_name="../../../etc/passwd"),
        lambda listing: listing["config"]["fc1.weight"].update(path_name="model_weights_config.json"),
        lambda listing: listing["config"]["fc1.weight"].update(path_name="weight_99"),
        lambda listing: listing["config"].update({"a b": listing["config"]["fc1.weight"]}),
        lambda listing: listing["config"].pop("fc1.weight"),
    ],
)
def test_tensors_that_reach_outside_their_bytes_are_refused(
    change: Callable[[dict[str, Any]], None], healthy: Path, tmp_path: Path
) -> None:
    members = members_of(healthy)
    edit(members, WEIGHTS, change)
    with pytest.raises((ModelFormatError, UnsafeModel)):
        opened(write(tmp_path / "evil.pt2", members))


@pytest.mark.parametrize("size", [0, 1, 4, 124, 127])
def test_weights_that_are_shorter_than_declared_are_refused(size: int, healthy: Path, tmp_path: Path) -> None:
    members = members_of(healthy)
    members["data/weights/weight_0"] = members["data/weights/weight_0"][:size]
    with pytest.raises(ModelFormatError, match=f"takes 128 bytes, but data/weights/weight_0 has {size}"):
        opened(write(tmp_path / "evil.pt2", members))


def test_a_program_of_another_schema_says_so(healthy: Path, tmp_path: Path) -> None:
    members = members_of(healthy)
    edit(members, PROGRAM, lambda program: program["schema_version"].update(major=9))
    with pytest.raises(ModelFormatError, match="version 9 of torch's schema"):
        opened(write(tmp_path / "other.pt2", members))


def test_the_untouched_file_passes(healthy: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "same.pt2", members_of(healthy))
    got, wanted = (opened(one).predict(BATCHES[MLP])["output"] for one in (path, healthy))
    assert np.array_equal(got, wanted)
    trusted = opened(path, trust=True).predict(BATCHES[MLP])["output"]
    assert np.array_equal(trusted, wanted)


ODD_VALUES = [None, True, -1, 2**64, 1.5, "", "x\ny", "__import__('os')", [], [None], {}, {"as_int": None}, [[[]]]]


def places_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a JSON document."""
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    return [path, *(place for key, inner in items for place in places_in(inner, (*path, key)))]


@pytest.mark.parametrize("member", [PROGRAM, WEIGHTS])
def test_an_odd_value_in_any_place_is_refused_by_name_or_does_not_matter(
    member: str, healthy: Path, tmp_path: Path
) -> None:
    members = members_of(healthy)
    document = json.loads(members[member])
    random = np.random.default_rng(0)
    places = places_in(document)[1:]
    for at in random.choice(len(places), min(120, len(places)), replace=False):
        changed = json.loads(members[member])
        *outer, last = places[at]
        inner = changed
        for key in outer:
            inner = inner[key]
        inner[last] = ODD_VALUES[int(random.integers(len(ODD_VALUES)))]
        path = write(tmp_path / "odd.pt2", {**members, member: json.dumps(changed).encode()})
        with contextlib.suppress(ModelError):
            checked_archive(path)
