"""HTTP and the network."""

from __future__ import annotations

from nmem.learn.errors.rules import rule
from nmem.learn.errors.signature import WORLD

RULES = (
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
