"""What ``seedstall.hosts.collect`` takes and gives. The work is done on the controller: plugins/action/collect.py."""

DOCUMENTATION = r"""
module: collect
short_description: Says why a Java program on a host hangs
description:
  - Runs the shell script of C(seedstall capture --script) on the host, through whatever connection the host has, with
    the script on its standard input. The host needs C(sh), C(cat), C(tr) and C(sleep), and neither Python nor a JDK.
    Nothing is written there.
  - The bundle that comes back is kept on the controller and diagnosed there by C(seedstall diagnose).
options:
  pid:
    description:
      - The JVM, or the script or service that started it. Without it every JVM that is seen on the host.
    type: int
  at_most:
    description: Without I(pid), no more JVMs of one host than these are looked at.
    type: int
    default: 10
  passive:
    description: Ask nothing of the JVM (no jstack). Always so in check mode.
    type: bool
    default: false
  signal:
    description: Where jstack is not there or fails, send SIGQUIT, behind guards, and take the dump from the JVM's log.
    type: bool
    default: false
  takes:
    description: Look so often.
    type: int
    default: 1
  every:
    description: Seconds between two looks.
    type: int
    default: 5
  timeout:
    description: Seconds for one JVM, on the host. It ends itself; the task's own C(timeout) ends the connection too.
    type: int
    default: 60
  dest:
    description: A directory of the controller for the bundles. Without it, and in check mode, none is kept.
    type: path
  seedstall:
    description: The program on the controller.
    type: str
    default: seedstall
attributes:
  check_mode:
    support: full
    description: Reads alone, and keeps no bundle.
author:
  - The seedstall developers
"""

EXAMPLES = r"""
- name: Why does it hang?
  seedstall.hosts.collect:
    dest: bundles
  register: looked
  become: true

- name: Tell
  ansible.builtin.debug:
    msg: "{{ looked.jvms | map(attribute='sentence') }}"
"""

RETURN = r"""
jvms:
  description: One entry for each JVM.
  returned: always
  type: list
  elements: dict
  sample:
    - pid: 8712
      status: stalled
      cause: blocking-seed
      confidence: confirmed
      sentence: '"main" has waited 3 min in read of /dev/random (fd 22, 20 bytes) to seed SHA1PRNG'
      bundle: bundles/web1-8712.tar
      error: ""
"""
