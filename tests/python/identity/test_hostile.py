"""Services refuse hostile input in bounded time and memory, and go on serving."""

from __future__ import annotations

import gzip
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.interop.driving import Engine, all_good
from tests.interop.hosting import Host, Hosted
from tests.python import hostile_inputs as hostile
from tests.python.hostile_inputs import Attack, Post
from wirelab.process.scratch import Scratch

Json = dict[str, Any]

SECONDS_MAX = 10.0
"""A refusal takes milliseconds; the bound is for busy machines."""
MIB = 1 << 20
HEAP_BYTES = 512 * MIB
GROWTH_BYTES_MAX = {
    # A message may have 128 MiB, and a buffer that doubles up to twice that.
    "rust": 256 * MIB,
    # By default the collector (GOGC) lets garbage be as large as what lives.
    "go": 512 * MIB,
    # All of the heap, which a collector may fill before it works, and the memory next to it.
    "java": HEAP_BYTES + 128 * MIB,
}
"""How much memory may grow from the first call to the end of all attacks."""
STATUS_LINE_MIN = len("HTTP/1.1 400")
SECRET = b"root:"
"""Text of the file that an external entity would disclose."""
BUILD_S_MAX = 900
"""Maven fetches and builds for minutes on a machine where nothing was built before."""


@dataclass(frozen=True)
class Speech:
    """How a stack is spoken to, by hand. The argument is the key of the service's object, with
    IIOP."""

    good: Callable[[bytes], bytes]
    attacks: Callable[[bytes], list[Attack]]
    refused: Callable[[bytes], bool]
    ended: Callable[[bytes], bool] = lambda _: False
    """Whether this is a whole answer; by default it ends with its connection."""
    cut: bool = False
    """A good request needs an end, too, to be answered by one."""


# -- answers -----------------------------------------------------------------


def _http_refused(answer: bytes) -> bool:
    if len(answer) < STATUS_LINE_MIN:
        # Closed, or reset in mid-answer.
        return True
    status = int(answer[9:12])
    return 400 <= status < 500 or (status == 500 and b"Fault>" in answer)


