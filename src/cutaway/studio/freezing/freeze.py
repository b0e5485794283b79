"""`freeze`: a run as a folder of static files. Puts the parts together; the modules beside know what pages need."""

from __future__ import annotations

import datetime as dt
import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cutaway import __version__
from cutaway.errors import ConfigurationError
from cutaway.studio.freezing.asking import inside
from cutaway.studio.freezing.folder import copy_page, whole_folder
from cutaway.studio.freezing.packing import Packer
from cutaway.studio.freezing.population_parts import take_population
from cutaway.studio.freezing.sample_parts import chosen_samples, take_samples
from cutaway.studio.freezing.taking import Taker
from cutaway.studio.freezing.training_parts import take_training
from cutaway.studio.index.places import Places
from cutaway.studio.serving.app import create_app
from cutaway.studio.serving.page import STATIC, Bundle
from cutaway.studio.the_studio import Studio

__all__ = ["FROZEN_PAGE", "Frozen", "freeze"]

FROZEN_PAGE = STATIC / "frozen"
MOST_PICTURES = 2000


@dataclass(frozen=True)
class Frozen:
    """What a copy holds: answers, pictures, pages of samples and those of them with a heat map, and its size."""

    answers: int
    pictures: int
    samples: int
    heat_maps: int
    bytes: int
    left_out: tuple[str, ...]


def freeze(
    run: Path,
    folder: Path,
    *,
    samples: Sequence[str] | None = None,
    made: dt.date | None = None,
    page: Path = FROZEN_PAGE,
    say: Callable[[str], None] = lambda _: None,
) -> Frozen:
    """Write a run into a folder that opens without a studio.

    `samples` are those whose page is taken along with heat map and similars; left out, the most telling ones are
    chosen. `made` is the date that the copy shows, today by default: the same run and date give the same files.
    """
    if not (page / "index.html").is_file():
        message = "The page of frozen copies is not built."
        raise ConfigurationError(message, hint=Bundle.load().why_not_built)
    found = list(Places(run).look())
    if len(found) != 1:
        message = f"There is no run at {run.name!r} to freeze."
        raise ConfigurationError(message, hint="`cutaway runs list` shows the runs there are.")
    run_id = found[0]
    studio = Studio.open(run)
    try:
        with whole_folder(folder) as place, inside(create_app(studio)) as asked:
            copy_page(page, place)
            packer = Packer(place / "data")
            take = Taker(asked, packer, run_id, _cleaner(run))
            index, counts = _take(take, place, samples, say)
            packer.flush()
            index = {"run": run_id, "made": str(made or dt.date.today()), **index, "answers": packer.answers}
            _write_index(place / "data" / "index.js", index)
            size = sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
            left_out = tuple(take.left_out)
        return Frozen(answers=len(packer.answers), **counts, bytes=size, left_out=left_out)
    finally:
        studio.close()


def _take(
    take: Taker, place: Path, samples: Sequence[str] | None, say: Callable[[str], None]
) -> tuple[dict[str, Any], dict[str, int]]:
    say("The training: curves, findings, tensors ...")
    detail = take_training(take)
    if detail is None:
        message = "The run cannot be opened, so there is nothing to freeze."
        raise ConfigurationError(message, hint="`cutaway runs show RUN` says why.")
    say("The population: map, columns, rows ...")
    population = take_population(take)
    chosen: list[str] = []
    heat_maps = 0
    if population is not None:
        chosen = list(samples) if samples is not None else chosen_samples(take, population.worst)
        say(f"{len(chosen)} samples: heat maps, similars ...")
        heat_maps = take_samples(take, chosen)
        take.name_samples(population.fair)
    say("Pictures ...")
    pictures = _write_pictures(take, place / "previews") if detail["previews"] else []
    name = detail["row"]["name"]
    index = {
        "name": name,
        "version": __version__,
        "command": shlex.join(["cutaway", "studio", name]),
        "evaluation": population.evaluation if population is not None else None,
        "pictures": pictures,
        "left_out": take.left_out,
    }
    return index, {"pictures": len(pictures), "samples": len(chosen), "heat_maps": heat_maps}


def _write_pictures(take: Taker, folder: Path) -> list[str]:
    """Write the small pictures of the samples that pages name; return the samples, a picture's name is its place."""
    folder.mkdir()
    written: list[str] = []
    for sample in take.samples:
        if len(written) >= MOST_PICTURES:
            take.left_out.append(f"Pictures of samples beyond the first {MOST_PICTURES:,}.")
            break
        picture = take.picture(sample)
        if picture is not None:
            (folder / f"{len(written)}.png").write_bytes(picture)
            written.append(sample)
    return written


def _cleaner(run: Path) -> Callable[[str], str]:
    """Return what makes a run's place in a JSON text its name: the copy leaves this machine, the place does not."""
    place = run.absolute()
    homely = f"~/{place.relative_to(Path.home())}" if place.is_relative_to(Path.home()) else str(place)
    nearby = str(place.relative_to(Path.cwd())) if place.is_relative_to(Path.cwd()) else str(place)
    # The longest first: one may be a part of another.
    shown = sorted({str(place), homely, nearby, str(run)} - {place.name, "."}, key=len, reverse=True)
    texts = [json.dumps(one, ensure_ascii=False)[1:-1] for one in shown]
    name = json.dumps(place.name, ensure_ascii=False)[1:-1]

    def clean(text: str) -> str:
        for one in texts:
            text = text.replace(one, name)
        return text

    return clean


def _write_index(path: Path, index: dict[str, Any]) -> None:
    # A text inside a text: a key such as __proto__ is then a key like any other, and the script is plain ASCII.
    path.write_text(f"cutawayFrozenIndex=JSON.parse({json.dumps(json.dumps(index))});\n", "ascii")
