"""Reading the client's transcripts, of every version met: `reader.extract`, and `kept.cell_facts` for a cell."""
