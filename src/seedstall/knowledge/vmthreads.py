"""HotSpot's own threads by their names in the kernel, which keeps 15 characters of a name.

``os::set_native_thread_name`` gives them from JDK 9 on (JDK-7102541); on 8 all threads are called ``java``.
"""

from __future__ import annotations

OF_COLLECTOR = (
    "GC Thread", "G1 ", "ParGC", "Gang worker", "ZWorker", "ZDriver", "ZStat", "Shenandoah", "VM Thread",
)  # fmt: skip
"""The collector's, and the thread in which a pause is run."""
OF_MACHINE = (
    *OF_COLLECTOR, "C1 Compiler", "C2 Compiler", "Sweeper", "Signal Dispatch", "Service Thread", "VM Periodic",
    "Monitor Deflat", "Notification Th", "Reference Handl", "Finalizer", "Common-Cleaner", "Attach Listener", "JVMCI",
)  # fmt: skip
"""All that no program starts."""
SEEDER = "SeedGenerator T"
"""The thread of ``sun.security.provider.SeedGenerator$ThreadedSeedGenerator``: the JDK's, started by a seeding."""
