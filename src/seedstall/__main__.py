"""``python -m seedstall``, and the program ``seedstall``."""

from __future__ import annotations

import gc
import signal


def main() -> None:
    """Run it. Ctrl-C while it is still being imported ends it at once and in silence, not with Python's traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # A run is short and makes few cycles: the collector's many small rounds, most of them while modules are imported,
    # cost a twentieth of it.
    gc.set_threshold(50_000, 20, 50)
    from seedstall.cli import app  # noqa: PLC0415 - the handler and the threshold first

    app.main()


if __name__ == "__main__":
    main()
