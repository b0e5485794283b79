"""A run as static files: what is taken along, what stays on this machine, and where it may be written."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.errors import ConfigurationError
from cutaway.run import Run
from cutaway.studio.freezing import MARKER, Frozen, freeze
from cutaway.studio.freezing.packing import Packer, key_of
from tests.unit.studio.evaluated import evaluated_run
from tests.unit.studio.frozen_files import answers_of, index_of
from tests.unit.studio.one_run import SECRET, studio_of, train

DAY = dt.date(2026, 11, 16)
HOSTILE = "</script><img src=x>\u2028'\"\\"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The least that a page is."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "assets").mkdir()
    (folder / "index.html").write_text("<p>page</p>")
    (folder / "assets" / "page.js").write_text("// script")
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    path = tmp_path_factory.mktemp("runs") / "sick"
    train(path, sick=True)
    return path


@pytest.fixture(scope="module")
def frozen(run: Path, page: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Frozen]:
    copy = tmp_path_factory.mktemp("copies") / "copy"
    return copy, freeze(run, copy, made=DAY, page=page)


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class TestWhatIsTaken:
    def test_it_is_the_page_with_answers_beside_it(self, frozen: tuple[Path, Frozen]) -> None:
        copy, told = frozen
        assert (copy / "index.html").read_text() == "<p>page</p>"
        assert (copy / "assets" / "page.js").is_file()
        index = index_of(copy)
        assert (index["name"], index["made"]) == ("sick", "2026-11-16")
        assert told.answers == len(index["answers"])
        assert told.bytes == sum(map(len, files_of(copy).values()))

    def test_its_addresses_have_the_id_that_the_run_has_in_every_studio(
        self, run: Path, frozen: tuple[Path, Frozen]
    ) -> None:
        with studio_of(run) as alone, studio_of(run.parent) as among_others:
            assert index_of(frozen[0])["run"] == alone.id_of("sick") == among_others.id_of("sick") == Run.open(run).id

    def test_answers_are_those_of_the_studio(self, run: Path, frozen: tuple[Path, Frozen]) -> None:
        held, index = answers_of(frozen[0]), index_of(frozen[0])
        place = f"runs/{index['run']}"
        with studio_of(run) as asked:
            assert held[f"{place}/scalars"].data == asked.data("sick", "/scalars")
            assert held[f"{place}/findings"].data == asked.data("sick", "/findings")
            assert held[f"{place}/layers"].data == asked.data("sick", "/layers")
            series = [row["series"] for row in asked.data("sick", "/scalars")]
            curves = asked.get("sick", "/curves.arrow", series=series, points=20_000).content
        assert {held[f"{place}/curves.arrow\nseries={one}"].content for one in series} == {curves}

    def test_each_finding_tensor_and_window_of_samples_is_there(self, frozen: tuple[Path, Frozen]) -> None:
        held, run = answers_of(frozen[0]), index_of(frozen[0])["run"]
        findings = held[f"runs/{run}/findings"].data
        assert findings
        for finding in findings:
            told = held[f"runs/{run}/findings/{finding['id']}"].data
            if told["first_step"] is not None:
                window = f"from={told['first_step']}\nto={told['last_step']}"
                assert held[f"runs/{run}/samples\n{window}"].status == 200
        tensors = held[f"runs/{run}/tensors\nsort=model"].data
        assert tensors
        for tensor in tensors:
            assert held[f"runs/{run}/tensor\nname={tensor['name']}"].status == 200
            assert held[f"runs/{run}/tensor/series.arrow\nname={tensor['name']}"].kind == "arrow"

    def test_a_refusal_is_frozen_as_it_is_without_the_id_of_a_request(self, frozen: tuple[Path, Frozen]) -> None:
        refused = [one for one in answers_of(frozen[0]).values() if one.status != 200]
        assert refused, "a training without an evaluation has no population"
        for one in refused:
            said = json.loads(one.content)
            assert (said["ok"], said["request"]) == (False, "")
            assert said["error"]


class TestWhatStays:
    def test_secrets_and_the_place_on_this_machine_do_not_leave_it(
        self, run: Path, frozen: tuple[Path, Frozen]
    ) -> None:
        everything = b"".join(one.content for one in answers_of(frozen[0]).values())
        assert b"sick" in everything
        assert SECRET.encode() not in everything
        assert str(run.parent).encode() not in everything
        assert str(run.parent) not in json.dumps(index_of(frozen[0]))

    def test_the_run_is_not_changed(self, run: Path, page: Path, tmp_path: Path) -> None:
        before = files_of(run)
        freeze(run, tmp_path / "copy", page=page)
        assert files_of(run) == before


class TestTheSameRun:
    def test_gives_the_same_files(self, run: Path, page: Path, frozen: tuple[Path, Frozen], tmp_path: Path) -> None:
        freeze(run, tmp_path / "again", made=DAY, page=page)
        assert files_of(tmp_path / "again") == files_of(frozen[0])

    def test_on_another_day_differs_in_one_place(
        self, run: Path, page: Path, frozen: tuple[Path, Frozen], tmp_path: Path
    ) -> None:
        freeze(run, tmp_path / "later", made=dt.date(2027, 1, 1), page=page)
        one, other = files_of(frozen[0]), files_of(tmp_path / "later")
        assert [name for name in one if one[name] != other[name]] == ["data/index.js"]

    def test_elsewhere_too(self, run: Path, page: Path, frozen: tuple[Path, Frozen], tmp_path: Path) -> None:
        moved = Path(shutil.copytree(run, tmp_path / "deep" / "sick"))
        freeze(moved, tmp_path / "copy", made=DAY, page=page)
        one, other = files_of(frozen[0]), files_of(tmp_path / "copy")
        assert one.keys() == other.keys()
        assert answers_of(frozen[0]).keys() == answers_of(tmp_path / "copy").keys()


class TestWhereItIsWritten:
    def test_a_folder_with_something_else_in_it_is_refused_and_left_alone(
        self, run: Path, page: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "thesis.tex").write_text("years of work")
        with pytest.raises(ConfigurationError, match="not empty"):
            freeze(run, tmp_path, page=page)
        assert files_of(tmp_path) == {"thesis.tex": b"years of work"}

    def test_a_file_is_refused(self, run: Path, page: Path, tmp_path: Path) -> None:
        (tmp_path / "copy").write_text("a file")
        with pytest.raises(ConfigurationError, match="not a folder"):
            freeze(run, tmp_path / "copy", page=page)

    def test_an_empty_folder_is_taken_and_an_earlier_copy_is_replaced_whole(
        self, run: Path, page: Path, tmp_path: Path
    ) -> None:
        copy = tmp_path / "Kopie für Zoë"
        copy.mkdir()
        freeze(run, copy, page=page)
        assert (copy / MARKER).is_file()
        (copy / "data" / "999.js").write_text("from a larger copy")
        freeze(run, copy, page=page)
        assert not (copy / "data" / "999.js").exists()
        assert [path.name for path in tmp_path.iterdir()] == [copy.name], "nothing is left beside it"

    def test_one_that_fails_leaves_the_earlier_copy(self, run: Path, page: Path, tmp_path: Path) -> None:
        copy = tmp_path / "copy"
        freeze(run, copy, page=page)
        before = files_of(copy)

        def interrupt(said: str) -> None:
            if said.startswith("Pictures"):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            freeze(run, copy, page=page, say=interrupt)
        assert files_of(copy) == before
        assert [path.name for path in tmp_path.iterdir()] == ["copy"]

    def test_what_is_no_run_is_refused(self, page: Path, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        with pytest.raises(ConfigurationError, match="no run"):
            freeze(tmp_path / "empty", tmp_path / "copy", page=page)
        assert not (tmp_path / "copy").exists()

    def test_without_a_built_page_it_says_how_to_build_one(self, run: Path, tmp_path: Path) -> None:
        with pytest.raises(ConfigurationError, match="make ui"):
            freeze(run, tmp_path / "copy", page=tmp_path / "nowhere")


class TestTexts:
    def test_whatever_a_run_holds_its_files_are_plain_scripts(self, page: Path, tmp_path: Path) -> None:
        cutaway = pytest.importorskip("cutaway.torch")
        torch = pytest.importorskip("torch")
        path = tmp_path / "runs" / HOSTILE.replace("/", "")
        model = torch.nn.Linear(2, 1)
        with cutaway.Hook(path) as hook:
            hook.register_module(model)
            hook.set_config({HOSTILE: HOSTILE, "__proto__": HOSTILE})
            hook.save_scalar(HOSTILE, 1.0)
        freeze(path, tmp_path / "copy", page=page)
        for script in (tmp_path / "copy" / "data").iterdir():
            assert script.read_bytes().isascii()
        held, index = answers_of(tmp_path / "copy"), index_of(tmp_path / "copy")
        assert index["name"].startswith("<script><img src=x>")
        config = held[f"runs/{index['run']}"].data["config"]
        assert (config[HOSTILE], config["__proto__"]) == (HOSTILE, HOSTILE)
        assert any(HOSTILE in key for key in held)

    @given(st.lists(st.tuples(st.text(), st.binary(max_size=100)), unique_by=lambda pair: pair[0], min_size=1))
    def test_what_is_packed_is_unpacked(
        self, tmp_path_factory: pytest.TempPathFactory, answers: list[tuple[str, bytes]]
    ) -> None:
        folder = tmp_path_factory.mktemp("packed")
        packer = Packer(folder / "data")
        for key, content in answers:
            packer.add([key], 200, "bytes", content)
        packer.flush()
        index = json.dumps(json.dumps({"answers": packer.answers}))
        (folder / "data" / "index.js").write_text(f"cutawayFrozenIndex=JSON.parse({index});\n")
        assert {key: held.content for key, held in answers_of(folder).items()} == dict(answers)

    @given(st.permutations([("name", "w"), ("from", "3"), ("from", "10"), ("ü", "&=?"), ("to", "")]))
    def test_the_order_of_a_question_does_not_matter(self, query: list[tuple[str, str]]) -> None:
        assert key_of("runs/a/x", query) == "runs/a/x\nfrom=10\nfrom=3\nname=w\nto=\nü=&=?"


@pytest.fixture(scope="module")
def insects(page: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Frozen]:
    folder = tmp_path_factory.mktemp("insects")
    told = freeze(evaluated_run(folder), folder / "copy", samples=["training/0", "training/999"], page=page)
    return folder / "copy", told


class TestAPopulation:
    def test_has_all_rows_in_one_answer_and_every_column_by_itself(self, insects: tuple[Path, Frozen]) -> None:
        held, index = answers_of(insects[0]), index_of(insects[0])
        place = f"runs/{index['run']}/population"
        detail = held[place].data
        assert [row["row"] for row in held[f"{place}/rows"].data] == list(range(330))
        for column in ["row", *(one["name"] for one in detail["columns"])]:
            assert held[f"{place}/columns.arrow\ncolumn={column}"].status == 200
        assert index["evaluation"] == detail["evaluation"]

    def test_has_the_samples_that_were_named_and_says_which_it_does_not_know(
        self, insects: tuple[Path, Frozen]
    ) -> None:
        held, run = answers_of(insects[0]), index_of(insects[0])["run"]
        assert held[f"runs/{run}/sample\nsample=training/0"].status == 200
        assert len(held[f"runs/{run}/sample/similar\ncount=20\nsample=training/0"].data["similar"]) == 20
        heat_map = held[f"runs/{run}/sample/heat-maps\nsample=training/0\nsanity=true"]
        assert heat_map.status != 200 or heat_map.data["seconds"] == 0
        assert any("'training/999'" in sentence for sentence in insects[1].left_out)
