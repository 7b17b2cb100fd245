"""What changes, signals or starts something, each behind its preflight."""
