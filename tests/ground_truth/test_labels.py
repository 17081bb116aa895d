"""Each label says what the calls say, and is silent where one condition does not hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.ground_truth.labels import occurrence as causes
from bench.ground_truth.labels import rules
from bench.ground_truth.labels.occurrence import Bound, Circumstances, Drop
from bench.ground_truth.syscalls.conversations import Conversation
from bench.ground_truth.syscalls.endpoints import Endpoint, Process
from tests.ground_truth.talks import MS, client, link, server, talk

HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n"


def find_causes(conversation: Conversation, around: Circumstances | None = None) -> dict[str, bool]:
    """The causes found, each with whether it is certain."""
    shown: dict[str, bool] = {}
    for one in rules.occurrences(conversation, around or link()):
        shown[one.cause] = shown.get(one.cause, False) or one.is_certain
    return shown


def make_stalled(*, nagle: bool = True, busy: tuple[float, float] | None = None) -> Conversation:
    """A second exchange whose reply's second part comes 44 ms after it was sent."""
    near = client([(1.0, 100), (3.0, 100)], [(2.0, 100), (4.0, 50), (48.0, 50)])
    far = server(
        [(1.5, 100, HEAD), (3.5, 50, HEAD), (3.6, 50)], [(1.2, 100), (3.2, 100)], nagle=nagle
    )
    return talk(near, far, stopped=busy)


def test_a_second_send_that_a_waiting_receiver_got_late_is_nagle_times_delayed_ack() -> None:
    shown = find_causes(make_stalled())
    assert shown == {causes.NAGLE: True, causes.SPLIT: True}


def test_the_first_exchange_is_not_blamed_for_the_second() -> None:
    ordinals = [one.ordinal for one in rules.occurrences(make_stalled(), link())]
    assert set(ordinals) == {1}


def test_with_nodelay_a_late_byte_is_not_nagles() -> None:
    assert causes.NAGLE not in find_causes(make_stalled(nagle=False))


def test_a_receiver_that_did_not_wait_may_have_been_late_itself() -> None:
    assert find_causes(make_stalled(busy=(4.1, 47.9)))[causes.NAGLE] is False


def test_a_wait_of_a_round_trip_is_not_a_delayed_acknowledgment() -> None:
    assert causes.NAGLE not in find_causes(make_stalled(), link(rtt_ms=40.0))


def test_a_packet_that_was_lost_meanwhile_takes_the_blame() -> None:
    around = replace(link(), drops=(Drop(4 * MS, 40_000, False, False, 50),))
    shown = find_causes(make_stalled(), around)
    assert causes.NAGLE not in shown
    assert shown[causes.DATA]


@pytest.mark.parametrize(
    ("thought_ms", "expected"), [(1.0, None), (4.0, False), (9.0, True), (90.0, True)]
)
def test_think_time_runs_from_the_servers_receive_to_its_send(
    thought_ms: float, expected: bool | None
) -> None:
    sent = 2.0 + thought_ms
    near = client([(1.0, 100)], [(sent + 0.02, 100)])
    far = server([(sent, 100, HEAD)], [(1.99, 100)])
    around = link(rtt_ms=1.0)
    assert find_causes(talk(near, far), around).get(causes.THINK) is expected


def test_a_request_that_a_busy_server_left_lying_is_think_time() -> None:
    near = client([(1.0, 100)], [(31.0, 100)])
    far = server([(30.6, 100, HEAD)], [(30.5, 100)])
    assert find_causes(talk(near, far, busy=(1.0, 30.6)))[causes.THINK]


def test_a_link_that_was_late_may_look_like_think_time_and_counts_neither_way() -> None:
    near = client([(1.0, 100)], [(31.0, 100)])
    far = server([(30.6, 100, HEAD)], [(30.5, 100)])
    assert find_causes(talk(near, far))[causes.THINK] is False
    jittery = replace(link(), is_steady=False)
    assert causes.THINK not in find_causes(talk(near, far), jittery)


