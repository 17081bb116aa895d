"""What counts as a secret, and what does not."""

from __future__ import annotations

import base64
import time
from pathlib import Path

import pytest

from wirelab.secrets import finding
from wirelab.secrets.known import KnownSecrets
from wirelab.secrets.names import is_secret_name, is_secret_variable, secret_parameters
from wirelab.secrets.shapes import find_by_shape, has_secret_shape, is_card_number

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"

HEALTHY_HEADERS = {
    "accept": "application/json, text/plain;q=0.9",
    "accept-language": "de-CH,de;q=0.9",
    "cache-control": "no-store, max-age=0",
    "content-type": "application/json; charset=utf-8",
    "content-digest": "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:",
    "etag": '"33a64df551425fcc55e4d42a148795d9f25f89d4"',
    "idempotency-key": "8e03978e-40d5-43dd-bc93-6894a57f9324",
    "if-match": 'W/"0815"',
    "range": "bytes=0-1023",
    "sec-websocket-key": "x3JJHMbDL1EzLkh9GBhXDw==",
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "user-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36",
    "x-request-id": "f47ac10b-58cc-4372-a567-0e02b2c3d479",
    "x-forwarded-for": "203.0.113.7",
    "x-tenant": "north-4111",
    "author": "Ada Lovelace",
    "token-type": "bearer",
    "x-session-timeout": "30",
}
HEALTHY_TARGETS = (
    "/",
    "/orders/4012888888881882",  # the check digit does not fit
    "/orders/1700000000123",
    "/snowflake/1234567890123456789",
    "/commits/33a64df551425fcc55e4d42a148795d9f25f89d4",
    "/users/f47ac10b-58cc-4372-a567-0e02b2c3d479/keys?key=name&page=2",
    "/addresses?state=CA&zip=94103",
    "/errors?code=404",
    "/countries?code=CHE&state=open",
    "/search?q=how+to+reset+a+password&lang=en",
    "/reset/instructions-for-everyone",
    "/models/gpt?max_tokens=4096&tokenizer=bpe",
    "/static/app.3f2b1c9d8e7a.min.js",
    "/keys/primary?sort_key=created&partition_key=42",
    "/auth/login-with-single-sign-on",
    "http://127.0.0.1:8080/monkey/passenger?author=me",
    "https://example.org/@user/post-2024-01-02",
    "rest@rust?token_source=text&token_cache=names&security=tls",
)
HEALTHY_VARIABLES = {
    "HOME": "/home/me",
    "PWD": "/srv",
    "PORT": "8080",
    "JAVA_HOME": "/usr/lib/jvm",
    "GOMAXPROCS": "2",
    "PRIMARY_KEY": "id",
    "CACHE_KEY": "orders:v2",
    "TOKENIZERS_PARALLELISM": "false",
    "MAX_TOKENS": "512",
    "TOKEN_URL": "http://127.0.0.1/token",
    "COMPASS": "north",
    "BYPASS": "1",
    "DATABASE_URL": "postgres://127.0.0.1:5432/orders",
    "BUILD": "2024.01.31-4f9c2e1",
}


def test_healthy_headers_paths_and_variables_are_not_secrets() -> None:
    assert len(HEALTHY_HEADERS) + len(HEALTHY_TARGETS) + len(HEALTHY_VARIABLES) >= 30
    for name, value in HEALTHY_HEADERS.items():
        assert not list(finding.find_in_header(name, value)), name
    for target in HEALTHY_TARGETS:
        assert finding.hide_target(target) == target
    for name, value in HEALTHY_VARIABLES.items():
        assert not list(finding.find_in_variable(name, value)), name


@pytest.mark.parametrize(
    "word",
    [
        *("-H", "Accept: text/html", "-c", "20", "-d", "30s", "--rate=500", "-A", "Mozilla/5.0"),
        *("-u", "127.0.0.1:8080", "--key", "cert.pem", "{port}", "{host}:{port}"),
        'exec "$@" >&2',
        '{"id": 7, "state": "open", "code": "A-17", "name": "Zoë"}',
        "name=Ada&city=Bern&page=3",
    ],
)
def test_a_healthy_word_of_a_command_is_not_changed(word: str) -> None:
    assert finding.replace_in_words(["tool", word])[1] == word


