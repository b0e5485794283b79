"""Webhooks: what is posted, how it is signed, and what each answer means."""

from __future__ import annotations

import hashlib
import hmac
import json
import socket
import threading

import pytest

from cutaway.errors import ConfigurationError
from cutaway.rules import Webhook
from cutaway.rules.actions.channel import Message
from tests.rules.actions.conftest import SECRET
from tests.rules.actions.servers import Endpoint, unused_port


def test_a_finding_is_posted_as_signed_json(endpoint: Endpoint, message: Message) -> None:
    assert Webhook(endpoint.url).send(message).state == "sent"
    [post] = endpoint.posts
    assert post.path == "/hooks/t0ken-in-the-path?q=1"
    assert post.headers["Content-Type"] == "application/json"
    assert post.headers["Idempotency-Key"] == message.key
    proof = "sha256=" + hmac.new(SECRET.encode(), post.body, hashlib.sha256).hexdigest()
    assert post.headers["X-Cutaway-Signature"] == proof
    body = json.loads(post.body)
    assert body["text"] == "VanishingGradient in run mnist-7 at step 41: The gradient of fc1 vanishes."
    assert body["finding"] == dict(message.finding)
    assert (body["key"], body["run"]) == (message.key, "mnist-7")
    assert message.path not in post.body.decode()


def test_another_body_or_secret_has_another_signature(
    endpoint: Endpoint, message: Message, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = Webhook(endpoint.url)
    hook.send(message)
    hook.send(message)
    monkeypatch.setenv("CUTAWAY_WEBHOOK_SECRET", "another")
    hook.send(message)
    signed = [post.headers["X-Cutaway-Signature"] for post in endpoint.posts]
    assert signed[0] == signed[1] != signed[2]


def test_without_a_secret_it_is_sent_unsigned_and_says_so(
    endpoint: Endpoint, message: Message, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = Webhook(endpoint.url, secret_env="CUTAWAY_OTHER_SECRET")
    assert "CUTAWAY_OTHER_SECRET is not set" in hook.caution
    assert "t0ken" not in hook.caution
    assert hook.send(message).state == "sent"
    assert "X-Cutaway-Signature" not in endpoint.posts[0].headers
    monkeypatch.setenv("CUTAWAY_OTHER_SECRET", "x")
    assert hook.caution == ""


@pytest.mark.parametrize(
    ("status", "state"),
    [(200, "sent"), (204, "sent"), (500, "failed"), (503, "failed"), (408, "failed"), (425, "failed"), (429, "failed")]
    + [(status, "refused") for status in (400, 401, 404, 410, 422)],
)
def test_what_an_answer_means(endpoint: Endpoint, message: Message, status: int, state: str) -> None:
    endpoint.statuses = [status]
    outcome = Webhook(endpoint.url).send(message)
    assert outcome.state == state
    assert str(status) in outcome.reason or state == "sent"
    assert "t0ken" not in outcome.reason


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirection_is_followed(endpoint: Endpoint, message: Message, status: int) -> None:
    endpoint.statuses, endpoint.headers = [status], {"Location": "/elsewhere"}
    outcome = Webhook(endpoint.url).send(message)
    assert outcome.state == "refused"
    assert "leads elsewhere" in outcome.reason
    assert (len(endpoint.posts), endpoint.gets) == (1, [])


def test_nobody_there_is_a_failure_that_may_pass(message: Message) -> None:
    outcome = Webhook(f"http://127.0.0.1:{unused_port()}/t0ken").send(message)
    assert outcome.state == "failed"
    assert outcome.reason.startswith("http://127.0.0.1 cannot be reached: ")
    assert "t0ken" not in outcome.reason


def test_an_endpoint_that_says_nothing_is_left_after_the_time_limit(endpoint: Endpoint, message: Message) -> None:
    endpoint.open.clear()
    assert Webhook(endpoint.url, timeout=0.05).send(message).state == "failed"


@pytest.mark.parametrize("words", [b"", b"I speak no HTTP\r\n\r\n"])
def test_what_is_no_web_server_is_a_failure_that_may_pass(message: Message, words: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(words)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        outcome = Webhook(f"http://127.0.0.1:{listener.getsockname()[1]}/t0ken").send(message)
        thread.join()
    assert outcome.state == "failed"
    assert "t0ken" not in outcome.reason


def test_a_url_may_stay_in_the_environment(
    endpoint: Endpoint, message: Message, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = Webhook("env:MY_WEBHOOK")
    outcome = hook.send(message)
    assert (outcome.state, "export MY_WEBHOOK=" in outcome.reason) == ("failed", True)
    monkeypatch.setenv("MY_WEBHOOK", endpoint.url)
    assert hook.send(message).state == "sent"
    assert "t0ken" not in json.dumps(hook.to_dict())
    monkeypatch.setenv("MY_WEBHOOK", "file:///etc/passwd")
    assert hook.send(message).state == "failed"


@pytest.mark.parametrize(
    "url",
    [
        "file:///t0ken",
        "ftp://a/t0ken",
        "https:///t0ken",
        "t0ken",
        "",
        "http://a b/t0ken",
        "http://a/t0ken\r\nX: y",
        "http://a:b/t0ken",
        "http://a:99999/t0ken",
        "https://user:t0ken@host/",
        "env:",
        "http://ü/t0ken",
        "http://[/t0ken",
    ],
)
def test_a_url_that_cannot_be_posted_to_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Webhook(url)
    assert "t0ken" not in str(caught.value)


def test_what_is_shown_of_a_webhook_has_no_path(endpoint: Endpoint) -> None:
    hook = Webhook(endpoint.url)
    assert hook.label == "http://127.0.0.1"
    assert "t0ken" not in repr(hook)


def test_a_time_limit_must_be_one() -> None:
    with pytest.raises(ConfigurationError, match="timeout > 0"):
        Webhook("https://example.org", timeout=0)
