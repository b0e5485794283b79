"""Case 31: a run folder that came from anybody is analysed. Nothing in it runs; lies are refused or made anew."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cutaway.analysis import Population, analyze
from cutaway.analysis.population.applicability import ranked_analyses
from cutaway.analysis.population.plotting import plot_heat_maps, previews_of
from cutaway.cli import main
from cutaway.errors import AnalysisUnavailable, BindingError, CutawayError, EvaluationError, ModelError
from cutaway.evaluation import Evaluation, evaluations
from cutaway.run import Run
from cutaway.run.analyses import AnalysisName, write_arrays
from cutaway.run.evaluations import spaces_document, write_source
from cutaway.run.schemas import FINDINGS
from cutaway.run.segments import WriterId
from tests.unit.analysis.kinds import KINDS, evaluated_kind

pytest.importorskip("torch")

Change = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was analysed whole."""
    folder, _ = evaluated_kind("probabilities", tmp_path_factory.mktemp("made") / "run")
    list(analyze(Population.open(folder)))
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(copytree(made, tmp_path / "run"))


def evaluation_of(folder: Path) -> Evaluation:
    return evaluations(Run.open(folder))[0]


def everything(folder: Path) -> dict[str, Any]:
    """Analyse all of a run, draw its map, and return the words."""
    population = Population.open(folder)
    words = {part.analysis: part.words for part in analyze(population)}
    population.similar(0, 3)
    population.plot().html()
    return words


