"""Secrets are left out of texts and events, whole, and nothing else is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regreen.redact import LEFT_OUT, Redactor, Stream, is_secret_name

VALUE = "correct horse/battery+staple=="
ENVIRONMENT = {
    "OPENAI_API_KEY": VALUE,
    "DB_PASSWORD": "hunter2",
    "CI_TOKEN": "abc",  # too short to mean anything
    "HOME": "/home/somebody",
    "SIGNING_KEY_FILE": "/home/somebody/signing.pem",
}


@pytest.fixture
def redactor() -> Redactor:
    return Redactor(ENVIRONMENT)


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "github_token", "CLIENT_SECRET", "PGPASSWORD", "DB_PASSWD", "SECRET_KEY_BASE", "API_KEY_2"]
)  # fmt: skip
def test_names_that_say_secret(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name", ["HOME", "PATH", "PWD", "KEYBOARD_LAYOUT", "TOKENIZERS_PARALLELISM", "SSL_KEY_FILE", "SECRET_NAME", "LANG"]
)  # fmt: skip
def test_names_that_do_not(name: str) -> None:
    assert not is_secret_name(name)


def test_values_of_the_environment_are_left_out_wherever_they_stand(redactor: Redactor) -> None:
    assert redactor.text(f"key={VALUE}, again x{VALUE}x") == f"key={LEFT_OUT}, again x{LEFT_OUT}x"
    assert redactor.text("password 'hunter2'!") == f"password '{LEFT_OUT}'!"


def test_a_short_value_inside_another_word_stays_and_so_does_what_is_no_secret(redactor: Redactor) -> None:
    text = "hunter20 shunter2 abc /home/somebody/signing.pem"
    assert redactor.text(text) == text


@pytest.mark.parametrize(
    "key",
    [
        "sk-" + "a1B2" * 8,
        "sk-proj-" + "a1B2-_" * 6,
        "sk-ant-api03-" + "Zz9" * 12,
        "ghp_" + "A1b2" * 9,
        "github_pat_" + "A1b2" * 9,
        "AKIA" + "ABCD1234EFGH5678",
        "ASIA" + "ABCD1234EFGH5678",
        "AIza" + "a" * 35,
        "xoxb-123456789012-abcdef",
        "glpat-" + "x1" * 10,
        "hf_" + "aB1" * 10,
        "sk_live_" + "4eC39Hq" * 3,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN",
        "xai-" + "A1b2" * 12,
        "pplx-" + "a1b2" * 12,
        "gldt-" + "x1" * 10,
        "whsec_" + "a1B2" * 8,
        "ya29." + "a0Af" * 10,
        "GOCSPX-" + "a1B2" * 7,
        "https://hooks.slack.com/services/T00000000/B00000000/" + "aB3" * 8,
        "https://discord.com/api/webhooks/123456789012345678/" + "aB3_" * 12,
        "123456789:AA" + "a1B-_" * 6 + "abc",
        "SG." + "a1B2" * 5 + "." + "a1B2" * 10,
        "key-" + "0a1b" * 8,
        "dop_v1_" + "0a1b" * 16,
        "shpat_" + "0a1B" * 8,
        "dapi" + "0a1b" * 8,
        "ATATT3" + "xFfG" * 12,
        "hvs." + "CAES" * 8,
        "dckr_pat_" + "a1B2" * 6,
        "AGE-SECRET-KEY-1" + "QPZR" * 14,
        "npm_" + "a1B2" * 9,
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIE\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBF\n-----END PGP PRIVATE KEY BLOCK-----",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaA\nAAAA\n-----END OPENSSH PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nMIIEv and cut off",
    ],
)
def test_keys_are_known_by_their_form(redactor: Redactor, key: str) -> None:
    for before, after in (("", ""), ('API = "', ""), ("(", ")"), ("token: ", "\n")):
        cleaned = redactor.text(f"{before}{key}{after if 'cut off' not in key else ''}")
        assert cleaned.startswith(before + LEFT_OUT)
        assert key[8:] not in cleaned


def test_passwords_in_addresses_and_headers(redactor: Redactor) -> None:
    assert redactor.text("postgres://me:pa55@db/x") == f"postgres://me:{LEFT_OUT}@db/x"
    assert redactor.text("Authorization: Bearer abcdef0123456789xyz") == f"Authorization: Bearer {LEFT_OUT}"


@pytest.mark.parametrize(
    ("before", "secret", "after"),
    [
        ("aws_secret_access_key = ", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEK3Y9", "\n"),
        ('"SecretAccessKey": "', "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEK3Y9", '",'),
        ("API_KEY=", "0a1b2c3d4e5f60718293a4b5c6d7e8f9", " rest"),
        ("AccountKey=", "a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6==", ";EndpointSuffix=x"),
        ("token: ", "0a1b2c3d4e5f60718293a4b5", ""),
        ("machine api.example.org login me password ", "hunter3!", "\n"),
        ("machine api.example.org\n  login me\n  password ", "p@ss", "\n"),
        ("postgres://me:", "p@ss:w0rd", "@db.example.org/x"),
        ("https://me:", "pa55", "@h:8080/a@b"),
    ],
)
def test_secrets_are_known_by_what_stands_before_them(
    redactor: Redactor, before: str, secret: str, after: str
) -> None:
    assert redactor.text(f"{before}{secret}{after}") == f"{before}{LEFT_OUT}{after}"


@pytest.mark.parametrize(
    "text",
    [
        "api_key = get_api_key_from_environment_v2()",
        "token: str = '' # 3 of 4 tokens, key = values[0]",
        "password = generate_password_hash_2(password)",
        "tokens={'prompt': 1830, 'cached': 1400, 'generated': 141}",
        "key=lambda item: (item.price, item.sku, item.quantity)",
        "assert SKU_12345678 in keys and monkey-1234 and SKIPPED",
        "def test_task_list(): risk-assessment-of-everything-long",
        "http://127.0.0.1:11434/api/chat",
        "assert total == 360  # AKIA is four letters",
        "basic responsibilities of a bearer of news",
        "mail me@example.org about eyJ",
        "tests/test_a.py::test_x[sk-1]",
    ],
)
def test_ordinary_text_stays(redactor: Redactor, text: str) -> None:
    assert redactor.text(text) is text


def test_events_keep_their_shape_and_what_names_things(redactor: Redactor) -> None:
    event: dict[str, Any] = {
        "event": "call",
        "id": "hunter2",
        "arguments": {"content": [f"x = {VALUE!r}", 3, None, True]},
        "seconds": 1.5,
    }
    assert redactor.event(event) == {
        "event": "call",
        "id": "hunter2",
        "arguments": {"content": [f"x = '{LEFT_OUT}'", 3, None, True]},
        "seconds": 1.5,
    }


@given(st.text(max_size=60), st.integers(1, 7))
def test_text_in_pieces_says_the_same_as_text_at_once(around: str, size: int) -> None:
    redactor = Redactor({"A_KEY": "0123456789abcdef"})
    text = f"{around} 0123456789abcdef, {around}sk-{'a1' * 12}"
    given_out: list[str] = []
    stream = Stream(redactor, given_out.append)
    for start in range(0, len(text), size):
        stream.feed(text[start : start + size])
    stream.flush()
    said = "".join(given_out)
    assert "0123456789abcdef" not in said
    assert said == redactor.text(text)
    json.dumps(said)


@pytest.mark.parametrize("size", [1, 4, 30, 1000])
def test_a_private_key_in_pieces_is_left_out(size: int) -> None:
    body = "\n".join("MIIEvQIBADANBgkq" for _ in range(20))
    text = (
        f"the key: -----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\nand on it goes \n"
    )
    given_out: list[str] = []
    stream = Stream(Redactor({}), given_out.append)
    for at in range(0, len(text), size):
        stream.feed(text[at : at + size])
    stream.flush()
    assert "".join(given_out) == f"the key: {LEFT_OUT}\nand on it goes \n"


def test_a_dashed_line_does_not_hold_a_text_back() -> None:
    given_out: list[str] = []
    stream = Stream(Redactor({}), given_out.append)
    stream.feed("-----BEGIN CERTIFICATE-----\nMIIB and so on ")
    assert "".join(given_out).endswith("so on ")
