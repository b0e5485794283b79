"""What a model's process may not do, tried from inside of it, where this machine can put the limit in place."""

from __future__ import annotations

import os
import socket
import stat
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cutaway.engine.call_filter import _MACHINES, _REFUSED, program
from cutaway.engine.confinement import confine
from cutaway.engine.system_calls import Unavailable
from cutaway.errors import ModelError
from cutaway.models import Limits
from cutaway.models.child import ChildBackend

ROW = {"x": np.ones((1, 4), np.float32)}
Do = Callable[..., float]


@pytest.fixture
def do(toy: Callable[..., Path]) -> Do:
    """Let a model's process try something: 1 where it could, an error's number below 0 where it could not."""

    def do(deed: str, argument: object = None, needs: str = "", when: str = "predict") -> float:
        path = toy(**{when: deed, "with": argument})
        model = ChildBackend(path, "toy", Limits(seconds=20, memory_mb=400))
        try:
            if needs:
                words = next(line for line in model.limits if line.startswith(needs))
                if "NOT limited" in words:
                    pytest.skip(words)
            return float(model.predict(ROW)["scores"][0, 0])
        finally:
            model.close()

    return do


def test_the_network_is_out_of_reach(do: Do) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=2).close()
        assert do("connect", list(server.getsockname()), needs="network") == -1


def test_sockets_of_other_programs_are_out_of_reach(do: Do, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        server.listen()
        assert do("local socket", str(tmp_path / "s"), needs="network") == -1


@pytest.mark.parametrize("deed", ["exec", "fork"])
def test_nothing_else_is_started(do: Do, deed: str) -> None:
    assert do(deed, needs="network") == -1


def test_other_processes_get_no_signals(do: Do) -> None:
    assert do("kill others", os.getpid(), needs="network") == -1


def test_limits_cannot_be_lifted(do: Do) -> None:
    assert do("lift limits", needs="network") == -1


@pytest.mark.parametrize("deed", ["write", "mkdir", "remove"])
def test_nothing_outside_is_written_or_removed(do: Do, tmp_path: Path, deed: str) -> None:
    target = tmp_path / "outside"
    if deed == "remove":
        target.write_text("kept")
    assert do(deed, str(target), needs="writing") == -13
    assert target.exists() == (deed == "remove")


def test_a_file_outside_is_not_written_over_and_keeps_its_rights(do: Do, tmp_path: Path) -> None:
    target = tmp_path / "outside"
    target.write_text("kept")
    target.chmod(0o600)
    assert do("write", str(target), needs="writing") == -13
    assert do("chmod", str(target), needs="network") == -1
    assert target.read_text() == "kept"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_the_scratch_folder_can_be_written_and_other_files_read(do: Do, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("12345")
    assert do("scratch") == 1
    assert do("read", str(tmp_path / "other")) == 5
    assert do("write", os.devnull) == 1


def test_memory_is_limited_beside_what_the_framework_took(do: Do) -> None:
    assert do("allocate", 200, needs="memory") == 1
    with pytest.raises(ModelError, match="memory"):
        do("allocate", 10_000, needs="memory")


def test_the_limits_hold_before_the_file_is_opened(do: Do, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="memory"):
        do("allocate", 10_000, when="open")
    do("write", str(tmp_path / "outside"), when="open", needs="writing")
    assert not (tmp_path / "outside").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="the limits of Linux")
def test_the_model_says_which_limits_hold(toy: Callable[..., Path]) -> None:
    model = ChildBackend(toy(), "toy", Limits(memory_mb=400))
    kinds = [line.partition(":")[0] for line in model.limits]
    assert kinds == ["memory", "file size", "writing", "network and programs"]
    assert "at most 400 MB beside the " in model.limits[0]
    model.close()


def test_what_cannot_be_put_in_place_is_said_and_the_rest_still_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> None:
        raise Unavailable("Function not implemented")

    for name in ("_limit_memory", "_limit_files", "fence_writes"):
        monkeypatch.setattr(f"cutaway.engine.confinement.{name}", missing)
    monkeypatch.setattr("cutaway.engine.confinement.filter_calls", lambda: None)
    words = confine(Limits(), tmp_path)
    assert words[2] == "writing: NOT limited, Function not implemented."
    assert words[3].startswith("network and programs: no sockets")


def decide(code: bytes, architecture: int, number: int, *arguments: int) -> int:
    """Run a filter's instructions, as the kernel would."""
    data = struct.pack("<IIQ6Q", number, architecture, 0, *(*arguments, 0, 0, 0, 0, 0, 0)[:6])
    steps = [struct.unpack_from("<HBBI", code, at) for at in range(0, len(code), 8)]
    at, loaded = 0, 0
    while True:
        kind, if_true, if_false, value = steps[at]
        at += 1
        if kind == 0x06:
            return value
        if kind == 0x20:
            loaded = struct.unpack_from("<I", data, value)[0]
            continue
        met = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[kind]
        at += if_true if met else if_false


ALLOWED, REFUSED, MISSING = 0x7FFF0000, 0x00050001, 0x00050026


@pytest.mark.parametrize("name", ["x86_64", "aarch64"])
def test_the_filter_decides_alike_on_both_processors(name: str) -> None:
    known, code = _MACHINES[name], program(name, 4711)
    assert len(code) // 8 < 4096
    for numbers in _REFUSED.values():
        if numbers[known.column] is not None:
            assert decide(code, known.audit, numbers[known.column]) == REFUSED
    for number in {"x86_64": (0, 1, 9, 257), "aarch64": (63, 64, 222, 56)}[name]:
        assert decide(code, known.audit, number) == ALLOWED
    assert decide(code, known.audit, known.clone, 0x3D0F00) == ALLOWED
    assert decide(code, known.audit, known.clone, 17) == REFUSED
    assert decide(code, known.audit, known.clone3) == MISSING
    assert decide(code, known.audit, known.kill, 4711) == ALLOWED
    assert decide(code, known.audit, known.kill, 1) == REFUSED
    assert decide(code, known.audit, known.tgkill, 4711, 4712) == ALLOWED
    assert decide(code, known.audit, known.prlimit, 0, 9, 0) == ALLOWED
    assert decide(code, known.audit, known.prlimit, 0, 9, 1 << 40) == REFUSED
    assert decide(code, known.audit, known.prlimit, 0, 9, 1) == REFUSED
    assert decide(code, 0x40000003, 11) == MISSING


def test_the_second_table_of_numbers_of_x86_is_closed() -> None:
    assert decide(program("x86_64", 1), 0xC000003E, 0x40000000 + 41) == MISSING
