"""Runs the examples of a page: its Python, the files that it writes, and the commands that it shows.

A page is run from top to bottom in an empty folder. Names carry over from one Python block to the next. A block with a
title (```` ```python title="train.py" ````) is written to that file. In ```` ```console ```` blocks the lines after `$`
that start `cutaway`, `python` or `torchrun` are run; one that ends in `&` runs on while the page goes on. `cutaway`
commands that are waited for, about a hundred, are forked from a process that has imported torch already.
"""

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from sybil import Document, Example, Region, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer

from cutaway.capture.current import live_hooks
from scripts.requirements import ROOT
from tests.nursery import Nursery

PROGRAMS = ("cutaway", "python", "torchrun")
SECONDS = 120


class TitledBlockParser:
    """Writes a block that has a title into the file of that name."""

    def __init__(self) -> None:
        self._lexer = RawFencedCodeBlockLexer(re.compile(r'\w+ title="(?P<title>[^"]+)"$\n', re.MULTILINE))

    def __call__(self, document: Document) -> Iterable[Region]:
        for region in self._lexer(document):
            region.parsed = region.lexemes["title"], region.lexemes["source"]
            region.evaluator = self._write
            yield region

    def _write(self, example: Example) -> None:
        title, source = example.parsed
        Path(title).write_text(source, encoding="utf-8")


class Shell:
    """Runs the commands of one page, and ends what it left running."""

    def __init__(self, nursery: Nursery, output: Path) -> None:
        self._nursery, self._output = nursery, output
        self._background: list[tuple[str, subprocess.Popen[str]]] = []
        folder = Path(sys.executable).parent
        self._environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"}
        # On a busy machine two threads of torch wait for each other more than they compute.
        self._environment["OMP_NUM_THREADS"] = "1"

    def evaluate(self, example: Example) -> None:
        for line in str(example.parsed).splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True) if line.startswith("$ ") else []
            if words and words[0] in PROGRAMS:
                self._run(words)

    def _run(self, words: list[str]) -> None:
        stays = words[-1] == "&"
        if words[0] == "cutaway" and not stays:
            self._fork(words)
            return
        command = words[:-1] if stays else words
        process = subprocess.Popen(
            command, env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if stays:
            self._background.append((shlex.join(command), process))
            self._let_it_start(process)
        else:
            self._finish(shlex.join(command), process)

    def _fork(self, words: list[str]) -> None:
        child = self._nursery.start(
            "command", words=words[1:], folder=str(Path.cwd()), environment=self._environment, output=str(self._output)
        )
        codes = child.reports()
        child.wait()
        output = self._output.read_text(encoding="utf-8")
        assert codes == [0], f"`{shlex.join(words)}` ended with {codes or 'a signal'}:\n{output}"

    @staticmethod
    def _let_it_start(process: subprocess.Popen[str]) -> None:
        """Wait as long as a person takes to turn to the other terminal: until there is a run to look at."""
        deadline = time.monotonic() + SECONDS
        while not list(Path("runs").glob("*/trace/collections.json")) and process.poll() is None:
            assert time.monotonic() < deadline, "no run began"
            time.sleep(0.05)

    def wait(self) -> None:
        """Wait for what was started with `&`; each must end well."""
        while self._background:
            self._finish(*self._background.pop())

    def stop(self) -> None:
        """End what a page that failed left running."""
        for _, process in self._background:
            process.kill()
            process.communicate()

    def _finish(self, command: str, process: subprocess.Popen[str]) -> None:
        output, _ = process.communicate(timeout=SECONDS)
        assert process.returncode == 0, f"`{command}` ended with {process.returncode}:\n{output}"


@pytest.fixture(scope="session")
def warm_commands() -> Iterator[Nursery]:
    with Nursery("tests.docs.commands") as nursery:
        yield nursery


@pytest.fixture
def run_page(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, warm_commands: Nursery
) -> Iterator[Callable[[Path], int]]:
    """Run every example of a page and return how many there were."""
    for name in [name for name in os.environ if name.startswith(("CUTAWAY", "SMDEBUG"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CUTAWAY_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["page"])
    monkeypatch.chdir(tmp_path)
    # As in an interpreter that was started there: a page may import the files that it writes.
    monkeypatch.syspath_prepend(tmp_path)
    imported = set(sys.modules)
    shell = Shell(warm_commands, tmp_path_factory.mktemp("output") / "output.txt")
    parsers = [PythonCodeBlockParser(), TitledBlockParser(), CodeBlockParser("console", shell.evaluate), SkipParser()]
    sybil = Sybil(parsers, path=str(ROOT))

    def run(page: Path) -> int:
        examples = list(sybil.parse(page))
        for example in examples:
            example.evaluate()
        shell.wait()
        return len(examples)

    yield run
    shell.stop()
    for name in set(sys.modules) - imported:
        if Path(getattr(sys.modules[name], "__file__", None) or "/").is_relative_to(tmp_path):
            del sys.modules[name]
    for hook in live_hooks():
        hook.close()
