"""`python -m nmem` is the `nmem` command."""

from nmem.commands.main import main

if __name__ == "__main__":
    main()
