"""What the servers of this machine share: they listen on 127.0.0.1, answer no other host or origin, and bound clients.

Its modules need the extra `mcp`.
"""
