"""What stands below the help of each command: command lines, and its exit codes. Read by ``--help`` alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from seedstall.cli.console import Exit

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "": (
        "seedstall list",
        "seedstall diagnose 8712",
        "seedstall fix 8712 --surface tomcat-setenv",
        "seedstall explain SS101",
        'eval "$(seedstall --show-completion bash)"',
    ),
    "diagnose": (
        "seedstall diagnose 8712",
        "seedstall diagnose --all --passive",
        "seedstall diagnose dump1.txt dump2.txt catalina.out",
        "jstack 8712 | seedstall diagnose -",
        "seedstall diagnose 8712 --format html -o report.html",
    ),
    "list": (
        "seedstall list",
        "seedstall list --watch 5",
        "seedstall list --format json -o jvms.json",
        "seedstall list --format prometheus",
    ),
    "run": (
        "seedstall run -- java -jar app.jar",
        "seedstall run --port 8080 -- bin/catalina.sh run",
        "seedstall run --until 'Server startup' -o report.txt -- bin/catalina.sh run",
        "seedstall run --exit-verdict --for 2m -- ./start.sh",
    ),
    "fix": (
        "seedstall fix --list",
        "seedstall fix 8712 --surface tomcat-setenv",
        "seedstall fix Dockerfile --jdk 17",
        "seedstall fix 8712 --surface tomcat-setenv --apply",
        "seedstall fix bin/setenv.sh --undo",
    ),
    "dump": (
        "seedstall dump 8712",
        "seedstall dump 8712 --memory -o dump.txt",
        "seedstall dump core.8712 --sysroot /srv/image",
        "seedstall dump 8712 --dry-run",
    ),
    "capture": (
        "seedstall capture 8712 -o app.tar.gz",
        "seedstall capture 8712 catalina.out -o app.tar.gz --anonymise",
        "seedstall capture 8712 -o app.tar.gz --takes 3 --every 5s",
        "seedstall capture --script | ssh HOST sh -s -- --pid 8712 >bundle.tar",
    ),
    "kernel": (
        "seedstall kernel",
        "seedstall kernel 8712",
        "seedstall kernel --kernel 4.19.0-27-amd64",
        "seedstall kernel --for 10s --format json",
    ),
    "lint": (
        "seedstall lint Dockerfile",
        "seedstall lint deploy/ --kernel 4.19.0-27-amd64",
        "seedstall lint 'java -Djava.security.egd=file:/dev/urandom -jar app.jar'",
        "seedstall lint . --format sarif -o seedstall.sarif",
    ),
    "explain": (
        "seedstall explain",
        "seedstall explain SS101",
        "seedstall explain blocking-seed",
        "seedstall explain --schema",
    ),
    "demo": (
        "seedstall demo",
        "seedstall demo --java /usr/bin/java",
        "seedstall demo --java /usr/lib/jvm/java-17-openjdk-amd64",
    ),
    "verify": (
        "seedstall verify 8712",
        "seedstall verify --java /usr/bin/java --only SHA1PRNG",
        "seedstall verify 8712 --set-egd file:/dev/./urandom",
        "seedstall verify --java /usr/lib/jvm/java-8/bin/java --sysroot /srv/old-root",
    ),
    "bench": (
        "seedstall bench kernel",
        "seedstall bench kernel --format json -o before.json",
        "seedstall bench kernel --baseline before.json",
        "seedstall bench jvm --java /usr/bin/java --plot jvm.svg",
    ),
}

_EVERY = {
    Exit.CLEAR: "done",
    Exit.FAILED: "seedstall failed",
    Exit.USAGE: "usage",
    Exit.INTERRUPTED: "interrupted (Ctrl-C)",
}
"""What each command may end with."""
_NO_TARGET = "no such process, or not a JVM"
_OWN: Mapping[str, Mapping[Exit, str]] = {
    "diagnose": {
        Exit.CLEAR: "nothing found",
        Exit.NO_TARGET: "no such target, or not a JVM",
        Exit.UNKNOWN: "unknown: something that decides it could not be looked at",
        Exit.FOUND: "found, at or above --fail-on",
        Exit.INTERRUPTED: "interrupted (Ctrl-C): what was known by then is told",
    },
    "list": {Exit.CLEAR: "listed"},
    "run": {
        Exit.CLEAR: "the command's own exit code; with --exit-verdict: nothing found",
        Exit.UNKNOWN: "with --exit-verdict: unknown",
        Exit.FOUND: "with --exit-verdict: found, at or above --fail-on",
    },
    "fix": {
        Exit.CLEAR: "printed, written or taken back; or nothing to do, which stderr says",
        Exit.NO_TARGET: "no such target, or not a JVM",
    },
    "dump": {
        Exit.CLEAR: "printed",
        Exit.FAILED: "refused, or no answer",
        Exit.NO_TARGET: _NO_TARGET,
    },
    "capture": {Exit.CLEAR: "written", Exit.NO_TARGET: _NO_TARGET},
    "kernel": {
        Exit.CLEAR: "it does not block (or its pool is full)",
        Exit.NO_TARGET: "no such target",
        Exit.UNKNOWN: "unknown",
        Exit.FOUND: "at risk",
    },
    "lint": {
        Exit.CLEAR: "nothing found",
        Exit.NO_TARGET: "no such file",
        Exit.UNKNOWN: "a file could not be read or understood",
        Exit.FOUND: "found, at or above --fail-on",
    },
    "explain": {Exit.CLEAR: "printed"},
    "demo": {
        Exit.CLEAR: "it hung, was recognised and ran with the fix",
        Exit.FAILED: "it was not so, or could not be tried",
    },
    "verify": {
        Exit.CLEAR: "no use waits or fails",
        Exit.NO_TARGET: "not a java that can be tried",
        Exit.UNKNOWN: "some uses could not be tried",
        Exit.FOUND: "a use waits or fails, now or with the fix (strong: with --only strong)",
    },
    "bench": {Exit.CLEAR: "measured", Exit.NO_TARGET: "not a java that can be measured"},
}


def exit_codes(command: str) -> dict[Exit, str]:
    """What *command* may end with, by number."""
    return dict(sorted({**_EVERY, **_OWN.get(command, {})}.items()))


def epilogue(command: str) -> Iterator[tuple[str, list[str]]]:
    """The sections below the help of *command*, or of the program where it is ``""``."""
    yield "Examples", list(EXAMPLES.get(command, ()))
    if command:
        yield (
            "Exit codes",
            [f"{code.value:>3}  {text}" for code, text in exit_codes(command).items()],
        )
