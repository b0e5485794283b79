"""`tests.yaml`: the slice tests of a run, or of a repository. Reads and writes lines, and does not know what they say.

    version: 1
    tests:
    - accuracy of test at least 0.97
    - name: thin digits
      line: accuracy where metadata.thickness < 2 at least 0.95
      why: customers write with fine pens
      insight: true

A test is a line, or a mapping with `line` and, where wanted, `name`, `why` and whether an insight made it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cutaway.errors import ConfigurationError, did_you_mean
from cutaway.run.documents import write_yaml
from cutaway.run.plain_yaml import read_plain_yaml
from cutaway.run.whole_files import whole_file

__all__ = ["WrittenTest", "read_tests", "with_tests", "without_tests", "write_tests"]

VERSION = 1
_LARGEST = 256 * 1024
_KEYS = ("name", "line", "why", "insight")


@dataclass(frozen=True)
class WrittenTest:
    """A test as it stands in a file: its line, and where they are known its name, its reason and its origin."""

    line: str
    name: str = ""
    why: str = ""
    insight: bool = False

    @property
    def title(self) -> str:
        """What it is called: its name, or its line."""
        return self.name or self.line


def read_tests(path: Path) -> tuple[WrittenTest, ...]:
    """Return the tests of a file in their order; none where there is no file.

    Raises `ConfigurationError` for a file that is not as described above, with the place and what to write.
    """
    try:
        content = read_plain_yaml(path, largest=_LARGEST, what="file of tests")
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise ConfigurationError(
            f"Cannot read {path}: {error.strerror or error}.", hint="Give a file of tests.", path=path
        ) from error
    except ValueError as error:
        raise ConfigurationError(str(error)) from error
    found = tuple(_test(path, number, one) for number, one in enumerate(_tests_listed(path, content), 1))
    titles: set[str] = set()
    for one in found:
        if one.title in titles:
            raise ConfigurationError(f"{path} has {one.title!r} twice.", hint="Keep one of them.", path=path)
        titles.add(one.title)
    return found


def write_tests(path: Path, tests: Sequence[WrittenTest]) -> None:
    """Write a file of tests whole. What could not be read again raises `ConfigurationError`, and is not written."""
    content = write_yaml({"version": VERSION, "tests": [_yaml_of_test(one) for one in tests]})
    with whole_file(path) as beside:
        beside.write_bytes(content)
        try:
            # One name with an unseen character, or one test too many, would take all the others with it.
            read_tests(beside)
        except ConfigurationError as error:
            raise ConfigurationError(str(error).replace(str(beside), str(path))) from error


def with_tests(tests: Sequence[WrittenTest], new: Sequence[WrittenTest]) -> tuple[WrittenTest, ...]:
    """Return the tests and the new ones after them; one of the same name takes the place of the old one.

    >>> [one.line for one in with_tests([WrittenTest("a"), WrittenTest("b", "x")], [WrittenTest("c", "x")])]
    ['a', 'c']
    """
    by_title = {one.title: one for one in tests}
    by_title |= {one.title: one for one in new}
    return tuple(by_title.values())


def without_tests(tests: Sequence[WrittenTest], names: Sequence[str]) -> tuple[WrittenTest, ...]:
    """Return the tests but those of these names or lines. Raises for one that there is not."""
    titles = [one.title for one in tests]
    for name in names:
        if not any(name in (one.name, one.line) for one in tests):
            near = did_you_mean(name, titles)
            raise ConfigurationError(
                f"There is no test {name!r}.", hint=f"{near} There are {', '.join(titles) or 'none'}."
            )
    return tuple(one for one in tests if one.title not in names and one.line not in names)


def _tests_listed(path: Path, content: Any) -> list[Any]:
    if content is None:
        return []
    if not isinstance(content, dict):
        raise ConfigurationError(
            f"{path} holds {type(content).__name__}, but a file of tests begins with `version: {VERSION}` and "
            "`tests:`.",
            path=path,
        )
    strangers = [str(key) for key in content if key not in ("version", "tests")]
    if strangers:
        raise ConfigurationError(
            f"{path} has {strangers[0]!r}, but a file of tests has `version` and `tests` only.", path=path
        )
    version, tests = content.get("version", VERSION), content.get("tests")
    if version != VERSION or isinstance(version, bool):
        raise ConfigurationError(f"{path} has version {version!r}; this release reads version {VERSION}.", path=path)
    if tests is not None and not isinstance(tests, list):
        raise ConfigurationError(f"{path}: `tests` must be a list of lines, but is {type(tests).__name__}.", path=path)
    return tests or []


def _test(path: Path, number: int, given: Any) -> WrittenTest:
    place = f"{path}: test {number}"
    if isinstance(given, str):
        return WrittenTest(_one_line(place, "line", given))
    if not isinstance(given, dict) or "line" not in given:
        raise ConfigurationError(
            f"{place} must be a line such as 'accuracy of test at least 0.97', or a mapping with `line`.",
            hint="A line that holds ': ' or ' #' goes in quotes.",
        )
    strangers = [str(key) for key in given if key not in _KEYS]
    if strangers:
        near = did_you_mean(strangers[0], _KEYS)
        raise ConfigurationError(f"{place} has {strangers[0]!r}.", hint=f"{near} A test has {', '.join(_KEYS)}.")
    insight = given.get("insight", False)
    if not isinstance(insight, bool):
        raise ConfigurationError(f"{place}: `insight` must be true or false, but is {insight!r}.")
    texts = {key: _one_line(place, key, given[key]) for key in ("line", "name", "why") if given.get(key) is not None}
    return WrittenTest(**texts, insight=insight)


def _one_line(place: str, key: str, given: Any) -> str:
    if not isinstance(given, str):
        raise ConfigurationError(f"{place}: `{key}` must be a text, but is {given!r}.")
    stripped = given.strip()
    if not stripped.isprintable():
        raise ConfigurationError(f"{place}: `{key}` must be one line of printable characters, but is {given!r}.")
    if not stripped and key == "line":
        raise ConfigurationError(f"{place} is empty.", hint="Write a line such as 'accuracy of test at least 0.97'.")
    return stripped


def _yaml_of_test(test: WrittenTest) -> str | dict[str, Any]:
    told = {"name": test.name, "line": test.line, "why": test.why, "insight": test.insight}
    kept = {key: value for key, value in told.items() if value}
    return test.line if list(kept) == ["line"] else kept
