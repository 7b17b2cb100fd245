from __future__ import annotations

from pathlib import Path

import jinja2
import pytest
from jinja2 import meta

from seedstall.knowledge.surfaces import BY_NAME, SURFACES
from seedstall.model.finding import Fix
from seedstall.parse.setenv import COMMENT, set_egd
from seedstall.render import templates
from seedstall.render.fixes import render_fix

PARAMS = {
    "egd": "file:/dev/urandom",
    "value": "NativePRNGNonBlocking:SUN",
    "command": "kill -CONT 8712",
    "option": "-Dsecurerandom.source=file:/dev/urandom",
    "place": "cmdline[3]",
    "why": "it does nothing",
    "path": "/dev/random",
    "minor": "8",
    "call": "contention",
    "frame": "com.example.Keys.make",
}


def fix(surface: str, **params: str) -> Fix:
    return Fix(surface=surface, title="", params=params)


def test_the_checkouts_templates_are_used_where_none_are_packaged() -> None:
    assert templates.root() == Path(__file__).parents[2] / "templates"


def test_packaged_templates_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "_templates/fix/java-opts").mkdir(parents=True)
    (tmp_path / "_templates/fix/java-opts/text.j2").write_text("packaged {{ egd }}", "utf-8")
    monkeypatch.setattr(templates, "files", lambda _: tmp_path)
    templates.environment.cache_clear()
    try:
        assert render_fix(fix("java-opts", egd="x")) == "packaged x"
        with pytest.raises(jinja2.TemplateNotFound):
            render_fix(fix("rngd"))
    finally:
        templates.environment.cache_clear()


def test_every_surface_says_what_its_template_needs() -> None:
    environment = templates.environment()
    for surface in SURFACES:
        text = (templates.root() / "fix" / surface.name / "text.j2").read_text("utf-8")
        used = meta.find_undeclared_variables(environment.parse(text))
        assert used >= set(surface.params)
        assert used <= {*surface.params, *surface.perhaps}


def test_every_surface_has_a_folder() -> None:
    folders = {f.name for f in (templates.root() / "fix").iterdir() if f.is_dir()}
    assert folders >= set(BY_NAME)


@pytest.mark.parametrize("surface", SURFACES, ids=lambda s: s.name)
def test_every_surface_has_a_text(surface: object) -> None:
    name = surface.name  # type: ignore[attr-defined]
    text = render_fix(fix(name, **PARAMS))
    assert text.strip()
    assert text.endswith("\n")
    assert "{{" not in text
    assert "{%" not in text


@pytest.mark.parametrize("surface", [s for s in SURFACES if s.params], ids=lambda s: s.name)
def test_a_param_that_is_missing_is_an_error(surface: object) -> None:
    with pytest.raises(jinja2.UndefinedError):
        render_fix(fix(surface.name))  # type: ignore[attr-defined]


def test_the_texts() -> None:
    assert (
        render_fix(fix("java-opts", egd="file:/dev/urandom"))
        == "-Djava.security.egd=file:/dev/urandom\n"
    )
    assert render_fix(fix("java-opts", egd="file:/a;b")) == "'-Djava.security.egd=file:/a;b'\n"
    assert render_fix(fix("jarsigner", egd="x")) == "jarsigner -J-Djava.security.egd=x\n"
    assert (
        render_fix(fix("jarsigner", egd="x", command="jarsigner -J-D a.jar"))
        == "jarsigner -J-D a.jar\n"
    )
    assert render_fix(fix("rngd", commands="a\nb")) == "a\nb\n"
    assert "--surface rngd" in render_fix(fix("rngd"))
    last = render_fix(fix("tomcat-setenv", egd="file:/dev/urandom")).splitlines()[-1]
    assert last == 'CATALINA_OPTS="$CATALINA_OPTS -Djava.security.egd=file:/dev/urandom"'


def test_the_security_properties_file_reads_back() -> None:
    import javaproperties  # type: ignore[import-untyped,unused-ignore]

    text = render_fix(fix("strong-algorithms", value="NativePRNGNonBlocking:SUN"))
    assert javaproperties.loads(text) == {
        "securerandom.strongAlgorithms": "NativePRNGNonBlocking:SUN"
    }


@pytest.mark.parametrize("inherits", [True, False])
def test_a_new_setenv_is_what_the_editor_would_leave_alone(inherits: bool) -> None:  # noqa: FBT001 - a parameter
    text = templates.render(
        "fix/tomcat-setenv/setenv.sh.j2",
        egd="file:/dev/urandom",
        inherits=inherits,
        comment=COMMENT,
    )
    assert set_egd(text.encode(), "file:/dev/urandom").content == text.encode()
    assert ('. "$CATALINA_HOME/bin/setenv.sh"' in text) == inherits
