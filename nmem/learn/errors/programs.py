"""Error patterns of programs (version control, packages, containers, shells) and of the coding clients' tools."""

from __future__ import annotations

import re

from nmem.learn.errors.languages import GOLANG, JAVASCRIPT, JVM, LINTERS, NATIVE, PYTHON, RUST
from nmem.learn.errors.rules import CODE, TEST, USAGE, WORK, WORLD, rule

_REFUSED = re.compile(
    r"user doesn't want to (?:proceed|take this action)|tool use was rejected|Request (?:interrupted|was aborted)"
    r"|Permission to use [\w-]+ .{0,3000}?(?:has been|was) denied|^Sibling tool call|Cancelled: parallel tool call"
    r"|user (?:rejected|denied|declined|cancelled)|Interrupted by user|^Operation cancell?ed by user"
    r"|User chose to (?:stay|keep|continue)|Permission for this action has been denied|requested permissions? to use|doom loop",
    re.IGNORECASE | re.DOTALL,
)


def refused(text: str) -> bool:
    """Whether the call never ran because somebody did not let it."""
    return _REFUSED.search(text[:4_000]) is not None


RULES = (
    rule("client", USAGE, r"String to replace not found in file|string to replace not found|could not find the string to"
         r" replace|old_string not found|Failed to find expected lines",
         "text to replace not found", "Edit: the text to replace is not in the file"),
    rule("client", USAGE, r"Found \d+ matches of the string to replace|old_string is not unique|Expected 1 occurrence",
         "text to replace not unique", "Edit: the text to replace is there more than once"),
    rule("client", USAGE, r"File has not been read yet", "file not read before writing",
         "Write or Edit before the file was read"),
    rule("client", USAGE, r"File has been (?:unexpectedly )?modified since read", "file changed since it was read",
         "Edit: the file has changed since it was read"),
    rule("client", USAGE, r"exceeds maximum allowed (?:tokens|size)", "file too large to read whole",
         "Read: the file is too large to be read whole"),
    rule("client", USAGE, r"old_string and new_string are exactly the same", "edit changes nothing",
         "Edit: old and new text are the same"),
    rule("client", USAGE, r"EISDIR: illegal operation on a directory", "read of a folder", "Read: it is a folder"),
    rule("client", USAGE, r"^Unknown skill: (?P<name>\S+)", "unknown skill {name}", "Unknown skill: {name}"),
    rule("client", USAGE, r"^Skill (?P<name>\S+) is not a prompt-based skill", "no skill {name}", "{name} is no skill"),
    rule("client", USAGE, r"^No task found with ID", "no such task", "TaskOutput: no such task"),
    rule("client", USAGE, r"Agent type '(?P<name>[^']+)' not found", "unknown agent type {name}",
         "Unknown agent type: {name}"),
    rule("client", USAGE, r"No such tool available: (?P<name>\S+)", "no tool {name}", "No such tool: {name}"),
    rule("client", USAGE, r"^(?:<tool_use_error>)?(?:File|Path) does not exist(?:: (?P<tail>[^\s(]+?)[.,]?(?= |$))?",
         "does not exist {tail}", "{tail} does not exist"),
    rule("client", USAGE, r"InputValidationError: (?P<message>.{0,120})", "invalid input {message}",
         "Tool called with invalid input: {message}"),
    rule("client", WORLD, r"^MCP error (?P<code>-?\d+): (?P<message>.{0,120})", "mcp {code} {message}",
         "MCP error {code}: {message}"),
    rule("client", USAGE, r"was blocked\. For security, .{0,60}may only", "folder outside of what is allowed",
         "A folder outside of those that the client may use"),
)  # fmt: skip


