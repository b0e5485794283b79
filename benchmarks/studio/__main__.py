"""`python -m benchmarks.studio`: how fast the studio's page is, beside an empty page and TensorBoard.

Serves made runs, opens them in a headless Chromium, and prints one table. Ends with 1 if a bar was missed.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks import machine
from benchmarks.figures import Verdict
from benchmarks.peers import bench_folder
from benchmarks.population.report import cells, problem_lines
from benchmarks.report import STORE_HEAD, markdown_table, text_table
from benchmarks.results import Absent, StoreRow
from benchmarks.studio import parts, results
from benchmarks.studio.browsing import Browsing, PageFailed, open_browser
from benchmarks.studio.map_part import measure_map
from benchmarks.studio.population_part import measure_population
from benchmarks.studio.sample_part import measure_sample

HEAD = ("studio", *STORE_HEAD[1:])
LEGEND = (
    "Times but the map's are from the navigation until something useful is on the screen, with nothing cached.",
    "Useful is a curve whose pixels are there; for TensorBoard already its chart's axes and canvas, before its curve.",
    "overview: the server was just started and has read nothing of the run.",
    "map: on one page, from points in memory until a pixel was read back, the other map in its fastest mode. Without a",
    "  graphics card ours puts small points into pixels by hand; `every point by WebGL` is what it would take else.",
    "population: until every point is painted. The lasso is the page's own figure, from the mouse's release on.",
    "sample: the demo's run, from a click on the next sample, the model ready; nothing of it asked before.",
    "live: from the step's write to the page's own word for it, two steps a second.",
    "verdict: missed only if the whole interval lies beyond the bar.",
)
Row = StoreRow | Absent
Measure = Callable[[Browsing, Path], list[StoreRow]]


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and say by the exit code whether every bar was kept."""
    options = _parse(arguments)
    begin = machine.read_load()
    rows: list[Row] = []
    with open_browser() as browsing:
        for name, measure in _parts(options.quick, options.repeats).items():
            if options.part in (None, name):
                rows += _measured(name, measure, browsing, options.scratch)
    end = machine.read_load()
    about = {**machine.describe(), "others used": f"{begin.others_until(end):.2f} cores"}
    table = [cells(row) for row in rows]
    said = [" · ".join(f"{key} {value}" for key, value in about.items()), text_table(HEAD, table), "\n".join(LEGEND)]
    sys.stdout.write("\n\n".join([*said, *problem_lines(rows)]) + "\n")
    if options.json:
        content = {"machine": about, "rows": [dataclasses.asdict(row) for row in rows]}
        options.json.write_text(json.dumps(content, indent=2) + "\n")
    if options.markdown:
        options.markdown.write_text(markdown_table(HEAD, table) + "\n")
    kept = all(not isinstance(row, Absent) and row.verdict is not Verdict.MISSED for row in rows)
    return 0 if kept or options.quick else 1


def _parts(quick: bool, repeats: int | None) -> dict[str, Measure]:  # noqa: FBT001 - ours alone
    turns, loads = (3, 30) if quick else (15, 1000)
    of_maps = repeats or (3 if quick else 9)
    turns = repeats or turns
    return {
        "size": lambda _browsing, _scratch: results.size_rows(*parts.script_kilobytes()),
        "paint": lambda browsing, scratch: results.paint_rows(parts.paint(browsing, scratch, turns)),
        "curves": lambda browsing, scratch: results.curve_rows(
            parts.curves(browsing, scratch, turns, 1000 if quick else 10_000)
        ),
        "overview": lambda browsing, scratch: results.overview_rows(
            parts.overview(browsing, scratch, turns, 200 if quick else 10_000)
        ),
        "runs": lambda browsing, scratch: results.run_rows(
            parts.runs(browsing, scratch, turns, 100 if quick else 10_000)
        ),
        "memory": lambda browsing, scratch: results.memory_rows(parts.memory(browsing, scratch, loads)),
        "live": lambda browsing, scratch: results.live_rows(parts.live(browsing, scratch, 10 if quick else 30)),
        "map": lambda browsing, scratch: results.map_rows(
            measure_map(browsing, scratch, of_maps, (60_000,) if quick else (60_000, 1_000_000))
        ),
        "population": lambda browsing, scratch: results.population_rows(
            measure_population(browsing, scratch, of_maps, (60_000,) if quick else (60_000, 1_000_000))
        ),
        "sample": lambda browsing, scratch: results.sample_rows(measure_sample(browsing, scratch, of_maps)),
    }


def _measured(name: str, measure: Measure, browsing: Browsing, scratch: Path | None) -> list[Row]:
    """A part's rows. One that fails is a row that says so: the others are still worth their time."""
    with tempfile.TemporaryDirectory(dir=scratch or bench_folder(), prefix=f"studio-{name}-") as folder:
        try:
            rows: list[Row] = list(measure(browsing, Path(folder)))
        except (PageFailed, RuntimeError, OSError) as error:
            rows = [Absent(name, str(error))]
    sys.stderr.write(f"{name} done\n")
    return rows


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studio", description=__doc__)
    names = list(_parts(quick=True, repeats=None))
    parser.add_argument("--quick", action="store_true", help="a short smoke run; its figures mean little")
    parser.add_argument(
        "--repeats", type=int, metavar="N", help="how often each page is measured (default: 15, maps 9)"
    )
    parser.add_argument("--part", choices=names, help="only one of the parts")
    parser.add_argument("--scratch", type=Path, metavar="DIR", help="where runs are written (default: .bench)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every row as JSON")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the table as Markdown")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
