"""What strace wrote is read as calls on sockets, whatever threads do to its lines."""

from __future__ import annotations

from bench.ground_truth.syscalls.endpoints import Process
from bench.ground_truth.syscalls.strace import Call, Stop, events

US = 1_000
AT = 1_795_316_494
NEAR, FAR = "127.0.0.1:40682", "127.0.0.1:38309"
SOCKET = f"4<TCP:[{NEAR}->{FAR}]>"

LOG = f"""\
17 {AT}.100000000 connect(4<TCP:[11114651]>, {{sa_family=AF_INET, sin_port=htons(38309), \
sin_addr=inet_addr("127.0.0.1")}}, 16) = -1 EINPROGRESS (Operation now in progress) <0.000783>
17 {AT}.100900000 setsockopt({SOCKET}, SOL_TCP, TCP_NODELAY, [1], 4) = 0 <0.000017>
17 {AT}.101000000 writev({SOCKET}, [{{iov_base="GET / \\r\\n", iov_len=8}}, \
{{iov_base="ab\\1\\") = 9"..., iov_len=92}}], 2) = 60 <0.000040>
18 {AT}.101100000 epoll_wait(3<anon_inode:[eventpoll]>,  <unfinished ...>
17 {AT}.101200000 sendto({SOCKET}, "c"..., 40, MSG_NOSIGNAL, NULL, 0) = \
-1 EAGAIN (Resource temporarily unavailable) <0.000005>
18 {AT}.103100000 <... epoll_wait resumed>[{{events=EPOLLIN}}], 512, -1) = 1 <0.002000>
17 {AT}.103200000 recvmsg({SOCKET}, {{msg_name=NULL, msg_iov=[{{iov_base="HTTP/1.1 200"..., \
iov_len=262144}}], msg_iovlen=1, msg_controllen=0, msg_flags=0}}, 0) = 320 <0.000009>
17 {AT}.104000000 --- stopped by SIGSTOP ---
18 {AT}.104000010 --- stopped by SIGSTOP ---
17 {AT}.164000000 --- SIGCONT {{si_signo=SIGCONT, si_code=SI_USER, si_pid=1, si_uid=0}} ---
17 {AT}.165000000 recvfrom({SOCKET}, "", 8192, 0, NULL, NULL) = 0 <0.000040>
17 {AT}.166000000 close({SOCKET}) = 0 <0.000025>
18 {AT}.167000000 read(5<pipe:[1]>,  <unfinished ...>
17 {AT}.168000000 +++ exited with 0 +++
"""


def _calls(name: str) -> list[Call]:
    return [
        event
        for event in events(LOG.splitlines())
        if isinstance(event, Call) and event.name == name
    ]


def test_a_call_has_its_time_result_ends_and_the_beginning_of_its_buffers() -> None:
    """A short writev() of two buffers, the second cut off in the log."""
    (call,) = _calls("writev")
    assert (call.at, call.ended - call.at) == (AT * 10**9 + 101_000 * US, 40 * US)
    assert (call.result, call.given, call.ends) == (60, (8, 92), (NEAR, FAR))
    assert call.prefix == b'GET / \r\nab\x01") = 9'


def test_a_call_that_another_thread_interrupted_in_the_log_is_one_call() -> None:
    (call,) = _calls("epoll_wait")
    assert call.at == AT * 10**9 + 101_100 * US
    assert call.ended - call.at == 2_000 * US


def test_a_call_that_never_returned_is_none() -> None:
    assert _calls("read") == []


def test_stops_are_reported() -> None:
    stops = [event for event in events(LOG.splitlines()) if isinstance(event, Stop)]
    assert [stop.stopped for stop in stops] == [True, True, False]


def test_the_calls_of_a_connection_are_its_bytes_in_and_out() -> None:
    process = Process.of(events(LOG.splitlines()))
    (endpoint,) = process.endpoints.values()
    assert endpoint.connect is not None
    assert not endpoint.nagle
    assert [(one.start, one.end, one.given) for one in endpoint.sends] == [(0, 60, 100)]
    assert [one.end for one in endpoint.receives] == [320]
    assert len(endpoint.refused) == 1
    assert endpoint.end_seen_at == AT * 10**9 + 165_040 * US
    assert endpoint.closed_at is not None


def test_an_accepted_socket_inherits_the_options_of_its_listener() -> None:
    accepted = f"11<TCP:[{FAR}->{NEAR}]>"
    log = f"""\
17 {AT}.000000000 setsockopt(9<TCP:[77]>, SOL_SOCKET, SO_RCVBUF, [4096], 4) = 0 <0.000010>
17 {AT}.100000000 accept4(9<TCP:[{FAR}]>, {{sa_family=AF_INET, sin_port=htons(40682), \
sin_addr=inet_addr("127.0.0.1")}}, [128 => 16], SOCK_CLOEXEC) = {accepted} <0.000020>
17 {AT}.200000000 recvfrom({accepted}, "abc", 8192, 0, NULL, NULL) = 3 <0.000005>
"""
    (endpoint,) = Process.of(events(log.splitlines())).endpoints.values()
    assert endpoint.receive_buffer == 4_096
    assert endpoint.ends == (FAR, NEAR)


def test_a_wait_beyond_its_own_limit_is_a_process_that_did_not_run() -> None:
    log = f"""\
17 {AT}.000000000 epoll_pwait2(4<anon_inode:[eventpoll]>, [], 512, \
{{tv_sec=0, tv_nsec=2000000}}, NULL, 8) = 0 <0.121833>
17 {AT}.200000000 epoll_wait(4<anon_inode:[eventpoll]>, [], 512, -1) = 0 <0.050000>
17 {AT}.300000000 epoll_wait(4<anon_inode:[eventpoll]>, [{{events=EPOLLIN}}], 512, 9) = 1 <0.000009>
"""
    process = Process.of(events(log.splitlines()))
    start = AT * 10**9
    assert process.waiting.overlap(start, start + 150_000 * US) == 3_000 * US
    assert process.waiting.overlap(start + 150_000 * US, start + 10**9) == 50_000 * US


def test_waiting_and_stopped_times_are_measured() -> None:
    process = Process.of(events(LOG.splitlines()))
    start = AT * 10**9
    assert process.waiting.overlap(start, start + 10**9) == 2_000 * US
    assert process.waiting.overlap(start + 102_100 * US, start + 10**9) == 1_000 * US
    assert process.stopped.overlap(start, start + 10**9) == 60_000 * US
