"""Runs the `nmem` command by `python -m nmem`."""

from nmem.commands.start import main

if __name__ == "__main__":
    main()
