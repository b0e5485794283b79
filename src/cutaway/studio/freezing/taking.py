"""Takes answers of the studio along: asks, keeps what came back under the page's own key, and returns it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from cutaway.studio.freezing.asking import Inside, InsideAnswer, Pairs
from cutaway.studio.freezing.packing import Packer, key_of

__all__ = ["Taker", "pairs"]

_MOST_A_PAGE = 1000


def pairs(**query: object) -> list[tuple[str, str]]:
    """Return a query as the page writes it: what is empty is left out; `first` and `last` are from and to.

    >>> pairs(first=3, name="w", search="", limit=None)
    [('from', '3'), ('name', 'w')]
    """
    named = {"first": "from", "last": "to"}
    found: list[tuple[str, str]] = []
    for name, value in query.items():
        if value is None or value == "" or value is False:
            continue
        values = value if isinstance(value, list | tuple) else [value]
        found += [(named.get(name, name), "true" if one is True else str(one)) for one in values]
    return found


class Taker:
    """Asks about one run. A refusal is frozen as what it is; `refusal` has the words of the last one."""

    def __init__(self, asked: Inside, packer: Packer, run: str, clean: Callable[[str], str]) -> None:
        self.run = run
        self._asked = asked
        self._packer = packer
        self._clean = clean
        self.refusal = ""
        self.left_out: list[str] = []
        self.samples: dict[str, None] = {}

    def take(self, path: str, query: Pairs = (), *, keys: Iterable[Pairs] | None = None, seconds: bool = True) -> Any:
        """Take one answer along, and return its data; None where it is not JSON, or a refusal.

        Without `seconds` it does not say how long this machine took for it, by which two copies would differ.
        """
        place = self._path(path)
        answer = self._asked.get(place, query)
        content = self._content(answer)
        if not seconds and answer.status == 200:
            said = json.loads(content)
            content = _json({**said, "data": {**said["data"], "seconds": 0.0}})
        self._packer.add([key_of(place, key) for key in (keys or (query,))], answer.status, answer.kind, content)
        return self._data(answer, content)

    def look(self, path: str, query: Pairs = ()) -> Any:
        """Ask without taking anything along."""
        answer = self._asked.get(self._path(path), query)
        return self._data(answer, self._content(answer))

    def picture(self, sample: str) -> bytes | None:
        """Return the small picture of a sample, where it has one."""
        answer = self._asked.get(self._path("preview"), [("sample", sample)])
        return answer.body if answer.status == 200 else None

    def take_list(self, path: str, query: Pairs = (), *, most: int) -> list[Any]:
        """Take the beginning of a list along, at most so many rows; the page cuts its pages out of it."""
        rows, whole = self.rows(path, query, most=most)
        if whole is None:
            self.take(path, query)
        else:
            place = self._path(path)
            self._packer.add([key_of(place, query)], 200, "json", _json({**whole, "data": rows}))
        return rows

    def rows(self, path: str, query: Pairs = (), *, most: int) -> tuple[list[Any], dict[str, Any] | None]:
        """Return the beginning of a list and what its first answer said beside; None where it was refused."""
        rows: list[Any] = []
        first: dict[str, Any] | None = None
        while len(rows) < most:
            page = pairs(offset=len(rows) or None, limit=min(_MOST_A_PAGE, most - len(rows)))
            answer = self._asked.get(self._path(path), [*query, *page])
            if answer.status != 200:
                break
            said = json.loads(self._content(answer))
            first = first or said
            rows += said["data"]
            if not said["data"] or len(rows) >= said["total"]:
                break
        return rows, first

    def keep(self, path: str, query: Pairs, data: object) -> None:
        """Take something along that was put together from answers."""
        self._packer.add([key_of(self._path(path), query)], 200, "json", _json({"ok": True, "data": data}))

    def name_samples(self, samples: Iterable[str]) -> None:
        """Say that a page of the copy shows these samples; the first that are named get a picture first."""
        self.samples.update(dict.fromkeys(samples))

    def _path(self, path: str) -> str:
        return path.removeprefix("/") if path.startswith("/") else f"runs/{self.run}/{path}".rstrip("/")

    def _content(self, answer: InsideAnswer) -> bytes:
        if answer.kind != "json":
            return answer.body
        cleaned = self._clean(answer.body.decode("utf-8", "surrogatepass"))
        if answer.status == 200:
            return cleaned.encode("utf-8", "surrogatepass")
        # The id leads to a line in the log of a studio that has ended.
        return _json({**json.loads(cleaned), "request": ""})

    def _data(self, answer: InsideAnswer, content: bytes) -> Any:
        if answer.status != 200:
            self.refusal = str(json.loads(content)["error"]) if answer.kind == "json" else f"status {answer.status}"
            return None
        return json.loads(content).get("data") if answer.kind == "json" else None


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
