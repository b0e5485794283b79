"""The population map: what is drawn, what is left out, and what is said of it."""

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis.figures import map as map_module
from cutaway.analysis.figures import map_figure
from cutaway.analysis.figures.pictures import MOST_BYTES, MOST_PREVIEWS
from cutaway.class_colours import CLASS_COLOURS
from cutaway.errors import ConfigurationError
from tests.unit.analysis.figures.made import png, positions, table
from tests.unit.analysis.figures.reading_pages import Page, decoded


def column_of(data: dict, name: str) -> list:
    (found,) = (one for one in data["columns"] if one["name"] == name)
    values = decoded(found["values"])
    return [found["names"][one - 1] if one else None for one in values] if "names" in found else values.tolist()


def test_a_page_holds_every_sample_with_its_place_and_values() -> None:
    samples, places = table(), positions()
    data = Page(map_figure(places, samples, hover=["metadata.age"]).html()).data
    row_of = {name: row for row, name in enumerate(samples["sample"].to_pylist())}
    rows = [row_of[one] for one in data["ids"]]
    assert sorted(rows) == list(range(60))
    assert np.array_equal(np.stack([decoded(data["x"]), decoded(data["y"])], axis=1), places[rows])
    assert decoded(data["wrong"]).tolist() == [int(not samples["correct"][row].as_py()) for row in rows]
    for name in ("label", "prediction", "loss", "metadata.age"):
        assert column_of(data, name) == [samples[name][row].as_py() for row in rows]
    names = [one["name"] for one in data["colour"]["entries"]]
    assert [names[code] for code in decoded(data["codes"])] == [samples["label"][row].as_py() for row in rows]
    assert sum(one["count"] for one in data["colour"]["entries"]) == 60


def test_size_grows_with_loss_and_ends_at_the_last_hundredth() -> None:
    samples = table()
    data = Page(map_figure(positions(), samples).html()).data
    loss, scale = np.array(column_of(data, "loss")), decoded(data["scale"]).astype(int)
    assert (np.diff(scale[np.argsort(loss)]) >= 0).all()
    assert scale.max() == 255
    assert data["size"]["column"] == "loss"


def test_wrong_ones_are_drawn_last_and_counted() -> None:
    figure = map_figure(positions(), table())
    wrong = decoded(Page(figure.html()).data["wrong"])
    assert (np.diff(wrong.astype(int)) >= 0).all()
    assert f"A ring marks {wrong.sum()} samples that the model reads wrongly." in figure.caption


def test_samples_without_a_position_are_left_out_and_counted() -> None:
    places = positions()
    places[[3, 7]] = np.nan
    places[9, 1] = np.inf
    figure = map_figure(places, table())
    assert "57 samples." in figure.caption
    assert "3 samples without a position left out." in figure.caption
    assert not {"s3", "s7", "s9"} & set(Page(figure.html()).data["ids"])


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_a_map_of_next_to_nothing_is_drawn(rows: int) -> None:
    figure = map_figure(np.zeros((rows, 2)), table(rows))
    assert figure.png(width=300, height=200)
    assert len(Page(figure.html()).data["ids"]) == rows


def test_a_map_without_any_position_says_so() -> None:
    figure = map_figure(np.full((60, 2), np.nan), table())
    assert "0 samples." in figure.caption
    assert "60 samples without a position left out." in figure.caption
    assert figure.png()
    assert Page(figure.html()).data["ids"] == []


def test_of_ten_thousand_classes_the_most_frequent_have_a_colour() -> None:
    rows = 12_000
    labels = [f"c{row}" for row in range(10_000)] + ["many"] * 1_500 + ["some"] * 500
    samples = pa.table({"sample": [str(row) for row in range(rows)], "label": labels})
    figure = map_figure(positions(rows), samples)
    data = Page(figure.html()).data
    entries = {one["name"]: one["count"] for one in data["colour"]["entries"]}
    assert entries["many"] == 1_500
    assert entries["some"] == 500
    assert entries["9,983 more"] == 9_983
    assert len(entries) == 20
    assert sum(entries.values()) == rows
    assert "19 values, dots and triangles, and 9,983 more in one colour" in figure.caption
    assert figure.png()
    assert set(column_of(data, "label")) == set(labels)


