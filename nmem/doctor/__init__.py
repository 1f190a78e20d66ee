"""Runs all checks of `nmem doctor` in reading order, and the fixes of `--fix`."""
