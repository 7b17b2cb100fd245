"""Javacores that were damaged on their way."""

from __future__ import annotations

from seedstall.parse.threaddump import thread_dumps


def test_an_id_that_lost_its_x_costs_no_thread() -> None:
    damaged = (
        b"0SECTION       THREADS subcomponent dump routine\n"
        b'3XMTHREADINFO      "main" J9VMThread:0x1, j9thread_t:0x2, java/lang/Thread:0x3, state:R, prio=5\n'
        b"3XMJAVALTHREAD            (java/lang/Thread getId:012, isDaemon:false)\n"
        b"3XMTHREADINFO1            (native thread ID:077, native priority:0x5)\n"
        b"4XESTACKTRACE                at java/lang/Thread.sleep(Native Method)\n"
    )

    (dump,) = thread_dumps(damaged, "x")

    assert [(t.name, t.java_id, t.nid) for t in dump.threads] == [("main", 12, 77)]
