"""One module a tool, each with its definition as TOOL; nmem.mcp.server finds it by that."""
