"""What rows of results amount to: counts with their intervals, comparisons, and the forms a report is printed in."""
