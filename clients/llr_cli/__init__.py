"""The command `llr`; `cli.py` lists its subcommands."""
