"""Cases 25 and 26 in a report: whatever a run holds is text, and whatever it calls a picture is checked."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from cutaway.analysis.population.result import AnalysisResult
from cutaway.analysis.report import Head, ReportContent
from cutaway.cli import main
from cutaway.run import Finding, Run, WriterId
from cutaway.run.findings import append_findings
from cutaway.run.sample_merging import preview_key
from tests.hostile.image_bombs import BOMBS
from tests.unit.analysis.figures.made import png
from tests.unit.analysis.figures.reading_pages import HOSTILE, Page
from tests.unit.analysis.report.made import content, report

TEXTS = [
    *HOSTILE,
    '=HYPERLINK("https://example.org")',
    "</style><style>*{background:url(https://example.org)}</style>",
    "</textarea></details></section></main></body></html><script>alert(1)</script>",
    "javascript:alert(1)",
    "' onload='alert(1)",
    "&lt;script&gt;&#x3c;script&#x3e;",
    "\u2066\u202e\u200b\ufeff\U000e0041",
    "{{SECTIONS}}{{STYLE}}",
    "<svg><animate onbegin=alert(1)>",
    "data:text/html,<script>alert(1)</script>",
]
ALLOWED = {
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "main",
    "header",
    "h1",
    "h2",
    "h3",
    "span",
    "dl",
    "div",
    "dt",
    "dd",
    "p",
    "b",
    "small",
    "nav",
    "a",
    "section",
    "ul",
    "li",
    "img",
    "figure",
    "figcaption",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "details",
    "summary",
    "strong",
    "code",
    "footer",
    "svg",
    "rect",
    "circle",
    "polyline",
}
ATTRIBUTES = {
    "lang",
    "charset",
    "http-equiv",
    "content",
    "name",
    "class",
    "id",
    "href",
    "src",
    "alt",
    "loading",
    "scope",
    "tabindex",
    "role",
    "aria-label",
    "aria-hidden",
    "viewbox",
    "preserveaspectratio",
    "x",
    "y",
    "width",
    "height",
    "cx",
    "cy",
    "r",
    "points",
}


def is_harmless(html: str) -> Page:
    """Fail unless a page has our elements and attributes only, runs nothing and leads nowhere."""
    page = Page(html)
    assert {tag for tag, _ in page.elements} <= ALLOWED
    for _, attributes in page.elements:
        assert set(attributes) <= ATTRIBUTES
        assert re.fullmatch(r"#[a-z-]+", attributes.get("href") or "#a")
        assert (attributes.get("src") or "data:image/png;base64,iVBOR").startswith("data:image/png;base64,iVBOR")
    [policy] = [one["content"] for _, one in page.elements if one.get("http-equiv")]
    assert policy is not None
    assert re.fullmatch(
        r"default-src 'none'; img-src data:; style-src 'sha256-[\w+/=]+'; script-src 'none'; base-uri 'none'; "
        r"form-action 'none'",
        policy,
    )
    [style] = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    assert "url(" not in style
    assert "@import" not in style
    return page


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_every_text_of_a_run_is_only_text(text: str) -> None:
    page = is_harmless(report(content(text)).html)
    assert not any(one in page.text for one in "\0\x1b\u202e\u2066\u200b\ufeff\u2028")


def test_a_lone_surrogate_can_be_written_as_a_file(tmp_path: Path) -> None:
    given = ReportContent(Head("\ud800"), findings=[Finding("\ud83d", "error", "\ud83d")], limits=["\udfff"])
    (tmp_path / "report.html").write_text(report(given).html, encoding="utf-8")
    shown = is_harmless((tmp_path / "report.html").read_text(encoding="utf-8")).shown
    assert "\\ud800" in shown
    assert "\\ud83d" in shown
    assert "\\udfff" in shown


def test_a_cell_of_ten_megabytes_is_cut_and_says_so() -> None:
    huge = "<b>" * 3_500_000
    table = pa.table({"sample": [huge], "score": [0.9], "reason": [huge], "label": [huge], huge: [huge]})
    part = AnalysisResult("mislabeled", (huge,), {"mislabeled": table}, (huge,))
    made = report(ReportContent(Head(huge), findings=[Finding(huge, "error", huge, where={huge: huge})], parts=[part]))
    assert made.size < 100_000
    assert "(10,500,000 characters)" in is_harmless(made.html).shown


@pytest.mark.parametrize("name", BOMBS)
def test_a_bad_picture_costs_its_own_place_only(name: str) -> None:
    given = content("why", rows=6)
    pictures = {**given.previews, "why/2": BOMBS[name]}
    page = is_harmless(report(content("why", rows=6, previews=pictures)).html)
    assert "picture cannot be shown: " in page.shown
    assert "1 picture could not be shown" in page.shown
    alone = is_harmless(report(given).html)
    assert 0 < sum(tag == "img" for tag, _ in page.elements) < sum(tag == "img" for tag, _ in alone.elements)
    assert b"<svg" not in report(content(previews=pictures)).html.encode().split(b"<body>")[0]


def write_previews(run: Path, pictures: dict[str, bytes | None]) -> None:
    """Put pictures of anybody in the place of a run's own."""
    table = pa.table({"id": list(pictures), "png": pa.array(list(pictures.values()), pa.binary())})
    path = run / preview_key("training")
    path.parent.mkdir(parents=True, exist_ok=True)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    pytest.importorskip("torch")
    from tests.unit.analysis.kinds import evaluated_kind

    folder, _ = evaluated_kind("probabilities", tmp_path / "run")
    return folder


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_a_run_full_of_bombs_has_a_report_within_bounded_memory(run: Path) -> None:
    bad = list(BOMBS.values())
    write_previews(run, {f"training/{row}": bad[row % len(bad)] if row % 2 else png(row) for row in range(60)})
    writer = Run.open(run).writer("findings", WriterId("watch", "worker_0", 0))
    append_findings(writer, [Finding(text[:200], "error", text, where={text: text}) for text in TEXTS])
    writer.close()
    code = (
        "import resource, sys; import pyarrow as pa;"
        "from cutaway.analysis.population import whole; from cutaway.cli import main;"
        "ids = [f'training/{row}' for row in range(60)];"
        "table = pa.table({'sample': ids, 'score': [0.5] * 60, 'reason': ids});"
        "whole.analyze = lambda *_, **__: [whole.AnalysisResult('outliers', tables={'outliers': table})];"
        # What the imports took, and room for a small picture.
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize();"
        "resource.setrlimit(resource.RLIMIT_AS, (used + (2 << 30), used + (2 << 30)));"
        "sys.exit(main(['report', sys.argv[1]]))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(run)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    page = is_harmless((run / "reports" / "report.html").read_text(encoding="utf-8"))
    assert page.shown.count("picture cannot be shown: ") == 9
    assert "60,000 x 60,000 pixels" in page.shown
    assert "Findings" in page.shown


@pytest.mark.parametrize("cut", [0, 20, 2000])
def test_previews_that_cannot_be_read_cost_the_pictures_only(
    run: Path, cut: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cutaway.analysis.population import whole

    kept = [one for one in whole.analyses() if one.name == "confusion"]
    monkeypatch.setattr(whole, "analyses", lambda: kept)
    write_previews(run, {f"training/{row}": png(row) for row in range(60)})
    path = run / preview_key("training")
    path.write_bytes(path.read_bytes()[:cut])
    assert main(["report", str(run)]) == 0
    assert "Accuracy is" in is_harmless((run / "reports" / "report.html").read_text(encoding="utf-8")).shown
