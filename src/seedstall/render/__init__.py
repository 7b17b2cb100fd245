"""The report for people and for programs, and the text of fixes."""
