"""HotSpot's own threads by their names in the kernel, which keeps 15 characters of a name.

``os::set_native_thread_name`` gives them from JDK 9 on (JDK-7102541); on 8 all threads are called ``java``.
"""

from __future__ import annotations

COLLECTORS = ("GC Thread", "G1 ", "ParGC", "Gang worker", "ZWorker", "ZDriver", "Shenandoah")
"""The threads that collect. Serial collects in the VM's own."""
COLLECTORS_IN_DUMPS = (*COLLECTORS, "GC task thread#", "Concurrent Mark-Sweep")
"""The same, with the names that dumps of 8 give."""
OF_COLLECTOR = (*COLLECTORS, "ZStat", "VM Thread")
"""The collector's, and the thread in which a pause is run."""
OF_MACHINE = (
    *OF_COLLECTOR, "C1 Compiler", "C2 Compiler", "Sweeper", "Signal Dispatch", "Service Thread", "VM Periodic",
    "Monitor Deflat", "Notification Th", "Reference Handl", "Finalizer", "Common-Cleaner", "Attach Listener", "JVMCI",
)  # fmt: skip
"""All that no program starts."""
SEEDER = "SeedGenerator T"
"""The thread of ``sun.security.provider.SeedGenerator$ThreadedSeedGenerator``: the JDK's, started by a seeding."""
