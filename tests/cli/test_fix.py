from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.machine import Seedstall
from typer.testing import CliRunner

from seedstall.cli import fix as module
from seedstall.cli.app import application
from seedstall.effect.apply import apply
from seedstall.knowledge.surfaces import BY_NAME
from seedstall.model.errors import NoSuchTargetError, SeedstallError, UsageError
from seedstall.remedy.request import GivenFile

DUMP = """\
Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode, sharing):

"main" #1 prio=5 os_prio=0 tid=0x00007f07c4018f90 nid=0x2456 runnable  [0x00007f07cc1fc000]
   java.lang.Thread.State: RUNNABLE
\tat java.io.FileInputStream.readBytes(java.base@17.0.15/Native Method)
\tat java.io.FileInputStream.read(java.base@17.0.15/FileInputStream.java:276)
\tat java.io.FilterInputStream.read(java.base@17.0.15/FilterInputStream.java:132)
\tat sun.security.provider.{frames}
\tat org.apache.catalina.util.SessionIdGeneratorBase.createSecureRandom(SessionIdGeneratorBase.java:290)
"""
SHA1 = """SeedGenerator$URLSeedGenerator.getSeedBytes(java.base@17.0.15/SeedGenerator.java:544)
\tat sun.security.provider.SeedGenerator.generateSeed(java.base@17.0.15/SeedGenerator.java:144)
\tat sun.security.provider.SecureRandom$SeederHolder.<clinit>(java.base@17.0.15/SecureRandom.java:211)
\tat sun.security.provider.SecureRandom.engineNextBytes(java.base@17.0.15/SecureRandom.java:229)
\tat java.security.SecureRandom.nextBytes(java.base@17.0.15/SecureRandom.java:758)"""
STRONG = """NativePRNG$RandomIO.readFully(java.base@17.0.15/NativePRNG.java:425)
\tat sun.security.provider.NativePRNG$RandomIO.getMixRandom(java.base@17.0.15/NativePRNG.java:405)
\tat sun.security.provider.NativePRNG$RandomIO.implNextBytes(java.base@17.0.15/NativePRNG.java:540)
\tat sun.security.provider.NativePRNG$Blocking.engineNextBytes(java.base@17.0.15/NativePRNG.java:269)
\tat java.security.SecureRandom.nextBytes(java.base@17.0.15/SecureRandom.java:758)"""
OPTION = b"-Djava.security.egd=file:/dev/urandom"


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    file = tmp_path / "dump.txt"
    file.write_text(DUMP.replace("{frames}", SHA1), "utf-8")
    return file


@pytest.fixture
def strong(tmp_path: Path) -> Path:
    file = tmp_path / "strong.txt"
    file.write_text(DUMP.replace("{frames}", STRONG), "utf-8")
    return file


