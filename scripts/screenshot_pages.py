"""Which pages of the studio are photographed: an address, what to wait for, and what is done on the page before."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["MNIST", "PAGES", "Page"]

DRAWN = ".panels table[role=grid], .panels svg"
# Only the panels are scrolled: the page itself stays where it is.
_INTO_SIGHT = """one => {
  const all = one.closest(".panels");
  all.scrollTop += one.getBoundingClientRect().top - all.getBoundingClientRect().top - 20;
}"""
HEAT = "main canvas, main .heat img, main figure"


@dataclass(frozen=True)
class Page:
    """A page: its address with names of runs and the like in braces, and what to wait for.

    `of` is what it belongs to: the trained runs, the made ones, or a frozen copy. `act` is done once it is ready.
    """

    name: str
    address: str
    ready: str
    of: str = "trained"
    narrow: bool = False
    keys: str = ""
    act: Callable[[Any], None] | None = None


def _lasso(page: Any) -> None:
    """Draw around what lies in the upper left of the map."""
    box = page.locator(".place canvas").first.bounding_box()
    middle, radius = (box["x"] + box["width"] * 0.36, box["y"] + box["height"] * 0.36), box["height"] * 0.26
    corners = [(middle[0] + radius * math.cos(one / 4), middle[1] + radius * math.sin(one / 4)) for one in range(26)]
    page.mouse.move(*corners[0])
    page.mouse.down()
    for corner in corners[1:]:
        page.mouse.move(*corner)
    page.mouse.up()


def _into_sight(words: str) -> Callable[[Any], None]:
    def act(page: Any) -> None:
        heading = page.get_by_role("heading", name=words, exact=True).first
        heading.evaluate(_INTO_SIGHT)

    return act


def _hover(page: Any) -> None:
    """Point at a sample of the map: somewhere along a line through its middle there is one."""
    box = page.locator(".place canvas").first.bounding_box()
    for share in range(20, 80):
        page.mouse.move(box["x"] + box["width"] * share / 100, box["y"] + box["height"] / 2)
        page.wait_for_timeout(60)
        if page.locator(".card").count():
            return


def _click(words: str, then: int = 0) -> Callable[[Any], None]:
    def act(page: Any) -> None:
        button = page.get_by_role("button", name=words)
        if button.count():  # not where the job of the other theme's picture still runs
            button.first.click()
        page.wait_for_timeout(then)

    return act


def _compare(page: Any) -> None:
    """Have two runs compared, where that was not done yet."""
    start = page.get_by_role("button", name="Compare sample by sample")
    if start.count():
        start.click()
    page.wait_for_selector("canvas", timeout=120_000)
    page.wait_for_timeout(1500)


def _scroll(pixels: int) -> Callable[[Any], None]:
    return lambda page: page.evaluate(f"window.scrollTo(0, {pixels})")


def _try(page: Any) -> None:
    """Ask the model about a picture that is no sample: a 7 of eight by eight points."""
    import io

    from PIL import Image

    rows = ["00000000", "01111110", "00000110", "00001100", "00011000", "00110000", "00110000", "00000000"]
    sink = io.BytesIO()
    Image.frombytes("L", (8, 8), bytes(255 * int(one) for row in rows for one in row)).save(sink, "PNG")
    file = {"name": "seven.png", "mimeType": "image/png", "buffer": sink.getvalue()}
    page.locator("input[type=file]").set_input_files(file)
    page.wait_for_selector("#model-try ~ * canvas, #model-try ~ * img", timeout=60_000)
    page.wait_for_timeout(1500)


def _heat(page: Any) -> None:
    """Wait for the heat map and its figures; the first may take as long as opening the model."""
    page.wait_for_selector("text=model ready", timeout=120_000)
    page.wait_for_timeout(4000)


def _heat_then_below(page: Any) -> None:
    _heat(page)
    page.evaluate("window.scrollTo(0, 620)")


def _nines(page: Any) -> None:
    """The cell that was clicked, in sight."""
    _into_sight("Confusion")(page)
    page.mouse.move(5, 400)


TRAINING = (
    Page("runs", "runs", "tr[data-index] a"),
    Page("runs-narrow", "runs", "tr[data-index] a", narrow=True),
    Page("runs-parallel", "runs?view=parallel", "svg, canvas"),
    Page("compare", "compare?run={demo}&run={demo_sick}", ".uplot canvas"),
    Page("curves", "runs/{demo}", ".uplot canvas"),
    Page("curves-narrow", "runs/{demo}", ".uplot canvas", narrow=True),
    Page("sick", "runs/{demo_sick}", ".uplot canvas"),
    Page("tensors", "runs/{demo_sick}/tensors", "[role=application] canvas"),
    Page("tensor", "runs/{demo_sick}/tensors?name={tensor}", ".uplot canvas"),
    Page("layers", "runs/{demo_sick}/layers", "table, [role=treegrid]"),
    Page("findings", "runs/{demo_sick}/findings", "main a[href*='findings/']"),
    Page("finding", "runs/{demo_sick}/findings/{finding}", "h2"),
    Page("samples", "runs/{demo_sick}/samples?from=0&to=5", "main img, main table, main li"),
    Page("config", "runs/{demo}/config", "h2"),
    Page("steering", "runs/{demo}/steering", "h2, p"),
    Page("keys", "runs", "tr[data-index] a", keys="?"),
    Page("palette", "runs", "tr[data-index] a", keys="Control+k"),
)
POPULATION = (
    Page("population", "runs/{demo_labels}/population", DRAWN),
    Page("population-hover", "runs/{demo_labels}/population", DRAWN, act=_hover),
    Page("population-lasso", "runs/{demo_labels}/population", DRAWN, act=_lasso),
    Page("population-loss", "runs/{demo_labels}/population?color=loss&size=none", DRAWN),
    Page("population-confusion", "runs/{demo_labels}/population", DRAWN, act=_into_sight("Confusion")),
    Page("population-sample", "runs/{demo_labels}/population?sample={suspect}", DRAWN),
    Page("population-table", "runs/{demo_labels}/population?where=correct+%3D+false", DRAWN, act=_scroll(700)),
    Page("population-selections", "runs/{demo_labels}/population?where=label+%3D+8", DRAWN, act=_click("Selections…")),
    Page("population-keys", "runs/{demo_labels}/population", DRAWN, keys="?"),
    Page("population-evaluations", "runs/{digits}/population?evaluation=0", DRAWN),
    Page("population-narrow", "runs/{demo_labels}/population", DRAWN, narrow=True),
    Page("population-text", "runs/{text}/population", DRAWN),
    Page("population-planted", "runs/{demo_labels}/population?color=label&where=metadata.planted+%3D+true", DRAWN),
    Page("population-none", "runs/{demo_sick}/population", "main pre, main code"),
    Page("population-three", "runs/{three-classes}/population", DRAWN, of="made"),
    Page("population-thousand", "runs/{thousand-classes}/population", DRAWN, of="made"),
    Page("population-ten", "runs/{ten-samples}/population", DRAWN, of="made"),
    Page("population-million", "runs/{a-million}/population", DRAWN, of="made"),
    Page("population-long-names", "runs/{long-names}/population", DRAWN, of="made"),
    Page(
        "population-missing-pictures",
        "runs/{some-pictures}/population?where=correct+%3D+false",
        DRAWN,
        of="made",
        act=_scroll(700),
    ),
    Page("population-no-map", "runs/{no-map-yet}/population", DRAWN, of="made"),
    Page("population-making", "runs/{no-map-yet}/population", DRAWN, of="made", act=_click("Make the map", then=4000)),
)
SAMPLES = (
    Page("sample", "runs/{demo_labels}/sample?sample={error}", HEAT, act=_heat),
    Page("sample-narrow", "runs/{demo_labels}/sample?sample={error}", HEAT, narrow=True, act=_heat),
    Page("sample-suggestion", "runs/{demo_labels}/sample?sample={suspect}", HEAT, act=_heat),
    Page("sample-low", "runs/{demo_labels}/sample?sample={suspect}", HEAT, act=_heat_then_below),
    Page("sample-text", "runs/{text}/sample?sample={sentence}", "main h3", act=_heat),
    Page("model", "runs/{demo_labels}/model", "#model-try", act=_try),
)
REST = (
    Page("insights", "runs/{demo_labels}/insights", "[data-insight]"),
    Page("labels", "runs/{demo_labels}/insights?tab=labels", "[data-sample]"),
    Page("tests", "runs/{demo_labels}/insights?tab=tests", "main table, main form"),
    Page("tests-by-run", "runs/{demo_labels}/insights?tab=tests&by=run", "main table"),
    Page("compare-samples", "compare?run={digits}&run={digits-wide}&view=samples", "canvas, .start", act=_compare),
    Page("jobs", "jobs", "main table", of="made"),
    Page("job-running", "jobs/{running}", "#log-title", of="made"),
    Page("job", "jobs/{ended}", "#log-title ~ *", of="made"),
    Page("jobs-start", "jobs?start=yes", "main form, main select", of="made"),
    Page("frozen", "index.html#/runs/{demo_labels}/population", DRAWN, of="frozen"),
    Page("frozen-sample", "index.html#/runs/{demo_labels}/sample?sample={suspect}", "main h3", of="frozen"),
)
# Of the tutorial's run, which takes longer to make than all others together.
MNIST = (
    Page("studio-map", "runs/{mnist}/population", DRAWN),
    Page("studio-nines", "runs/{mnist}/population?where=label+%3D+9&where=prediction+%3D+4", DRAWN, act=_nines),
    Page(
        "studio-sample",
        "runs/{mnist}/sample?sample=validation%2F9749&method=integrated_gradients&target=6&target=5",
        HEAT,
        act=_heat,
    ),
    Page("studio-labels", "runs/{mnist}/insights?tab=labels", "[data-sample]"),
    Page("studio-insights", "runs/{mnist}/insights", "[data-insight]"),
)
PAGES = (*TRAINING, *POPULATION, *SAMPLES, *REST)
