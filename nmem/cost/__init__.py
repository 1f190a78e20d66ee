"""What sessions cost: tokens from the clients' transcripts, money from a table of prices.

usage.py    a client's records -> one Usage an answer; takes in what transcripts have since the last time
store.py    the tables of usage: what is kept, and what is summed
prices.py   models -> prices; prices.json is the table, a person's own comes first
read.py     sums by session, episode, thread, project, day and model; what nmem itself costs
screenful.py  a report -> lines of text, for the command and the cockpit
"""
