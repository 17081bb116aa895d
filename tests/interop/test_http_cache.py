"""curl keeps entity tags of our REST services, and asks them whether its reply is still right."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.interop import curl
from tests.interop.hosting import Host, Hosted

LANGUAGES = ("rust", "go", "java")
TAG = f'W/"{hashlib.sha256(b"Hello, wirelab").hexdigest()[:32]}"'
"""By contracts/README.md, Caches."""
HELLO = "/transfer/hello"


def _heads(hosted: Hosted, folder: Path, *options: str) -> dict[str, str]:
    """The fields of Hello's reply."""
    file = folder / "head"
    curl.run(hosted, HELLO, "-D", str(file), *options)
    lines = [line.partition(":") for line in file.read_text().splitlines()[1:] if line]
    return {name.lower(): value.strip() for name, _, value in lines}


@pytest.mark.parametrize("transport", ["http/1.1", "http/2"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_curl_asks_whether_its_reply_is_still_right(
    host: Host, tmp_path: Path, language: str, transport: str
) -> None:
    curl.require()
    stored = tmp_path / "tag"
    with host.start(f"rest@{language}?http_cache=revalidate&transport={transport}") as hosted:
        first = curl.run(hosted, HELLO, "--etag-save", str(stored))
        assert (first.status, first.body) == (200, b'{"text":"Hello, wirelab"}')
        assert stored.read_text().strip() == TAG
        second = curl.run(hosted, HELLO, "--etag-compare", str(stored))
        assert (second.status, second.body) == (304, b"")
        fields = _heads(hosted, tmp_path, "--etag-compare", str(stored))
        assert fields["cache-control"] == "no-cache"
        assert fields["etag"] == TAG
        # RFC 9110 section 8.6: the length would be that of the reply that is not sent.
        assert "content-length" not in fields
        for tag, status in (
            ('"another"', 200),
            (f'"another", {TAG}', 304),
            (TAG.removeprefix("W/"), 304),
            ("*", 200 if language == "java" else 304),
            ("garbage,,\t,", 200),
        ):
            answer = curl.run(hosted, HELLO, "-H", f"If-None-Match: {tag}")
            assert answer.status == status, tag
        data = b'{"batch":"a","records":[]}'
        kind = ("-H", "Content-Type: application/json", "-H", "If-None-Match: *")
        assert curl.run(hosted, "/transfer/submit", *kind, data=data).status == 200


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_service_without_caches_says_nothing_of_them(
    host: Host, tmp_path: Path, language: str
) -> None:
    curl.require()
    with host.start(f"rest@{language}") as hosted:
        fields = _heads(hosted, tmp_path, "-H", "If-None-Match: *")
        assert not {"etag", "cache-control"} & fields.keys()
        assert int(fields["content-length"]) > 0
