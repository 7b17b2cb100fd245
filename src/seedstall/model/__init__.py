"""Pure types: what was read, what is known, what is found. No I/O, no third-party code."""
