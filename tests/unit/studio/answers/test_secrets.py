"""What looks like a secret in a configuration is never shown; what only sounds like one is."""

from typing import Any

import pytest

from cutaway.studio.answers.secrets import HIDDEN, hidden, is_secret

SECRETS = (
    *(
        "token",
        "hf_token",
        "HF_TOKEN",
        "authToken",
        "password",
        "db.password",
        "passwd",
        "pwd",
        "secret",
        "my_secret",
    ),
    *("api_key", "apiKey", "apikey", "WANDB_API_KEY", "aws_access_key_id", "AWS_REGION", "private-key", "credentials"),
)
PLAIN = (
    "tokenizer",
    "lr",
    "passes",
    "secretary",
    "keys",
    "key_dim",
    "author",
    "laws",
    "monkey",
    "num_heads",
    "compass",
)


@pytest.mark.parametrize("key", SECRETS)
def test_a_secret_is_hidden_however_deep(key: str) -> None:
    assert is_secret(key)
    assert hidden({"a": [{"b": {key: "hunter2"}}], key: "hunter2"}) == {"a": [{"b": {key: HIDDEN}}], key: HIDDEN}


@pytest.mark.parametrize("key", PLAIN)
def test_what_is_no_secret_is_shown(key: str) -> None:
    assert not is_secret(key)
    assert hidden({key: "value"}) == {key: "value"}


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"max_tokens": 512}, {"max_tokens": 512}),
        ({"token": None, "password": ""}, {"token": None, "password": ""}),
        ({"credentials": {"user": "anna"}}, {"credentials": HIDDEN}),
        ({"url": "postgres://anna:hunter2@db/runs"}, {"url": f"postgres://{HIDDEN}@db/runs"}),
        ({"command": ["train.py", "--token", "hunter2"]}, {"command": ["train.py", "--token", HIDDEN]}),
        ({"command": ["train.py", "--api-key=hunter2"]}, {"command": ["train.py", f"--api-key={HIDDEN}"]}),
        ({"command": ["train.py", "--lr=0.1", "x"]}, {"command": ["train.py", "--lr=0.1", "x"]}),
    ],
)
def test_numbers_nothing_and_addresses(given: dict[str, Any], shown: dict[str, Any]) -> None:
    assert hidden(given) == shown


def test_endless_nesting_ends() -> None:
    deep: dict[str, Any] = {"token": "hunter2"}
    for _ in range(200):
        deep = {"a": deep}
    assert "hunter2" not in str(hidden(deep))
