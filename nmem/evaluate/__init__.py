"""Evaluations of boundaries, labels, links, search, redaction and context, each beside a named baseline."""