def test_a_syn_was_repeated_when_a_second_passed_before_the_first_send() -> None:
    for first_send_ms, expected in ((1_010.0, True), (60.0, None)):
        near = client([(first_send_ms, 100)], [(first_send_ms + 1, 100)])
        far = server([(first_send_ms + 0.6, 100, HEAD)], [(first_send_ms + 0.5, 100)])
        assert find_causes(talk(near, far)).get(causes.SYN) is expected


LARGE = 2_000_000
"""A receive buffer that is never the limit, bytes."""


def make_rounds(receive_buffer: int | None = LARGE, pause_ms: float = 0.0) -> Conversation:
    """A reply of 60 segments over a link of 20 ms, in flights of 10, 20 and 30."""
    sizes = (14_480, 28_960, 43_440)
    earlier = 200_000 if pause_ms else 0
    steps: list[tuple[float, int]] = [(1.0, earlier)] if earlier else []
    base = 30.0 + pause_ms
    receives = [(base + 20.0 * number, size) for number, size in enumerate(sizes)]
    near = client(
        ([(0.5, 100)] if earlier else []) + [(base - 20.0, 100)],
        ([(11.0, earlier)] if earlier else []) + receives,
    )
    near.receive_buffer = receive_buffer
    far = server(
        [*steps, (base - 9.9, sum(sizes))], ([(0.9, 100)] if earlier else []) + [(base - 10.0, 100)]
    )
    return talk(near, far)


def test_a_new_connection_in_rounds_is_slow_start() -> None:
    assert find_causes(make_rounds(), link(rtt_ms=20.0)) == {causes.SLOW_START: True}


def test_a_connection_that_had_grown_and_paused_is_idle_restart() -> None:
    shown = find_causes(make_rounds(pause_ms=900.0), link(rtt_ms=20.0))
    # Beyond its former size the window starts slowly, and no call shows where that was.
    assert shown == {causes.IDLE_RESTART: True, causes.SLOW_START: False}


def test_without_the_pause_the_congestion_window_may_be_either() -> None:
    assert find_causes(make_rounds(pause_ms=100.0), link(rtt_ms=20.0)) == {causes.SLOW_START: False}


def test_the_kernels_own_receive_window_may_be_the_limit_of_a_large_message() -> None:
    shown = rules.occurrences(make_rounds(receive_buffer=None), link(rtt_ms=20.0))
    sure = {one.cause for one in shown if one.is_certain}
    assert sure == {causes.SLOW_START}
    assert {one.cause for one in shown if not one.is_certain} >= {causes.TCP_WINDOW}


def test_after_a_loss_no_window_is_blamed_for_certain() -> None:
    around = replace(link(rtt_ms=20.0), drops=(Drop(35 * MS, 40_000, False, False, 1_448),))
    shown = rules.occurrences(make_rounds(), around)
    assert [one.cause for one in shown if one.is_certain] == [causes.DATA]


def test_rounds_no_larger_than_a_small_receive_buffer_are_its_fault() -> None:
    sizes = [(30.0 + 20.0 * number, 4_096) for number in range(6)]
    near = client([(10.0, 100)], sizes)
    near.receive_buffer = 4_096
    far = server([(20.1, 6 * 4_096)], [(20.0, 100)])
    shown = find_causes(talk(near, far), link(rtt_ms=20.0))
    assert [cause for cause, certain in shown.items() if certain] == [causes.TCP_WINDOW]


@pytest.mark.parametrize(
    ("size", "earlier", "expected"),
    [
        (1_000_000, 0, False),
        (1_000_000, 60_000, None),
        (50_000, 0, None),
    ],
)
def test_a_first_message_over_the_kernels_window_counts_neither_way(
    size: int, earlier: int, expected: bool | None
) -> None:
    """The receiver is busy, so that no call shows whether the window was empty."""
    around = link(rtt_ms=0.03)
    before: list[tuple[float, int]] = [(1.1, earlier)] if earlier else []
    asked: list[tuple[float, int]] = [(1.0, 100)] if earlier else []
    near = client([*asked, (2.0, 100)], [*before, (2.2, size)])
    far = server([*before, (2.15, size)], [*asked, (2.1, 100)])
    assert find_causes(talk(near, far), around).get(causes.TCP_WINDOW) is expected


