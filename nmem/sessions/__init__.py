"""What a person does with whole sessions: names, tags and archives them, resumes them, gets deleted transcripts back.

`marks` keeps a person's own facts; `copies` keeps a redacted copy of each transcript (`packing` makes it); `resume`
makes the command that goes on with one, and gives a transcript back to the client that deleted it.
"""
