from __future__ import annotations

from tests.render_by_hand import report

from seedstall.model.evidence import Missing, Ref, Space, Why
from seedstall.model.finding import Inconclusive
from seedstall.render import text


def test_the_first_line_is_the_answer() -> None:
    assert text.render(report()).splitlines()[0] == (
        'stalled (blocking-seed, confirmed): "main" waits in read of /dev/random'
    )


def test_quiet_is_the_first_line_alone() -> None:
    assert len(text.render(report(), quiet=True).splitlines()) == 1


def test_what_frees_it_now_comes_before_the_next_start() -> None:
    shown = text.render(report())

    assert shown.index("now: feed the pool (as root)") < shown.index("at the next start:")
    assert "seedstall fix 8712 --surface tomcat-setenv > setenv.patch" in shown


def test_what_was_not_looked_at_is_said_with_its_reason() -> None:
    shown = text.render(report())

    assert "kernel:dmesg denied: needs CAP_SYSLOG (SS103)" in shown
    assert "the rule itself failed: KeyError: 'x' (SS302)" in shown


def test_escape_codes_are_shown_not_obeyed() -> None:
    shown = text.render(report())

    assert "\x1b" not in shown
    assert "\\x1b[31m" in shown


def test_what_was_done_to_the_target_is_said() -> None:
    assert "done to 8712: sigquit+attach threaddump (3 ms)" in text.render(report())


def test_secrets_are_redacted_unless_a_person_chose_otherwise() -> None:
    shown = report(target="x -storepass hunter2")

    assert "hunter2" not in text.render(shown)
    assert "hunter2" in text.render(shown, redacted=False)


def test_commands_hold_what_was_said_and_are_quoted_for_a_shell() -> None:
    shown = text.render(report(target="a b.txt", words="'a b.txt' --kernel 3.10.0-957.el7"))

    assert "seedstall fix 'a b.txt' --kernel 3.10.0-957.el7 --surface tomcat-setenv" in shown


def test_what_a_file_can_never_hold_is_told_only_when_asked() -> None:
    never = Missing(Why.NOT_COLLECTED, (Ref(Space.KERNEL, "dmesg"),))
    one = report(outcomes=(Inconclusive("SS103", "crng-not-ready", (never,)),))

    assert "not looked at" not in text.render(one)
    assert "SS103: kernel:dmesg not collected" in text.render(one, verbose=1)
