"""HotSpot as it lies in memory: tables, heap objects, code cache, methods, frames, threads, monitors.

Nothing here reads anything by itself: all of it works on a `memory.Memory`, whether that is a running JVM's
(``/proc/PID/mem``) or an ELF core's. The target's memory is hostile input: every loop has a bound, every pointer is
followed only through a read that may fail, and all failures are `ValueError`.
"""
