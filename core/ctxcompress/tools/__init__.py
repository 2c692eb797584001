"""What the tools of both frameworks and of the server do, whatever framework they are tools of."""
