"""Edits of settings files: one module a format; all else in the file stays as it is, byte for byte."""
