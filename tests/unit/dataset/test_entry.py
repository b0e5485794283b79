"""Entry files: found, executed apart from each other, and blamed by file and line."""

import sys
import textwrap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import cutaway.dataset
from cutaway.dataset import Binder, load_entry
from cutaway.dataset.current import current_binder
from cutaway.dataset.entry import custom_layers
from cutaway.dataset.enums import Role
from cutaway.errors import BindingError, EncoderError

Write = Callable[[str, str], Path]

BINDING = """
    import numpy as np
    from cutaway.dataset import PreprocessResponse, leap_binder

    def preprocess():
        leap_binder.cache_container["offset"] = OFFSET
        return [PreprocessResponse(length=2), PreprocessResponse(length=1)]

    def encode(i, preprocess):
        from cutaway.dataset import leap_binder as again
        assert again is leap_binder
        return np.float32(i + leap_binder.cache_container["offset"])

    leap_binder.set_preprocess(preprocess)
    leap_binder.set_input(encode, "x")
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        return path

    return put


def value(entry: cutaway.dataset.Entry, index: int = 0) -> float:
    return float(entry.dataset().subsets["training"].encode(Role.INPUT, "x", index))


class TestFinding:
    def test_a_file_a_folder_and_settings_mean_the_same(self, write: Write, tmp_path: Path) -> None:
        path = write("leap_binder.py", BINDING.replace("OFFSET", "5"))
        settings = write("leap.yaml", "entryFile: leap_binder.py\n")
        entries = [load_entry(one) for one in (path, str(path), tmp_path, settings)]
        assert {entry.path for entry in entries} == {path}
        assert {entry.digest for entry in entries} == {entries[0].digest}
        assert [value(entry) for entry in entries] == [5.0] * 4

    def test_the_current_folder_is_the_default(
        self, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        path = write("leap_integration.py", "x = 1")
        assert load_entry().path == path
        other = write("binding/mine.py", "x = 1")
        write("leap.yaml", "entryFile: binding/mine.py\nprojectId: abc\n")
        assert load_entry().path == other

    @pytest.mark.parametrize(
        ("path", "said"),
        [
            ("leap_bindr.py", "Did you mean 'leap_binder.py'"),
            ("nowhere/entry.py", "No file"),
            ("empty", "has no leap.yaml, leap_binder.py or leap_integration.py"),
        ],
    )
    def test_what_is_missing_is_said_with_the_nearest(self, write: Write, tmp_path: Path, path: str, said: str) -> None:
        write("leap_binder.py", "")
        (tmp_path / "empty").mkdir()
        with pytest.raises(BindingError, match=said):
            load_entry(tmp_path / path)


class TestSettings:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("entryFile: leap_bind.py", "Did you mean 'leap_binder.py'"),
            ("entryFile: ../other.py", "leaves the folder"),
            ("entryFile: [1]", "must be the name of a Python file"),
            ("entryFile: !!python/object/apply:os.system ['touch made']", "Only plain values are read"),
            ("- a\n- b", "holds list"),
            ("entryFile: 'leap", "leap.yaml:1: not readable"),
            ("include: 3", "must be a list of file patterns"),
            ("include: ['../*']", "leaves the folder"),
            ("[" * 50_000, "more than 32 deep"),
        ],
    )
    def test_settings_that_cannot_be_used_are_refused(
        self, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
    ) -> None:
        monkeypatch.chdir(tmp_path)
        write("leap_binder.py", "")
        write("leap.yaml", text)
        with pytest.raises(BindingError, match=said):
            load_entry()
        assert not (tmp_path / "made").exists()

    def test_an_alias_bomb_is_refused_by_its_aliases(self, write: Write) -> None:
        levels = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9))
        with pytest.raises(BindingError, match="more than 16 aliases"):
            load_entry(write("leap.yaml", f"a0: &a0 [x, x]\n{levels}\n"))

    def test_a_large_file_is_no_settings(self, write: Write) -> None:
        with pytest.raises(BindingError, match="larger than 64 kB"):
            load_entry(write("leap.yaml", f"a: {'x' * 2**20}"))

    def test_nothing_is_expanded(self, write: Write) -> None:
        write("${oc.env:HOME}.py", "x = 1")
        entry = load_entry(write("leap.yaml", "entryFile: ${oc.env:HOME}.py\n"))
        assert entry.path.name == "${oc.env:HOME}.py"


class TestItsOwnBinder:
    def test_each_load_has_one(self, write: Write) -> None:
        path = write("leap_binder.py", BINDING.replace("OFFSET", "1"))
        before = current_binder()
        one, other = load_entry(path), load_entry(path)
        assert one.binder is not other.binder
        assert value(one) == value(other) == 1.0
        assert current_binder() is before
        assert before.encoders == []

    def test_threads_see_the_binder_of_the_entry_whose_function_they_call(self, write: Write) -> None:
        entries = [load_entry(write(f"{n}/leap_binder.py", BINDING.replace("OFFSET", str(10 * n)))) for n in range(3)]
        with ThreadPoolExecutor(6) as pool:
            asked = [pool.submit(value, entry, i % 2) for i in range(60) for entry in entries]
        assert [one.result() for one in asked] == [10.0 * n + i % 2 for i in range(60) for n in range(3)]

    def test_leap_is_there_without_an_import_also_in_helper_modules(self, write: Write) -> None:
        write("helper.py", "def bind(function):\n    leap.set_input(function, 'x')\n")
        entry = load_entry(
            write(
                "leap_binder.py",
                """
                from cutaway.dataset import SubsetResponse
                from helper import bind

                leap.set_subset(1, lambda: [SubsetResponse(1), SubsetResponse(1)], "s")
                bind(lambda i, preprocess: 3.0)
                """,
            )
        )
        assert value(entry) == 3.0

    def test_the_decorators_bind_to_it(self, write: Write) -> None:
        entry = load_entry(
            write(
                "leap_binder.py",
                """
                import numpy as np
                from cutaway.dataset import PreprocessResponse, tensorleap_input_encoder, tensorleap_preprocess
                from cutaway.dataset import tensorleap_custom_layer

                @tensorleap_preprocess()
                def preprocess():
                    return [PreprocessResponse(length=1), PreprocessResponse(length=1)]

                @tensorleap_input_encoder("x")
                def x(i, preprocess):
                    return np.float32([4])[0:1].reshape(())

                @tensorleap_custom_layer("Mine")
                class Mine:
                    pass
                """,
            )
        )
        assert value(entry) == 4.0
        assert list(custom_layers(entry.path)) == ["Mine"]
        assert entry.dataset().source == {"kind": "entry", "entry_file": str(entry.path), "digest": entry.digest}

    def test_leap_binder_of_the_package_is_the_current_one(self) -> None:
        assert cutaway.dataset.leap_binder is cutaway.dataset.leap is current_binder()
        assert isinstance(cutaway.dataset.leap_binder, Binder)
        with pytest.raises(AttributeError, match="no attribute 'leap_bindr'"):
            _ = cutaway.dataset.leap_bindr


LAZY = """
    import numpy as np
    from cutaway.dataset import PreprocessResponse, leap_binder
    import config
    import package.deep as deep
    from package import relative

    def encode(i, preprocess):
        import lazy
        from package.lazier import VALUE
        return np.float32(config.VALUE + lazy.VALUE + deep.VALUE + relative.VALUE + VALUE)

    leap_binder.set_preprocess(lambda: [PreprocessResponse(length=1), PreprocessResponse(length=1)])
    leap_binder.set_input(encode, "x")
