"""One module a tool, each with its definition as TOOL; nmem.mcp.registry finds it by that."""
