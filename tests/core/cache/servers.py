"""Servers on this machine that are not as they should be."""

import socket
from contextlib import contextmanager
from threading import Event, Thread


class Server:
    """Listens on a port of its own, and counts the requests for collections."""

    def __init__(self, answer):
        self._answer, self._over = answer, Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.requests = []
        self._threads = [Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def close(self):
        self._over.set()
        self._listening.close()
        for thread in self._threads:
            thread.join()

    def _accept(self):
        self._listening.settimeout(0.05)
        while not self._over.is_set():
            try:
                connection, _ = self._listening.accept()
            except OSError:
                continue
            thread = Thread(target=self._serve, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection):
        with connection:
            try:
                request = connection.recv(100_000).split(b"\r\n")[0].decode("latin-1")
                if "/collections" in request:
                    self.requests.append(request)
                self._answer(connection, self._over)
            except OSError:
                pass  # who asked has gone


@contextmanager
def serving(answer):
    server = Server(answer)
    try:
        yield server
    finally:
        server.close()


def byte_by_byte(connection, over):
    """An answer that never ends, and keeps every timeout between two bytes."""
    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n")
    while not over.wait(0.01):
        connection.sendall(b" ")


def always(content, status="200 OK"):
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
    return raw(head.encode() + content)


def raw(data):
    return lambda connection, _: connection.sendall(data)
