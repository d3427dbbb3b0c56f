"""Messages between two processes of one machine."""
from __future__ import annotations

import contextlib
import pickle
import socket
import struct
from typing import Any

_LENGTH = struct.Struct("=Q")
_NO_SIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)     # OSError also where the script has SIGPIPE end the process


class ProcessChannel:
    """One end of a connection between two processes.

    The system closes the end of a process that is killed, at whatever moment. So nobody waits at the other end, as one would for
    a lock that a dead process holds: sending and receiving raise OSError. An end can be given to a process that is being
    started, as one of its arguments.
    """

    def __init__(self, end: socket.socket) -> None:
        self.socket = end

    @classmethod
    def pair(cls) -> tuple[ProcessChannel, ProcessChannel]:
        """Both ends."""
        here, there = socket.socketpair()
        return cls(here), cls(there)

    def send(self, message: Any) -> None:
        """Hand over what can be pickled, as soon as there is room."""
        self.write_message(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))

    def write_message(self, text: bytes) -> None:
        """Hand over a message that has been pickled."""
        self.write(_LENGTH.pack(len(text)))
        self.write(text)

    def receive(self) -> Any:
        """The next message. Those sent before the other end was closed come first."""
        return pickle.loads(self.read(_LENGTH.unpack(self.read(_LENGTH.size))[0]))

    def write(self, text: bytes) -> None:
        """Hand over so many bytes."""
        self.socket.sendall(text, _NO_SIGNAL)

    def read(self, size: int) -> bytearray:
        """The next bytes, exactly that many."""
        found = bytearray(size)
        left = memoryview(found)
        while left:
            count = self.socket.recv_into(left)
            if not count:
                raise ConnectionResetError("the other end of the channel is closed")
            left = left[count:]
        return found

    def end(self) -> None:
        """Close the connection at both ends, also for those who wait there now and for copies of an end in forked processes."""
        with contextlib.suppress(OSError):      # it has ended already
            self.socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Give back this end."""
        self.socket.close()