def run(*arguments: object) -> Any:
    result = CliRunner().invoke(application(), ["fix", *map(str, arguments)])
    if isinstance(result.exception, SeedstallError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


def test_the_places_are_listed() -> None:
    lines = run("--list").stdout.splitlines()
    names = [line.split()[0] for line in lines if line.startswith("  ")]
    assert sorted(names) == sorted(BY_NAME)
    assert lines[0] == "a command line:"
    assert (
        "  tomcat-setenv        patch of the instance's own bin/setenv.sh (CATALINA_OPTS) [--apply]"
        in lines
    )


def test_a_dump_gives_a_patch(dump: Path) -> None:
    done = run(dump, "--surface", "tomcat-setenv")
    assert b"+++ b/bin/setenv.sh" in done.stdout_bytes
    assert OPTION in done.stdout_bytes
    assert "famous" in done.stderr
    assert run(dump, "--surface", "tomcat-setenv", "-q").stderr == ""


def test_flag_command_and_value(dump: Path) -> None:
    assert run(dump, "--surface", "java-opts").stdout_bytes == OPTION + b"\n"
    assert run(dump, "--surface", "jarsigner").stdout_bytes == b"jarsigner -J" + OPTION + b"\n"
    assert (
        run(dump, "--surface", "java-opts", "--set-egd", "file:/x").stdout
        == "-Djava.security.egd=file:/x\n"
    )


def test_the_host(dump: Path) -> None:
    assert "rngd" in run(dump, "--surface", "rngd", "--kernel", "3.10.0-957.el7").stdout
    for kernel in ("", "6.8.0-31-generic"):
        done = run(dump, "--surface", "rngd", "--kernel", kernel)
        assert done.stdout == ""
        assert done.stderr.startswith("nothing printed: ")


def test_what_cannot_help_prints_nothing_and_says_what_does(strong: Path) -> None:
    done = run(strong, "--surface", "tomcat-setenv", "-q")
    assert done.stdout == ""
    assert "securerandom.strongAlgorithms" in done.stderr
    assert "NativePRNGNonBlocking:SUN" in run(strong, "--surface", "strong-algorithms").stdout


def test_a_setting_that_is_right_prints_nothing(dump: Path) -> None:
    done = run(dump, "--surface", "java-opts", "--egd", "file:/dev/urandom")
    assert done.stdout == ""
    assert "already" in done.stderr


def test_it_prints_into_a_file(dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.patch"
    assert run(dump, "--surface", "java-opts", "-o", out).stdout == ""
    assert out.read_bytes() == OPTION + b"\n"
    out.write_text("mine")
    run(dump, "--surface", "rngd", "-o", out)
    assert out.read_text() == "mine", "nothing to print is no reason to empty a file"
    with pytest.raises(SeedstallError, match="No such file"):
        run(dump, "--surface", "java-opts", "-o", tmp_path / "none/x")


def test_it_prints_into_no_setenv_and_no_input(dump: Path, tmp_path: Path) -> None:
    script = tmp_path / "setenv.sh"
    script.write_text("mine\n")
    (tmp_path / "p").symlink_to(script)
    for out in (script, tmp_path / "p", tmp_path / "bin/../setenv.sh", dump):
        for surface in ("tomcat-setenv", "java-opts"):
            with pytest.raises(UsageError, match="-o") as error:
                run(dump, "--surface", surface, "-o", out)
            assert error.value.code == 2
    assert script.read_text() == "mine\n"
    assert dump.read_text().startswith("Full thread dump")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(SeedstallError, match="symbolic links"):
        run(dump, "--surface", "java-opts", "-o", tmp_path / "loop")


def test_strong_algorithms_are_refused_to_others(dump: Path) -> None:
    done = run(dump, "--surface", "strong-algorithms")
    assert done.stdout == ""
    assert "waits in SHA1PRNG's seeding and not in getInstanceStrong()" in done.stderr
    assert "strongAlgorithms" in run(dump, "--surface", "strong-algorithms", "--force").stdout


def test_a_text_that_shows_nothing_is_told(dump: Path, tmp_path: Path) -> None:
    prose = tmp_path / "prose.txt"
    prose.write_text("My server is slow, SecureRandom blocks on /dev/random probably.\n")
    done = run(prose, "--surface", "java-opts")
    assert done.stdout.startswith("-Djava.security.egd=")
    assert f"note: nothing in {prose} shows a wait for random bytes\n" in done.stderr
    assert "nothing in" not in run(dump, "--surface", "java-opts").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--surface", "nope"], "no surface is called nope"),
        (["--surface", "java-opts", "--apply", "--undo"], "contradicts"),
        (["--surface", "java-opts", "--undo"], "nothing to take back"),
        (["--surface", "java-opts", "--apply"], "printed, never written"),
        (["--surface", "tomcat-setenv", "--apply"], "needs the process"),
        (["--surface", "java-opts", "--attach", "--passive"], "contradicts"),
        (["--surface", "java-opts", "--attach", "--no-attach"], "contradicts"),
        (["--surface", "java-opts", "--set-egd", ""], "--set-egd"),
        (["--surface", "java-opts", "--set-egd", "a\nb"], "--set-egd"),
    ],
)
def test_what_is_asked_wrongly(dump: Path, arguments: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message) as error:
        run(dump, *arguments)
    assert error.value.code == 2


def test_a_file_that_was_not_written_is_named(dump: Path) -> None:
    with pytest.raises(SeedstallError, match=f"nothing of seedstall's stands beside {dump}"):
        run(dump, "--undo")


