"""Cases 39, 42, 43 and 44: what comes back is inert, unframed, evaluates nothing and holds no secret."""

import io
import json
import logging

import httpx
import pyarrow as pa
import pytest

from cutaway.studio.guards.headers import CONTENT_SECURITY_POLICY
from cutaway.studio.serving.server import Served
from tests.security.conftest import IMAGE, SCRIPT, SECRET
from tests.security.every_route import READING, ROUTES, Route
from tests.security.raw import ask

INERT = ("application/json", "application/vnd.apache.arrow.stream", "image/png", "text/event-stream")
PAGES = ["/", "/runs/x", "/assets/index-abc.js", "/nowhere.js", "/api/nowhere"]


def assert_safe(headers: httpx.Headers | dict[str, str]) -> None:
    policies = headers["content-security-policy"].split(", ")
    assert policies[0] == CONTENT_SECURITY_POLICY
    assert all("unsafe" not in policy and "*" not in policy for policy in policies)
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert len(headers["x-request-id"]) == 16
    assert "server" not in headers
    assert "x-powered-by" not in headers


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_every_answer_of_the_api_is_inert_whatever_strings_it_holds(
    served: Served, client: httpx.Client, run: str, route: Route
) -> None:
    address = route.address(run)
    if route.path == "/api/live":
        with client.stream("GET", address) as stream:
            answer_headers, content = stream.headers, b""
    else:
        answer = client.request(route.method, address, headers={"Content-Type": "application/json"}, content=b"{}")
        answer_headers, content = answer.headers, answer.content
        assert answer.status_code < 500, answer.text
    assert_safe(answer_headers)
    assert answer_headers["cache-control"] == "no-store"
    kind = answer_headers.get("content-type", "").partition(";")[0]
    assert kind in INERT or (kind == "" and content == b"")
    if kind == "application/json" and content:
        json.loads(content)


@pytest.mark.parametrize("path", PAGES)
def test_the_page_and_what_is_not_there_have_the_same_headers(client: httpx.Client, path: str) -> None:
    assert_safe(client.get(path).headers)
    assert_safe(client.head(path).headers)


def test_hashed_files_are_kept_and_the_page_is_asked_for_again(client: httpx.Client) -> None:
    assert "immutable" in client.get("/assets/index-abc.js").headers["cache-control"]
    assert client.get("/").headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    ("headers", "status"),
    [([("Host", "evil.example")], 403), ([("Host", "localhost"), ("Origin", "null")], 403)],
)
def test_refusals_have_the_same_headers(served: Served, headers: list[tuple[str, str]], status: int) -> None:
    for target in ("/", "/api/about", f"/{SCRIPT.replace(' ', '')}", f"/api/runs/{SCRIPT.replace(' ', '')}"):
        answer = ask(served, target, headers)
        assert answer.status == status
        assert_safe(answer.headers)
        assert answer.headers["content-type"] == "application/json"


def test_markup_comes_back_as_it_was_written_and_only_as_data(client: httpx.Client, run: str) -> None:
    row = client.get("/api/runs").json()["data"][0]
    assert IMAGE in row["name"]
    assert row["tags"] == [SCRIPT]
    assert row["note"] == IMAGE
    detail = client.get(f"/api/runs/{run}").json()["data"]
    assert detail["config"][SCRIPT] == IMAGE
    assert SCRIPT in {scalar["name"] for scalar in client.get(f"/api/runs/{run}/scalars").json()["data"]}
    found = client.get(f"/api/runs/{run}/findings").json()["data"]
    assert (SCRIPT, IMAGE) in {(one["code"], one["message"]) for one in found}
    names = [tensor["name"] for tensor in client.get(f"/api/runs/{run}/tensors").json()["data"]]
    assert f"Net_{SCRIPT}.weight" in names
    curves = client.get(f"/api/runs/{run}/curves.arrow", params={"series": f"{SCRIPT}@TRAIN"})
    assert pa.ipc.open_stream(io.BytesIO(curves.content)).read_all().num_rows == 1


def test_markup_in_a_wrong_request_comes_back_only_as_data(client: httpx.Client) -> None:
    for path in (f"/api/runs/{IMAGE}", f"/api/{SCRIPT}", f"/api/runs?sort={SCRIPT}", f"/api/runs?limit={SCRIPT}"):
        answer = client.get(path)
        assert answer.status_code in (400, 404)
        assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "code",
    [
        "__import__('os').system('touch /tmp/x') == 0",
        "().__class__.__bases__[0].__subclasses__() == 1",
        "name == '' or open('/etc/passwd').read()",
        "eval('1') < 2",
        "name; DROP TABLE runs",
        "name == 'x' UNION SELECT 1",
        "{{7*7}} == 49",
        "config.lr < lambda: 1",
        "a" * 10_000,
        "(" * 5_000,
        "name == '" + "%" * 3000,
    ],
)
def test_a_condition_that_looks_like_code_is_parsed_and_never_run(client: httpx.Client, code: str) -> None:
    answer = client.get("/api/runs", params={"where": code})
    # It is refused, or it is a comparison with a text that no run has.
    assert answer.status_code == 400 or (answer.status_code == 200 and answer.json()["total"] == 0), answer.text
    assert "root:x:" not in answer.text


@pytest.mark.parametrize("search", ["%", "_", "*", "'; --", "\\", "\x00", "(?:a+)+$", "a" * 200, "é" * 200, "\u202e"])
def test_wildcards_and_odd_characters_in_a_search_are_text(client: httpx.Client, search: str) -> None:
    answer = client.get("/api/runs", params={"search": search})
    assert answer.status_code in (200, 400)
    if answer.status_code == 200:
        assert answer.json()["total"] == 0


@pytest.mark.parametrize("route", READING, ids=str)
def test_no_answer_holds_a_secret_or_a_path_of_the_server(
    client: httpx.Client, run: str, route: Route, monkeypatch: pytest.MonkeyPatch, root: object
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "environment-secret")
    for asked in (run, "nowhere", IMAGE):
        answer = client.get(route.address(asked))
        text = answer.content.decode("utf-8", "replace")
        if route.path == "/api/runs/{run}" and answer.status_code == 200:
            # Two lines are there to be typed on the machine that serves, where that path is what names the run.
            detail = answer.json()["data"]
            text = json.dumps({key: value for key, value in detail.items() if key not in ("command", "next")})
        assert SECRET not in text
        assert "environment-secret" not in text
        assert str(root) not in text
        assert "Traceback" not in text


def test_a_fault_of_ours_tells_nothing_but_its_id(
    served: Served, client: httpx.Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(f"{SECRET} in /srv/people")

    monkeypatch.setattr(type(served.studio.index), "table", broken)
    with caplog.at_level(logging.ERROR):
        answer = client.get("/api/runs")
    assert answer.status_code == 500
    assert_safe(answer.headers)
    assert SECRET not in answer.text
    assert "/srv" not in answer.text
    assert answer.json()["request"] in caplog.text
