"""Tasks for coding clients: queued, claimed by one runner, run with or without tmux, and tracked.

    task.py      what a task is: plain frozen values            schema.py    its tables
    queue.py     entering, claiming, every change of state      read.py      what lists and screens read
    act.py       what a person does to tasks                    accept.py    what is checked before one is queued
    runner.py    claims, starts, takes up what others left      start.py     one claimed task -> one running pane
    pane.py      the process beside the client: limit, exit code, output, waiting for a person
    tmux.py      panes through libtmux                          processes.py the same without a terminal
    worktrees.py a checkout of its own for a task               clients.py   how each client is called
    link.py      which session a task became (in the hook)      schedule.py  a timer or a cron line

The truth about a running task is a folder that its pane writes (folder.py) and the pane itself brings into the
database; a runner that was killed loses nothing, and the next one reads what is there.
"""
