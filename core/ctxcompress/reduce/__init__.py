"""What leaves whole passages out, and what keeps repeated text once."""