GIT = (
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
"""git and the forges' command lines."""

PACKAGES = (
    rule("npm", USAGE, r"(?:Missing script:|Script not found|Command) ['\"](?P<name>[\w:.-]+)['\"](?: not found)?"
         r"|ERR_PNPM_NO_SCRIPT\S* +Missing script: (?P<script>[\w:.-]+)", "no script {name}{script}",
         "package.json has no script {name}{script}", "Missing script|Script not found|\" not found"),
    rule("npm", USAGE, r"^None of the selected packages has a \"(?P<name>[^\"]+)\" script", "no script {name}",
         "package.json has no script {name}"),
    rule("npm", WORLD, r"\bERESOLVE\b|unable to resolve dependency tree", "ERESOLVE", "npm cannot resolve the dependencies"),
    rule("npm", USAGE, r"npm (?:ERR!|error) enoent .*package\.json|No package\.json (?:was )?found|Could not read package\.json",
         "no package.json", "There is no package.json here"),
    rule("npm", WORLD, r"\b(?P<code>ERR_PNPM_[A-Z_]+)\b", "{code}", "{code}", "ERR_PNPM"),
    rule("npm", WORLD, r"'(?P<name>[\w@/.-]+)' is not in (?:this|the npm) registry|404 Not Found - GET \S+?/(?P<package>[@\w.%-]+)",
         "no package {name}{package}", "The registry has no package {name}{package}", "registry|404"),
    rule("npm", WORLD, r"npm (?:ERR!|error) code (?P<code>E[A-Z]{3,}|\d+)", "{code}", "npm fails with {code}", "code"),
    rule("npm", USAGE, r"could not determine executable to run", "no executable", "npx finds nothing to run"),
    rule("yarn", WORLD, r"(?:The lockfile would have been modified|Your lockfile needs to be updated|lockfile is not up to date"
         r"|lockfile had changes, but lockfile is frozen)", "lockfile out of date", "The lockfile is out of date", "ockfile"),
    rule("pip", WORLD, r"(?:Could not find a version that satisfies the requirement|No matching distribution found for)"
         r" (?P<package>[\w.-]+)", "no package {package}", "pip finds no {package}"),
    rule("pip", WORLD, r"ResolutionImpossible|conflicting dependencies|No solution found when resolving", "no resolution",
         "The Python dependencies cannot be resolved"),
    rule("pip", WORLD, r"(?:Failed building wheel for|Failed to build) [`'\"]?(?P<package>[A-Za-z][\w.-]*)", "build of {package}",
         "{package} cannot be built", "Failed"),
    rule("uv", WORLD, r"Failed to spawn: `(?P<name>[^`]+)`", "cannot run {name}", "uv finds no program {name}"),
    rule("uv", USAGE, r"No `pyproject\.toml` found|could not find a pyproject\.toml", "no pyproject", "There is no pyproject.toml here"),
    rule("uv", WORLD, r"No virtual environment found|not (?:inside|in) a virtual ?env", "no virtual environment",
         "There is no virtual environment"),
    rule("gem", WORLD, r"Could not find (?:gem )?'?(?P<package>[\w-]+)'?(?: \([^)]*\))?.{0,40} in (?:any of the sources|locally|rubygems)",
         "no gem {package}", "The gem {package} is not found", "Could not find"),
    rule("brew", WORLD, r"No available formula (?:or cask )?with the name \"(?P<name>[^\"]+)\"", "no formula {name}",
         "Homebrew has no {name}"),
    rule("apt", WORLD, r"Unable to locate package (?P<name>\S+)", "no package {name}", "apt has no package {name}"),
    rule("task", USAGE, r"(?:mise ERROR no task|error: Justfile does not contain recipe|task: Task) [`'\"]?(?P<name>[\w:.-]+)[`'\"]?",
         "no task {name}", "There is no task {name}", "mise ERROR no task|recipe|task: Task"),
    rule("mix", CODE, r"^\*\* \((?P<type>[A-Z][\w.]+)\) (?P<said>.{1,160})", "{type} {said}", "{type}: {said}", "** ("),
)  # fmt: skip
"""Package managers and task runners: npm, pnpm, yarn, bun, pip, uv, poetry, gem, brew, just, mise."""

CONTAINERS = (
    rule("docker", WORLD, r"Cannot connect to the Docker daemon|error during connect:|failed to connect to the docker API"
         r"|docker\.sock: connect", "no daemon", "The Docker daemon does not run"),
    rule("docker", WORLD, r"(?:port is already allocated|Bind for \S+ failed|ports are not available)", "port taken",
         "docker: the port is taken"),
    rule("docker", WORLD, r"pull access denied for (?P<image>[\w./-]+)|manifest for (?P<name>[\w./:-]+) not found|manifest unknown",
         "no image {image}{name}", "docker: no image {image}{name}", "denied|manifest"),
    rule("docker", USAGE, r"The container name \"[^\"]+\" is already in use", "container name taken",
         "docker: the container's name is taken"),
    rule("docker", USAGE, r"No such (?P<what>container|image|volume|network|service): (?P<name>\S+)|no such service: (?P<service>\S+)",
         "no {what} {name}{service}", "docker: no {what} {name}{service}", "No such|no such service"),
    rule("docker", USAGE, r"no configuration file provided: not found", "no compose file", "docker compose: no configuration file here"),
    rule("docker", USAGE, r"service \"(?P<name>[^\"]+)\" is not running", "service {name} down", "docker: {name} does not run"),
    rule("docker", USAGE, r"failed to read dockerfile|unable to prepare context", "no Dockerfile", "docker: no Dockerfile here"),
    rule("docker", CODE, r"failed to solve: (?P<message>.{1,160})", "build {message}", "docker build: {message}", "failed to solve"),
    rule("docker", WORLD, r"dependency failed to start: container \S+ (?P<reason>is unhealthy|exited)", "dependency {reason}",
         "docker: a service that is needed {reason}", "dependency failed"),
    rule("kubectl", WORLD, r"The connection to the server \S+ was refused|Unable to connect to the server", "no cluster",
         "kubectl reaches no cluster"),
    rule("kubectl", USAGE, r"Error from server \((?P<reason>\w+)\): (?P<message>.{0,120})", "{reason} {message}",
         "kubectl: {message}", "Error from server"),
    rule("system", WORLD, r"[Nn]o space left on device|ENOSPC", "disk full", "The disk is full"),
)  # fmt: skip
"""Containers and clusters: docker, compose, kubectl."""

OTHER = (
    rule("rspec", TEST, r"^rspec (?P<where>\./\S+?):\d+ # (?P<test>.{1,160})", "test {test}", "test {test} fails", "rspec ./"),
    rule("exunit", TEST, r"^\d+\) (?P<test>test .{1,140}) \((?P<module>[\w.]+)\)$", "test {module} {test}", "{test} fails", ") test "),
    rule("phpunit", TEST, r"^\d+\) (?P<test>[\w\\]+::\w+)", "test {test}", "test {test} fails", "::"),
    rule("dotnet", TEST, r"^Failed (?P<test>[\w.]+(?:\([^)]{0,80}\))?) \[", "test {test}", "test {test} fails", "Failed "),
    rule("dotnet", CODE, r"error (?P<code>(?:CS|NU|NETSDK|FS)\d{4}): (?P<said>.{1,160}?)(?: \[[^\]]+\])?$", "{code} {said}", "{code}: {said}", "error "),
    rule("ruby", WORLD, r"cannot load such file -- (?P<file>\S+)", "no file {file}", "Ruby cannot load {file}", "cannot load"),
    rule("php", CODE, r"PHP (?:Fatal|Parse) error: +(?P<said>.{1,160})", "{said}", "PHP: {said}", "PHP "),
    rule("database", WORLD, r"database is locked|SQLITE_BUSY", "sqlite locked", "The SQLite database is locked"),
    rule("database", WORLD, r"(?:FATAL: +|error: )?(?P<what>database|role|relation|table) \"(?P<name>[^\"]+)\" does not exist",
         "no {what} {name}", "The {what} {name} does not exist", "does not exist"),
    rule("database", WORLD, r"no such (?P<what>table|column): (?P<name>[\w.]+)", "no {what} {name}", "There is no {what} {name}",
         "no such"),
    rule("database", WORLD, r"password authentication failed for user", "authentication fails", "The database refuses the password"),
)  # fmt: skip
"""Ruby, PHP, Elixir, .NET, Swift, databases: a few lines each."""

SHELL = (
    rule("shell", WORLD, r"command not found: (?P<name>[^\s:]+)|(?P<program>[^\s:]+): (?:command )?not found$"
         r"|The term '(?P<term>[^']+)' is not recognized|'(?P<word>[^']+)' is not recognized as an internal"
         r"|Unknown command: (?P<unknown>\S+)$|exec: \"(?P<exec>[^\"]+)\": executable file not found",
         "no command {name}{program}{term}{word}{unknown}{exec}", "{name}{program}{term}{word}{unknown}{exec}: command not found",
         "not found|not recognized|Unknown command"),
    rule("shell", USAGE, r"cd: (?P<target>[/~][^\s:]*|[A-Za-z]:[^\s:]+): No such file"
         r"|cd:(?:\d+:)? no such file or directory: (?P<folder>[/~]\S*|[A-Za-z]:\S+)",
         "cd {target}{folder}", "cd {target}{folder}: no such folder", "cd:"),
    rule("shell", USAGE, r"cd: [^\s:]+: No such file or directory|cd:(?:\d+:)? no such file or directory: \S+"
         r"|Set-Location\b.{0,20}Cannot find path", "cd relative",
         "A relative `cd` fails: the shell is in another folder than expected", "cd:|Set-Location"),
    rule("shell", USAGE, r"(?:no matches found): (?P<argument>\S+)", "no match for a pattern",
         "The shell finds nothing for an unquoted pattern", "no matches found"),
    rule("shell", USAGE, r"(?:unexpected EOF while looking for matching|syntax error near unexpected token|parse error near"
         r"|unterminated quoted string|unmatched [\"'`]|bad substitution|bad pattern)", "syntax", "The shell cannot read the command"),
    rule("shell", USAGE, r"The token '(?P<token>&&|\|\|)' is not a valid statement separator", "powershell {token}",
         "PowerShell knows no {token}"),
    rule("shell", USAGE, r"ParserError|Unexpected token .{1,60} in expression or statement", "powershell syntax",
         "PowerShell cannot read the command"),
    rule("program", USAGE, r"^(?:[\w./-]+: )?(?P<said>(?:unrecognized|unknown|invalid|unexpected|illegal) (?:sub)?(?:option|command|argument|flag|subcommand)"
         r"s?\b.{0,100})", "{said}", "{said}", "nrecognized|nknown|nvalid|nexpected|llegal"),
    rule("program", USAGE, r"^error: (?P<said>(?:unrecognized|unknown|invalid|unexpected) .{1,100})", "{said}", "{said}", "error: "),
    rule("program", USAGE, r"the following (?:required )?arguments (?:are required|were not provided)(?:: (?P<argument>[^\s]+))?",
         "argument missing {argument}", "An argument is missing: {argument}", "arguments"),
    rule("shell", WORLD, r"(?P<program>[\w.-]+): (?P<file>[^:]{1,200}): Permission denied|[Pp]ermission denied(?:: (?P<name>\S+))?|\bEACCES\b",
         "permission denied {file}{name}", "Permission denied: {file}{name}", "ermission denied|EACCES"),
    rule("program", WORLD, r"Operation not permitted|\bEPERM\b", "not permitted", "Operation not permitted"),
    rule("shell", USAGE, r"(?:(?P<program>[\w.-]+): )?(?:cannot (?:access|stat|open|remove) |can't (?:open|read) (?:input file: |file )?)?"
         r"['\"‘]?(?P<file>[^'\"’:\s]{1,200})['\"’]?: No such file or directory", "no file {file}", "No such file: {file}",
         "No such file"),
    rule("shell", USAGE, r"^(?:\(eval\)|zsh|-?bash):(?:\d+:)? no such file or directory: (?P<file>\S+)", "no file {file}",
         "No such file: {file}", "no such file"),
    rule("shell", USAGE, r"ENOENT: no such file or directory, (?P<call>\w+) '(?P<file>[^']+)'", "no file {file}", "No such file: {file}",
         "ENOENT"),
    rule("program", WORLD, r"^(?:Command timed out after|timeout: sending signal|.{0,40}timed out after \d)", "time out", "The command times out",
         "imed out|timeout:"),
    rule("program", WORLD, r"^(?:Killed|.{0,60}Out of memory|.{0,40}signal: killed)", "killed", "The command is killed", "illed|Out of memory"),
    rule("program", WORLD, r"Argument list too long", "too many arguments", "The argument list is too long"),
    rule("program", WORLD, r"^(?:zsh: )?[Ss]egmentation fault", "segmentation fault", "Segmentation fault"),
)  # fmt: skip
"""Shells and what every program says of its arguments: POSIX, PowerShell, cmd."""

NETWORK = (
    rule("network", WORLD, r"EADDRINUSE(?:.{0,40}?:(?P<port>\d{2,5}))?|[Aa]ddress already in use|[Pp]ort \d+ is (?:already )?in use",
         "port taken", "The port is taken", "EADDRINUSE|in use"),
    rule("program", WORLD, r"(?:connect ECONNREFUSED|[Cc]onnection refused|Failed to connect to) ?(?P<host>[A-Za-z][\w.-]+)?",
         "refused {host}", "Connection refused {host}", "ECONNREFUSED|efused|Failed to connect"),
    rule("network", WORLD, r"(?:Could not resolve host:? |getaddrinfo (?:ENOTFOUND|EAI_AGAIN) )(?P<host>[\w.-]+)|Name or service not known"
         r"|Temporary failure in name resolution", "no host {host}", "The host {host} is not found"),
    rule("program", WORLD, r"\bETIMEDOUT\b|Connection timed out|Operation timed out|i/o timeout|context deadline exceeded", "time out",
         "A connection times out"),
    rule("program", WORLD, r"\bECONNRESET\b|Connection reset by peer|socket hang up", "reset", "A connection is reset"),
    rule("program", WORLD, r"certificate (?:verify failed|has expired)|SSL certificate problem|self[- ]signed certificate"
         r"|unable to get local issuer", "certificate", "A certificate is not believed", "ertificate|issuer"),
    rule("program", WORLD, r"rate limit(?:ed| exceeded| reached)|Too Many Requests", "rate limit", "A rate limit is reached"),
    rule("program", WORLD, r"(?:HTTP(?:/[\d.]+)? |status(?: code)?:? |returned error: |\()(?P<code>401|403|404|407|429|50[0-4])\b",
         "HTTP {code}", "HTTP {code}", "401|403|404|407|429|50"),
)  # fmt: skip
"""HTTP and the network."""

TABLES = (
    *RULES, *GIT, *PACKAGES, *CONTAINERS, *JAVASCRIPT, *PYTHON, *RUST, *GOLANG, *JVM, *LINTERS, *NATIVE,
    *OTHER, *SHELL, *NETWORK,
)  # fmt: skip
"""The tables of all ecosystems, in the order in which they are asked; imported when the first output is read."""
