"""E-mail: a real conversation with a server, and what each of its answers means."""

from __future__ import annotations

import base64
import json
import shutil
import ssl
import subprocess
from email import message_from_string
from pathlib import Path

import pytest

from cutaway.errors import ConfigurationError
from cutaway.rules import Email
from cutaway.rules.actions.channel import Message
from tests.rules.actions.conftest import PASSWORD
from tests.rules.actions.servers import MailServer, unused_port


def _email(mail: MailServer, **more: object) -> Email:
    settings: dict[str, object] = {"host": "127.0.0.1", "port": mail.port, "starttls": False, "timeout": 5.0, **more}
    return Email("ada@example.org", "cutaway@example.org", **settings)  # type: ignore[arg-type]


def test_a_finding_is_mailed(mail: MailServer, message: Message) -> None:
    assert _email(mail).send(message).state == "sent"
    [text] = mail.mails
    got = message_from_string(text)
    assert got["Subject"] == "VanishingGradient in run mnist-7 at step 41"
    assert (got["From"], got["To"]) == ("cutaway@example.org", "ada@example.org")
    assert got["Message-ID"] == f"<{message.key}@cutaway.invalid>"
    assert "The gradient of fc1 vanishes." in got.get_payload()
    assert any(line.lower().startswith("rcpt to:<ada@example.org>") for line in mail.said)


def test_a_mail_that_is_sent_again_is_the_same_mail(mail: MailServer, message: Message) -> None:
    for _ in range(2):
        assert _email(mail).send(message).state == "sent"
    assert mail.mails[0] == mail.mails[1]


def test_the_password_comes_from_the_environment(mail: MailServer, message: Message) -> None:
    email = _email(mail, user="cutaway")
    assert email.caution == ""
    assert email.send(message).state == "sent"
    [login] = [line for line in mail.said if line.startswith("AUTH PLAIN")]
    assert PASSWORD in base64.b64decode(login.split()[-1]).decode()
    assert PASSWORD not in json.dumps(email.to_dict()) + repr(email)


def test_a_missing_password_is_said(mail: MailServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUTAWAY_SMTP_PASSWORD")
    assert "CUTAWAY_SMTP_PASSWORD is not set" in _email(mail, user="cutaway").caution
    assert _email(mail).caution == ""


@pytest.mark.parametrize(
    ("verb", "answer", "state"),
    [
        ("RCPT", "550 no such user", "refused"),
        ("RCPT", "450 try again", "failed"),
        ("MAIL", "553 not you", "refused"),
        ("MAIL", "421 busy", "failed"),
        ("END", "554 no", "refused"),
        ("END", "451 later", "failed"),
        ("QUIT", "500 what?", "sent"),
        ("AUTH", f"535 {PASSWORD} is wrong", "failed"),
    ],
)
def test_what_an_answer_means(mail: MailServer, message: Message, verb: str, answer: str, state: str) -> None:
    mail.answers[verb] = answer
    outcome = _email(mail, user="cutaway").send(message)
    assert outcome.state == state
    assert PASSWORD not in outcome.reason


def test_a_server_without_starttls_gets_no_message(mail: MailServer, message: Message) -> None:
    outcome = _email(mail, starttls=True, user="cutaway").send(message)
    assert outcome.state == "refused"
    assert "STARTTLS" in outcome.reason
    assert mail.mails == []
    assert not any(line.startswith("AUTH") for line in mail.said)


def test_no_server_there_is_a_failure_that_may_pass(message: Message) -> None:
    outcome = Email("a@b.c", "d@e.f", "127.0.0.1", unused_port(), timeout=1.0).send(message)
    assert outcome.state == "failed"
    assert "127.0.0.1 cannot be reached" in outcome.reason


def test_the_server_comes_from_the_environment() -> None:
    environment = {
        "CUTAWAY_SMTP_HOST": "mail.example.org",
        "CUTAWAY_SMTP_FROM": "cutaway@example.org",
        "CUTAWAY_SMTP_PORT": "2525",
        "CUTAWAY_SMTP_STARTTLS": "off",
        "CUTAWAY_SMTP_USER": "me",
    }
    email = Email.from_environment("a@b.c", environment)
    assert email == Email("a@b.c", "cutaway@example.org", "mail.example.org", 2525, starttls=False, user="me")
    plain = Email.from_environment("a@b.c", {name: environment[name] for name in list(environment)[:2]})
    assert (plain.port, plain.starttls, plain.user) == (587, True, "")


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({}, "set CUTAWAY_SMTP_HOST and CUTAWAY_SMTP_FROM"),
        ({"CUTAWAY_SMTP_HOST": "h"}, "set CUTAWAY_SMTP_FROM"),
        ({"CUTAWAY_SMTP_HOST": "h", "CUTAWAY_SMTP_FROM": "a@b", "CUTAWAY_SMTP_PORT": "x"}, "CUTAWAY_SMTP_PORT"),
    ],
)
def test_a_setting_that_is_missing_or_wrong_is_named(environment: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        Email.from_environment("a@b.c", environment)


@pytest.mark.parametrize("address", ["", "ada", "@b", "a@", "a@b\r\nBcc: c@d", "a b@c", "a@b,c@d", "Ada <a@b>"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ConfigurationError, match="`to` must be an e-mail address"):
        Email(address, "a@b", "host")


@pytest.mark.parametrize("settings", [{"host": ""}, {"port": 0}, {"port": 70_000}, {"timeout": 0.0}])
def test_a_server_that_cannot_be_is_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError, match="must hold for an SMTP server"):
        Email("a@b", "a@b", **{"host": "h", **settings})  # type: ignore[arg-type]


def test_a_title_of_several_lines_makes_one_header(mail: MailServer, message: Message) -> None:
    strange = Message(message.key, "run\r\nBcc: x@y", "", 0.0, message.finding)
    assert _email(mail).send(strange).state == "sent"
    assert message_from_string(mail.mails[0])["Bcc"] is None


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for this machine that nobody trusts yet."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl makes the certificate")
    words = "req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    names = ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "cert.pem")]
    subprocess.run([openssl, *words.split(), *names], check=True, capture_output=True)
    return tmp_path / "cert.pem"


@pytest.fixture
def encrypted(mail: MailServer, certificate: Path) -> MailServer:
    mail.encryption = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    mail.encryption.load_cert_chain(certificate, certificate.with_name("key.pem"))
    mail.extensions = ("STARTTLS", *mail.extensions)
    return mail


def test_a_password_goes_only_through_starttls(
    encrypted: MailServer, certificate: Path, message: Message, monkeypatch: pytest.MonkeyPatch
) -> None:
    email = _email(encrypted, starttls=True, user="cutaway")
    assert email.send(message).state == "failed", "nobody trusts this certificate"
    assert encrypted.mails == []
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert email.send(message).state == "sent"
    verbs = [line.split(" ")[0].upper() for line in encrypted.said]
    assert verbs.index("STARTTLS") < verbs.index("AUTH")
    assert len(encrypted.mails) == 1


def test_a_port_may_be_encrypted_from_the_first_byte(
    encrypted: MailServer, certificate: Path, message: Message, monkeypatch: pytest.MonkeyPatch
) -> None:
    encrypted.from_the_first_byte = True
    monkeypatch.setattr("cutaway.rules.actions.mail._TLS_PORT", encrypted.port)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert _email(encrypted, starttls=True, user="cutaway").send(message).state == "sent"
    assert not any(line.startswith("STARTTLS") for line in encrypted.said)


def test_what_is_shown_is_the_address_and_the_server(mail: MailServer) -> None:
    assert _email(mail).label == "ada@example.org by 127.0.0.1"
