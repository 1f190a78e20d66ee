"""Reads what others of the team said, from the local tables alone; whom a person does not want to hear is left out.

The tables are filled by `nmem sync`. What stands in them was written elsewhere: it is data, shown with its author.
"""
