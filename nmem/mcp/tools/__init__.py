"""One module a tool, each with its definition as TOOL."""
