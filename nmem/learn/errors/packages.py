"""Package managers and task runners: npm, pnpm, yarn, bun, pip, uv, poetry, gem, brew, just, mise."""

from __future__ import annotations

from nmem.learn.errors.rules import rule
from nmem.learn.errors.signature import CODE, USAGE, WORLD

RULES = (
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
