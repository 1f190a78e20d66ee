"""The audit: checks whether the memory does its job, one module per subject; each returns findings with fixes."""
