"""The clauses of the seeding rules."""

from __future__ import annotations

import pytest

from seedstall.rules.seed_account import script_name


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        (("/bin/sh", "/opt/tomcat/bin/catalina.sh", "run"), "catalina.sh"),
        (("bash", "-x", "-e", "./start.sh"), "start.sh"),
        (("bash", "+x", "start.sh"), "start.sh"),
        (("sh", "-c", "exec java -cp secret"), "sh -c"),
        (("bash", "-lc", "java"), "bash -c"),
        (("-bash",), "bash"),
        (("-bash", "-i"), "bash"),
        (("/usr/bin/mvn", "package"), "mvn"),
        (("supervisord",), "supervisord"),
        ((), "it"),
        (("",), "it"),
    ],
)
def test_what_a_script_is_called(argv: tuple[str, ...], name: str) -> None:
    assert script_name(argv) == name
