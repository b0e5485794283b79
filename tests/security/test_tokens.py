"""Cases 35 and 36: who does not know the token gets nothing, and nobody learns it from us."""

import http.cookies
import logging
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from cutaway.studio.guards.tokens import COOKIE_SECONDS, Gate
from cutaway.studio.serving.server import Served
from tests.security.conftest import TOKEN
from tests.security.every_route import ROUTES, Route

CLOSED = [route for route in ROUTES if route.path != "/api/login"]
JSON = {"Content-Type": "application/json"}


def cookie_of(gate: Gate) -> dict[str, str]:
    return {"Cookie": f"{gate.cookie_name}={gate.new_cookie()}"}


@pytest.mark.parametrize("route", CLOSED, ids=str)
def test_without_a_token_every_route_is_closed(gated_client: httpx.Client, run: str, route: Route) -> None:
    answer = gated_client.request(route.method, route.address(run), headers=JSON)
    assert (answer.status_code, answer.json()["code"]) == (401, "token-needed")


@pytest.mark.parametrize("route", CLOSED, ids=str)
def test_a_cookie_that_ended_or_is_of_another_studio_opens_nothing(
    gated_client: httpx.Client, run: str, route: Route
) -> None:
    ended = Gate(TOKEN, clock=lambda: 1_000_000.0)
    other = Gate(f"another-{TOKEN}")
    mixed = {"Cookie": f"{ended.cookie_name}={other.new_cookie()}"}
    for headers in (cookie_of(ended), cookie_of(other), mixed):
        answer = gated_client.request(route.method, route.address(run), headers={**JSON, **headers})
        assert answer.status_code == 401


def test_a_wrong_token_is_refused_and_a_right_one_is_not(gated_client: httpx.Client) -> None:
    for value in ("Bearer wrong", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}"):
        assert gated_client.get("/api/about", headers={"Authorization": value}).status_code == 401
    answer = gated_client.get("/api/about", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.json()["data"]["token"] is True


@pytest.mark.parametrize("path", ["/", "/runs/x", "/assets/index-abc.js"])
def test_the_page_itself_is_open_and_holds_nothing_of_anybody(gated_client: httpx.Client, path: str) -> None:
    answer = gated_client.get(path)
    assert answer.status_code == 200
    assert "runs" not in answer.text


def test_the_page_gives_the_token_once_and_gets_a_cookie_that_no_script_can_read(gated: Served) -> None:
    own = {"Origin": gated.url}
    with httpx.Client(base_url=gated.url, headers=own) as browser:
        answer = browser.post("/api/login", json={"token": TOKEN})
        assert answer.status_code == 204
        [(name, cookie)] = http.cookies.SimpleCookie(answer.headers["set-cookie"]).items()
        assert cookie["httponly"] is True
        assert cookie["samesite"].lower() == "strict"
        assert cookie["path"] == "/"
        assert cookie["max-age"] == str(COOKIE_SECONDS)
        assert not cookie["secure"]
        assert not cookie["domain"]
        assert TOKEN not in answer.headers["set-cookie"]
        assert browser.get("/api/about").status_code == 200
        assert browser.post("/api/logout", json={}).status_code == 204
        assert browser.get("/api/about").status_code == 401
    assert name.startswith("cutaway-")


def test_behind_tls_the_cookie_is_for_tls_alone(gated: Served) -> None:
    headers = {"Origin": "https://localhost", "Host": "localhost"}
    answer = httpx.post(f"{gated.url}/api/login", json={"token": TOKEN}, headers=headers)
    assert answer.status_code == 204
    assert "secure" in answer.headers["set-cookie"].lower()


def test_another_site_cannot_log_a_browser_in(gated_client: httpx.Client) -> None:
    answer = gated_client.post("/api/login", json={"token": TOKEN}, headers={"Origin": "http://evil.example"})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("body", [{"token": "wrong"}, {"token": ""}, {"token": "x" * 1024}])
def test_a_wrong_login_gets_no_cookie(gated_client: httpx.Client, body: dict[str, str]) -> None:
    answer = gated_client.post("/api/login", json=body)
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "body", [{}, {"token": None}, {"token": 1}, {"token": "x" * 2000}, {"token": TOKEN, "more": 1}, []]
)
def test_a_login_of_another_shape_is_400_and_its_token_is_not_echoed(gated_client: httpx.Client, body: object) -> None:
    answer = gated_client.post("/api/login", json=body)
    assert answer.status_code == 400
    assert TOKEN not in answer.text
    assert "xxx" not in answer.text


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_a_token_in_an_address_is_refused_and_in_no_log(
    gated_client: httpx.Client, run: str, route: Route, caplog: pytest.LogCaptureFixture
) -> None:
    address = route.address(run)
    with caplog.at_level(logging.DEBUG, logger="cutaway"), caplog.at_level(logging.DEBUG, logger="uvicorn"):
        for name in ("token", "access_token", "anything"):
            asked = f"{address}{'&' if '?' in address else '?'}{name}={TOKEN}"
            headers = {"Authorization": f"Bearer {TOKEN}", **JSON}
            answer = gated_client.request(route.method, asked, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (400, "token-in-address")
            assert TOKEN not in answer.text + str(answer.headers)
    ours = [record.getMessage() for record in caplog.records if record.name.startswith(("cutaway", "uvicorn"))]
    assert TOKEN not in " ".join(ours)


def test_guessing_is_slowed_down_while_those_who_are_in_stay_in(root: Path) -> None:
    from cutaway.studio.serving.server import serve_in_thread
    from cutaway.studio.the_studio import Studio

    gate = Gate(TOKEN)
    with serve_in_thread(Studio.open(root, gate=gate)) as own, httpx.Client(base_url=own.url) as client:
        codes = [client.post("/api/login", json={"token": f"guess {i}"}).status_code for i in range(15)]
        assert codes == [401] * 10 + [429] * 5
        assert client.post("/api/login", json={"token": TOKEN}).status_code == 429
        assert client.get("/api/about", headers=cookie_of(gate)).status_code == 200


def test_bound_beyond_this_machine_without_a_token_it_does_not_start(tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "CUTAWAY_TOKEN"}
    command = [sys.executable, "-m", "cutaway", "--debug", "studio", "--host", "0.0.0.0", "--port", "0"]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "cutaway studio --host 0.0.0.0 --token-file studio.token" in " ".join(done.stderr.split())
    assert "secrets.token_urlsafe()" in done.stderr


def test_a_token_that_is_refused_is_not_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from cutaway.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "token").write_text("too-short")
    assert main(["--debug", "studio", "--token-file", "token", "--port", "0"]) == 2
    written = capsys.readouterr()
    assert "too-short" not in written.out + written.err