"""


class TestImports:
    def lazy_entry(self, write: Write, folder: str, step: int) -> Path:
        write(f"{folder}/config.py", f"VALUE = {step}\n")
        write(f"{folder}/lazy.py", f"import config\nVALUE = config.VALUE * 10\nassert config.VALUE == {step}\n")
        write(f"{folder}/package/__init__.py", "")
        write(f"{folder}/package/deep.py", f"VALUE = {step * 100}\n")
        write(f"{folder}/package/relative.py", "from .deep import VALUE as DEEP\nVALUE = DEEP * 10\n")
        write(f"{folder}/package/lazier.py", "from package.deep import VALUE as DEEP\nVALUE = DEEP * 100\n")
        return write(f"{folder}/leap_binder.py", LAZY)

    def test_two_entries_have_their_own_modules_also_those_imported_late(self, write: Write) -> None:
        path, modules = list(sys.path), set(sys.modules)
        one = load_entry(self.lazy_entry(write, "one", 1))
        other = load_entry(self.lazy_entry(write, "other", 2))
        assert value(other) == 22222.0
        assert value(one) == 11111.0
        assert sys.path == path
        new = set(sys.modules) - modules
        assert all(name.startswith("cutaway_entry_") for name in new)

    def test_modules_are_imported_once_by_each_entry(self, write: Write) -> None:
        write("counted.py", "from cutaway.dataset import leap_binder\nleap_binder.cache_container['n'] = 1\nX = []\n")
        entry = load_entry(write("leap_binder.py", "import counted\nfrom counted import X\nassert X is counted.X\n"))
        assert entry.binder.cache_container["n"] == 1

    def test_the_folder_of_the_settings_is_searched_too(self, write: Write) -> None:
        write("shared_words.py", "WORD = 'found'\n")
        write("binding/entry.py", "from shared_words import WORD\nfrom binding.near import N\nprint(WORD, N)\n")
        write("binding/near.py", "N = 1\n")
        write("leap.yaml", "entryFile: binding/entry.py")
        assert load_entry(write("leap.yaml", "entryFile: binding/entry.py")).prints.text == "found 1\n"

    def test_a_file_beside_it_comes_before_an_installed_package_for_the_entry_alone(self, write: Write) -> None:
        write("json.py", "NAME = 'mine'\n")
        entry = load_entry(write("leap_binder.py", "import json\nimport logging\nprint(json.NAME)\n"))
        assert entry.prints.text == "mine\n"
        import json

        assert json.dumps(1) == "1"

    def test_a_folder_without_code_does_not_hide_an_installed_package(self, write: Write, tmp_path: Path) -> None:
        (tmp_path / "numpy").mkdir()
        write("own_space/part.py", "N = 2\n")
        entry = load_entry(
            write("leap_binder.py", "import numpy\nimport own_space.part as p\nprint(numpy.ones(1), p.N)")
        )
        assert entry.prints.text == "[1.] 2\n"

    def test_a_folder_without_code_hides_another_such_folder(
        self, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write("elsewhere/src/other.py", "")
        monkeypatch.syspath_prepend(tmp_path / "elsewhere")
        write("here/src/model.py", "N = 3\n")
        entry = load_entry(write("here/leap_binder.py", "from src.model import N\nprint(N)\n"))
        assert entry.prints.text == "3\n"

    def test_a_file_that_was_just_written_is_found(self, write: Write) -> None:
        main = write("leap_binder.py", "import late\n")
        with pytest.raises(BindingError, match="No module named 'late'"):
            load_entry(main)
        write("late.py", "print('found')\n")
        assert load_entry(main).prints.text == "found\n"

    def test_dataclasses_with_written_annotations_work(self, write: Write) -> None:
        text = """
            from __future__ import annotations
            from dataclasses import dataclass
            from typing import ClassVar

            @dataclass
            class Settings:
                size: int
                name: ClassVar[str] = "s"

            print(Settings(3), __name__ == "__main__", __file__)
        """
        entry = load_entry(write("leap_binder.py", text))
        assert entry.prints.text == f"Settings(size=3) False {entry.path}\n"

    def test_a_file_that_changed_is_read_anew(self, write: Write) -> None:
        main = write("leap_binder.py", "import config\nprint(config.VALUE)\n")
        write("config.py", "VALUE = 1\n")
        first = load_entry(main)
        write("config.py", "VALUE = 2\n")
        second = load_entry(main)
        assert (first.prints.text, second.prints.text) == ("1\n", "2\n")
        assert first.digest != second.digest

    def test_nothing_is_written_beside_it(self, write: Write, tmp_path: Path) -> None:
        write("config.py", "")
        load_entry(write("leap_binder.py", "import config\n"))
        assert sorted(one.name for one in tmp_path.iterdir()) == ["config.py", "leap_binder.py"]


class TestErrors:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("x = 1\ny = x / 0\n", r"leap_binder.py:2: ZeroDivisionError: division by zero"),
            ("x = 1\ny = (\n", r"leap_binder.py:2: SyntaxError: '\(' was never closed"),
            ("import sys\nsys.exit(0)\n", r"leap_binder.py:2: it called sys.exit\(0\)"),
            ("raise SystemExit\n", r"leap_binder.py:1: it called sys.exit"),
            (
                "x = 1\nimport no_such_thing\n",
                r"leap_binder.py:2: ModuleNotFoundError.*or put no_such_thing.py beside leap_b",
            ),
            ("import helper.missing\n", r"leap_binder.py:1: ModuleNotFoundError: No module named 'helper.missing'"),
            (
                "from code_loader.contract.enums import A\n",
                r"py:1: .*'code_loader'. Import the same names from `cutaway.d",
            ),
            (
                "from raising import ff\n",
                r"py:1: ImportError: cannot import name 'ff' from 'raising'. Did you mean 'f'\?",
            ),
            ("from os import pth\n", r"py:1: ImportError: cannot import name 'pth' from 'os'. Did you mean 'path'"),
            ("import broken\n", r"broken.py:2: SyntaxError"),
            ("from raising import f\nf()\n", r"raising.py:2: KeyError: 'k'"),
            ("leap.set_input(1, 'x')\n", r"leap_binder.py:1: input 'x' must be a function"),
            ("leap.set_inputs\n", "leap_binder.py:1: AttributeError"),
            ("\0", "SyntaxError"),
        ],
    )
    def test_the_users_own_file_and_line_come_first(self, write: Write, text: str, said: str) -> None:
        write("helper/__init__.py", "")
        write("broken.py", "x = 1\ny = = 2\n")
        write("raising.py", "def f():\n    raise KeyError('k')\n")
        before = sys.stdout
        modules = set(sys.modules)
        with pytest.raises(BindingError, match=said) as caught:
            load_entry(write("leap_binder.py", text))
        assert str(caught.value).split(":")[0].endswith(".py")
        assert sys.stdout is before
        assert not {name for name in set(sys.modules) - modules if name.startswith("cutaway_entry_")}

    def test_an_interrupt_goes_through(self, write: Write) -> None:
        with pytest.raises(KeyboardInterrupt):
            load_entry(write("leap_binder.py", "raise KeyboardInterrupt\n"))

    def test_an_encoder_is_blamed_by_its_line(self, write: Write) -> None:
        text = """
            from cutaway.dataset import PreprocessResponse, leap_binder

            def encode(i, preprocess):
                table = {}
                return table[i]

            leap_binder.set_preprocess(lambda: [PreprocessResponse(length=1), PreprocessResponse(length=1)])
            leap_binder.set_input(encode, "x")
        """
        entry = load_entry(write("leap_binder.py", text))
        with pytest.raises(EncoderError, match=r"leap_binder.py:5: input 'x' failed for sample 'training/0': KeyError"):
            value(entry)


class TestDigest:
    def test_it_covers_what_is_imported_and_included_and_not_where_it_lies(self, write: Write) -> None:
        def entry(folder: str, config: str = "1", words: str = "a", other: str = "b") -> str:
            write(f"{folder}/config.py", f"V = {config}")
            write(f"{folder}/words.txt", words)
            write(f"{folder}/other.txt", other)
            write(f"{folder}/secret.txt", other)
            write(f"{folder}/leap.yaml", "entryFile: leap_binder.py\ninclude: ['*.txt']\nexclude: [other.txt, 'sec*']")
            write(f"{folder}/leap_binder.py", "import config\n")
            return load_entry(write(f"{folder}/leap_binder.py", "import config\n").parent).digest

        same = entry("a")
        assert entry("b") == same
        assert entry("c", config="2") != same
        assert entry("d", words="c") != same
        assert entry("e", other="c") == same


def test_prints_are_kept_up_to_a_limit(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    entry = load_entry(write("leap_binder.py", "for _ in range(100):\n    print('x' * 10_000)\n"))
    assert entry.prints.dropped == 100 * 10_001 - 64 * 1024
    assert capsys.readouterr().out == ""


def test_values_of_an_entry_are_arrays(write: Write) -> None:
    entry = load_entry(write("leap_binder.py", BINDING.replace("OFFSET", "1")))
    assert isinstance(entry.dataset().subsets["training"].encode(Role.INPUT, "x", 0), np.ndarray)
