"""``ThreadInfo`` and what is written much like it: as text, as JSON, whole, cut, or within something else."""

from __future__ import annotations

import json

from tests.parse.threaddump import forms

from seedstall.model.threads import LockAct, ThreadDump
from seedstall.parse.threaddump import thread_dumps

DROPWIZARD = """\
"main" id=1 state=WAITING
    - waiting on <0x0badcafe> (a java.util.concurrent.locks.ReentrantLock$NonfairSync)
    - locked <0x0badcafe> (a java.util.concurrent.locks.ReentrantLock$NonfairSync)
     owned by holder id=16
    at java.base@17.0.15/jdk.internal.misc.Unsafe.park(Native Method)
    at java.base@17.0.15/java.util.concurrent.locks.LockSupport.park(LockSupport.java:211)
    at app//com.example.App.main(App.java:3)

"seeder" id=12 state=RUNNABLE (running in native)
    at java.base@17.0.15/java.io.FileInputStream.readBytes(Native Method)
    at java.base@17.0.15/java.io.FileInputStream.read(FileInputStream.java:276)
    at java.base@17.0.15/java.io.FilterInputStream.read(FilterInputStream.java:132)
    at java.base@17.0.15/sun.security.provider.NativePRNG$RandomIO.readFully(NativePRNG.java:431)
    at java.base@17.0.15/sun.security.provider.NativePRNG$RandomIO.implGenerateSeed(NativePRNG.java:448)
      - locked java.lang.Object@5305068a
    at java.base@17.0.15/sun.security.provider.NativePRNG.engineGenerateSeed(NativePRNG.java:239)
    at java.base@17.0.15/java.security.SecureRandom.generateSeed(SecureRandom.java:857)
    at app//com.example.Keys.make(Keys.java:31)

    Locked synchronizers: count = 1
      - java.util.concurrent.locks.ReentrantLock$NonfairSync@279f2327

"""


def only(text: bytes | str) -> ThreadDump:
    (dump,) = thread_dumps(text, "x")
    return dump


def test_dropwizards_threads_page() -> None:
    dump = only(DROPWIZARD)

    main, seeder = dump.threads
    assert (main.name, main.java_id, main.state, len(main.frames)) == ("main", 1, "WAITING", 3)
    # It prints what a parked thread waits for as held by it, too: it is not.
    assert [lock.act for lock in main.locks] == [LockAct.PARKING]
    assert [(lock.act, lock.address) for lock in seeder.locks] == [
        (LockAct.LOCKED, "5305068a"),
        (LockAct.OWNED, "279f2327"),
    ]
    ((name, role, algorithm, caller),) = forms.seeding(dump)
    assert (name, role, algorithm, caller) == (
        "seeder",
        "reading",
        "NativePRNG",
        "com.example.Keys.make",
    )


def test_eight_frames_and_three_dots_are_a_cut_stack() -> None:
    dump = only(forms.files("jdk17")["info.txt"])

    cut = {thread.name: len(thread.frames) for thread in dump.threads if thread.cut}
    assert cut == {"seeder": 8, 'strong "quoted" 1': 8, "parked": 8}
    assert dump.unread == 3


def test_a_blocked_threads_waiting_on_means_a_lock_that_another_has() -> None:
    text = '"a" Id=4 BLOCKED on a.B@1f owned by "b" Id=5\n\tat a.B.c(B.java:1)\n\t-  waiting on a.B@1f\n\n'
    (lock,) = only(text).threads[0].locks
    assert (lock.act, lock.class_name, lock.address) == (LockAct.WAITING_TO_LOCK, "a.B", "1f")

    said_above = text.replace("\t-  waiting on a.B@1f\n", "")
    (lock,) = only(said_above).threads[0].locks
    assert lock.act is LockAct.WAITING_TO_LOCK


def test_a_name_that_looks_like_a_header() -> None:
    thread = only('"a" Id=7 RUNNABLE" Id=8 WAITING\n\tat a.B.c(B.java:1)\n\n').threads[0]
    assert thread.java_id in (7, 8)


def test_json_in_a_mail() -> None:
    data = forms.files("jdk17")["actuator.json"].decode()
    around = f"Hi,\n\ncurl said [see below]:\n\n{data}\n\nand then {{nothing}}, [1, 2]\n"

    dump = only(around)

    assert (len(dump.threads), dump.complete) == (14, True)
    assert len(forms.seeding(dump)) == 4
    assert {thread.line for thread in dump.threads} == {5}


def test_json_written_for_people_has_lines() -> None:
    data = json.dumps(json.loads(forms.files("jdk25")["actuator.json"]), indent=2)
    dump = only(data)
    assert [t.name for t in dump.threads] == [
        t.name for t in only(forms.files("jdk25")["actuator.json"]).threads
    ]
    lines = [thread.line for thread in dump.threads]
    assert lines == sorted(set(lines))


def test_jolokia_and_two_answers_in_one_file() -> None:
    threads = forms.files("jdk11")["boot1.json"].decode()
    request = '{"mbean":"java.lang:type=Threading","arguments":[true,true]}'
    jolokia = f'{{"request":{request},"value":{threads},"status":200}}'

    assert len(only(jolokia).threads) == 13
    assert [len(d.threads) for d in thread_dumps(f"{jolokia}\n{jolokia}\n", "x")] == [13, 13]


def test_cut_json_gives_what_is_whole() -> None:
    data = forms.files("jdk17")["actuator.json"]
    whole = only(data)

    dump = only(data[: len(data) // 2])

    assert dump.threads == whole.threads[: len(dump.threads)]
    assert 3 < len(dump.threads) < 14
    assert not dump.complete


def test_springs_plain_text_writes_locked_with_a_capital() -> None:
    text = forms.files("jdk17")["visualvm.txt"].replace(b"- locked <", b"- Locked <")

    dump = only(text)

    assert dump.form == "VisualVM"
    held = {t.name: {k.act for k in t.locks} for t in dump.threads}
    assert held["holder"] == {LockAct.LOCKED, LockAct.OWNED}
    assert dump.unread == 0