@pytest.mark.parametrize(
    "name",
    [
        *("Authorization", "proxy-authorization", "Cookie", "set-cookie", "X-Api-Key"),
        *("x-auth-token", "clientSecret", "aws_secret_access_key", "user[password]"),
        *("X-Amz-Signature", "sig"),
        *("id_token", "refreshToken", "JSESSIONID", "csrf-token", "card_number", "cvv", "pass"),
    ],
)  # fmt: skip
def test_a_name_of_a_credential_is_known(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("GITHUB_TOKEN", "DBPASS", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY", "STRIPE_KEY"),
        *("API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "JWT_SIGNING", "OPENAI_API_KEY"),
    ],
)
def test_a_variable_with_a_credential_is_known(name: str) -> None:
    assert is_secret_variable(name)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (JWT, "JWT"),
        ("AKIAIOSFODNN7EXAMPLE", "AWS key"),
        ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "GitHub token"),
        ("xoxb-17653672481-19874698323-pdFZKVeTuE8sk7oOHcbrzqgy", "Slack token"),
        ("Bearer mF_9.B5f-4.1JqM", "authorization"),
        ("4111 1111 1111 1111", "card number"),
        ("378282246310005", "card number"),
        ("postgres://orders:hunter22@127.0.0.1/db", "user in the URL"),
        ("https://ghs_token@127.0.0.1/", "user in the URL"),
        ("/reset/Zk3v9QpL7xTn2WbY/confirm", "token in the path"),
        (f"/files/{JWT}/raw", "JWT"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "private key"),
    ],
)
def test_a_form_of_a_credential_is_known(value: str, name: str) -> None:
    assert [span.name for span in find_by_shape(value)] == [name]


def test_card_numbers_need_an_issuer_and_the_check_digit() -> None:
    for number in ("4242424242424242", "5555555555554444", "6011111111111117", "30569309025904"):
        assert is_card_number(number)
        assert not is_card_number(number[:-1] + str((int(number[-1]) + 1) % 10))
    assert not is_card_number("1234567812345670")  # of no issuer
    assert not has_secret_shape("0.4242424242424242")
    assert not has_secret_shape("42424242-4242-4242-4242-424242424242")


def test_code_and_state_are_secrets_of_oauth_only() -> None:
    assert secret_parameters([("code", "SplxlOBeZQQYbYS6WxSbIA"), ("state", "xyz")]) == {
        "code",
        "state",
    }
    assert secret_parameters([("code", "a1"), ("redirect_uri", "http://x/")]) == {"code"}
    assert secret_parameters([("code", "A17"), ("state", "open")]) == set()
    assert secret_parameters([("state", "af0ifjsldkj-9Qw3rTz")]) == {"state"}


def test_a_url_is_printed_without_its_secrets() -> None:
    url = "https://me:hunter22@127.0.0.1/cb?code=SplxlOBeZQ1&state=q1w2e3&page=2#access_token=abc"
    assert finding.hide_target(url) == (
        "https://‹secret user in the URL›@127.0.0.1/cb?code=‹secret code›&state=‹secret state›"
        "&page=2#access_token=‹secret access_token›"
    )


def test_a_command_line_is_printed_without_its_secrets() -> None:
    words = [
        *("hey", "-H", "Authorization: Bearer abc.def", "-a", "me:hunter22"),
        *("--token", "t0pS3cret", "--api-key=t0pS3cret", "--cookie", "sid=1; b=2"),
        *("-d", '{"password": "hunter22"}'),
        *("env", "DB_PASSWORD=hunter22", "http://127.0.0.1:8080/?access_token=t0pS3cret&a=1"),
    ]  # fmt: skip
    shown = " ".join(finding.replace_in_words(words))
    for secret in ("abc.def", "hunter22", "t0pS3cret", "sid=1"):
        assert secret not in shown
    for kept in ("hey -H Authorization: Bearer ", "127.0.0.1:8080/?access_token=", "&a=1", "-d"):
        assert kept in shown


def test_fields_of_json_are_replaced_by_their_names_and_forms() -> None:
    content = '{"user": "me", "password": "a\\"b", "card": 4242424242424242, "n": 1}'
    shown = finding.replace_spans(content, finding.find_in_content(content))
    assert shown == (
        '{"user": "me", "password": "‹secret password›", "card": ‹secret card number›, "n": 1}'
    )