def test_without_the_process_the_file_is_named(tmp_path: Path) -> None:
    """Tomcat was started anew, and the fix is to go: no process is left whose setenv.sh it would be."""
    script = tmp_path / "bin/setenv.sh"
    script.parent.mkdir()
    for named in (script, script.parent, tmp_path):
        script.write_bytes(b"old\n")
        root = os.open("/", os.O_PATH)
        apply(root, str(script), b"new\n", read=b"old\n")
        os.close(root)
        assert "would have put" in run(named, "--undo", "--dry-run").stderr
        assert script.read_bytes() == b"new\n"
        assert "put" in run(named, "--undo").stderr
        assert script.read_bytes() == b"old\n"
        with pytest.raises(SeedstallError, match="nothing of seedstall's"):
            run(named, "--undo")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    script.unlink()
    (elsewhere / "setenv.sh").write_bytes(b"x")
    script.symlink_to(elsewhere / "setenv.sh")
    (tmp_path / "other/bin").mkdir(parents=True)
    (tmp_path / "other/bin/setenv.sh").symlink_to(script)
    with pytest.raises(SeedstallError):
        run(tmp_path / "other", "--undo")


def test_of_a_jvm_that_has_ended_its_release_is_enough(seedstall: Seedstall) -> None:
    """What the report of a `run` whose JVM is gone says to type."""
    done = seedstall("fix", "--jdk", "17.0.21", "--surface", "java-opts")
    assert (done.returncode, done.stdout) == (0, "-Djava.security.egd=file:/dev/urandom\n")
    assert "what was said" in done.stderr
    assert seedstall("fix", "--jdk", "8", "--surface", "tomcat-setenv").stdout.startswith("# patch")
    assert seedstall("fix", "--jdk", "17", "--undo").returncode == 2
    assert seedstall("fix", "--jdk", "17", "--surface", "java-opts", "--apply").returncode == 2


