"""Learnings: failures and requests that recur across sessions, their fixes, and a person's decisions on them.

errors      what an error is, whatever its paths, numbers and names
commands    a command without what changes from run to run
find        what one session says of commands, errors, intents, files and stuck stretches
remedies    what changed between a failing run and the next passing one
kinds       a module for each kind of learning: its words, what one session says of it, what several say together
promote     a skill as a client's own or as a /how entry; skill_use: whether skills are followed
patterns    a pattern, what it is made of, and how often is often (config: as the person has set it)
store       learnings as they stand (SQL); findings_store: what sessions say
refresh     reads what changed, makes learnings of what a project's sessions say, takes out what is purged
warnings    learnings that an episode runs into again
read        what the screens and the command line show, with heat: how often and how lately, as 0 to 100
lifecycle   a person's word: accepted, dismissed, snoozed, resolved, open again
accept      the rule of an accepted one into the project's instructions, and out again
rules       the rule's wording, as one harmless line of Markdown
instructions  rules between markers, in bytes; files: which file, and whether it may be written
report      as Markdown
"""
