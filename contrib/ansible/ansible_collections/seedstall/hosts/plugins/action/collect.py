"""``seedstall.hosts.collect``: the collector over the host's connection, the diagnosis on the controller.

An action plugin, since it must not need Python on the host, and must not put the script down there as ``script`` does:
the script goes in by standard input, the tar comes back by standard output.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

MOST_BYTES = 256 << 20
"""Of one bundle: a host that sends more is not believed."""


class ActionModule(ActionBase):
    """See the module of the same name for its options."""

    TRANSFERS_FILES = False
    _requires_connection = True
    _collector = b""
    _left_out = 0

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Collect and diagnose."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        del tmp
        _, options = self.validate_argument_spec(
            argument_spec={
                "pid": {"type": "int"},
                "at_most": {"type": "int", "default": 10},
                "passive": {"type": "bool", "default": False},
                "signal": {"type": "bool", "default": False},
                "takes": {"type": "int", "default": 1},
                "every": {"type": "int", "default": 5},
                "timeout": {"type": "int", "default": 60},
                "dest": {"type": "path"},
                "seedstall": {"type": "str", "default": "seedstall"},
            }
        )
        if self._task.check_mode:
            options |= {"passive": True, "signal": False, "dest": None}
        self._options = options
        host = (task_vars or {}).get("inventory_hostname", "host")
        jvms = [self._jvm(pid, str(host)) for pid in self._pids()]
        told = {"jvms": jvms, "changed": False}
        if self._left_out:
            result["msg"] = f"{self._left_out} more JVMs were not looked at (at_most)"
        result.update(
            told, ansible_facts={"seedstall": {"jvms": jvms}}, _ansible_facts_cacheable=True
        )
        if jvms and all(jvm["error"] for jvm in jvms):
            result.update(failed=True, msg="; ".join(jvm["error"] for jvm in jvms))
        return result

    def _pids(self) -> list[int]:
        if self._options["pid"] is not None:
            return [self._options["pid"]]
        code, out, err = self._script("--list")
        if code != 0:
            raise AnsibleActionFail(err or f"the collector ended with {code}")
        found = [int(word) for word in out.split() if word.isdigit()]
        self._left_out = max(0, len(found) - self._options["at_most"])
        return found[: self._options["at_most"]]

    def _script(self, *arguments: str) -> tuple[int, bytes, str]:
        """Run the collector on the host: its exit code, what it wrote, and what it said."""
        if not self._collector:
            self._collector = self._seedstall("capture", "--script").stdout
        # Bytes that are no text come back as they were (PEP 383).
        done = self._low_level_execute_command(
            f"sh -s -- {' '.join(arguments)}",
            sudoable=True,
            in_data=self._collector,
            encoding_errors="surrogateescape",
        )
        out = done.get("stdout", "").encode("utf-8", "surrogateescape")
        lines = done.get("stderr", "").strip().splitlines()
        # ssh and sudo say things of their own before it.
        own = [line for line in lines if line.startswith("seedstall-collect: ")]
        return done["rc"], out, "; ".join(own or lines[-3:])

    def _seedstall(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        command = [self._options["seedstall"], *arguments]
        try:
            return subprocess.run(  # noqa: S603 - the controller's own program, named in the playbook
                command, capture_output=True, check=False, stdin=subprocess.DEVNULL
            )
        except OSError as error:
            message = f"{command[0]} cannot be run on the controller: {error.strerror}"
            raise AnsibleActionFail(message) from error

    def _jvm(self, pid: int, host: str) -> dict[str, Any]:
        """One JVM's verdict, or why there is none."""
        jvm: dict[str, Any] = dict.fromkeys(
            ("status", "cause", "confidence", "sentence", "bundle", "error"), ""
        )
        jvm["pid"] = pid
        code, bundle, said = self._script("--pid", str(pid), *self._words())
        if code != 0 or not bundle:
            jvm["error"] = said or f"the collector ended with {code}"
        elif len(bundle) > MOST_BYTES:
            jvm["error"] = f"the host sent more than {MOST_BYTES >> 20} MiB"
        else:
            self._diagnose(jvm, bundle, host)
        return jvm

    def _words(self) -> list[str]:
        options = self._options
        words = ["--passive"] if options["passive"] else []
        words += ["--signal"] if options["signal"] else []
        for name in ("takes", "every", "timeout"):
            words += [f"--{name}", str(options[name])]
        return words

    def _diagnose(self, jvm: dict[str, Any], bundle: bytes, host: str) -> None:
        with tempfile.TemporaryDirectory(prefix="seedstall-") as temporary:
            folder = Path(self._options["dest"] or temporary)
            folder.mkdir(parents=True, exist_ok=True)
            # "web 1" and "web_1" are two hosts: no two names may give one file.
            path = folder / f"{quote(host, safe='')}-{jvm['pid']}.tar"
            # Another look's bundle stays until this one is whole; nobody else reads it.
            with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
                file.write(bundle)
            Path(file.name).replace(path)
            if self._options["dest"]:
                jvm["bundle"] = str(path)
            done = self._seedstall("diagnose", str(path), "--format", "json")
        try:
            verdict = json.loads(done.stdout)["verdict"]
        except (ValueError, KeyError, TypeError):
            said = done.stderr.decode("utf-8", "replace").strip()
            jvm["error"] = said or f"seedstall diagnose ended with {done.returncode}"
        else:
            jvm.update(
                {
                    key: verdict.get(key) or ""
                    for key in ("status", "cause", "confidence", "sentence")
                }
            )
