"""Threads: lines of work across sessions and clients; begun, continued, linked and condensed.

config      timeouts and the linking method                       (hook path)
store       SQL of threads, of sessions in them, of choices       (hook path)
continuity  which thread a session continues                      (hook path)
links_store SQL of decisions, outcomes and tunings, and of what is compared, condensed and shown
formula     how much a new thread is like an earlier one, and the score of that: by default weights or fitted ones
link        candidates, the algorithm beside a model's opinion, the decision
decisions   a decision, and how sure it is
outcomes    what came of a decision, by the person or by the files touched afterwards
steering    what a person says of the next session, or of a given one
tuning      re-fits the formula on outcomes, and keeps the history of it
compaction  micro, meso and macro summaries of a thread
read        what the screens and the command line show
"""
