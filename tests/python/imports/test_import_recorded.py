"""``wirelab import har``, ``postman`` and ``curl``: what was recorded, without its secrets."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.python.importing import FILES, Done, Importer
from tests.python.importing import importer as importer
from wirelab.experiment.external import ExternalMessage, ExternalService
from wirelab.secrets.finding import is_secret
from wirelab.secrets.names import is_secret_name

CHROMIUM = FILES / "chromium.har"
COLLECTION = FILES / "collection.postman_collection.json"


def _har(tmp_path: Path, *requests: dict[str, Any]) -> Path:
    path = tmp_path / "a.har"
    entries = [{"request": {"method": "GET", "headers": [], **one}} for one in requests]
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}, indent=1))
    return path


def test_a_recording_of_chromium_has_each_request_once(importer: Importer) -> None:
    done = importer("har", CHROMIUM)
    assert list(done.messages) == ["get-root", "get-api-items", "post-api-items", "post-login"]
    assert done.content["services"][0]["url"] == "http://127.0.0.1:18080"
    assert done.messages["get-api-items"]["path"] == "/api/items?limit=2"
    assert "# recorded 2 times" in done.text
    added = done.messages["post-api-items"]
    assert added["json"] == {"name": 'a "quoted" ü', "password": "left-out", "n": [1, 2]}
    assert set(added["headers"]) == {"accept", "accept-language", "origin", "referer"}
    assert done.messages["post-login"]["body"] == "user=me&password=left-out"


def test_no_secret_of_a_recording_is_written(importer: Importer) -> None:
    done = importer("har", CHROMIUM)
    for secret in ("sekret123", "abcdef.ghijkl", "hunter2", "abc123"):
        assert secret in CHROMIUM.read_text()
        assert secret not in done.text + done.out
    for named in ("query api_key", "header cookie", "header authorization", "json.password"):
        assert named in done.out
        assert named in done.text


def test_binary_content_of_a_recording_is_named_with_its_line(importer: Importer) -> None:
    done = importer("har", CHROMIUM)
    assert done.code == 0
    lines = CHROMIUM.read_text().splitlines()
    for path, why in (("/upload", "was not recorded"), ("/form", "its form")):
        # An entry begins with its page, two lines above its request.
        url = next(n for n, line in enumerate(lines, 1) if f'{path}",' in line)
        begin = max(n for n, line in enumerate(lines[:url], 1) if line == "   {")
        (reported,) = [line for line in done.out.splitlines() if f"18080{path}:" in line]
        assert f"chromium.har:{begin}: entry" in reported
        assert why in reported
        assert "send it with body_file" in reported


@pytest.mark.parametrize(
    "data",
    [
        {"mimeType": "image/png", "text": "\ufffdPNG"},
        {"mimeType": "multipart/form-data; boundary=x", "params": [{"name": "a", "fileName": "b"}]},
    ],
)  # fmt: skip
def test_a_recording_of_binary_content_alone_is_refused(
    importer: Importer, tmp_path: Path, data: dict[str, Any]
) -> None:
    request = {"method": "POST", "url": "http://127.0.0.1/up", "postData": data, "bodySize": 4}
    importer("har", _har(tmp_path, request)).check_refusal(
        "there is no operation that can be imported", "a.har:5: entry 1 POST", "body_file"
    )


def test_text_in_base64_is_read(importer: Importer, tmp_path: Path) -> None:
    data = {
        "mimeType": "application/json",
        "text": base64.b64encode(b'{"a": 1}').decode(),
        "encoding": "base64",
    }
    request = {"method": "POST", "url": "http://127.0.0.1/up", "postData": data}
    assert importer("har", _har(tmp_path, request)).messages["post-up"]["json"] == {"a": 1}


def test_requests_to_several_servers_are_of_the_most_called(
    importer: Importer, tmp_path: Path
) -> None:
    urls = ("http://127.0.0.1:1/a", "http://127.0.0.1:1/b", "http://192.0.2.1/c", "ws://127.0.0.1/")
    path = _har(tmp_path, *({"url": url} for url in urls))
    done = importer("har", path)
    assert list(done.messages) == ["get-a", "get-b"]
    assert "1 of http://192.0.2.1: `--only 'http://192.0.2.1*'` takes them instead" in done.out
    assert "ws: only http and https are measured" in done.out
    done = importer("har", path, "--only", "http://192.0.2.1*", "--force")
    assert list(done.messages) == ["get-c"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"log":\n', "a.har:2: not JSON"),
        ("[]", "there is no log.entries"),
        ('{"log": {"entries": 1}}', "there is no log.entries"),
        ('{"log": {"entries": [1, {}, {"request": {"url": 1}}]}}', "it has no request"),
        ('{"log": NaN}', "NaN is not a JSON value"),
    ],
)
def test_an_invalid_recording_is_refused(
    importer: Importer, tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "a.har"
    path.write_text(text)
    importer("har", path).check_refusal(said)


def test_a_collection_of_postman_is_read_with_its_variables(importer: Importer) -> None:
    done = importer("postman", COLLECTION)
    assert list(done.messages) == [
        *("books-list-books", "books-get-a-book", "books-add-a-book", "search", "log-in")
    ]
    assert done.content["services"][0]["url"] == "http://127.0.0.1:8090"
    listed = done.messages["books-list-books"]
    assert listed["path"] == "/v1/books?limit=10"  # offset is disabled
    assert set(listed["headers"]) == {"x-trace"}
    assert done.messages["books-get-a-book"]["path"] == "/v1/books/4%202"
    assert done.messages["books-add-a-book"]["json"] == {"title": "title", "pages": 300}
    assert done.messages["search"]["json"]["variables"] == {"q": "x"}


def test_secrets_of_a_collection_are_named(importer: Importer) -> None:
    done = importer("postman", COLLECTION)
    assert "books-list-books: header x-api-key" in done.out
    assert "books-list-books: auth of kind bearer" in done.out
    assert "books-get-a-book: auth" not in done.out  # noauth
    assert "very-secret-value" not in done.text + done.out
    assert "hunter2" not in done.text + done.out
    assert "scripts of the collection: they are not run" in done.out
    assert "Books / Upload a cover: its content is a file: cover.png: No such file" in done.out


@pytest.mark.parametrize("item", [None, 1, [1], [{"request": 5}], [{"request": {"url": {}}}]])
def test_a_collection_without_requests_is_refused(
    importer: Importer, tmp_path: Path, item: object
) -> None:
    schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
    path = tmp_path / "c.json"
    path.write_text(json.dumps({"info": {"name": "c", "schema": schema}, "item": item}))
    importer("postman", path).check_refusal("there is no operation that can be imported")


def test_variables_that_contain_each_other_are_resolved_to_a_limit(
    importer: Importer, tmp_path: Path
) -> None:
    content = json.loads(COLLECTION.read_text())
    content["variable"] = [{"key": "baseUrl", "value": "http://127.0.0.1/{{a}}"},
                           {"key": "a", "value": "{{a}}"}]  # fmt: skip
    path = tmp_path / "c.json"
    path.write_text(json.dumps(content))
    assert importer("postman", path).messages["search"]["path"] == "/a/graphql"


def test_another_format_of_postman_is_refused(importer: Importer, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text('{"id": "1", "requests": []}')
    importer("postman", path).check_refusal("no collection of Postman 2.0 or 2.1", "exported as")


ANY = {"accept": "*/*"}


def _curl(importer: Importer, command: str) -> dict[str, Any]:
    done = importer("curl", command, "--force")
    assert done.code == 0, done.err
    (message,) = done.messages.values()
    return message


def test_a_command_as_chromium_copies_it(importer: Importer) -> None:
    message = _curl(
        importer,
        "curl 'http://127.0.0.1:18080/api/items?a=1' \\\n"
        "  -H 'accept: */*' \\\n  -H 'content-type: application/json' \\\n"
        "  -b 'session=abc123' \\\n  -H 'user-agent: Mozilla' \\\n"
        '  --data-raw $\'{"name":"it\\\'s \\u00fc"}\' --compressed --insecure',
    )
    assert message["method"] == "POST"
    assert message["path"] == "/api/items?a=1"
    assert message["headers"] == {"accept": "*/*", "user-agent": "Mozilla"}
    assert message["json"] == {"name": "it's ü"}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("curl localhost:8080", {"method": "GET", "path": "/", "headers": ANY}),
        ("curl -I http://127.0.0.1/a", {"method": "HEAD", "path": "/a", "headers": ANY}),
        (
            "curl -d a=1 --data-urlencode 'b=x y' http://127.0.0.1",
            {
                "method": "POST",
                "path": "/",
                "headers": ANY | {"content-type": "application/x-www-form-urlencoded"},
                "body": "a=1&b=x+y",
            },
        ),
        (
            "curl --json '[1]' --url http://127.0.0.1/",
            {"method": "POST", "path": "/", "headers": {"accept": "application/json"}, "json": [1]},
        ),
    ],
)
def test_options_of_curl_are_understood(
    importer: Importer, command: str, expected: dict[str, Any]
) -> None:
    message = _curl(importer, command)
    del message["name"]
    assert message == expected


def test_content_of_a_file_stays_in_its_file(importer: Importer) -> None:
    (importer.folder / "sub").mkdir()
    (importer.folder / "body.bin").write_bytes(b"\x00\xff")
    done = importer("curl", "curl --data-binary @body.bin http://127.0.0.1/", "--out", "sub/a.yaml")
    assert done.code == 0
    assert "body_file: ../body.bin" in (importer.folder / "sub" / "a.yaml").read_text()


def test_secrets_of_a_command_are_left_out(importer: Importer) -> None:
    done: Done = importer(
        "curl",
        "curl -u me:hunter2 -b sid=abc123 'http://you:hunter2@127.0.0.1/?token=abc123' "
        "-H 'X-Auth-Token: abc123' -d 'password=hunter2&a=b'",
    )
    assert "hunter2" not in done.text + done.out
    assert "abc123" not in done.text + done.out
    for name in ("header authorization", "header cookie", "user in the URL", "query token",
                 "header x-auth-token", "form field password"):  # fmt: skip
        assert name in done.out


@pytest.mark.parametrize(
    ("command", "parts"),
    [
        ("curl -F a=@nosuch http://127.0.0.1/", ("nosuch: No such file",)),
        ("curl -F a=@b,c http://127.0.0.1/", ("several files in one field",)),
        ("curl --nosuch http://127.0.0.1/", ("curl --nosuch: this option is not known",)),
        ("curl -C - http://127.0.0.1/", ("curl -C: where it continues",)),
        ("curl --pro a http://127.0.0.1/", ("curl --pro: it may be --pro",)),
        ("curl http://127.0.0.1/ -x", ("curl -x: the request would go through a proxy",)),
        ("curl http://127.0.0.1/ -m", ("curl -m: its value is missing",)),
        ("curl 'http://127.0.0.1/", ("not a command of a shell", "no end")),
        ("curl http://127.0.0.1/$(date)", ("something else in the place of $(date)",)),
        ("curl http://127.0.0.1/`date`", ("something else in the place of `date`",)),
        ("curl http://127.0.0.1/$name", ("the value of $name",)),
        ("wget http://127.0.0.1/", ("does not begin with curl",)),
        ("curl", ("has no URL",)),
        ("curl http://127.0.0.1/[1-1000]", ("of too many URLs",)),
        ("curl 'http://127.0.0.1/[1-'", ("a pattern of curl without an end",)),
        ("curl 'http://127.0.0.1/a b'", ("has a space",)),
        ("curl -d @- http://127.0.0.1/", ("reads content from standard input",)),
        ("curl -d a -F b=c http://127.0.0.1/", ("one kind of content",)),
        ("curl ftp://127.0.0.1/", ("only http and https",)),
        ("curl http://127.0.0.1:x/", ("is not a URL",)),
        ("curl -d @nosuch http://127.0.0.1/", ("No such file",)),
    ],
)
def test_commands_that_no_message_can_be_are_refused(
    importer: Importer, command: str, parts: tuple[str]
) -> None:
    importer("curl", command).check_refusal(*parts)


def test_secrets_are_known_by_name_and_by_form() -> None:
    for name in ("Authorization", "X-API-Key", "apiKey", "access_token", "sessionId", "JSESSIONID",
                 "csrf-token", "client_secret", "user[password]"):  # fmt: skip
        assert is_secret_name(name), name
    for name in ("author", "max_tokens", "key", "monkey", "passenger", "x-request-id"):
        assert not is_secret_name(name), name
    assert is_secret("x", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl")
    assert is_secret("x", "Bearer abcdefgh12345")
    assert not is_secret("x", "a value of no interest")


def test_a_recorded_login_is_written_without_code_state_token_and_card(
    importer: Importer, tmp_path: Path
) -> None:
    jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
    form = "grant_type=authorization_code&code=Zq81LmN0pQ&redirect_uri=%2Fcb&page=2"
    card = json.dumps({"pan": "5555 5555 5555 4444", "amount": 5, "state": "CA"})
    done = importer(
        "har",
        _har(
            tmp_path,
            {"url": "http://127.0.0.1:1/cb?code=SplxlOBeZQQYbYS6&state=q1w2e3r4&page=2"},
            {"url": f"http://127.0.0.1:1/files/{jwt}/raw?state=open&code=404"},
            {"url": "http://127.0.0.1:1/reset/Zk3v9QpL7xTn2WbY/confirm"},
            {
                "url": "http://127.0.0.1:1/token",
                "method": "POST",
                "headers": [{"name": "content-type", "value": "application/x-www-form-urlencoded"}],
                "postData": {"mimeType": "application/x-www-form-urlencoded", "text": form},
            },
            {
                "url": "http://127.0.0.1:1/pay",
                "method": "POST",
                "headers": [{"name": "content-type", "value": "application/json"}],
                "postData": {"mimeType": "application/json", "text": card},
            },
        ),
    )
    for secret in ("SplxlOBeZQQYbYS6", "q1w2e3r4", jwt, "Zk3v9QpL7xTn2WbY", "Zq81LmN0pQ", "5555"):
        assert secret not in done.text + done.out + done.err
    paths = {message.get("path") for message in done.messages.values()}
    assert {"/cb?page=2", "/files/left-out/raw?state=open&code=404"} <= paths
    assert "/reset/left-out/confirm" in paths
    contents = [message.get("json") for message in done.messages.values()]
    assert {"pan": "left-out", "amount": 5, "state": "CA"} in contents


def test_parts_of_a_shell_are_ignored_with_a_note(importer: Importer) -> None:
    done = importer("curl", "curl http://127.0.0.1/a?b=1&c=2 -d x | jq .")
    assert "# ignored, because it belongs to the shell: &c=2 -d x | jq ." in done.text
    assert done.messages["get-a"]["path"] == "/a?b=1"


def test_a_command_for_windows_is_read_as_browsers_copy_it(importer: Importer) -> None:
    message = _curl(
        importer,
        'curl ^"http://127.0.0.1/p?a=1^&b=^%^41^" ^\n  -X ^"PUT^" ^\n  -H ^"accept: */*^" ^\n'
        '  --data-raw ^"^{^\\^"a^\\^":^\\^"x\\\\y^|z^\n\n^\\^"^}^"',
    )
    assert message["method"] == "PUT"
    assert message["path"] == "/p?a=1&b=%41"
    assert message["body"] == '{"a":"x\\\\y|z\n"}'


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_content_of_a_get_is_pruned_unless_the_collection_keeps_it(
    importer: Importer, tmp_path: Path, method: str
) -> None:
    body = {"mode": "raw", "raw": "{}", "options": {"raw": {"language": "json"}}}
    request = {"url": "http://127.0.0.1:1/a", "method": method, "body": body}
    keeps = {"protocolProfileBehavior": {"disableBodyPruning": True}}
    path = _collection(
        tmp_path,
        {"name": "pruned", "request": request},
        {"name": "kept", "request": request, **keeps},
        {"name": "folder", **keeps, "item": [{"name": "kept", "request": request}]},
    )
    messages = importer("postman", path).messages
    assert "json" not in messages["pruned"]
    assert messages["kept"]["json"] == {}
    assert messages["folder-kept"]["json"] == {}


def _collection(tmp_path: Path, *items: dict[str, Any]) -> Path:
    schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
    path = tmp_path / "c.json"
    path.write_text(json.dumps({"info": {"name": "c", "schema": schema}, "item": items}))
    return path


@pytest.mark.parametrize("fields", [[], None, [{"key": "a", "value": "b", "disabled": True}]])
def test_an_empty_form_of_a_collection_is_not_sent(
    importer: Importer, tmp_path: Path, fields: object
) -> None:
    body = {"mode": "formdata", "formdata": fields}
    request = {"url": "http://127.0.0.1:1/a", "method": "POST", "body": body}
    path = _collection(tmp_path, {"name": "add", "request": request})
    assert importer("postman", path).messages == {
        "add": {"name": "add", "method": "POST", "path": "/a"}
    }


def test_a_form_of_a_collection_has_its_files(importer: Importer, tmp_path: Path) -> None:
    (tmp_path / "cover.png").write_bytes(b"\x89PNG")
    form = [
        {"key": "title", "value": "Emma", "type": "text"},
        {"key": "password", "value": "hunter2", "type": "text"},
        {"key": "cover", "type": "file", "src": "cover.png"},
    ]
    body = {"mode": "formdata", "formdata": form}
    request = {"url": "http://127.0.0.1:1/a", "method": "POST", "body": body}
    path = _collection(tmp_path, {"name": "add", "request": request})
    contents = []
    for _ in range(2):
        done = importer("postman", path, "--force")
        (content,) = [(done.folder / name).read_bytes() for name in done.files if "bin" in name]
        contents.append(content)
    assert contents[0] == contents[1]
    kind = done.messages["add"]["headers"]["content-type"]
    boundary = kind.removeprefix("multipart/form-data; boundary=")
    assert (
        content
        == (
            f'--{boundary}\r\nContent-Disposition: form-data; name="title"\r\n\r\nEmma\r\n'
            f'--{boundary}\r\nContent-Disposition: form-data; name="password"\r\n\r\nleft-out\r\n'
            f'--{boundary}\r\nContent-Disposition: form-data; name="cover"; '
            'filename="cover.png"\r\nContent-Type: image/png\r\n\r\n'
        ).encode()
        + b"\x89PNG"
        + f"\r\n--{boundary}--\r\n".encode()
    )


@pytest.mark.parametrize(
    "data",
    [
        {"params": [{"name": "a", "value": "1"}, {"name": "f", "value": "x", "fileName": "b.txt"}]},
        {
            "text": '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
            '--x\r\nContent-Disposition: form-data; name="f"; filename="b.txt"\r\n'
            "Content-Type: text/plain\r\n\r\nx\r\n--x--\r\n"
        },
    ],
)
def test_a_recorded_form_is_sent_again(
    importer: Importer, tmp_path: Path, data: dict[str, Any]
) -> None:
    data |= {"mimeType": "multipart/form-data; boundary=x"}
    request = {"method": "POST", "url": "http://127.0.0.1/up", "postData": data}
    message = importer("har", _har(tmp_path, request)).messages["post-up"]
    boundary = message["headers"]["content-type"].partition("boundary=")[2]
    assert message["body"] == (
        f'--{boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
        f'--{boundary}\r\nContent-Disposition: form-data; name="f"; filename="b.txt"\r\n'
        f"Content-Type: text/plain\r\n\r\nx\r\n--{boundary}--\r\n"
    )


def test_binary_content_in_base64_is_written_next_to_the_experiment(
    importer: Importer, tmp_path: Path
) -> None:
    text = base64.b64encode(b"\x89PNG").decode()
    data = {"mimeType": "image/png", "text": text, "encoding": "base64"}
    request = {"method": "POST", "url": "http://127.0.0.1/up", "postData": data}
    done = importer("har", _har(tmp_path, request))
    assert done.messages["post-up"]["body_file"] == "a.post-up.bin"
    assert (done.folder / "a.post-up.bin").read_bytes() == b"\x89PNG"


def test_repeated_headers_are_kept_in_order(importer: Importer, tmp_path: Path) -> None:
    headers = [{"name": "X-Tag", "value": "b"}, {"name": "A", "value": "1"},
               {"name": "x-tag", "value": "a"}]  # fmt: skip
    request = {"url": "http://127.0.0.1:1/a", "headers": headers}
    done = importer("har", _har(tmp_path, request))
    assert done.messages["get-a"]["headers"] == {"x-tag": ["b", "a"], "a": "1"}
    (service,), (message,) = done.experiment.services, done.experiment.messages
    assert isinstance(service, ExternalService)
    assert isinstance(message, ExternalMessage)
    assert service.workload(message)["headers"] == [["x-tag", "b"], ["x-tag", "a"], ["a", "1"]]


@pytest.mark.parametrize("option", ["-d @", "--data-binary @", "-T ", "-F a=@", "-H @"])
def test_a_command_reads_files_of_its_folder_only(
    importer: Importer, tmp_path: Path, option: str
) -> None:
    (tmp_path / "other").write_text("a: 1")
    (importer.folder / "link").symlink_to(tmp_path / "other")
    for name in (tmp_path / "other", "../other", "link"):
        done = importer("curl", f"curl {option}{name} http://127.0.0.1/")
        assert done.code == 2
        assert "leads outside" in done.err
        assert "--any-file" in done.err
    command = f"curl {option}../other http://127.0.0.1/"
    assert importer("curl", command, "--any-file").code == 0
