"""Learnings: what goes wrong or is asked again across sessions, what put it right, and what a person makes of it.

errors      what an error is, whatever its paths, numbers and names
commands    a command without what changes from run to run
find        what one session says of commands, errors, intents, files and stuck stretches
remedies    what changed between a failing run and the next passing one
patterns    what several sessions say together: the five kinds, and how often is often
store       the rows (SQL)
refresh     brings the rows up to date with the sessions
heat        how often and how lately, as 0 to 100
warnings    learnings that an episode runs into again
read        what the screens and the command line show
"""
