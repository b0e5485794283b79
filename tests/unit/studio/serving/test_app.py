"""The application as a whole: what is where, and that it says what it is."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from cutaway import __version__
from cutaway.run import Run
from cutaway.studio.guards.tokens import Gate
from cutaway.studio.serving.app import Guards, create_app
from cutaway.studio.serving.page import Bundle
from cutaway.studio.the_studio import Studio

TOKEN = "a-token-of-24-characters"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    Run.create(tmp_path / "runs" / "mnist")
    return tmp_path / "runs"


@pytest.fixture
def client(root: Path, tmp_path: Path) -> Iterator[TestClient]:
    app = create_app(Studio.open(root), bundle=Bundle.load(tmp_path / "no page"))
    with TestClient(app, base_url="http://localhost:8600") as one:
        yield one


def test_it_says_what_it_is_and_where_it_looks(client: TestClient, root: Path) -> None:
    about = client.get("/api/about").json()["data"]
    assert about["version"] == __version__
    assert about["folder"] == "runs"
    assert about["token"] is False
    assert str(root) not in str(about)


def test_the_schema_is_where_programs_look_for_it(client: TestClient) -> None:
    schema = client.get("/api/openapi.json").json()
    assert schema["info"]["title"] == "Cutaway studio"
    assert all(path.startswith("/api/") for path in schema["paths"])


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/openapi.json"])
def test_no_page_of_the_framework_is_there(client: TestClient, path: str) -> None:
    assert "swagger" not in client.get(path).text.lower()
    assert "paths" not in client.get(path).text


def test_an_address_that_almost_fits_is_wrong_and_not_redirected(client: TestClient) -> None:
    answer = client.get("/api/about/", follow_redirects=False)
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


def test_a_wrong_method_says_so(client: TestClient) -> None:
    answer = client.delete("/api/about", headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (405, "method-not-allowed")


def test_without_a_built_page_the_api_works_and_the_page_says_how_to_build_it(client: TestClient) -> None:
    assert client.get("/api/runs").status_code == 200
    assert "make ui" in client.get("/").text


def test_logging_in_where_no_token_is_asked_for_is_no_fault_and_gives_no_cookie(client: TestClient) -> None:
    answer = client.post("/api/login", json={"token": "anything"})
    assert answer.status_code == 204
    assert "set-cookie" not in answer.headers


def test_below_a_root_path_the_cookie_is_for_that_path_alone(root: Path) -> None:
    app = create_app(Studio.open(root, gate=Gate(TOKEN)), guards=Guards(root_path="/studio"))
    with TestClient(app, base_url="http://localhost:8600") as client:
        answer = client.post("/studio/api/login", json={"token": TOKEN})
        assert "path=/studio/;" in f"{answer.headers['set-cookie'].lower()};"
        assert client.get("/studio/api/about").status_code == 200
        answer = client.post("/studio/api/logout", json={})
        assert "max-age=0" in answer.headers["set-cookie"].lower()
        assert client.get("/studio/api/about").status_code == 401


def test_the_studio_ends_with_its_application(root: Path) -> None:
    studio = Studio.open(root)
    with TestClient(create_app(studio), base_url="http://localhost"):
        assert not studio.feed.is_closed
    assert studio.feed.is_closed
