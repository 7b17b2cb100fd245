from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.machine import CHECKOUT, Seedstall

WRONG = 'CATALINA_OPTS="$CATALINA_OPTS -Djava.security.edg=file:/dev/urandom"\n'
RIGHT = 'CATALINA_OPTS="$CATALINA_OPTS -Djava.security.egd=file:/dev/urandom"\n'
NOTED = 'CATALINA_OPTS="$CATALINA_OPTS -Djava.security.egd=file:/dev/./urandom"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "wrong.sh").write_text(WRONG)
    (tmp_path / "right.sh").write_text(RIGHT)
    (tmp_path / "noted.sh").write_text(NOTED)
    (tmp_path / "blob.bin").write_bytes(b"\0\1random")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["right.sh"], 0),
        (["noted.sh"], 0),
        (["noted.sh", "--fail-on", "note"], 10),
        (["wrong.sh"], 10),
        (["right.sh", "wrong.sh"], 10),
        (["wrong.sh", "--exit-zero"], 0),
        (["wrong.sh", "--fail-on", "error"], 0),
        (["blob.bin"], 4),
        (["blob.bin", "--fail-on", "never"], 4),
        (["blob.bin", "wrong.sh"], 10),
        (["nowhere.sh"], 3),
        ([], 2),
        (["right.sh", "--jdk", "x"], 2),
        (["right.sh", "--jdk", "7u80"], 10),
        (["right.sh", "--kernel", "6.1.0", "--fail-on", "note"], 10),
    ],
)
def test_exit_codes(folder: Path, seedstall: Seedstall, arguments: list[str], code: int) -> None:
    assert seedstall("lint", *arguments, cwd=folder).returncode == code


def test_the_first_line_is_the_answer(folder: Path, seedstall: Seedstall) -> None:
    ran = seedstall("lint", "-q", "wrong.sh", cwd=folder)

    assert ran.stdout.startswith("at-risk (ineffective-fix, confirmed): wrong.sh:1: ")
    assert ran.stdout.count("\n") == 1
    assert ran.stderr == ""


def test_what_of_a_folder_is_not_read_is_said(folder: Path, seedstall: Seedstall) -> None:
    ran = seedstall("lint", ".", cwd=folder)
    assert "note: .: 1 file is no settings by name and not read" in ran.stderr
    (folder / "blob.bin").unlink()
    assert seedstall("lint", ".", cwd=folder).stderr == ""


def test_an_error_reads_well(folder: Path, seedstall: Seedstall) -> None:
    ran = seedstall("lint", "nowhere.sh", cwd=folder)

    assert ran.stderr == (
        "error: there is no file nowhere.sh\nhint: name settings files, a folder, or - for stdin\n"
    )


def test_forms(folder: Path, seedstall: Seedstall) -> None:
    assert (
        json.loads(seedstall("lint", "--format", "json", "wrong.sh", cwd=folder).stdout)["schema"]
        == 1
    )
    sarif = json.loads(seedstall("lint", "--format", "sarif", "wrong.sh", cwd=folder).stdout)
    assert sarif["version"] == "2.1.0"
    markdown = seedstall("lint", "--format", "markdown", "wrong.sh", cwd=folder).stdout
    assert "## Evidence: SS203 seed-setting-ignored" in markdown
    assert "corrected-line" not in markdown, "no surface is called so"
    assert RIGHT.strip() in markdown


def test_a_report_in_a_file(folder: Path, seedstall: Seedstall) -> None:
    ran = seedstall("lint", "wrong.sh", "-o", "out.txt", cwd=folder)

    assert ran.stdout == ""
    assert (folder / "out.txt").read_text().startswith("at-risk")


def test_a_folder_gives_its_settings_files_alone(folder: Path, seedstall: Seedstall) -> None:
    (folder / "sub").mkdir()
    (folder / "sub/Dockerfile").write_text("FROM a\nENV A=-Djava.security.edg=file:/dev/urandom\n")
    (folder / "other.sh").write_text("nothing of ours\n")
    told = json.loads(seedstall("lint", "--format", "json", ".", cwd=folder).stdout)

    assert [f["name"] for f in told["facts"]["files"]] == [
        "noted.sh", "right.sh", "sub/Dockerfile", "wrong.sh",
    ]  # fmt: skip


def test_standard_input_and_a_command_line(folder: Path, seedstall: Seedstall) -> None:
    ran = seedstall(
        "lint", "-q", "java -jar a.jar -Djava.security.egd=file:/dev/urandom", cwd=folder
    )
    assert ran.stdout.startswith("at-risk (ineffective-fix, confirmed): command line:1: ")

    piped = subprocess.run(
        [sys.executable, "-m", "seedstall", "lint", "-q", "-"],
        input=WRONG,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(CHECKOUT / "src")},
    )
    assert piped.stdout.startswith("at-risk (ineffective-fix, confirmed): -:1: ")


def test_secrets_are_masked_in_every_form(folder: Path, seedstall: Seedstall) -> None:
    text = 'export JAVA_OPTS="-Dpassword=hunter2 -Djava.security.edg=file:/dev/urandom"\n'
    (folder / "secret.sh").write_text(text)

    for form in ("text", "json", "sarif", "markdown"):
        assert "hunter2" not in seedstall("lint", "--format", form, "secret.sh", cwd=folder).stdout
    shown = seedstall("lint", "--no-redact", "--format", "json", "secret.sh", cwd=folder).stdout
    assert "hunter2" in shown


def test_a_device_is_not_read(folder: Path, seedstall: Seedstall) -> None:
    ran = seedstall("lint", "/dev/zero", cwd=folder)

    assert ran.returncode == 4
    assert "/dev/zero" in ran.stdout
