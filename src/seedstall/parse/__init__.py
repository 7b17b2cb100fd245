"""Bytes and text to values. Pure: the same input gives the same value, and no input is trusted."""
