"""How an agent is started in a cell: one module an agent, each with one function `start(job) -> Ended`."""
