"""What services say they can be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.python.prose import ROOT
from wirelab.errors import LabError, StackError
from wirelab.stack import manifests
from wirelab.stack.reference import Stack


def test_the_committed_manifests_serve_what_the_lab_knows() -> None:
    catalogue = manifests.load()
    assert {"go", "rust"} <= set(catalogue.by_language)
    for reference in ("rest@go?codec=text", "grpc@go", "rest@rust", "grpc@rust?compression=gzip"):
        assert catalogue.manifest(Stack.parse(reference)).language in reference


def test_an_unknown_language_is_refused_with_a_guess() -> None:
    with pytest.raises(StackError, match="Did you mean 'rust'"):
        manifests.load().manifest(Stack.parse("rest@rsut"))


def test_a_gap_of_a_service_is_refused_with_its_reason() -> None:
    with pytest.raises(StackError, match=r"java supports .*, not connect: .* is a client only"):
        manifests.load().manifest(Stack.parse("connect@java"))
    with pytest.raises(StackError, match=r"supports codec protobuf, not json: .* prost"):
        manifests.load().manifest(Stack.parse("connect@rust?codec=json"))


def test_a_switch_that_the_service_lacks_is_refused(tmp_path: Path) -> None:
    _write(tmp_path, {})
    with pytest.raises(StackError, match=r"no switch for server\.nagle(.|\n)*is rest@tiny"):
        manifests.load(tmp_path).manifest(Stack.parse("rest@tiny?server.nagle=on"))
    with pytest.raises(StackError, match=r"supports codec json, not text"):
        manifests.load(tmp_path).manifest(Stack.parse("rest@tiny?codec=text"))
    with pytest.raises(StackError, match="tiny supports rest, not grpc"):
        manifests.load(tmp_path).manifest(Stack.parse("grpc@tiny"))


def test_a_broken_manifest_is_named(tmp_path: Path) -> None:
    _write(tmp_path, {"sirves": []})
    with pytest.raises(LabError, match=r"service\.json(.|\n)*sirves"):
        manifests.load(tmp_path)


SERVED: dict[str, object] = {
    "binding": "soap",
    "codecs": ["soap-literal"],
    "transports": ["http/1.0", "http/1.1"],
    "soap": ["1.1"],
    "security": ["none", "tls"],
    "sockets": ["tcp", "unix"],
    "end_of_message": ["content-length", "until-close"],
    "contracts": ["transfer", "charging"],
    "server_options": ["close_delay"],
}


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("soap=1.2", r"supports soap 1\.1, not 1\.2(.|\n)*is soap@tiny$"),
        ("security=mtls", "supports security none, tls, not mtls"),
        ("codec=soap-rpc", "supports codec soap-literal, not soap-rpc"),
        ("transport=http/2", r"supports transport http/1\.0, http/1\.1, not http/2"),
        ("end_of_message=chunked", "supports end_of_message content-length, until-close"),
    ],
)
def test_each_axis_that_a_service_lacks_is_named(tmp_path: Path, reference: str, said: str) -> None:
    _write(tmp_path, {"serves": [SERVED]})
    with pytest.raises(StackError, match=said):
        manifests.load(tmp_path).manifest(Stack.parse(f"soap@tiny?{reference}"))


def test_a_manifest_allows_the_axes_that_it_names(tmp_path: Path) -> None:
    _write(tmp_path, {"serves": [SERVED]})
    catalogue = manifests.load(tmp_path)
    for axes in (
        "socket=unix&security=tls",
        "transport=http/1.0&connection=close",
        "connection=close&end_of_message=until-close&close_delay=40",
    ):
        assert catalogue.manifest(Stack.parse(f"soap@tiny?{axes}"), "charging").language == "tiny"


def test_a_manifest_allows_only_the_simplest_value_of_other_axes(tmp_path: Path) -> None:
    _write(tmp_path, {})
    catalogue = manifests.load(tmp_path)
    for axes, said in (
        ("socket=unix", "supports socket tcp, not unix"),
        ("security=tls", "supports security none, not tls"),
        ("end_of_message=chunked", "supports end_of_message content-length, not chunked"),
    ):
        with pytest.raises(StackError, match=said):
            catalogue.manifest(Stack.parse(f"rest@tiny?{axes}"))


def test_axes_of_petclinic_exist_where_its_manifest_names_them(tmp_path: Path) -> None:
    """Another contract has none of them, whatever the manifest names."""
    served = {
        "binding": "rest",
        "codecs": ["json"],
        "transports": ["http/1.1"],
        "contracts": ["records", "petclinic"],
        "stores": ["memory", "h2"],
        "repositories": ["data-jpa", "jdbc"],
        "mappers": ["on", "off"],
    }
    _write(tmp_path, {"serves": [served]})
    catalogue = manifests.load(tmp_path)
    for axes in ("mapper=off", "store=h2&repository=jdbc", "store=h2&repository=jdbc&mapper=off"):
        assert catalogue.manifest(Stack.parse(f"rest@tiny?{axes}"), "petclinic").language == "tiny"
    for axes, contract, said in (
        ("validation=off", "petclinic", "supports validation on, not off"),
        ("store=h2&repository=jpa", "petclinic", "supports repository data-jpa, jdbc, not jpa"),
        ("store=h2&fetch=join", "petclinic", "supports fetch eager, not join"),
        ("mapper=off", "records", "axis mapper applies only to contract petclinic, not to records"),
    ):
        with pytest.raises(StackError, match=said):
            catalogue.manifest(Stack.parse(f"rest@tiny?{axes}"), contract)


@pytest.mark.parametrize("language", ["go", "rust"])
def test_a_parser_is_refused_by_name_where_a_service_has_one_alone(language: str) -> None:
    """Those that Java's libraries take are its own."""
    catalogue = manifests.load()
    assert catalogue.manifest(Stack.parse("soap@java?parser=woodstox")).language == "java"
    encoded = Stack.parse("soap@java?codec=soap-encoded&parser=crimson-sax")
    assert catalogue.manifest(encoded, "charging").language == "java"
    with pytest.raises(StackError, match="supports parser default, not woodstox"):
        catalogue.manifest(Stack.parse(f"soap@{language}?parser=woodstox"))