def _frames(answer: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Kind, flags and payload of the whole frames."""
    while len(answer) >= 9:
        length, kind, flags = int.from_bytes(answer[:3]), answer[3], answer[4]
        if len(answer) < 9 + length:
            return
        yield kind, flags, answer[9 : 9 + length]
        answer = answer[9 + length :]


def _grpc_refused(answer: bytes) -> bool:
    """An error has no message."""
    return not any(kind == hostile.DATA and payload for kind, _, payload in _frames(answer))


def _grpc_ended(answer: bytes) -> bool:
    """By the stream's end, its reset, or the connection's GOAWAY."""
    reset, goaway = 3, 7
    return any(
        kind in (reset, goaway)
        or (kind in (hostile.DATA, hostile.HEADERS) and flags & hostile.END_STREAM)
        for kind, flags, _ in _frames(answer)
    )


def _giop_ended(answer: bytes) -> bool:
    return len(answer) >= 12 and len(answer) >= 12 + _giop_number(answer, 8)


def _giop_refused(answer: bytes) -> bool:
    """A reply is not a refusal where it holds a result."""
    reply, result, head = 1, 0, 20
    whole = len(answer) >= head
    return not whole or answer[7] != reply or _giop_number(answer, 16) != result


def _giop_number(answer: bytes, at: int) -> int:
    (number,) = struct.unpack_from("<I" if answer[6] & 1 else ">I", answer, at)
    return int(number)


def _raw_refused(answer: bytes) -> bool:
    return not answer or b"Fault>" in answer


def _raw_gzip_refused(answer: bytes) -> bool:
    _, _, packed = answer.partition(b"\n")
    return not packed or b"Fault>" in gzip.decompress(packed)


# -- stacks ------------------------------------------------------------------


def _web(post: Post, bodies: list[Attack], framings: bool = False) -> Speech:
    """``framings`` are of the server, and alike for all its codecs."""

    def attacks(_: bytes) -> list[Attack]:
        return (post.framings() if framings else []) + post.bodies(bodies)

    return Speech(lambda _: post.good(), attacks, _http_refused)


REST_JSON = _web(hostile.rest("application/json", hostile.JSON, "gzip"), hostile.JSON_ATTACKS, True)
REST_XML = _web(
    hostile.rest("application/xml", hostile.XML.document(), "zstd"), hostile.XML.attacks()
)
REST_PROTOBUF = _web(
    hostile.rest("application/x-protobuf", hostile.PROTOBUF, "gzip"), hostile.PROTOBUF_ATTACKS
)
SOAP = _web(hostile.soap(hostile.LITERAL, "gzip"), hostile.LITERAL.attacks(), True)
SOAP_ENCODED = _web(hostile.soap(hostile.RPC_ENCODED, "zstd"), hostile.RPC_ENCODED.attacks(), True)
GRPC = Speech(
    lambda _: hostile.grpc(hostile.PROTOBUF),
    lambda _: hostile.grpc_attacks("zstd"),
    _grpc_refused,
    _grpc_ended,
)
IIOP = Speech(hostile.iiop_good, hostile.iiop_attacks, _giop_refused, _giop_ended)
RAW = Speech(
    lambda _: hostile.raw(hostile.LITERAL.document()),
    lambda _: hostile.raw_attacks(hostile.LITERAL.attacks()),
    _raw_refused,
    cut=True,
)
RAW_GZIP = Speech(
    lambda _: hostile.raw(gzip.compress(hostile.LITERAL.document())),
    lambda _: hostile.raw_attacks([Attack("bomb", hostile.gzip_bomb)]),
    _raw_gzip_refused,
    cut=True,
)

ALL = ("rust", "go", "java")
STACKS = {
    **{f"rest@{language}?compression=gzip": REST_JSON for language in ALL},
    **{f"rest@{language}?codec=xml&compression=zstd": REST_XML for language in ALL},
    **{f"rest@{language}?codec=protobuf&compression=gzip": REST_PROTOBUF for language in ALL},
    **{f"soap@{language}?compression=gzip": SOAP for language in ALL},
    "soap@java?codec=soap-encoded&compression=zstd": SOAP_ENCODED,
    **{f"grpc@{language}?compression=zstd": GRPC for language in ALL},
    **{f"iiop@{language}": IIOP for language in ("rust", "java")},
    "raw@rust": RAW,
    "raw@rust?compression=gzip": RAW_GZIP,
}
CASES = [
    (reference, attack.name)
    for reference, speech in STACKS.items()
    for attack in speech.attacks(b"")
]

# -- services ----------------------------------------------------------------


@dataclass
class Victim:
    """A service, and how much memory it had before the first attack."""

    hosted: Hosted
    speech: Speech
    engine: Engine
    memory_bytes: int = 0

    @property
    def key(self) -> bytes:
        """Of its object, with IIOP."""
        ior = self.hosted.service.ready.ior
        return hostile.object_key(ior) if ior else b""

    def attack(self, name: str) -> Attack:
        """The attack of that name on this service."""
        (found,) = [one for one in self.speech.attacks(self.key) if one.name == name]
        return found

    def answer(self, data: bytes, *, cut: bool) -> bytes:
        """What it says to these bytes, until its answer or the connection is over."""
        host, _, port = self.hosted.address.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=SECONDS_MAX) as connection:
            answer = b""
            try:
                connection.sendall(data)
                if cut:
                    connection.shutdown(socket.SHUT_WR)
                while not self.speech.ended(answer) and (more := connection.recv(1 << 16)):
                    answer += more
            except TimeoutError:
                raise
            except OSError:
                # It has closed, and may have said why.
                pass
            return answer

    def serves(self) -> None:
        """One call by the engine goes well."""
        endpoint: Json = {"target": self.hosted.address}
        if self.hosted.service.ready.ior:
            endpoint["object"] = self.hosted.ior
        hello: Json = {
            "kind": "contract",
            "contract": "transfer",
            "operation": "Hello",
            "bytes": 14,
        }
        all_good(self.engine.drive(str(self.hosted.stack), hello, 1, **endpoint), 1)

    def memory(self, name: str) -> int:
        """A size of the process in bytes, by its name in proc(5)."""
        status = Path(f"/proc/{self.hosted.service.ready.pid}/status").read_text()
        (size,) = [line.split()[1] for line in status.splitlines() if line.startswith(name + ":")]
        return int(size) * 1024


class Victims:
    """One service at a time, for all attacks on its stack."""

    def __init__(self, host: Host, folder: Path) -> None:
        self._host = host
        self._folder = folder
        self._running = ExitStack()
        self._victims: dict[str, Victim] = {}

    @contextmanager
    def of(self, reference: str) -> Iterator[Victim]:
        """The service of that stack, which has answered a good request. One that has failed a
        test is not used for the next."""
        if reference not in self._victims:
            self.close()
            self._victims = {reference: self._start(reference)}
        try:
            yield self._victims[reference]
        except BaseException:
            self.close()
            raise

    def _start(self, reference: str) -> Victim:
        collector = {"heap_max_bytes": HEAP_BYTES} if "@java" in reference else {}
        hosted = self._running.enter_context(self._host.start(reference, collector=collector))
        victim = Victim(hosted, STACKS[reference], Engine(self._folder / "log"))
        good = victim.answer(victim.speech.good(victim.key), cut=victim.speech.cut)
        assert good
        assert not victim.speech.refused(good), good
        victim.serves()
        victim.memory_bytes = victim.memory("VmRSS")
        return victim

    def close(self) -> None:
        """Ends the service."""
        self._victims = {}
        self._running.close()


@pytest.fixture(scope="module")
def victims(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victims]:
    """Starts our services."""
    folder = tmp_path_factory.mktemp("services")
    with Scratch() as scratch, closing(Victims(Host(scratch, folder), folder)) as victims:
        yield victims


@pytest.mark.timeout(BUILD_S_MAX)
@pytest.mark.parametrize(("reference", "name"), CASES)
def test_hostile_input_is_refused(victims: Victims, reference: str, name: str) -> None:
    """In bounded time and memory; what is good is served as before."""
    with victims.of(reference) as victim:
        _is_refused(victim, name)


def _is_refused(victim: Victim, name: str) -> None:
    attack = victim.attack(name)
    data = attack.data()
    began = time.monotonic()
    answer = victim.answer(data, cut=attack.cut)
    assert time.monotonic() - began < SECONDS_MAX
    assert attack.harmless or victim.speech.refused(answer), answer[:2000]
    assert SECRET not in answer
    victim.serves()
    growth = victim.memory("VmHWM") - victim.memory_bytes
    bound = GROWTH_BYTES_MAX[victim.hosted.stack.axes.language]
    assert growth < bound, f"{growth / MIB:.0f} MiB"
