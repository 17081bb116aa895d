"""Where a command's requests go: by its words, or by the lab's placeholders."""

from __future__ import annotations

import shlex

import pytest

from wirelab.errors import UsageError
from wirelab.wrap import target
from wirelab.wrap.target import ServiceAddress


@pytest.mark.parametrize(
    ("command", "port"),
    [
        ("ab -n 1 http://127.0.0.1:8080/x", 8080),
        ("curl http://localhost/", 80),
        ("curl https://user:secret@localhost/", 443),
        ("ghz --insecure localhost:50051", 50051),
        ("curl -g http://[::1]:81/", 81),
        ("k6 run -e URL=http://127.0.0.1:9/ s.js", 9),
        ("client --target=127.0.0.1:7001 --again=localhost:7001", 7001),
        ("grpcurl -plaintext [::1]:7002 list", 7002),
        ("curl -H 'X-Time: 12:34' http://127.0.0.1:9401/", 9401),
        ("curl --header 'X-Peer: other:12345' http://127.0.0.1:9401/", 9401),
        ("curl '--header=Referer: http://other:81/' http://127.0.0.1:9401/", 9401),
        ('curl -d \'{"at": "b:8081"}\' http://127.0.0.1:9401/', 9401),
        ("curl --max-time 12:34 http://127.0.0.1:9401/", 9401),
        ("sh -c 'wrk -H \"X: a:77\" http://127.0.0.1:9401/ | tee /tmp/log'", 9401),
        ("ghz --insecure dns:///localhost:50052", 50052),
    ],
)
def test_the_port_is_found_in_the_words(command: str, port: int) -> None:
    assert target.port(shlex.split(command)) == port


@pytest.mark.parametrize(
    "command",
    [
        "curl --unix-socket /run/a.sock http://localhost/",
        "ghz --insecure unix:///run/a.sock",
        "autocannon --socketPath=/run/a.sock http://localhost/",
    ],
)
def test_a_unix_socket_is_refused_by_name(command: str) -> None:
    with pytest.raises(UsageError, match="packets of a Unix socket cannot be captured") as refused:
        target.port(command.split())
    assert "TCP port" in refused.value.remedy


def test_hosts_are_found_with_the_interface_that_leads_to_them() -> None:
    command = ["curl", "-H", "Referer: http://other:81/", "http://127.0.0.1:9/", "[::1]:7002"]
    assert target.hosts(command) == ["127.0.0.1", "::1"]
    assert target.interface_to("127.0.0.1") == "lo"
    assert target.interface_to("no such host") is None


@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("true", "contains no URL"),
        ("ab -n 10:x file", "contains no URL"),
        ("k6 run script.js", "contains no URL"),
        ("curl http://a:1000/ http://a:1001/", "1000, 1001"),
        ("nc a:99999", "contains no URL"),
    ],
)
def test_no_port_or_several_are_refused_with_the_remedy(command: str, named: str) -> None:
    with pytest.raises(UsageError) as refused:
        target.port(command.split())
    assert named in refused.value.message
    assert "--port" in refused.value.remedy


def test_placeholders_become_what_the_service_said() -> None:
    service = ServiceAddress("127.0.0.1:4000", "/transfer/hello")
    words = ["{url}", "a={address}", "{host}/{port}", '{"json": {}}']
    assert target.fill_placeholders(words, service) == [
        "http://127.0.0.1:4000/transfer/hello",
        "a=127.0.0.1:4000",
        "127.0.0.1/4000",
        '{"json": {}}',
    ]


def test_a_service_without_url_has_none_to_give() -> None:
    with pytest.raises(UsageError, match="service has none"):
        target.fill_placeholders(["{url}"], ServiceAddress("127.0.0.1:4000", None))


def test_a_command_that_would_miss_the_service_is_refused() -> None:
    with pytest.raises(UsageError, match="does not use its address"):
        target.require_placeholder(["ab", "http://127.0.0.1:80/"])
    with pytest.raises(UsageError, match="no service is started"):
        target.refuse_placeholders(["ab", "{url}"])