def test_a_change_that_needs_another_leads_to_a_legal_stack(tmp_path: Path) -> None:
    """HTTP/1.1 in place of HTTP/1.0 leaves nothing that `close_delay` could delay."""
    served = {**SERVED, "transports": ["http/1.1"]}
    _write(tmp_path, {"serves": [served]})
    stack = Stack.parse("soap@tiny?transport=http/1.0&connection=close&close_delay=40")
    with pytest.raises(StackError, match=r"is soap@tiny\?connection=close$"):
        manifests.load(tmp_path).manifest(stack)


def test_a_binding_offered_in_parts_is_refused_by_the_part_that_is_meant(tmp_path: Path) -> None:
    encoded = {**SERVED, "codecs": ["soap-encoded"], "contracts": ["transfer"], "sockets": ["tcp"]}
    _write(tmp_path, {"serves": [SERVED, encoded]})
    catalogue = manifests.load(tmp_path)
    stack = Stack.parse("soap@tiny?codec=soap-encoded")
    assert catalogue.manifest(stack).language == "tiny"
    with pytest.raises(StackError, match="supports contract transfer, not charging"):
        catalogue.manifest(stack, "charging")
    with pytest.raises(StackError, match="supports socket tcp, not unix"):
        catalogue.manifest(stack.with_axes({"socket": "unix"}))


def test_a_contract_that_is_not_served_is_refused(tmp_path: Path) -> None:
    _write(tmp_path, {"serves": [SERVED]})
    with pytest.raises(StackError, match="supports contract transfer, charging, not calendar"):
        manifests.load(tmp_path).manifest(Stack.parse("soap@tiny"), "calendar")


def test_an_entry_has_the_defaults_that_it_does_not_replace(tmp_path: Path) -> None:
    defaults = {"transports": ["http/1.1"], "security": ["none", "tls"], "sockets": ["unix"]}
    serves = [
        {"binding": "rest", "codecs": ["json"], "sockets": ["tcp"]},
        {"binding": "grpc", "codecs": ["protobuf"], "transports": ["http/2"]},
    ]
    _write(tmp_path, {"defaults": defaults, "serves": serves})
    rest, grpc = manifests.load(tmp_path).by_language["tiny"].serves
    assert (rest.transports, rest.security, rest.sockets) == (
        ("http/1.1",),
        ("none", "tls"),
        ("tcp",),
    )
    assert (grpc.transports, grpc.security, grpc.sockets) == (
        ("http/2",),
        ("none", "tls"),
        ("unix",),
    )


def test_a_default_that_no_entry_can_have_is_named(tmp_path: Path) -> None:
    _write(tmp_path, {"defaults": {"sockits": ["tcp"]}})
    with pytest.raises(LabError, match=r"service\.json(.|\n)*sockits"):
        manifests.load(tmp_path)


@pytest.mark.parametrize("language", ["go", "java", "rust"])
def test_no_entry_repeats_a_default_of_its_service(language: str) -> None:
    text = (ROOT / "services" / language / "service.json").read_text(encoding="utf-8")
    document = json.loads(text)
    for entry in document["serves"]:
        repeated = {key for key in entry if entry[key] == document["defaults"].get(key)}
        assert not repeated, entry
    assert text.count('["none", "gzip", "zstd"]') == 1


def _write(folder: Path, extra: dict[str, object]) -> None:
    serves = [{"binding": "rest", "codecs": ["json"], "transports": ["http/1.1"]}]
    content = {"language": "tiny", "start": ["{out}"], "serves": serves, **extra}
    (folder / "tiny").mkdir()
    (folder / "tiny" / "service.json").write_text(json.dumps(content))