def test_classes_11_to_20_are_triangles_in_the_colours_of_the_first_ten() -> None:
    labels = [f"c{row % 20:02}" for row in range(60)]
    figure = map_figure(positions(60), pa.table({"sample": [str(row) for row in range(60)], "label": labels}))
    data = Page(figure.html()).data
    shades, triangles = data["themes"]["light"]["shades"], decoded(data["triangles"])
    codes = {one["name"]: one["code"] for one in data["colour"]["entries"]}
    assert shades[codes["c03"]] == shades[codes["c13"]] == CLASS_COLOURS[3]
    assert (triangles[codes["c03"]], triangles[codes["c13"]]) == (0, 1)
    assert "20 values, dots and triangles." in figure.caption
    assert data["themes"]["dark"]["shades"][:20] == shades[:20]
    assert figure.png()


def test_a_class_has_its_colour_where_others_have_no_samples() -> None:
    samples = pa.table({"sample": ["a", "b"], "label": ["cow", "ant"], "prediction": ["ant", "ant"]})
    classes = ["bee", "cow", "ant"]
    for column, present in (("label", {"cow": 1, "ant": 2}), ("prediction", {"ant": 2})):
        figure = map_figure(positions(2), samples, color=column, classes=classes)
        found = {one["name"]: one["code"] for one in Page(figure.html()).data["colour"]["entries"]}
        assert found == present
        assert f"Colour: {column}, {len(present)} value" in figure.caption


def test_no_value_is_a_colour_of_its_own() -> None:
    samples = pa.table({"sample": ["a", "b", "c"], "label": ["x", None, "y"], "loss": [1.0, None, float("nan")]})
    figure = map_figure(positions(3), samples)
    data = Page(figure.html()).data
    assert data["colour"]["entries"][-1] == {"code": 255, "name": "no value", "count": 1}
    assert "1 sample without a value in grey" in figure.caption
    assert figure.png()


def test_a_column_without_any_value_colours_nothing() -> None:
    samples = pa.table({"sample": ["a", "b"], "label": pa.nulls(2, pa.string()), "loss": pa.nulls(2, pa.float32())})
    figure = map_figure(positions(2), samples)
    data = Page(figure.html()).data
    assert data["colour"] is None
    assert data["size"] is None
    assert figure.png()


@pytest.mark.parametrize(
    ("values", "by_name"),
    [
        ([0, 1, 2, 1], True),
        (["a", "b", "a", "ü漢"], True),
        ([True, False, None, True], True),
        ([0.5, 1.5, None, float("inf")], False),
        ([2**60, 1, 2, 3], True),
    ],
)
def test_a_column_is_coloured_by_name_or_by_amount(values: list, by_name: bool) -> None:
    samples = pa.table({"sample": list("abcd"), "own": pa.array(values)})
    figure = map_figure(positions(4), samples, color="own")
    assert ("entries" in Page(figure.html()).data["colour"]) is by_name
    assert figure.png(width=300, height=300)


def test_many_whole_numbers_are_amounts() -> None:
    data = Page(map_figure(positions(), table(), color="metadata.age").html()).data
    assert data["colour"]["low"] < data["colour"]["high"]
    ages, codes = np.array(column_of(data, "metadata.age")), decoded(data["codes"]).astype(int)
    assert (np.diff(codes[np.argsort(ages)]) >= 0).all()


def test_selected_samples_are_told_from_the_others() -> None:
    figure = map_figure(positions(), table(), selected=["s4", "s5", "unknown"])
    data = Page(figure.html()).data
    assert {one for one, on in zip(data["ids"], decoded(data["selected"]), strict=True) if on} == {"s4", "s5"}
    assert "2 of 3 selected samples in full colour." in figure.caption
    assert figure.png() != map_figure(positions(), table()).png()


def test_pictures_come_with_their_samples() -> None:
    previews = {f"s{row}": png(row) for row in range(0, 60, 3)}
    figure = map_figure(positions(), table(), previews=previews)
    data = Page(figure.html()).data
    rows, ends = decoded(data["previews"]["rows"]), decoded(data["previews"]["ends"])
    everything = decoded(data["previews"]["bytes"]).tobytes()
    starts = [0, *ends[:-1]]
    found = {data["ids"][row]: everything[a:b] for row, a, b in zip(rows, starts, ends, strict=True)}
    assert found == previews
    assert "pictures" not in figure.caption


def test_only_as_many_pictures_as_there_is_room_for_the_telling_ones_first() -> None:
    rows = MOST_PREVIEWS + 50
    samples = table(rows)
    picture = png()[:33].ljust(900, b"x")
    figure = map_figure(positions(rows), samples, previews={f"s{row}": picture for row in range(rows)})
    data = Page(figure.html()).data
    kept = decoded(data["previews"]["rows"])
    assert len(kept) == MOST_BYTES // 900
    assert decoded(data["wrong"])[kept].sum() == decoded(data["wrong"]).sum()
    assert f"pictures of {len(kept):,} of {rows:,} samples" in figure.caption


