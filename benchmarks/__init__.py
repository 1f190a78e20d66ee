"""What is measured, and with what: `python -m benchmarks` measures all of it, each module one subject."""
