"""Is the diagnosis right? Captures whose every stall is known from the system calls.

Each capture is made by real services and the engine (or, where no switch can
bring a cause about, by a scripted peer), both under strace(1). What delayed
which exchange is read from their system calls alone, never from the packets:
which bytes were handed to the kernel when, when they were taken out at the
other end, and who slept meanwhile. Then the diagnosis reads the packets alone,
and the two are compared occurrence by occurrence.

The way of a capture: :mod:`recipes` says what is run, :mod:`places` where,
:mod:`capturing` runs it and keeps packets, system calls and dropped packets;
:mod:`syscalls` and :mod:`conversations` read the system calls, :mod:`labels`
states what happened; :mod:`scoring` compares, :mod:`page` prints.
"""
