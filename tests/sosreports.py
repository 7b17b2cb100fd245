"""Sosreports as sos 3 and sos 4 lay them out, of a host whose truth is known: CentOS 7, a dry pool, a waiting JVM."""

from __future__ import annotations

JAVA = (
    "/usr/lib/jvm/java-1.8.0-openjdk/bin/java -Ddb.password=geheim -Dcatalina.home=/opt/tomcat"
    " -classpath /opt/tomcat/bin/bootstrap.jar:/opt/tomcat/bin/tomcat-juli.jar"
    " org.apache.catalina.startup.Bootstrap start"
)
_HEAD = "F S UID        PID  PPID   LWP  C NLWP PRI  NI ADDR SZ WCHAN  STIME TTY          TIME CMD"
_THREAD = (
    "{f} S tomcat    8712     1  {tid}  0    3  80   0 - 2213942 {wchan} 22:50 ?      00:00:03 "
    + JAVA
)
PS_THREADS = "\n".join(
    (
        _HEAD,
        "4 S root         1     0     1  0    1  80   0 - 42345 ep_pol Nov29 ?        00:00:05 /usr/lib/systemd",
        _THREAD.format(f=4, tid=8712, wchan="futex_"),
        _THREAD.format(f=1, tid=8713, wchan="random"),
        _THREAD.format(f=1, tid=8714, wchan="futex_"),
        "",
    )
).encode()
PS = (
    b"USER       PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n"
    b"root         1  0.4  0.0  59252 24304 ?        -    16:30   1:53 /usr/lib/systemd/systemd\n"
    b"root         -  0.4    -      -     - -        Ss   16:30   1:53 -\n"
    b"tomcat    8712  0.4  0.0  59252 24304 ?        -    16:30   1:53 " + JAVA.encode() + b"\n"
)
SYSCTL = (
    b"kernel.osrelease = 3.10.0-957.el7.x86_64\n"
    b"kernel.random.boot_id = 6d4c6b5a-0000-0000-0000-000000000000\n"
    b"kernel.random.entropy_avail = 12\n"
    b"kernel.random.poolsize = 4096\n"
    b"kernel.random.read_wakeup_threshold = 64\n"
    b"kernel.random.urandom_min_reseed_secs = 60\n"
    b"kernel.random.uuid = 6d4c6b5a-0000-0000-0000-000000000001\n"
    b"kernel.random.write_wakeup_threshold = 896\n"
)
UNAME = b"Linux app1 3.10.0-957.el7.x86_64 #1 SMP Thu Nov 8 23:39:32 UTC 2018 x86_64 x86_64 x86_64 GNU/Linux\n"
STATUS = b"""Name:	java
State:	S (sleeping)
Tgid:	8712
Pid:	8712
PPid:	1
TracerPid:	0
Uid:	53	53	53	53
Gid:	53	53	53	53
Threads:	3
SigQ:	0/31180
"""
SOS_4 = {
    "version.txt": b"sos report: 4.5.6\n",
    "proc/8712/status": STATUS,
    "proc/8712/limits": b"",
    "proc/sys/kernel/random/boot_id": b"6d4c6b5a-0000-0000-0000-000000000000\n",
    "sos_commands/process/ps_-elfL": PS_THREADS,
    "sos_commands/process/ps_auxwwwm": PS,
    "sos_commands/kernel/uname_-a": UNAME,
    "sos_commands/kernel/sysctl_-a": SYSCTL,
    "sos_commands/kernel/dmesg": b"[    0.000000] Linux version 3.10.0-957.el7.x86_64\n",
    "etc/os-release": b'ID="centos"\nVERSION_ID="7"\n',
    "var/log/tomcat/catalina.out": b"30-Nov-2026 22:50:01.000 INFO [main] x\n",
    "var/log/secure": b"nobody reads that\n",
}
SOS_3 = {
    "version.txt": b"sosreport: 3.9\n",
    "sos_commands/process/ps_auxwww": PS,
    "sos_commands/kernel/uname_-a": UNAME,
    "proc/sys/kernel/random/boot_id": b"6d4c6b5a-0000-0000-0000-000000000000\n",
}
