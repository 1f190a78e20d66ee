"""The tools, one module each, which defines TOOL; nmem.mcp.registry finds them."""