def test_of_very_many_samples_a_part_is_drawn_and_the_selected_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_module, "MOST_POINTS", 20)
    figure = map_figure(positions(), table(), selected=["s1", "s2"])
    ids = Page(figure.html()).data["ids"]
    assert len(ids) == 20
    assert {"s1", "s2"} <= set(ids)
    assert "20 of 60 samples drawn, chosen at random (seed 0)." in figure.caption
    assert Page(map_figure(positions(), table(), selected=["s1", "s2"]).html()).data["ids"] == ids


def test_sixty_thousand_samples_make_a_page_of_less_than_five_megabytes() -> None:
    rows = 60_000
    samples = table(rows)
    names = [f"train/images/class_{row % 10}/{row:08d}.png" for row in range(rows)]
    samples = samples.set_column(0, "sample", pa.array(names))
    assert len(map_figure(positions(rows), samples, hover=["metadata.age"]).html()) < 5_000_000


def test_names_are_written_among_the_samples_of_their_class() -> None:
    samples = pa.table({"sample": list("abcde"), "label": ["x", "x", "x", "x", "y"]})
    places = np.array([[0, 0], [0, 0.1], [10, 0], [10, 0.1], [5, 5]], np.float32)
    names = Page(map_figure(places, samples).html()).data["names"]
    assert {one["text"] for one in names} == {"x", "y"}
    assert all(any(np.allclose((one["x"], one["y"]), place) for place in places) for one in names)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"color": "lable"}, "There is no column 'lable'. Did you mean 'label'"),
        ({"hover": ["nothing"]}, "There is no column 'nothing'."),
        ({"size": "label"}, "Column 'label' holds string, but a size needs numbers."),
    ],
)
def test_a_column_that_does_not_fit_is_refused(arguments: dict, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        map_figure(positions(), table(), **arguments)


def test_positions_must_belong_to_the_table() -> None:
    with pytest.raises(
        ConfigurationError, match=r"two numbers for each of 60 samples, but got float32 of shape \(3, 2\)"
    ):
        map_figure(positions(3), table())
    with pytest.raises(ConfigurationError, match="must have a column 'sample'"):
        map_figure(positions(2), pa.table({"a": [1, 2]}))


def test_a_column_of_lists_cannot_be_shown() -> None:
    samples = table(2).append_column("lists", pa.array([[1], [2]]))
    with pytest.raises(ConfigurationError, match="a figure shows numbers and texts"):
        map_figure(positions(2), samples, hover=["lists"]).html()


def test_samples_without_a_colour_lie_below_the_others() -> None:
    labels = [None if row % 3 == 0 else f"c{row % 40}" for row in range(60)]
    codes = decoded(
        Page(map_figure(positions(), table().set_column(1, "label", pa.array(labels))).html()).data["codes"]
    )
    samples = pa.table({"sample": [str(row) for row in range(60)], "label": labels})
    grey = (decoded(Page(map_figure(positions(), samples).html()).data["codes"]) >= 254).astype(int)
    assert grey.sum() == (codes >= 254).sum() > 20
    assert (np.diff(grey) <= 0).all()


@pytest.mark.parametrize(("spread", "all_of_them"), [(0.1, False), (8.0, True)])
def test_no_name_lies_over_another_in_a_picture(spread: float, all_of_them: bool) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    chance = np.random.default_rng(0)
    centres = np.stack(np.meshgrid([0, 1, 2], [0, 1, 2]), axis=-1).reshape(-1, 2) * spread
    labels = np.repeat(np.arange(9), 40)
    places = (centres[labels] + chance.normal(0, 0.3, (360, 2))).astype(np.float32)
    samples = pa.table({"sample": [f"s{one}" for one in range(360)], "label": [f"class {one} Wm" for one in labels]})
    canvas = Canvas(figsize=(10, 7.5), dpi=100, layout="constrained")
    drawn = FigureCanvasAgg(canvas)
    map_figure(places, samples, color="label").content.paint(canvas)
    drawn.draw()
    boxes = [one.get_window_extent(drawn.get_renderer()) for one in canvas.axes[0].texts]
    assert (len(boxes) == 9) == all_of_them
    assert len(boxes) >= 2
    assert not any(one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place])
