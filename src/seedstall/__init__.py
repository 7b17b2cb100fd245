"""seedstall: says why a Java program hangs or crawls at start, proves it, and writes the fix."""

__version__ = "0.1.0"
