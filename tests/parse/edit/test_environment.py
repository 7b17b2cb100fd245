"""Environment files against systemd's own reader: its environment.d generator has the same grammar."""

from __future__ import annotations

import re
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.machine import IN_CI

from seedstall.parse.edit.environment import set_egd, variables

RIGHT = "file:/dev/urandom"
OPTION = f"-Djava.security.egd={RIGHT}"
ORDER = ("JAVA_OPTS", "CATALINA_OPTS")
GENERATOR = Path("/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator")


def by_systemd(data: bytes, folder: Path) -> dict[str, str]:
    """What systemd makes of the file; its generator also expands ``$``, so no test of this has one."""
    if not GENERATOR.exists():
        assert not IN_CI, f"{GENERATOR} is lacking (package systemd)"
        pytest.skip(f"no {GENERATOR}")
    (folder / "environment.d").mkdir(exist_ok=True)
    (folder / "environment.d/zz.conf").write_bytes(data)
    environ = {"XDG_CONFIG_HOME": str(folder), "HOME": str(folder)}
    printed = subprocess.run([GENERATOR], env=environ, capture_output=True, check=True).stdout
    lines = printed.decode("utf-8", "surrogateescape").splitlines()
    return {name: _unquoted(value) for name, _, value in (row.partition("=") for row in lines)}


def _unquoted(value: str) -> str:
    """As the generator writes values: in double quotes where need be, control characters as C has them."""
    if not value.startswith('"'):
        return value
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), value[1:-1])


def edited(text: str, target: str = "CATALINA_OPTS") -> str:
    edit = set_egd(text.encode("utf-8", "surrogateescape"), RIGHT, target=target, order=ORDER)
    again = set_egd(edit.content, RIGHT, target=target, order=ORDER)
    assert again.content == edit.content, "idempotent"
    return edit.content.decode("utf-8", "surrogateescape")


SHAPES = {
    'CATALINA_OPTS="-Xmx1g"\n': f'CATALINA_OPTS="-Xmx1g {OPTION}"\n',
    "CATALINA_OPTS='-Xmx1g'\n": f"CATALINA_OPTS='-Xmx1g {OPTION}'\n",
    "CATALINA_OPTS=-Xmx1g\n": f'CATALINA_OPTS="-Xmx1g {OPTION}"\n',
    "CATALINA_OPTS=-Xmx1g -Xms1g  \n": f'CATALINA_OPTS="-Xmx1g -Xms1g {OPTION}"  \n',
    "CATALINA_OPTS=\nA=b\n": f'CATALINA_OPTS="{OPTION}"\nA=b\n',
    'CATALINA_OPTS=""\n': f'CATALINA_OPTS="{OPTION}"\n',
    'CATALINA_OPTS="-a \\\n -b"\n': f'CATALINA_OPTS="-a \\\n -b {OPTION}"\n',
    'CATALINA_OPTS="-Da=\\"b c\\""\n': f'CATALINA_OPTS="-Da=\\"b c\\" {OPTION}"\n',
    'CATALINA_OPTS="-a"\r\nB=c\r\n': f'CATALINA_OPTS="-a {OPTION}"\r\nB=c\r\n',
    'CATALINA_OPTS="-Djava.security.egd=file:/dev/random -b" # no comment\n': (
        f'CATALINA_OPTS="{OPTION} -b" # no comment\n'
    ),
    'JAVA_OPTS="-Djava.security.egd=file:/dev/random"\nCATALINA_OPTS="-b"\n': (
        f'JAVA_OPTS=""\nCATALINA_OPTS="-b {OPTION}"\n'
    ),
    'CATALINA_OPTS="-a"\nCATALINA_OPTS="-b"\n': f'CATALINA_OPTS="-a"\nCATALINA_OPTS="-b {OPTION}"\n',
}


@pytest.mark.parametrize("text", SHAPES)
def test_the_least_change(text: str, tmp_path: Path) -> None:
    made = edited(text)
    assert made == SHAPES[text]
    before, after = by_systemd(text.encode(), tmp_path), by_systemd(made.encode(), tmp_path)
    assert OPTION in after["CATALINA_OPTS"].split()
    kept = {k: v for k, v in before.items() if k not in ORDER}
    assert {k: v for k, v in after.items() if k not in ORDER} == kept


@pytest.mark.parametrize("text", ["", "A=b", "# comment \\\n", "A=b\n\n", 'A="x\ny"\n', "; c\n"])
def test_a_variable_that_is_not_there_is_added(text: str, tmp_path: Path) -> None:
    made = edited(text)
    assert made.startswith(text)
    assert made.endswith(f'CATALINA_OPTS="{OPTION}"\n')
    assert by_systemd(made.encode(), tmp_path)["CATALINA_OPTS"] == OPTION


def test_what_nothing_expands_is_told() -> None:
    edit = set_egd(b'JAVA_OPTS="$JAVA_OPTS -a"\n', RIGHT, target="JAVA_OPTS", order=ORDER)
    assert edit.content == f'JAVA_OPTS="$JAVA_OPTS -a {OPTION}"\n'.encode()
    assert edit.notes == (
        "line 1: systemd expands no variable in this file: $JAVA_OPTS in JAVA_OPTS stands for itself",
    )


@pytest.mark.parametrize("text", ['CATALINA_OPTS="-a\n', "A='\n", "A=b\0"])
def test_what_is_not_understood_is_left_alone(text: str) -> None:
    with pytest.raises(ValueError, match=r"line 1|NUL"):
        edited(text)


def test_bytes_that_are_no_utf8_are_kept() -> None:
    edit = set_egd(b'# \xe9\nJAVA_OPTS="-Da=\xff"\n', RIGHT, target="JAVA_OPTS", order=ORDER)
    assert edit.content == b'# \xe9\nJAVA_OPTS="-Da=\xff ' + OPTION.encode() + b'"\n'


@settings(max_examples=40, deadline=None)
@given(st.text(st.sampled_from(list("A=\"'\\#; \nb-")), max_size=40))
def test_every_file_reads_as_systemd_reads_it(text: str) -> None:
    try:
        found = variables(text)
    except ValueError:
        return
    ours = {v.name: v.value for v in found}
    if not all(v.value for v in found):
        return  # what an EnvironmentFile may hold and the generator's own files may not
    if not GENERATOR.exists():
        return
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        theirs = by_systemd(text.encode(), Path(folder))
    mine = {k: v for k, v in ours.items() if k.isidentifier()}
    assert {k: v for k, v in theirs.items() if k in mine or set(k) <= set("Ab")} == mine


@given(st.binary(max_size=80))
def test_any_bytes(data: bytes) -> None:
    with suppress(ValueError):
        set_egd(data, RIGHT, target="JAVA_OPTS", order=ORDER)
