"""How the embedded actor acts: tools, hooks, subagents, and the client's formats it writes."""
