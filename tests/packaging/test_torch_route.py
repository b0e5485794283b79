"""How torch comes into .venv, as one table."""

import pytest

from scripts.torch_route import Build, Route, Situation, Wish, build_of, must_replace, routes

CPU, CUDA = Build.CPU, Build.CUDA
LEAVE, PIP, UV_CPU = Route.LEAVE, Route.PIP, Route.UV_CPU

# wish, installed, index, linux, nvidia -> routes in the order in which they are tried
TABLE = [
    # Importable already: left alone, whatever the index has and whatever the machine is.
    (None, CPU, CUDA, True, True, [LEAVE]),
    (None, CUDA, CPU, True, False, [LEAVE]),
    (Wish.CPU, CPU, CUDA, True, True, [LEAVE]),
    (Wish.CUDA, CUDA, CUDA, True, False, [LEAVE]),
    # The plain index has a CPU build, as on macOS or with a wheel on the machine.
    (None, None, CPU, True, False, [PIP]),
    (None, None, CPU, False, False, [PIP]),
    # It has the CUDA build, and nothing here can use it.
    (None, None, CUDA, True, False, [UV_CPU, PIP]),
    # It has the CUDA build, and there is a device, or it is not Linux.
    (None, None, CUDA, True, True, [PIP]),
    (None, None, CUDA, False, False, [PIP]),
    # The user decides.
    (Wish.CPU, None, CUDA, True, True, [UV_CPU]),
    (Wish.CPU, None, CPU, True, True, [PIP]),
    (Wish.CPU, CUDA, CUDA, True, True, [UV_CPU]),
    (Wish.CUDA, None, CUDA, True, False, [PIP]),
    (Wish.CUDA, CPU, CUDA, True, False, [PIP]),
    (Wish.KEEP, None, CUDA, True, False, [LEAVE]),
    (Wish.KEEP, CUDA, CPU, True, False, [LEAVE]),
]


@pytest.mark.parametrize(("wish", "installed", "index", "linux", "nvidia", "expected"), TABLE)
def test_the_route_to_torch(
    wish: Wish | None, installed: Build | None, index: Build, linux: bool, nvidia: bool, expected: list[Route]
) -> None:
    situation = Situation(wish=wish, installed=installed, index=index, linux=linux, nvidia=nvidia)
    assert list(routes(situation)) == expected


@pytest.mark.parametrize(
    ("version", "packages", "build"),
    [
        ("2.13.0+cpu", ["torch", "numpy"], CPU),
        ("2.13.0", ["torch", "numpy"], CPU),
        ("2.13.0", ["torch", "nvidia-cudnn-cu13"], CUDA),
        ("2.13.0", ["torch", "cuda-bindings"], CUDA),
        ("2.13.0", ["torch", "triton"], CUDA),
        ("2.13.0+cu130", ["torch"], CUDA),
    ],
)
def test_the_build_is_told_from_what_pip_resolved(version: str, packages: list[str], build: Build) -> None:
    assert build_of(version, packages) is build


@pytest.mark.parametrize("wish", [None, Wish.KEEP])
@pytest.mark.parametrize("installed", list(Build))
def test_nothing_is_replaced_unless_the_other_build_is_asked_for_by_name(wish: Wish | None, installed: Build) -> None:
    assert not must_replace(wish, installed)
