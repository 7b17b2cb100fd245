from __future__ import annotations

import pytest
import yaml
from tests.lint_by_hand import lint_text
from tests.parse.edit.editing import RIGHT, VALUE, edited

from seedstall.parse.edit import chartvalues
from seedstall.parse.edit.change import NoPlaceError
from seedstall.parse.edit.options import Edit

ENTRY = {"name": "JAVA_TOOL_OPTIONS", "value": RIGHT}


def editor(data: bytes) -> Edit:
    return chartvalues.set_egd(data, VALUE)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a: 1\nextraEnvVars: []\n", {"a": 1, "extraEnvVars": [ENTRY]}),
        (
            "extraEnvVars:\n  - name: A\n    value: b\n",
            {"extraEnvVars": [{"name": "A", "value": "b"}, ENTRY]},
        ),
        ("a:\n  env:\n", {"a": {"env": [ENTRY]}}),
        ("env:\n  A: b\n", {"env": {"A": "b", "JAVA_TOOL_OPTIONS": RIGHT}}),
        ("env:\n  JAVA_TOOL_OPTIONS: '-Xa'\n", {"env": {"JAVA_TOOL_OPTIONS": f"-Xa {RIGHT}"}}),
        ('a:\n  javaOpts: "-Xa"\n', {"a": {"javaOpts": f"-Xa {RIGHT}"}}),
        ("javaOpts: ''\nextraEnvVars: []\n", {"javaOpts": RIGHT, "extraEnvVars": []}),
        ("jvmOptions: -Djava.security.egd=file:/dev/random\n", {"jvmOptions": RIGHT}),
    ],
)
def test_the_keys_that_the_file_shows(text: str, read: object) -> None:
    found = edited(editor, text)
    assert yaml.safe_load(found.content) == read
    assert lint_text("values.yaml", found.content, jdk="17") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\n", "no key for environment variables or JVM options"),
        (
            "a:\n  javaOpts:\nb:\n  javaOpts: x\n",
            "several keys may be meant: a.javaOpts, b.javaOpts",
        ),
        ("env: [a, b]\n", "a list of another kind"),
        ("{{ x }}\n", "."),
    ],
)
def test_what_it_does_not_show_is_not_guessed(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        editor(text.encode())
    with pytest.raises(NoPlaceError):
        editor(b"x: 1\n")
