"""What is kept within the budget."""
