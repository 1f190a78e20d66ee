"""Purges: forgets selected records completely, with everything derived from them and their traces in files.

`selection` says what goes, `reach` where it is, `preview` shows it, `purge` does it, `trash` keeps it sealed until the
window for an undo is over, `store` keeps count and cleans the files. `history` takes secrets out of what is stored.
"""
