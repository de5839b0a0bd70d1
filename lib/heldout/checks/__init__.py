"""Check words and how a cell is scored with them."""
