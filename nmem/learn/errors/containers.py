"""Containers and clusters: docker, compose, kubectl."""

from __future__ import annotations

from nmem.learn.errors.rules import rule
from nmem.learn.errors.signature import CODE, USAGE, WORLD

RULES = (
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