def refused_or_done(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Run the whole command: it ends with an answer, or with words about the files."""
    code = main(["analyze", str(folder), "--json"])
    captured = capsys.readouterr()
    assert code in (0, 2), captured.err
    return code, captured.err


@pytest.mark.one_in(3)
@pytest.mark.parametrize("share", [0.0, 0.5, 0.95])
def test_what_was_kept_and_is_cut_short_is_made_anew(made: Path, folder: Path, share: float) -> None:
    kept = list(evaluation_of(folder).path.glob("*.*.parquet"))
    assert len(kept) > 8
    for path in kept:
        path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    assert everything(folder) == everything(made)


def test_garbled_bytes_are_made_anew(made: Path, folder: Path) -> None:
    chance = np.random.default_rng(0)
    for path in evaluation_of(folder).path.glob("*.*.parquet"):
        data = np.frombuffer(path.read_bytes(), np.uint8).copy()
        data[chance.integers(0, len(data), 20)] ^= 0xFF
        path.write_bytes(data.tobytes())
    assert everything(folder) == everything(made)


def rewritten(path: Path, change: Callable[[pa.Table], pa.Table], about: Change | None = None) -> None:
    """Write a kept table anew, under the key that it had."""
    table = pq.read_table(path)
    told = json.loads(table.schema.metadata[b"cutaway"])
    if about is not None:
        about(told)
    made = change(table).replace_schema_metadata({b"cutaway": json.dumps(told)})
    pq.write_table(made, path)


def without(*columns: str) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.drop_columns(list(columns))


def put(column: str, values: Callable[[pa.Table], Any]) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.set_column(table.column_names.index(column), column, pa.array(values(table)))


LIES_IN_A_MAP: dict[str, Callable[[pa.Table], pa.Table]] = {
    "other ids": put("sample", lambda table: [f"{one}x" for one in table["sample"].to_pylist()]),
    "ids in another order": lambda table: table.take(list(reversed(range(table.num_rows)))),
    "fewer rows": lambda table: table.slice(0, 10),
    "NaN": put("x", lambda table: np.full(table.num_rows, np.nan, np.float32)),
    "infinity": put("y", lambda table: np.full(table.num_rows, np.inf, np.float32)),
    "words": put("x", lambda table: ["far"] * table.num_rows),
    "nothing": put("x", lambda table: [None] * table.num_rows),
    "no place": without("x"),
    "no ids": without("sample"),
}


@pytest.mark.parametrize("lie", LIES_IN_A_MAP)
def test_a_map_of_other_samples_or_places_is_made_anew(made: Path, folder: Path, lie: str) -> None:
    for path in evaluation_of(folder).path.glob("*.map.*.parquet"):
        rewritten(path, LIES_IN_A_MAP[lie])
    np.testing.assert_array_equal(Population.open(folder).map(), Population.open(made).map())


def rows_of(value: object) -> Callable[[pa.Table], list[object]]:
    return lambda table: [value] * table.num_rows


LIES_IN_A_RANKED_TABLE: dict[str, Callable[[pa.Table], pa.Table]] = {
    "scores of text": put("score", rows_of("high")),
    "scores of lists": put("score", rows_of([1.0])),
    "no scores": put("score", lambda table: pa.nulls(table.num_rows, pa.float64())),
    "NaN": put("score", rows_of(float("nan"))),
    "infinity": put("score", rows_of(float("inf"))),
    "no samples": put("sample", lambda table: pa.nulls(table.num_rows, pa.string())),
    "samples of numbers": put("sample", rows_of(7)),
    "strangers": put("sample", lambda table: [f"training/x{row}" for row in range(table.num_rows)]),
    "no reasons": put("reason", lambda table: pa.nulls(table.num_rows, pa.string())),
    "subsets of lists": put("subset", rows_of(["training"])),
    "three columns": lambda table: table.select(["sample", "score", "reason"]),
    "each row thrice": lambda table: pa.concat_tables([table] * 3) if "kind" not in table.column_names else table,
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("lie", LIES_IN_A_RANKED_TABLE)
def test_a_ranked_table_that_no_analysis_gives_is_made_anew(
    made: Path, folder: Path, lie: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for kind in (*(one.name for one in ranked_analyses()), "insights"):
        for path in evaluation_of(folder).path.glob(f"*.{kind}.*parquet"):
            rewritten(path, LIES_IN_A_RANKED_TABLE[lie])
    for words in (["fix", str(folder), "--dry-run"], ["analyze", str(folder), "insights"]):
        assert main(words) in (0, 2), capsys.readouterr().err
    there, honest = Population.open(folder), Population.open(made)
    for kind in ("ambiguous", "duplicates", "outliers"):
        assert there.ranked(kind).table.equals(honest.ranked(kind).table), kind
    assert there.insights().equals(honest.insights())


NEIGHBOURS: dict[str, Callable[[dict[str, np.ndarray]], None]] = {
    "themselves": lambda held: held["indices"].__setitem__((slice(None), 0), np.arange(len(held["indices"]))),
    "nobody": lambda held: held["indices"].__setitem__(slice(None), -1),
    "NaN": lambda held: held["distances"].__setitem__(slice(None), np.nan),
    "negative": lambda held: held["distances"].__setitem__(slice(None), -1),
    "the farthest first": lambda held: held.__setitem__("distances", held["distances"][:, ::-1]),
    "too many": lambda held: held["indices"].__setitem__((0, 0), len(held["indices"])),
    "small numbers": lambda held: held.__setitem__("indices", held["indices"].astype(np.int8)),
}


@pytest.mark.parametrize("lie", NEIGHBOURS)
def test_neighbours_that_nobody_can_have_are_looked_for_anew(folder: Path, lie: str) -> None:
    honest = Population.open(folder).nearest()
    [path] = evaluation_of(folder).path.glob("joint.nearest.latent.npz")
    with np.load(path) as held:
        about = json.loads(held["about"].tobytes())
        arrays = {name: held[f"array.{name}"].copy() for name in ("indices", "distances")}
    NEIGHBOURS[lie](arrays)
    write_arrays(evaluation_of(folder), AnalysisName("joint", "nearest", "latent"), arrays, about)
    again = Population.open(folder).nearest()
    np.testing.assert_array_equal(again.indices, honest.indices)
    np.testing.assert_array_equal(again.distances, honest.distances)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "lie",
    [
        {"where": "{", "evidence": "no JSON"},
        {"where": "[1]", "evidence": "3"},
        {"where": None, "evidence": None, "message": None},
        {"id": None, "code": None, "severity": None, "time": None, "source": None},
        {"severity": "<b>fatal", "time": float("nan")},
        {"where": "[" * 100_000},
    ],
)
def test_findings_of_a_stranger_are_told_as_far_as_they_go(
    folder: Path, lie: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    healthy = {"id": "a", "code": "odd", "severity": "error", "message": "m", "where": "{}", "evidence": "{}"}
    row = {**healthy, "time": 1.0, "source": "rule", **lie}
    with contextlib.closing(Run.open(folder).writer(FINDINGS, WriterId("rank", "9", 7))) as writer:
        writer.append_rows({name: [value] for name, value in row.items()}, 0)
    for words in (["runs", "show", str(folder)], ["analyze", str(folder), "insights"], ["report", str(folder)]):
        assert main(words) == 0, capsys.readouterr().err
    assert {type(one.where) for one in Run.open(folder).findings()} == {dict}


@pytest.mark.parametrize("words", [None, [1, 2]])
@pytest.mark.parametrize("name", ["words", "notes", "tables"])
def test_words_that_are_none_are_said_anew(made: Path, folder: Path, name: str, words: object) -> None:
    for path in evaluation_of(folder).path.glob("joint.*.parquet"):
        rewritten(path, lambda table: table, lambda about: about.__setitem__(name, words))
    assert everything(folder) == everything(made)


def test_a_kept_part_cannot_name_other_files(made: Path, folder: Path) -> None:
    path = evaluation_of(folder).path / "joint.units.latent.parquet"
    rewritten(path, lambda table: table, lambda about: about.__setitem__("tables", ["../../../secret"]))
    assert everything(folder) == everything(made)


SOURCES: dict[str, Change] = {
    "scores are a list": lambda source: source.__setitem__("scores", []),
    "pairs are text": lambda source: source["scores"].__setitem__("pairs", "output"),
    "a pair is text": lambda source: source["scores"].__setitem__("pairs", {"output": "classes"}),
    "labels are a list": lambda source: source["scores"].__setitem__("labels", ["a"]),
    "the wiring is text": lambda source: source.__setitem__("wiring", "x"),
    "predictions are a list": lambda source: source["wiring"].__setitem__("predictions", ["x"]),
    "spaces are a list": lambda source: source.__setitem__("spaces", ["latent"]),
    "subsets are a list": lambda source: source.__setitem__("subsets", ["training"]),
}


@pytest.mark.parametrize("lie", SOURCES)
def test_a_source_of_another_shape_is_refused(folder: Path, lie: str, capsys: pytest.CaptureFixture[str]) -> None:
    evaluation = evaluation_of(folder)
    source = dict(evaluation.source.document)
    SOURCES[lie](source)
    write_source(evaluation, source)
    code, said = refused_or_done(folder, capsys)
    assert code == 2
    assert "evaluat" in said.lower()


def test_an_evaluation_from_before_labels_were_noted_still_has_classes(folder: Path) -> None:
    evaluation = evaluation_of(folder)
    source = dict(evaluation.source.document)
    del source["scores"]["labels"]
    write_source(evaluation, source)
    population = Population.open(folder)
    # The columns have the names, and only their order is not known.
    assert population.samples.has("label")
    # A network that learned nothing is no judge of labels, and every sample has one.
    assert {part.analysis for part in analyze(population) if part.reason} == {"batches", "mislabeled", "to label"}
    assert population.confusion().words() == Population.open(folder).confusion().words()


@pytest.mark.parametrize("ending", ["parquet", "latent.npy"])
@pytest.mark.parametrize("damage", ["cut", "garbled", "empty", "gone"])
def test_damaged_samples_are_refused_in_words(
    folder: Path, ending: str, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = evaluation_of(folder).path / f"validation.{ending}"
    data = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes({"cut": data[: len(data) // 2], "garbled": b"\xff" * len(data), "empty": b""}[damage])
    code, said = refused_or_done(folder, capsys)
    if code:
        assert "evaluat" in said.lower()
    else:
        # A subset without its table is no subset.
        assert (damage, ending) == ("gone", "parquet")


@pytest.mark.parametrize(
    "values",
    [
        np.zeros((30, 7), np.float32),
        np.zeros((29, 5), np.float32),
        np.zeros(30, np.float32),
        np.zeros((30, 5, 2), np.float32),
        np.full((30, 5), "x"),
        np.zeros((30, 5), [("a", "<f4")]),
    ],
)
def test_vectors_of_another_shape_are_refused(
    folder: Path, values: np.ndarray, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(evaluation_of(folder).path / "validation.latent.npy", values)
    code, said = refused_or_done(folder, capsys)
    assert code == 2
    assert "latent vectors" in said


SPACES: dict[str, object] = {
    "finished without files": {"conv9": {"layers": ["conv9"], "scales": [1.0], "done": {}, "finished": True}},
    "a path": {"../../../etc": {"layers": ["x"], "scales": [1.0], "done": {}, "finished": True}},
    "a list": ["conv9"],
    "text in a mapping": {"conv9": "finished"},
}


@pytest.mark.parametrize("lie", SPACES)
def test_a_lie_about_spaces_costs_nothing_but_that_space(
    folder: Path, lie: str, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluation = evaluation_of(folder)
    evaluation.run.write_document(spaces_document(evaluation), {"spaces": SPACES[lie]})
    assert refused_or_done(folder, capsys)[0] == 0
    for name in SPACES[lie] if isinstance(SPACES[lie], dict) else ():  # type: ignore[attr-defined]
        with pytest.raises(EvaluationError):
            Population.open(folder, space=name)


def test_a_binding_inside_the_run_is_not_run(folder: Path, tmp_path: Path) -> None:
    entry = folder / "leap_binder.py"
    entry.write_text(f"open({str(tmp_path / 'pwned')!r}, 'w')\n", encoding="utf-8")
    (tmp_path / "link.py").symlink_to(entry)
    evaluation = evaluation_of(folder)
    for named in (str(entry), "leap_binder.py", str(folder / "x" / ".." / "leap_binder.py"), str(tmp_path / "link.py")):
        write_source(evaluation, {**evaluation.source.document, "binding": {"entry_file": named}})
        with pytest.raises(BindingError, match="is not run from there"):
            Population.open(folder).heat_maps(0)
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("kept", ["../../../model.pt", "/etc/passwd", "..", ".", "", "no such file"])
def test_a_kept_model_lies_in_the_evaluation_or_nowhere(folder: Path, kept: str) -> None:
    evaluation = evaluation_of(folder)
    write_source(evaluation, {**evaluation.source.document, "model": {"kept": kept}})
    with (
        pytest.raises(CutawayError) as caught,
        Population.open(folder, dataset=KINDS["probabilities"]().dataset) as population,
    ):
        population.heat_maps(0)
    assert isinstance(caught.value, ModelError | BindingError | EvaluationError), repr(caught.value)


def test_previews_that_are_none_cost_the_pictures_only(folder: Path, tmp_path: Path) -> None:
    before = previews_of(Population.open(folder))
    previews = next((folder / "previews").glob("training.arrow"))
    whole = previews.read_bytes()
    with pa.OSFile(str(previews), "wb") as sink:
        table = pa.table({"id": list(before), "png": [b"<script>alert(1)</script>"] * len(before)})
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    Population.open(folder).plot().save(tmp_path / "map.png")
    page = Population.open(folder).plot().html()
    assert "<script>alert(1)" not in page
    for damaged in (whole[: len(whole) // 2], b"", b"no arrow"):
        previews.write_bytes(damaged)
        assert Population.open(folder).plot().html()
        assert not [one for one in previews_of(Population.open(folder)) if one.startswith("training/")]


def test_names_cannot_steer_the_terminal_or_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, _ = evaluated_kind("odd_names", tmp_path / "run")
    for words in ([], ["map"], ["similar", "--sample", "training/\x1b[2Jred"], ["confusion"], ["class-distances"]):
        assert main(["analyze", str(folder), *words, "--out", str(tmp_path / "out")]) == 0
        captured = capsys.readouterr()
        assert "\x1b" not in captured.out + captured.err
    pages = list((tmp_path / "out").glob("*.html"))
    assert len(pages) > 5
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "<img src=x" not in text
        assert "line<script>" not in text
    assert {path.parent for path in tmp_path.rglob("*.png")} == {tmp_path / "out"}


HEAT_MAPS: dict[str, Callable[[dict[str, np.ndarray], dict[str, Any]], None]] = {
    "no array": lambda arrays, _: arrays.clear(),
    "words for numbers": lambda arrays, _: arrays.__setitem__("values.0", np.full((4,), "hot")),
    "one number": lambda arrays, _: arrays.__setitem__("values.0", np.array(3.0)),
    "no maps": lambda _, about: about.__setitem__("maps", []),
    "maps that are text": lambda _, about: about.__setitem__("maps", "all"),
    "a map that is text": lambda _, about: about.__setitem__("maps", ["one"]),
    "a map that is a list": lambda _, about: about.__setitem__("maps", [[1]]),
    "a score that is text": lambda _, about: about["maps"][0].__setitem__("score", "high"),
    "no method": lambda _, about: about["maps"][0].pop("method"),
    "a field that there is not": lambda _, about: about["maps"][0].__setitem__("run", "rm"),
    "an input that is a number": lambda _, about: about["maps"][0].__setitem__("input", 3),
    "sanity that is a list": lambda _, about: about["maps"][0].__setitem__("sanity", [1]),
}


@pytest.mark.parametrize("lie", HEAT_MAPS)
def test_a_forged_heat_map_is_made_anew(lie: str, folder: Path) -> None:
    kind = KINDS["probabilities"]()
    with Population.open(folder, dataset=kind.dataset, model=kind.model) as population:
        [honest] = population.heat_maps(0, "occlusion", sanity=False)
        [path] = evaluation_of(folder).path.glob("training.heat_maps_*.npz")
        with np.load(path) as held:
            about = json.loads(held["about"].tobytes())
            arrays = {name.removeprefix("array."): held[name] for name in held.files if name != "about"}
        HEAT_MAPS[lie](arrays, about)
        kind_of_file = path.name.removeprefix("training.").removesuffix(".npz")
        write_arrays(evaluation_of(folder), AnalysisName("training", kind_of_file), arrays, about)
        [again] = population.heat_maps(0, "occlusion", sanity=False)
    np.testing.assert_array_equal(again.values, honest.values)
    assert again.score == honest.score


def test_a_heat_map_of_another_shape_or_input_is_refused(folder: Path) -> None:
    kind = KINDS["probabilities"]()
    with Population.open(folder, dataset=kind.dataset, model=kind.model) as population:
        [honest] = population.heat_maps(0, "occlusion", sanity=False)
        sample = population.ids[0]
        for values in (np.zeros((3, 3, 3), np.float32), np.full(600, np.nan, np.float32)):
            with pytest.raises(AnalysisUnavailable, match="the map has places"):
                plot_heat_maps(population, sample, [replace(honest, values=values)])
        assert plot_heat_maps(population, sample, [replace(honest, values=np.full(6, np.nan, np.float32))]).html()
        with pytest.raises(AnalysisUnavailable, match="no input 'other'"):
            plot_heat_maps(population, sample, [replace(honest, input="other")])
