"""Decides how torch comes into .venv. Runs nothing and downloads nothing: scripts/install.py does both.

On Linux the plain index usually has only torch's CUDA build, some 2,700 MB, which is wasted on a machine without an
NVIDIA device. uv knows where the CPU build lies; pip does not.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

CUDA_MEGABYTES = 2700  # torch's CUDA build with the nvidia-* packages it brings
CUDA_PARTS = ("nvidia-", "cuda-", "triton")


class Build(Enum):
    """What a build of torch computes on."""

    CPU = "cpu"
    CUDA = "cuda"


class Wish(Enum):
    """What CUTAWAY_TORCH may say."""

    CPU = "cpu"
    CUDA = "cuda"
    KEEP = "keep"


class Route(Enum):
    """One way to torch."""

    LEAVE = "leave what is there"
    PIP = "pip, from the plain index"
    UV_CPU = "uv, which finds the CPU build"


@dataclass(frozen=True, kw_only=True)
class Situation:
    """All that the decision depends on."""

    wish: Wish | None
    installed: Build | None
    index: Build  # what pip would fetch
    linux: bool
    nvidia: bool


def routes(situation: Situation) -> tuple[Route, ...]:
    """The routes to try, in this order, until one succeeds."""
    if situation.wish is Wish.KEEP or (situation.installed and not must_replace(situation.wish, situation.installed)):
        return (Route.LEAVE,)
    if situation.index is Build.CPU or situation.wish is Wish.CUDA:
        return (Route.PIP,)
    if situation.wish is Wish.CPU:
        return (Route.UV_CPU,)  # no second route: it would be the download that the user declined
    if situation.linux and not situation.nvidia:
        return (Route.UV_CPU, Route.PIP)
    return (Route.PIP,)


def must_replace(wish: Wish | None, installed: Build) -> bool:
    """Whether the user asked, by name, for the other build than the one that is there."""
    return wish in (Wish.CPU, Wish.CUDA) and wish.value != installed.value


def build_of(torch_version: str, packages: Iterable[str]) -> Build:
    """The build that pip resolved, told by its version's suffix or by the packages that come with it."""
    suffix = torch_version.partition("+")[2]
    if suffix:
        return Build.CPU if suffix == "cpu" else Build.CUDA
    return Build.CUDA if any(is_cuda_part(name) for name in packages) else Build.CPU


def is_cuda_part(package: str) -> bool:
    return package.startswith(CUDA_PARTS)
