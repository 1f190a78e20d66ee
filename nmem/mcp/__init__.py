"""The MCP server for coding agents: tools over stdio that read the memory; one adds markers, one queues tasks.

`server` speaks the protocol and lists the tools; `tool` is what one is made of; `ask` one call of one;
`ids` what a stable id names; `told` what of it is told; `reply` texts that are inert, and bounded.
"""