def make_stopped_client(size: int) -> Conversation:
    """A client that is stopped for 60 ms with a full socket, and `size` bytes to come after
    it has emptied that."""
    near = client([(1.0, 100)], [(2.0, 9_000), (63.0, 60_000), (64.0, size)])
    near.receive_buffer = 60_000
    far = server([(1.6, 9_000, HEAD), (1.7, 60_000 + size)], [(1.5, 100)])
    return talk(near, far, stopped=(2.5, 62.9))


def test_a_client_that_slept_while_its_window_was_closed_did_not_read() -> None:
    assert find_causes(make_stopped_client(size=90_000))[causes.NOT_READING]


def test_a_client_whose_socket_held_all_may_be_called_either_way() -> None:
    near = client([(1.0, 100)], [(2.0, 9_000), (63.0, 60_000)])
    far = server([(1.6, 9_000, HEAD), (1.7, 60_000)], [(1.5, 100)])
    shown = find_causes(talk(near, far, stopped=(2.5, 62.9)))
    assert shown[causes.NOT_READING] is False


def frame(kind: int, stream: int, length: int) -> bytes:
    """The header of an HTTP/2 frame."""
    return length.to_bytes(3, "big") + bytes((kind, 0)) + stream.to_bytes(4, "big")


def test_data_that_waited_for_window_update_starved() -> None:
    request, grant = frame(1, 1, 91), frame(8, 1, 4) + bytes(4)
    near = client([(1.0, 100, request), (22.0, 13, grant)], [(12.0, 8_000), (42.0, 8_000)])
    far = server(
        [(2.0, 8_000, frame(1, 1, 20)), (32.0, 8_000, frame(0, 1, 7_991))],
        [(1.9, 100), (31.9, 13)],
    )
    shown = find_causes(talk(near, far, is_http2=True), link(rtt_ms=20.0))
    assert [cause for cause, certain in shown.items() if certain] == [causes.H2_WINDOW]


def two_connections(replies: tuple[bytes, bytes]) -> Conversation:
    """One exchange on each of two connections; both end with recv() = 0."""
    ends: list[tuple[Endpoint, Endpoint]] = []
    for number, head in enumerate(replies):
        at = 10.0 * number
        near = client([(at + 1.0, 100)], [(at + 2.0, 100)])
        far = server([(at + 1.6, 100, head)], [(at + 1.5, 100)])
        near.end_seen_at = round((at + 9.0) * MS)
        near.ends = (f"198.18.0.1:{40_000 + number}", near.ends[1])
        far.ends = (far.ends[0], near.ends[0])
        ends.append((near, far))
    whole = talk(*ends[0])
    added = talk(*ends[1])
    return Conversation(
        Process(
            {**whole.client.endpoints, **added.client.endpoints},
            whole.client.waiting,
            whole.client.asking,
            whole.client.stopped,
        ),
        whole.server,
        (*whole.connections, *added.connections),
    )


def test_a_connection_for_each_exchange_is_reported_for_all_of_them() -> None:
    shown = rules.occurrences(two_connections((HEAD, HEAD)), link())
    assert [(one.cause, one.port) for one in shown] == [
        (causes.PER_CALL, 40_000),
        (causes.PER_CALL, 40_001),
    ]


def test_a_reply_without_a_length_is_read_until_close() -> None:
    unframed = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nHello"
    shown = rules.occurrences(two_connections((HEAD, unframed)), link())
    (one,) = (each for each in shown if each.cause == causes.UNTIL_CLOSE)
    assert one.port == 40_001
    assert one.ms == pytest.approx(6.99)


def test_a_wait_between_the_bounds_counts_neither_way() -> None:
    bound = Bound(2.0, 5.0)
    judged = [bound.judge("any", 1, 0, round(ms * MS), 100 * MS) for ms in (1.0, 4.0, 20.0)]
    assert [one and one.is_certain for one in judged] == [None, False, True]
    long = bound.judge("any", 1, 0, 6 * MS, 10_000 * MS)
    assert long is None  # six of ten thousand milliseconds
