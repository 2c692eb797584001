"""What the question asks for."""