def test_known_values_are_hidden_in_every_spelling(tmp_path: Path) -> None:
    known = KnownSecrets({'p"w&d/1 2': "‹secret pw›", "me:hunter22": "‹secret user›"})
    written = tmp_path / "service.log"
    basic = base64.b64encode(b"me:hunter22").decode()
    written.write_bytes(
        b'\xff plain p"w&d/1 2\n{"x": "p\\"w&d/1 2"}\np%22w%26d%2F1%202 ' + basic.encode()
    )
    capture = tmp_path / "capture.pcapng"
    capture.write_bytes(b"me:hunter22")
    document = tmp_path / "dissection.json"
    document.write_text('{"path": "/?u=me%3Ahunter22", "n": 20000011}')
    known.add("20000011", "‹secret pin›")
    known.hide_in_folder(tmp_path)
    assert document.read_text() == '{"path": "/?u=‹secret user›", "n": 20000011}'
    assert written.read_bytes() == (
        b'\xff plain ' + "‹secret pw›\n{\"x\": \"‹secret pw›\"}\n‹secret pw› ‹secret user›".encode()
    )  # fmt: skip
    assert capture.read_bytes() == b"me:hunter22"  # packets are not text
    assert known.hide_json({"a": ["me:hunter22", 1]}) == {"a": ["‹secret user›", 1]}


def test_short_values_are_not_replaced_in_other_texts() -> None:
    assert KnownSecrets({"a": "‹secret pw›"}).hide("a cat") == "a cat"


@pytest.mark.parametrize("word", ["closed", "service", "measured", "errors"])
def test_a_secret_that_is_a_word_stays_in_names_and_kinds(word: str) -> None:
    """A trial has fields and kinds of these names."""
    document = {"kind": word, word: {"reason": f"the reply was {word}"}}
    hidden = KnownSecrets({word: "‹secret pw›"}).hide_json(document)
    assert hidden == {"kind": word, word: {"reason": "the reply was ‹secret pw›"}}


def test_values_below_a_secret_name_are_replaced() -> None:
    given = {"secret": {"value": "a", "in": [{"x": "b"}]}, "session": {"room": "c"}}
    found = finding.replace_in_json(given, lambda name, _: f"<{name}>")
    assert found == {
        "secret": {"value": "<secret>", "in": [{"x": "<secret>"}]},
        "session": {"room": "c"},
    }


def test_assignments_in_headers_and_variables_are_searched() -> None:
    text = "Server=x;Password=CONN-1;User Id=sa"
    for find in (finding.find_in_variable, finding.find_in_header):
        hidden = finding.replace_spans(text, find("T_CONN", text))
        assert hidden == "Server=x;Password=‹secret Password›;User Id=sa"


def test_a_user_attached_to_its_option_is_replaced() -> None:
    assert finding.replace_in_words(["curl", "-uadmin:UARG-1"]) == ["curl", "-u‹secret user›"]
    assert finding.replace_in_words(["curl", "-ulocalhost:8080"]) == ["curl", "-ulocalhost:8080"]


def test_a_header_that_a_server_decodes_as_latin_1_is_hidden() -> None:
    known = KnownSecrets({"Bearer BEAR-1/äöü": "‹secret authorization›"})
    printed = "got " + "Bearer BEAR-1/äöü".encode().decode("latin-1")
    assert known.hide(printed) == "got ‹secret authorization›"


def test_many_secrets_take_no_quadratic_time() -> None:
    known = KnownSecrets()
    began = time.process_time()
    for number in range(20_000):
        known.add(f"secret-{number:06d}")
    assert known.hide("secret-000007 secret-019999") == "‹secret value› ‹secret value›"
    assert time.process_time() - began < 10.0


def test_an_escaped_name_of_a_field_is_read() -> None:
    text = '{"pass\\u0077ord": "CANARY", "n\\u0061me": "ann"}'
    hidden = finding.replace_spans(text, finding.find_in_content(text))
    assert hidden == '{"pass\\u0077ord": "‹secret password›", "n\\u0061me": "ann"}'
