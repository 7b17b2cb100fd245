"""The command line: one module a command, exit codes, the console."""
