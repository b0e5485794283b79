"""Nothing public is without its place in the documentation, and what is generated is current."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator

import cutaway
from cutaway.capture.settings import HookSettings
from cutaway.errors import CutawayError
from cutaway.run import RunState
from cutaway.run.layout import LAYOUT
from cutaway.run.schemas import SCHEMAS
from scripts.make_reference import make_targets, stale_pages
from scripts.reference_api import MODULES, NOT_DESCRIBED, public_names
from scripts.reference_cli import command_paths
from scripts.requirements import ROOT
from tests.docs.pages import DOCS

REFERENCE = DOCS / "reference"
SOURCES = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "src").rglob("*.py"))}
MAKE = (ROOT / "Makefile").read_text(encoding="utf-8")


def errors() -> list[type[CutawayError]]:
    """Every error of ours, wherever it is defined."""
    for _, name, _ in pkgutil.walk_packages(cutaway.__path__, "cutaway."):
        if name != "cutaway.__main__":
            importlib.import_module(name)

    def below(kind: type[CutawayError]) -> Iterator[type[CutawayError]]:
        yield kind
        for one in kind.__subclasses__():
            yield from below(one)

    return sorted(
        {kind for kind in below(CutawayError) if kind.__module__.startswith("cutaway")}, key=lambda k: k.__name__
    )


def section(page: str, heading: str) -> str:
    """The text below a heading, up to the next heading of any level."""
    text = (REFERENCE / page).read_text(encoding="utf-8")
    found = re.search(rf"(?ms)^#+ {re.escape(heading)}$\n(.*?)(?=^#|\Z)", text)
    return found[1] if found else ""


def test_generated_pages_are_current() -> None:
    stale = [page.name for page in stale_pages()]
    assert stale == [], "run: python -m scripts.make_reference"


def test_every_public_name_is_in_the_reference() -> None:
    names = [f"{module}.{name}" for module in MODULES for name in public_names(importlib.import_module(module))]
    assert [name for name in names if not section("api.md", f"`{name}`").strip()] == []


def test_everything_public_is_described() -> None:
    undescribed = [
        line for line in (REFERENCE / "api.md").read_text(encoding="utf-8").splitlines() if NOT_DESCRIBED in line
    ]
    assert undescribed == []


def test_every_error_has_symptom_and_fix_and_its_attributes() -> None:
    missing = []
    for kind in errors():
        text, wanted = section("errors.md", kind.__name__), ["**Symptom:**", "**Fix:**"]
        if kind is not CutawayError:
            wanted += [f"`{base.__name__}`" for base in kind.__bases__ if base.__module__ == "builtins"]
        if "__init__" in vars(kind):
            wanted += [f"`.{name}`" for name in re.findall(r"self\.(\w+)", inspect.getsource(kind.__init__))]
        missing += [f"{kind.__name__}: {one}" for one in wanted if one not in text]
    assert missing == []


def test_every_command_is_in_the_reference() -> None:
    assert [path for path in command_paths() if path not in section("cli.md", f"`{path}`")] == []


def test_every_column_of_a_table_is_on_the_format_page() -> None:
    missing = [
        f"{table}.{name}"
        for table, schema in SCHEMAS.items()
        for name in schema.names
        if f"| `{name}` |" not in section("format.md", table)
    ]
    assert missing == []


def test_everything_that_a_run_folder_may_hold_is_on_the_format_page() -> None:
    text = section("format.md", "The run folder, format 0")
    assert sorted(name for name in LAYOUT if not re.search(rf"(?m)(^  |`){re.escape(name)}\b", text)) == []


def test_every_finding_of_the_capture_is_on_the_format_page() -> None:
    codes = {code for text in SOURCES.values() for code in re.findall(r'\.say\(\s*f?"([a-z]+(?:-[a-z]+)*)', text)}
    assert {"capture-stopped", "hook-silent"} <= codes
    assert sorted(code for code in codes if f"| `{code}` |" not in section("format.md", "findings")) == []


def test_every_state_of_a_run_is_on_the_format_page() -> None:
    text = section("format.md", "leases")
    assert [state for state in RunState if f"| `{state}` |" not in text] == []


def test_every_setting_of_a_hook_is_listed_with_its_default() -> None:
    listed = section("settings.md", "Of a hook")
    defaults = {name: field.default for name, field in HookSettings.__dataclass_fields__.items()}
    shown = {name: f'"{one}"' if isinstance(one, str) else repr(one) for name, one in defaults.items()}
    assert [name for name, default in shown.items() if f"| `{name}` | `{default}` |" not in listed] == []


def test_every_environment_variable_is_listed() -> None:
    texts = [*SOURCES.values(), MAKE, *(path.read_text(encoding="utf-8") for path in (ROOT / "scripts").glob("*.py"))]
    used = {
        name
        for text in texts
        for name in re.findall(r"\b(?:CUTAWAY|SMDEBUG|TORNASOLE|USE_SMDEBUG)(?:_[A-Z]+)*\b", text)
    }
    listed = section("settings.md", "In the environment")
    assert sorted(name for name in used if name not in ("SMDEBUG", "TORNASOLE") and f"`{name}" not in listed) == []


def test_every_make_target_is_listed() -> None:
    targets = re.findall(r"(?m)^([a-z][a-z-]*):", MAKE)
    assert set(make_targets()) == set(targets)
    listed = section("settings.md", "Targets of the Makefile")
    assert [name for name in targets if f"| `make {name}` |" not in listed] == []
