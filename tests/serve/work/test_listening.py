"""The socket on which the server listens."""

import asyncio
import socket

import pytest

pytest.importorskip("uvicorn")

from tropalign.errors import ResourceError
from tropalign.serve.settings import Settings
from tropalign.serve.work.supervisor import _listening


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_pieces_of_an_answer_go_out_at_once(tmp_path, host):
    """Else the second one waits for what the other side says of the first: 40 ms per page."""
    delays = []

    async def answer(reader, writer):
        made = writer.get_extra_info("socket")
        delays.append(made.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    async def ask(listener):
        async with await asyncio.start_server(answer, sock=listener):
            reader, writer = await asyncio.open_connection(*listener.getsockname()[:2])
            await reader.read()
            writer.close()
            await writer.wait_closed()

    with _listening(Settings(tmp_path, host=host, port=0)) as listener:
        asyncio.run(ask(listener))
    assert delays == [1]


def test_a_port_that_is_taken_is_told(tmp_path):
    with _listening(Settings(tmp_path, port=0)) as listener:
        port = listener.getsockname()[1]
        with (
            pytest.raises(ResourceError, match=rf"127\.0\.0\.1:{port}: the system refuses .*: choose another --port"),
            _listening(Settings(tmp_path, port=port)),
        ):
            pass
