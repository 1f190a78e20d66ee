"""Why a line of a file is as it is: recorded edits beside `git blame`; what an episode changed."""
