"""The routes of tensors, on real trainings: what they answer is what the trial and numpy say."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.tensors import modes
from cutaway.testing.rules import ScriptedRun
from cutaway.trial import create_trial
from tests.unit.studio.one_run import Asked, studio_of, train

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    train(root / "healthy")
    train(root / "sick", sick=True)
    odd = ScriptedRun()
    odd.step(tensors=ODD, save=True)
    odd.write(root / "odd")
    return root


ODD: dict[str, Any] = {
    "größe/mit.punkt:0 <b>": np.arange(6.0).reshape(2, 3),
    "flags": np.array([True, False, True]),
    "counts": np.arange(-3, 3, dtype=np.int16),
    "constant": np.full(4, 2.5, np.float32),
    "faults": np.array([1.0, np.nan, np.inf, -np.inf, 0.0], np.float16),
    "empty": np.empty((0, 3), np.float32),
    "scalar": np.float64(4.0),
}


@pytest.fixture(scope="module")
def studio(root: Path) -> Iterator[Asked]:
    with studio_of(root) as asked:
        yield asked


class TestRows:
    def test_they_say_how_each_tensor_was_at_its_last_step(self, root: Path, studio: Asked) -> None:
        rows = {row["name"]: row for row in studio.data("healthy", "/tensors")}
        trial = create_trial(root / "healthy")
        assert sorted(rows) == trial.tensor_names()
        for name, row in rows.items():
            window = trial.statistics_window(name, 0, 100)
            assert (row["first_step"], row["last_step"]) == (window["step"][0], window["step"][-1])
            assert row["l2"] == pytest.approx(window["l2"][-1])
            assert row["zeros"] == window["zeros"][-1] / window["size"][-1]
            assert row["saved_steps"] == len(trial.tensor(name).steps())
            assert row["findings"] == 0
        weight = rows["Sequential_0.weight"]
        assert (weight["layer"], weight["kind"], weight["size"]) == ("0", "weight", 32)
        assert weight["collections"] == ["weights"]
        assert rows["gradient/Sequential_2.bias"]["kind"] == "gradient"
        assert rows["CrossEntropyLoss_output_0"]["kind"] == "loss"

    def test_a_sick_tensor_says_so(self, studio: Asked) -> None:
        rows = {row["name"]: row for row in studio.data("sick", "/tensors", sort="-nonfinite")}
        assert next(iter(rows.values()))["nonfinite"] > 0
        assert rows["1_output_0"]["severity"] == "error"
        assert rows["1_output_0"]["findings"] == 1

    @pytest.mark.parametrize(
        "column", ["size", "l2", "mean", "nonfinite", "change", "saved_steps", "last_step", "zeros"]
    )
    def test_they_are_sorted_by_any_number_with_what_has_none_last(self, studio: Asked, column: str) -> None:
        for sort, down in ((column, False), (f"-{column}", True)):
            values = [row[column] for row in studio.data("healthy", "/tensors", sort=sort)]
            told = [value for value in values if value is not None]
            assert told == sorted(told, reverse=down)
            assert values[len(told) :] == [None] * (len(values) - len(told))

    def test_they_come_in_the_order_of_the_model_or_of_names(self, studio: Asked) -> None:
        names = [row["name"] for row in studio.data("healthy", "/tensors")]
        assert names == sorted(names)
        model = [row["name"] for row in studio.data("healthy", "/tensors", sort="model")]
        assert model.index("Sequential_0.weight") < model.index("Sequential_2.weight")
        assert sorted(model) == names

    def test_an_unknown_column_offers_the_nearest(self, studio: Asked) -> None:
        answer = studio.get("healthy", "/tensors", sort="-sise")
        assert (answer.status_code, answer.json()["hint"]) == (400, "Did you mean 'size'?")

    def test_they_are_filtered_and_paged(self, studio: Asked) -> None:
        page = studio.get("healthy", "/tensors", collection="gradients", search="BIAS", limit=1).json()
        assert (page["total"], [row["name"] for row in page["data"]]) == (2, ["gradient/Sequential_0.bias"])
        assert studio.get("healthy", "/tensors", collection="wieghts").status_code == 400


class TestOneTensor:
    def test_its_shape_and_saved_steps(self, root: Path, studio: Asked) -> None:
        detail = studio.data("healthy", "/tensor", name="Sequential_0.weight")
        tensor = create_trial(root / "healthy").tensor("Sequential_0.weight")
        assert (detail["shape"], detail["dtype"], detail["saved"]) == ([8, 4], "float32", tensor.steps())

    def test_its_findings(self, studio: Asked) -> None:
        found = studio.data("sick", "/tensor", name="1_output_0")["findings"]
        assert [(one["code"], one["step"]) for one in found] == [("ExplodingTensor", 7)]

    def test_one_that_there_is_not_offers_the_nearest(self, studio: Asked) -> None:
        for path, more in (("/tensor", {}), ("/tensor/series.arrow", {}), ("/tensor/histogram", {"step": 0})):
            answer = studio.get("healthy", path, name="Sequential_0.wieght", **more)
            assert answer.status_code == 404
            assert "Sequential_0.weight" in answer.json()["hint"]

    def test_its_series_is_exact_where_it_fits(self, root: Path, studio: Asked) -> None:
        table = studio.arrow("healthy", "/tensor/series.arrow", name="Sequential_0.weight")
        window = create_trial(root / "healthy").statistics_window("Sequential_0.weight", 0, 100)
        assert table["step"].to_pylist() == window["step"].tolist()
        for statistic in ("min", "max", "mean", "std", "l1", "l2", "abs_min"):
            np.testing.assert_allclose(table[statistic].to_numpy(), window[statistic])
            np.testing.assert_allclose(table[f"{statistic}_min"].to_numpy(), window[statistic])
        assert table["nonfinite"].to_pylist() == window["nonfinite"].tolist()
        assert table.schema.metadata[b"exact"] == b"true"

    def test_its_series_can_be_a_window_of_steps(self, studio: Asked) -> None:
        table = studio.arrow("healthy", "/tensor/series.arrow", name="CrossEntropyLoss_output_0", first=4, last=6)
        assert table["step"].to_pylist() == [4, 5, 6]


class TestValues:
    @pytest.mark.parametrize("name", [name for name in ODD if name != "faults"])
    def test_a_histogram_counts_every_value(self, studio: Asked, name: str) -> None:
        found = studio.data("odd", "/tensor/histogram", name=name, step=0, bins=7)
        array = np.asarray(ODD[name])
        assert (found["shape"], found["dtype"], found["size"]) == (list(array.shape), str(array.dtype), array.size)
        assert sum(found["counts"]) == array.size
        assert found["max"] == (float(array.max()) if array.size else None)

    def test_what_is_not_finite_is_named(self, studio: Asked) -> None:
        found = studio.data("odd", "/tensor/histogram", name="faults", step=0)
        assert (found["nan"], found["positive_infinity"], found["negative_infinity"], found["zeros"]) == (1, 1, 1, 1)
        assert sum(found["counts"]) == 2

    @pytest.mark.parametrize("name", list(ODD))
    def test_values_come_in_row_major_order(self, studio: Asked, name: str) -> None:
        table = studio.arrow("odd", "/tensor/values.arrow", name=name, step=0)
        array = np.asarray(ODD[name])
        np.testing.assert_array_equal(table["value"].to_numpy(), array.reshape(-1))
        assert json.loads(table.schema.metadata[b"shape"]) == list(array.shape)
        part = studio.arrow("odd", "/tensor/values.arrow", name=name, step=0, offset=2, limit=3)
        np.testing.assert_array_equal(part["value"].to_numpy(), array.reshape(-1)[2:5])

    def test_a_step_without_values_is_said_so(self, studio: Asked) -> None:
        assert studio.get("healthy", "/tensor/histogram", name="Sequential_0.weight", step=1).status_code == 404
        assert studio.get("healthy", "/tensor/values.arrow", name="Sequential_0.weight", step=10**9).status_code == 404


class TestOverview:
    def test_it_has_a_row_a_tensor_and_a_column_a_step_that_trains(self, root: Path, studio: Asked) -> None:
        table = studio.arrow("healthy", "/tensors/overview.arrow", statistic="l2")
        trial = create_trial(root / "healthy")
        assert sorted(table["tensor"].to_pylist()) == trial.tensor_names()
        steps = json.loads(table.schema.metadata[b"steps"])
        trained = [step for step in range(12) if trial.mode(step) is modes.TRAIN]
        assert len(trained) == 9
        assert steps[:-1] == trained
        for name, last in zip(table["tensor"].to_pylist(), table["last"].to_pylist(), strict=True):
            window = trial.statistics_window(name, 0, 100)
            known = np.isin(window["step"], trained)
            places = np.searchsorted(trained, window["step"][known])
            np.testing.assert_allclose(np.array(last)[places], window["l2"][known], rtol=1e-6)

    def test_zeros_are_shares(self, studio: Asked) -> None:
        table = studio.arrow("healthy", "/tensors/overview.arrow", statistic="zeros", collection="relu_outputs")
        assert table["tensor"].to_pylist() == ["1_output_0"]
        assert 0 < max(table["last"].to_pylist()[0]) <= 1

    def test_the_sick_tensor_is_seen_at_its_step(self, studio: Asked) -> None:
        table = studio.arrow("sick", "/tensors/overview.arrow", search="1_output")
        steps = json.loads(table.schema.metadata[b"steps"])[:-1]
        bad = dict(zip(steps, table["nonfinite"].to_pylist()[0], strict=True))
        assert not any(count for step, count in bad.items() if step < 7)
        assert all(count > 0 for step, count in bad.items() if step >= 7)

    def test_few_columns_keep_every_extreme(self, studio: Asked) -> None:
        whole, short = (
            studio.arrow("healthy", "/tensors/overview.arrow", statistic="max", collection="weights", columns=columns)
            for columns in (300, 3)
        )
        assert len(short["max"][0]) <= 3
        for wide, narrow in zip(whole["max"].to_pylist(), short["max"].to_pylist(), strict=True):
            assert np.nanmax(narrow) == np.nanmax(wide)


class TestLayers:
    def test_the_tree_follows_the_names_and_sums_up(self, root: Path, studio: Asked) -> None:
        rows = {row["name"]: row for row in studio.data("healthy", "/layers")}
        assert list(rows) == ["0", "1", "2"]
        tensors = {row["name"]: row for row in studio.data("healthy", "/tensors")}
        first = rows["0"]
        assert (first["parameters"], first["depth"], first["parent"], first["nonfinite"]) == (40, 0, None, 0)
        assert first["weight"] == tensors["Sequential_0.weight"]["l2"]
        gradients = [tensors[f"gradient/Sequential_0.{leaf}"]["l2"] for leaf in ("weight", "bias")]
        assert first["gradient"] == pytest.approx(np.hypot(*gradients))
        change = tensors["Sequential_0.weight"]["change"]
        assert first["update_ratio"] == pytest.approx(change / first["weight"])
        assert rows["1"]["zeros"] == tensors["1_output_0"]["zeros"]
        assert "CrossEntropyLoss_output_0" not in [name for row in rows.values() for name in row["tensors"]]

    def test_a_sick_layer_stands_out(self, studio: Asked) -> None:
        rows = {row["name"]: row for row in studio.data("sick", "/layers")}
        assert all(row["severity"] == "error" and row["nonfinite"] > 0 for row in rows.values())
        assert rows["0"]["weight"] is None

    def test_the_findings_of_a_layer_are_as_many_as_it_says(self, studio: Asked) -> None:
        for row in studio.data("sick", "/layers"):
            found = studio.data("sick", "/findings", layer=row["name"])
            assert len(found) == row["findings"]
        assert studio.data("sick", "/findings", layer="nowhere") == []

    def test_parts_hold_what_is_in_them(self, tmp_path: Path) -> None:
        run = ScriptedRun()
        names = [f"Net_blocks.{i}.fc.weight" for i in range(12)] + ["Net_head.weight", "dense/kernel:0"]
        run.step(tensors={name: np.full(2, 3.0) for name in names})
        run.write(tmp_path / "runs" / "deep")
        with studio_of(tmp_path / "runs") as studio:
            rows = studio.data("deep", "/layers")
        assert [row["name"] for row in rows[:4]] == ["blocks", "blocks.0", "blocks.0.fc", "blocks.1"]
        assert (rows[0]["parameters"], rows[0]["tensors"], rows[2]["depth"]) == (24, [], 2)
        assert rows[0]["weight"] == pytest.approx(np.sqrt(24) * 3)
        assert [row["name"] for row in rows[-2:]] == ["head", "dense"]
