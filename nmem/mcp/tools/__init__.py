"""The tools of the MCP server: one module each, which defines TOOL; nmem.mcp.server finds them."""
