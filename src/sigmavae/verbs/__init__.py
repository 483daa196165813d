"""The program's verbs, one a file: parse, call, print."""