def test_no_target(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no target"):
        run("--surface", "java-opts")
    with pytest.raises(NoSuchTargetError):
        run(tmp_path / "none", "--surface", "java-opts")
    with pytest.raises(NoSuchTargetError, match="not a JVM"):
        run(os.getpid(), "--surface", "java-opts")


def test_a_terminal_is_shown_no_controls(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    module._print(b"a\x1b[2J\xff\r\n\tb\n", None)
    assert capfd.readouterr().out == "a\\x1b[2J\\xff\\x0d\n\tb\n"


def test_bytes_go_out_as_they_are(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    module._print(b"\xff\xe9\r\n", None)
    assert capfdbinary.readouterr().out == b"\xff\xe9\r\n"


def test_as_a_program(seedstall: Seedstall, dump: Path) -> None:
    done = seedstall("fix", dump, "--surface", "java-opts")
    assert (done.returncode, done.stdout.encode()) == (0, OPTION + b"\n")
    done = seedstall("fix", dump)
    assert done.returncode == 0
    assert "note: --surface tomcat-setenv, by what the target is" in done.stderr
    done = seedstall("fix", "--jdk", "17")
    assert done.returncode == 2
    assert done.stderr.startswith("error: no --surface\nhint: one of: java-opts, ")


# A file as the target


def test_a_file_that_is_named_is_edited_written_and_taken_back(tmp_path: Path) -> None:
    unit = tmp_path / "app.service"
    before = b"[Service]\nExecStart=/usr/bin/java -jar /srv/app.jar\n"
    unit.write_bytes(before)
    unit.chmod(0o640)
    printed = run(unit, "--jdk", "17").stdout_bytes
    assert b"+Environment=" in printed
    assert OPTION in printed
    assert "would write" in run(unit, "--jdk", "17", "--apply", "--dry-run").stderr
    assert unit.read_bytes() == before
    done = run(unit, "--jdk", "17", "--apply")
    assert OPTION in unit.read_bytes()
    assert unit.stat().st_mode & 0o777 == 0o640
    assert f"seedstall fix {unit} --undo takes it back" in done.stderr
    again = run(unit, "--jdk", "17", "--apply")
    assert "already" in again.stderr
    run(unit, "--undo")
    assert unit.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["app.service"]


def test_evidence_beside_the_file_is_evidence(dump: Path, strong: Path, tmp_path: Path) -> None:
    file = tmp_path / "java.security"
    file.write_bytes(b"securerandom.source=file:/dev/random\n")
    assert b"+securerandom.source=file:/dev/urandom" in run(file, dump).stdout_bytes
    found = run(file, strong, "--surface", "java-security").stdout_bytes
    assert b"+securerandom.strongAlgorithms=NativePRNGNonBlocking:SUN" in found
    (tmp_path / "setenv.sh").write_bytes(b"")
    with pytest.raises(UsageError, match="several files to edit"):
        run(file, tmp_path / "setenv.sh", "--jdk", "17")


def test_a_link_that_is_named_leads_to_the_file(tmp_path: Path) -> None:
    real = tmp_path / "etc/java.security"
    real.parent.mkdir()
    real.write_bytes(b"securerandom.source=file:/dev/random\n")
    link = tmp_path / "java.security"
    link.symlink_to(real)
    head = run(link, "--jdk", "17").stdout_bytes.splitlines()[0]
    assert head == b"# patch -p1 -d %s < java.security.patch" % bytes(real.parent)
    run(link, "--jdk", "17", "--apply")
    assert link.is_symlink()
    assert b"urandom" in real.read_bytes()
    run(link, "--undo")
    assert b"urandom" not in real.read_bytes()


def test_who_keeps_a_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / "setenv.sh"
    file.write_bytes(b"# This file is managed by Puppet\n")
    assert "Puppet keeps it" in run(file, "--jdk", "17").stderr


def test_a_patch_is_not_printed_into_the_file_it_is_for(tmp_path: Path) -> None:
    file = tmp_path / "app.service"
    file.write_bytes(b"[Service]\nExecStart=/bin/true\n")
    (tmp_path / "same").hardlink_to(file)
    for out in (file, tmp_path / "same"):
        with pytest.raises(UsageError, match="-o"):
            run(file, "--jdk", "17", "-o", out)
    assert file.read_bytes().startswith(b"[Service]")


def test_a_log_is_evidence_whatever_it_looks_like(dump: Path, tmp_path: Path) -> None:
    log = tmp_path / "catalina.out"
    log.write_bytes(b"kind: x\nname=value\njava -jar x\n" + dump.read_bytes())
    assert "--surface tomcat-setenv, by what the target is" in run(log).stderr


@pytest.mark.root
@pytest.mark.parametrize("undone", [False, True])
def test_a_link_on_the_way_that_another_user_planted_is_not_followed(
    tmp_path: Path, *, undone: bool
) -> None:
    (tmp_path / "real").mkdir()
    file = tmp_path / "real/setenv.sh"
    file.write_text("", "utf-8")
    (tmp_path / "bin").symlink_to("real")
    named = tmp_path / "bin/setenv.sh"
    if undone:
        run(named, "--jdk", "17", "--apply")
    before = file.read_bytes()
    os.chown(tmp_path / "bin", 65534, 65534, follow_symlinks=False)
    with pytest.raises(SeedstallError, match="bin is a link that user 65534 made"):
        run(named, *(("--undo",) if undone else ("--jdk", "17", "--apply")))
    assert file.read_bytes() == before


def test_a_file_of_another_root_is_not_this_hosts(tmp_path: Path) -> None:
    file = tmp_path / "Dockerfile"
    file.write_text("FROM x\n", "utf-8")
    module._check_here(str(file), GivenFile(str(file), b""))
    other = GivenFile(str(tmp_path / "elsewhere/Dockerfile"), b"")
    with pytest.raises(UsageError, match="leads into another process's root"):
        module._check_here(str(file), other)


def test_a_settings_file_that_is_too_large_is_said_to_be(tmp_path: Path) -> None:
    file = tmp_path / "setenv.sh"
    file.write_bytes(b"#\n" * (1 << 20))
    for surface in ((), ("--surface", "tomcat-setenv")):
        with pytest.raises(SeedstallError, match="larger than 1024 KiB, and no settings file is"):
            run(file, "--jdk", "17", *surface)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("setenv.sh", 'CATALINA_OPTS="-Djava.security.egd=file:/dev/urandom"\n'),
        ("java.security", "securerandom.source=file:/dev/urandom\n"),
        ("x.service", "[Service]\nEnvironment=JAVA_OPTS=-Djava.security.egd=file:/dev/urandom\n"),
    ],
)
def test_of_a_jdk_that_is_not_known_a_value_that_cures_most_is_kept(
    tmp_path: Path, name: str, text: str
) -> None:
    file = tmp_path / name
    file.write_text(text, "utf-8")
    result = run(file)
    assert result.stdout == ""
    assert "file:/dev/urandom already" in result.stderr
    assert "file:/dev/./urandom" in run(file, "--jdk", "7").stdout
    file.write_text(text.replace("/dev/urandom", "/dev/random"), "utf-8")
    assert "file:/dev/./urandom" in run(file).stdout
