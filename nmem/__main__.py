"""`python -m nmem` is the `nmem` command."""

from nmem.commands.start import main

if __name__ == "__main__":
    main()
