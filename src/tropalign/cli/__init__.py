"""Command line: parsers, help, man pages and completion."""
