"""The tools, one module each, which defines TOOL; nmem.mcp.server finds them."""
