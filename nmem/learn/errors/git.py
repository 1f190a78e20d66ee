"""git and the forges' command lines."""

from __future__ import annotations

from nmem.learn.errors.rules import rule
from nmem.learn.errors.signature import USAGE, WORK, WORLD

RULES = (
    rule("git", USAGE, r"fatal: The current branch \S+ has no upstream branch", "no upstream branch",
         "git push: the branch has no upstream"),
    rule("git", USAGE, r"There is no tracking information for the current branch", "no tracking branch",
         "git pull: the branch tracks none"),
    rule("git", WORLD, r"fatal: not a git repository", "no repository", "There is no git repository here"),
    rule("git", WORLD, r"Unable to create '.*?(?P<file>\w+\.lock)': File exists", "locked {file}",
         "git's {file} is held by another process", "File exists"),
    rule("git", WORLD, r"\[rejected\].{0,200}\((?P<reason>non-fast-forward|fetch first|stale info|already exists)\)",
         "push rejected {reason}", "git push is rejected: {reason}", "[rejected]"),
    rule("git", WORLD, r"\[remote rejected\].{0,200}\((?P<reason>[^)]{1,80})\)", "push rejected {reason}",
         "git push is rejected: {reason}", "[remote rejected]"),
    rule("git", WORLD, r"GH(?P<code>\d{3}): (?P<message>.{1,120})", "GH{code} {message}", "GitHub refuses: {message}", "GH0"),
    rule("git", WORK, r"CONFLICT \((?P<what>[^)]{1,40})\):", "merge conflict", "git: merge conflict", "CONFLICT ("),
    rule("git", USAGE, r"Your local changes to the following files would be overwritten|cannot (?:pull with )?rebase: You have unstaged"
         r"|Please commit your changes or stash them", "local changes in the way", "git: uncommitted changes are in the way"),
    rule("git", USAGE, r"pathspec '(?P<file>[^']+)' did not match any", "no pathspec {file}", "git knows no file {file}", "pathspec"),
    rule("git", USAGE, r"paths are ignored by one of your \.gitignore", "added path is ignored",
         "git add: the path is ignored by .gitignore"),
    rule("git", USAGE, r"fatal: a branch named '[^']+' already exists", "branch exists", "git: the branch exists already"),
    rule("git", USAGE, r"fatal: '[^']+' is already (?:checked out|used by worktree) at", "branch in another worktree",
         "git: the branch is checked out in another worktree"),
    rule("git", USAGE, r"fatal: (?:bad revision|ambiguous argument) '(?P<name>[^']{1,80})'", "no revision {name}",
         "git knows no revision {name}", "fatal:"),
    rule("git", WORLD, r"Author identity unknown|Please tell me who you are|unable to auto-detect email", "no identity",
         "git does not know who commits"),
    rule("git", WORLD, r"gpg failed to sign the data|error: signing failed", "signing fails", "git cannot sign the commit"),
    rule("git", WORLD, r"Permission denied \(publickey|Authentication failed for|could not read Username|Permission to \S+ denied",
         "no access to the remote", "git has no access to the remote"),
    rule("git", WORLD, r"Could not read from remote repository|unable to access '", "remote not reachable",
         "git cannot reach the remote"),
    rule("git", USAGE, r"index uses .{0,20}extension|fatal: refusing to merge unrelated histories|fatal: You are not currently on a branch"
         r"|fatal: You have not concluded your merge", "state of the repository", "git: the repository is in another state"),
    rule("gh", WORLD, r"To get started with GitHub CLI, please run: +gh auth login|gh: (?:Bad credentials|Requires authentication)"
         r"|HTTP 401", "not logged in", "gh is not logged in", "gh |HTTP 401"),
    rule("gh", USAGE, r"no (?:open )?pull requests? found", "no pull request", "gh: no pull request for this branch"),
    rule("gh", USAGE, r"Unknown JSON field: \"(?P<name>\w+)\"", "no field {name}", "gh knows no field {name}"),
    rule("gh", USAGE, r"^(?:GraphQL|gh): (?P<message>.{1,140})", "{message}", "gh: {message}"),
)  # fmt: skip
