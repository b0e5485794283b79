"""`python -m scripts.make_reference`: brings the generated parts of the documentation up to date.

Whole pages are made from docstrings, from the rules, the commands and the HTTP API; a picture from the layers. In
other pages the lines between `<!-- name -->` and `<!-- /name -->` are made: the tables of a run folder, the targets of
the Makefile, the figures of a benchmark.
"""

import argparse
import re
import sys
from pathlib import Path

from cutaway.run.schemas import SCHEMAS
from scripts.draw_architecture import architecture_picture
from scripts.reference_api import api_page
from scripts.reference_cli import cli_page
from scripts.reference_http import http_page
from scripts.reference_onnx import onnx_page
from scripts.reference_rules import rule_pages
from scripts.requirements import ROOT

__all__ = ["main", "make_targets", "stale_pages"]

DOCS = ROOT / "docs"
OVERHEAD = DOCS / "explanation" / "overhead.md"
FORMAT = DOCS / "reference" / "format.md"
SETTINGS = DOCS / "reference" / "settings.md"


def make_targets() -> dict[str, str]:
    """The targets of the Makefile, with the line that `make help` prints of each."""
    return dict(re.findall(r"(?m)^([a-z-]+):.*?## (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8")))


def stale_pages() -> list[Path]:
    """The pages that are not what the code says."""
    return [page for page, text in _pages().items() if not page.exists() or page.read_text(encoding="utf-8") != text]


def main(arguments: list[str] | None = None) -> int:
    """Write what has changed, or with `--check` only name it."""
    parser = argparse.ArgumentParser(prog="python -m scripts.make_reference", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 where a page is out of date")
    parser.add_argument("--bench", type=Path, metavar="FILE", help="put the tables of `benchmarks.capture --markdown`")
    parser.add_argument("--bench-rules", type=Path, metavar="FILE", help="put those of `benchmarks.rules --markdown`")
    options = parser.parse_args(arguments)
    for name, file in (("bench-capture", options.bench), ("bench-rules", options.bench_rules)):
        if file is not None:
            figures = file.read_text(encoding="utf-8").strip()
            OVERHEAD.write_text(_between(OVERHEAD, name, figures), encoding="utf-8")
    stale, pages = stale_pages(), _pages()
    for page in stale:
        print(f"{'out of date' if options.check else 'written'}: {page.relative_to(ROOT)}")
        if not options.check:
            page.parent.mkdir(exist_ok=True)
            page.write_text(pages[page], encoding="utf-8")
    return 1 if stale and options.check else 0


def _pages() -> dict[Path, str]:
    reference = DOCS / "reference"
    return {
        reference / "api.md": api_page(),
        reference / "cli.md": cli_page(),
        reference / "http-api.md": http_page(),
        reference / "onnx-operators.md": onnx_page(),
        **{reference / "rules" / name: text for name, text in rule_pages().items()},
        FORMAT: _format_page(),
        DOCS / "images" / "architecture.svg": architecture_picture(),
        SETTINGS: _between(SETTINGS, "make-targets", _target_table()),
    }


def _format_page() -> str:
    text = FORMAT.read_text(encoding="utf-8")
    for table, schema in SCHEMAS.items():
        rows = [f"| `{column.name}` | `{column.type}` |" for column in schema]
        text = _filled(text, f"table {table}", "\n".join(["| Column | Type |", "|---|---|", *rows]), FORMAT)
    return text


def _target_table() -> str:
    rows = [f"| `make {name}` | {said} |" for name, said in make_targets().items()]
    return "\n".join(["| Target | |", "|---|---|", *rows])


def _between(page: Path, name: str, content: str) -> str:
    return _filled(page.read_text(encoding="utf-8"), name, content, page)


def _filled(text: str, name: str, content: str, page: Path) -> str:
    """Put content between the marks of a name. Raises `ValueError` where the page has no such marks."""
    marks = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- /{re.escape(name)} -->)", re.DOTALL)
    filled, count = marks.subn(lambda found: f"{found[1]}{content}\n{found[2]}", text)
    if count != 1:
        message = f"{page.name} must have the marks of {name!r} once, but has them {count} times."
        raise ValueError(message)
    return filled


if __name__ == "__main__":
    sys.exit(main())
