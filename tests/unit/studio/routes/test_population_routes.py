"""The population over HTTP: its points, columns, rows, search, clusters and downloads, and how they fit together."""

from __future__ import annotations

import contextlib
import csv
import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis.fixing.decisions import read_decisions
from scripts.requirements import ROOT
from tests.unit.studio.a_population import make
from tests.unit.studio.one_run import Asked, studio_of


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    root = tmp_path_factory.mktemp("populations")
    make(root, samples=300, classes=12, evaluations=2)
    make(root, "bare", samples=30, analyses=False)
    make(root, "one", samples=1)
    with contextlib.chdir(root), studio_of(root) as studio:
        yield studio


def search(asked: Asked, **params: Any) -> dict[str, Any]:
    answer = asked.get("made", "/population/search", **params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def lines(asked: Asked, **params: Any) -> list[dict[str, str]]:
    answer = asked.get("made", "/population/samples.csv", **params)
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(io.StringIO(answer.text)))


class TestDetail:
    def test_it_is_of_the_last_evaluation_unless_another_is_named(self, asked: Asked) -> None:
        assert asked.data("made", "/population")["evaluation"] == 1
        assert asked.data("made", "/population", evaluation=0)["evaluation"] == 0

    def test_evaluations_are_told_with_how_well_they_did(self, asked: Asked) -> None:
        first, second = asked.data("made", "/population")["evaluations"]
        assert first["accuracy"] < second["accuracy"]
        assert first["samples"] == 300
        assert first["has_map"]

    def test_columns_have_kinds_ranges_and_what_is_missing(self, asked: Asked) -> None:
        columns = {one["name"]: one for one in asked.data("made", "/population")["columns"]}
        assert columns["label"]["kind"] == "category"
        assert columns["metadata.retouched"]["kind"] == "yes-or-no"
        assert columns["sample"]["kind"] == "text"
        assert columns["loss"]["min"] <= columns["loss"]["max"]
        assert columns["suspicion"]["group"] == "analysis"

    def test_the_loss_of_held_out_samples_follows_the_column_that_was_made_of_it_most(self, tmp_path: Path) -> None:
        make(tmp_path, samples=2000, analyses=False)
        with studio_of(tmp_path) as asked:
            columns = {one["name"]: one["strength"] for one in asked.data("made", "/population")["columns"]}
        others = [
            value for name, value in columns.items() if name.startswith("metadata.measure_") and name[-2:] != "_0"
        ]
        assert columns["metadata.measure_0"] > max(others)

    def test_analyses_are_told_as_made_or_as_not_yet_made(self, asked: Asked) -> None:
        made = {one["analysis"]: one["made"] for one in asked.data("made", "/population")["analyses"]}
        assert made["map"]
        assert made["clusters"]
        assert not made["insights"]
        bare = asked.data("bare", "/population")
        assert not any(one["made"] for one in bare["analyses"])
        assert bare["maps"] == []
        assert bare["clusters"] is None

    def test_a_map_that_is_kept_while_one_asks_is_there_or_not_yet_made(
        self, asked: Asked, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from cutaway.studio.populations.loaded import Loaded

        maps, looks = Loaded.maps, []

        def kept_after_the_first_look(loaded: Loaded) -> Any:
            looks.append(loaded)
            return iter([]) if len(looks) == 1 else maps(loaded)

        monkeypatch.setattr(Loaded, "maps", kept_after_the_first_look)
        told = asked.data("made", "/population")
        [made] = [one["made"] for one in told["analyses"] if one["analysis"] == "map"]
        assert made == bool(told["maps"])

    def test_a_run_without_an_evaluation_is_refused_with_the_command_that_makes_one(
        self, asked: Asked, tmp_path: Path
    ) -> None:
        from cutaway.run.identity import Run

        Run.create(tmp_path / "trained")
        with contextlib.chdir(tmp_path), studio_of(tmp_path) as studio:
            answer = studio.get("trained", "/population")
        assert (answer.status_code, answer.json()["code"]) == (404, "no-evaluation")
        assert "--into trained" in answer.json()["hint"]

    def test_an_evaluation_that_there_is_not_is_refused_with_those_that_there_are(self, asked: Asked) -> None:
        answer = asked.get("made", "/population", evaluation=7)
        assert (answer.status_code, answer.json()["hint"]) == (404, "It has 0, 1.")


class TestPoints:
    def test_every_sample_is_there_once_in_an_order_that_stays(self, asked: Asked) -> None:
        table = asked.arrow("made", "/population/points.arrow")
        assert table.schema.types == [pa.uint32(), pa.float32(), pa.float32()]
        assert sorted(table["row"].to_pylist()) == list(range(300))
        assert table.equals(asked.arrow("made", "/population/points.arrow"))
        assert table["row"].to_pylist() != sorted(table["row"].to_pylist())
        assert table["row"].equals(asked.arrow("made", "/population/points.arrow", evaluation=0)["row"])

    def test_it_says_how_it_was_made(self, asked: Asked) -> None:
        about = asked.arrow("made", "/population/points.arrow").schema.metadata
        samples = about.pop(b"samples")
        assert about == {b"n": b"300", b"method": b'"umap"', b"trustworthiness": b"0.98", b"evaluation": b"1"}
        assert samples == asked.arrow("made", "/population/points.arrow", evaluation=0).schema.metadata[b"samples"]

    def test_another_evaluations_samples_lie_where_they_lie_here(self, asked: Asked) -> None:
        own = asked.arrow("made", "/population/points.arrow", evaluation=0)
        carried = asked.arrow("made", "/population/points.arrow", evaluation=0, like=1)
        assert carried["x"].equals(own["x"])

    def test_without_a_map_it_says_which_command_makes_one(self, asked: Asked) -> None:
        answer = asked.get("bare", "/population/points.arrow")
        assert (answer.status_code, answer.json()["code"]) == (404, "map-unavailable")
        assert answer.json()["hint"] == "`cutaway analyze bare map`"

    def test_a_method_that_there_is_not_is_refused(self, asked: Asked) -> None:
        assert asked.get("made", "/population/points.arrow", method="tsne").json()["code"] == "map-unavailable"
        assert asked.get("made", "/population/points.arrow", method="umapp").status_code == 400


class TestColumns:
    def test_columns_come_in_the_order_of_the_points(self, asked: Asked) -> None:
        rows = asked.arrow("made", "/population/points.arrow")["row"].to_pylist()
        table = asked.arrow("made", "/population/columns.arrow", column=["loss", "label", "correct"])
        told = {one["row"]: one for one in asked.data("made", "/population/rows", row=rows)}
        for place, row in enumerate(rows):
            loss = table["loss"][place].as_py()
            assert told[row]["loss"] == (None if np.isnan(loss) else pytest.approx(loss))
            assert told[row]["label"] == table["label"][place].as_py()
            assert told[row]["correct"] == {"yes": True, "no": False, None: None}[table["correct"][place].as_py()]

    def test_classes_have_the_same_codes_in_every_evaluation(self, asked: Asked) -> None:
        names = [
            asked.arrow("made", "/population/columns.arrow", column=name, evaluation=number)[name].chunk(0).dictionary
            for name in ("label", "prediction", "suggested")
            for number in (0, 1)
        ]
        assert all(one.to_pylist() == [f"class {place}" for place in range(12)] for one in names)

    def test_numbers_are_as_wide_as_they_must_be(self, asked: Asked) -> None:
        table = asked.arrow("made", "/population/columns.arrow", column=["loss", "metadata.measure_1"])
        assert table.schema.types == [pa.float32(), pa.float64()]

    def test_samples_of_no_cluster_are_in_none(self, asked: Asked) -> None:
        names = asked.arrow("made", "/population/columns.arrow", column="cluster")["cluster"].chunk(0).dictionary
        assert set(names.to_pylist()) <= {*map(str, range(12)), "none"}

    def test_a_column_that_there_is_not_is_refused_with_the_nearest(self, asked: Asked) -> None:
        answer = asked.get("made", "/population/columns.arrow", column="los")
        assert answer.status_code == 400
        assert "'loss'" in answer.json()["hint"]

    def test_what_was_not_analysed_is_no_column(self, asked: Asked) -> None:
        assert asked.get("bare", "/population/columns.arrow", column="suspicion").status_code == 400


class TestRows:
    def test_rows_come_in_the_order_in_which_they_were_asked_for(self, asked: Asked) -> None:
        told = asked.data("made", "/population/rows", row=[5, 2], sample=["validation/0", "training/3", "nobody/1"])
        assert [one["sample"] for one in told] == ["training/5", "training/2", "validation/0", "training/3"]

    def test_rows_that_there_are_not_are_left_out(self, asked: Asked) -> None:
        assert asked.data("made", "/population/rows", row=[10**9, -1]) == []


class TestSearch:
    def test_a_part_of_an_id_finds_it_whatever_its_case(self, asked: Asked) -> None:
        found = search(asked, text="VALIDATION/1", limit=1000)["data"]
        assert {one["subset"] for one in found} == {"validation"}
        assert all("validation/1" in one["sample"] for one in found)

    def test_a_part_of_a_value_finds_its_samples(self, asked: Asked) -> None:
        assert 0 < search(asked, text="Cropped")["total"] < 300

    def test_conditions_and_a_text_hold_together(self, asked: Asked) -> None:
        both = search(asked, text="training", where=["label = class 3", "correct = true"], limit=1000)
        assert both["total"] > 0
        assert all(one["label"] == "class 3" and one["correct"] for one in both["data"])

    @pytest.mark.parametrize("sort", ["loss", "-loss", "suspicion"])
    def test_sorted_by_a_number_those_without_one_come_last(self, asked: Asked, sort: str) -> None:
        values = [one[sort.removeprefix("-")] for one in search(asked, sort=sort, limit=1000)["data"]]
        known = [one for one in values if one is not None]
        assert known == sorted(known, reverse=sort.startswith("-"))
        assert values == known + [None] * (len(values) - len(known))

    def test_classes_are_sorted_by_their_order_not_by_their_letters(self, asked: Asked) -> None:
        labels = [one["label"] for one in search(asked, sort="label", limit=1000)["data"]]
        assert labels == sorted(labels, key=lambda one: int(one.split()[1]))

    def test_pages_are_parts_of_one_order(self, asked: Asked) -> None:
        whole = search(asked, limit=1000)["data"]
        assert [*search(asked, limit=10)["data"], *search(asked, offset=10, limit=20)["data"]] == whole[:30]

    def test_a_lasso_holds_what_lies_inside_of_it(self, asked: Asked) -> None:
        points = asked.arrow("made", "/population/points.arrow")
        x, y = points["x"].to_numpy(), points["y"].to_numpy()
        inside = {int(row) for row in points["row"].to_numpy()[(x > 0) & (x < 4) & (y > 0) & (y < 4)]}
        found = search(asked, lasso="0,0 4,0 4,4 0,4", limit=1000)["data"]
        assert {one["row"] for one in found} == inside

    @pytest.mark.parametrize("lasso", ["1,2", "a,b 1,2 3,4", "1 2 3", "nan,1 2,3", "1e999,0 1,1 2,2"])
    def test_what_is_no_lasso_is_refused(self, asked: Asked, lasso: str) -> None:
        assert asked.get("made", "/population/search", lasso=lasso).status_code == 400

    def test_what_is_no_condition_or_no_column_is_refused(self, asked: Asked) -> None:
        assert asked.get("made", "/population/search", where="label >= 4").status_code == 400
        assert asked.get("made", "/population/search", sort="nothing").status_code == 400


class TestClusters:
    def test_clusters_come_with_words_the_largest_first(self, asked: Asked) -> None:
        rows = asked.data("made", "/population/clusters")
        assert [one["count"] for one in rows] == sorted((one["count"] for one in rows), reverse=True)
        assert rows[0]["words"].startswith("mostly class")
        assert all(-30 < one["x"] < 30 for one in rows)

    def test_they_are_judged_by_their_held_out_samples_alone(self, asked: Asked) -> None:
        table = asked.arrow("made", "/population/columns.arrow", column=["cluster", "subset", "correct", "loss"])
        told = {
            name: np.array([str(one) for one in table[name].to_pylist()]) for name in ("cluster", "subset", "correct")
        }
        losses = table["loss"].to_numpy()
        assert {"training", "validation"} == set(told["subset"])
        for row in asked.data("made", "/population/clusters"):
            own = (told["cluster"] == str(row["cluster"])) & (told["subset"] != "training")
            assert row["judged"] == own.sum()
            assert row["accuracy"] == pytest.approx((told["correct"][own] == "yes").mean())
            assert row["loss"] == pytest.approx(losses[own].mean(), rel=1e-5)

    def test_where_none_were_looked_for_it_says_the_command(self, asked: Asked) -> None:
        answer = asked.get("bare", "/population/clusters")
        assert (answer.status_code, answer.json()["hint"]) == (404, "`cutaway analyze bare clusters`")


class TestDownloads:
    def test_all_columns_of_the_samples_that_were_asked_for(self, asked: Asked) -> None:
        found = lines(asked, where="label = class 3")
        assert {"sample", "subset", "label", "metadata.measure_1", "metric.margin", "x", "y", "cluster"} <= set(
            found[0]
        )
        assert {one["label"] for one in found} == {"class 3"}

    def test_it_is_a_file_of_a_plain_name(self, asked: Asked) -> None:
        answer = asked.get("made", "/population/samples.csv")
        assert answer.headers["content-disposition"] == 'attachment; filename="made-1-samples.csv"'

    def test_a_list_to_label_comes_back_as_decisions(self, asked: Asked, tmp_path: Path) -> None:
        found = lines(asked, form="label", where="suspicion > 0.5")
        found[0] |= {"action": "relabel", "label": found[0]["suggested"]}
        file = tmp_path / "decided.csv"
        with file.open("w", newline="") as text:
            writer = csv.DictWriter(text, list(found[0]))
            writer.writeheader()
            writer.writerows(found)
        labels = {one["sample"]: one["present_label"] for one in found}
        choice = read_decisions(file, labels, [f"class {one}" for one in range(12)])
        assert [(one.sample, one.label) for one in choice.decisions] == [(found[0]["sample"], found[0]["suggested"])]


def test_one_sample_is_a_population(asked: Asked) -> None:
    assert asked.data("one", "/population")["samples"] == 1
    assert asked.arrow("one", "/population/points.arrow").num_rows == 1
    assert len(asked.data("one", "/population/clusters")) == 1


def test_the_server_loads_no_library_of_analyses(tmp_path: Path) -> None:
    make(tmp_path, samples=50)
    program = f"""
import sys
import time
from pathlib import Path
from tests.unit.studio.one_run import studio_of
with studio_of(Path({str(tmp_path)!r})) as asked:
    while not asked.studio.index.table().rows:
        time.sleep(0.05)
    asked.data("made", "/population")
    asked.data("made", "/population/clusters")
    asked.arrow("made", "/population/points.arrow")
    asked.arrow("made", "/population/columns.arrow", column=["label", "loss", "cluster", "suspicion", "probability"])
    assert asked.get("made", "/population/search", text="1", lasso="0,0 1,1").status_code == 200
    assert asked.get("made", "/population/samples.csv").status_code == 200
print([name for name in ("torch", "faiss", "sklearn", "scipy") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.stdout.strip() == "[]", done.stderr
