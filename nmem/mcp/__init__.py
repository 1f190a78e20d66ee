"""The agent's door: a server over stdio whose tools read what nmem keeps, one that marks, one that queues.

`server` speaks the protocol; `registry` lists the tools; `tool` is what one is made of; `ask` one call of one;
`ids` what a stable id names; `told` what of it is told; `reply` texts that are inert, and bounded.
"""
