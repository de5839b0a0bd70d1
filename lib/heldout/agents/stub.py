"""A loopback stub of the Messages API that serves actor scripts to the real client: `claude` on a stub.

It listens on 127.0.0.1 only, makes no connection of its own, and answers `POST /v1/messages` (streamed or not) and
`POST /v1/messages/count_tokens`; everything else is a 404. A session is known by the client's session-id header and
a subagent by its agent-id header, so that no marker is added to a prompt and any number of sessions can share a stub.
A session that nobody registered gets an API error: no reply is ever made up.
"""

import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import orjson

from heldout.agents.script import Actor
from heldout.agents.stubbing import wire
from heldout.agents.stubbing.failures import Failure
from heldout.agents.stubbing.session import Part, Reply, Session
from heldout.agents.stubbing.wire import Answer, Problem
from heldout.errors import Refusal

__all__ = ["Failure", "Part", "Request", "Stub"]

SESSION, AGENT = "X-Claude-Code-Session-Id", "x-claude-code-agent-id"
_POLL = 0.01  # seconds within which a closed stub stops listening
_LULL = 0.2  # seconds before a cut: the client drops what it reads together with the end of the connection


@dataclass(frozen=True)
class Request:
    """One request that was served: agent "" is the main loop, `step` None where no conversation was found, `status`
    0 where nothing was sent; `played` are the kinds of the failures."""

    session: str
    agent: str
    path: str
    step: int | None
    status: int
    played: tuple[str, ...] = ()
    message: str = ""  # of an API error


class Stub:
    """A running stub; a context manager. Sessions are registered with `expect` before their client starts.

    `default` is played by every session that was not registered. `tell` is called for each request as it is answered,
    from the thread that serves it.
    """

    def __init__(self, default: Part | None = None, tell: Callable[[Request], None] | None = None) -> None:
        self._default, self._tell = default, tell
        self._lock = threading.Lock()
        self._sessions: dict[str, Session] = {}
        self._requests: dict[str, list[Request]] = {}
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(_POLL,), daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return self._server.server_address[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def expect(
        self, session_id: str, actor: Actor, places: Mapping[str, str], failures: tuple[Failure, ...] = ()
    ) -> None:
        """Register what a session plays; Refusal if it is registered, or if the client cannot play the script."""
        part = Part(actor, places, failures)
        with self._lock:
            if session_id in self._sessions:
                raise Refusal(f"session '{session_id}' is registered with the stub already")
            self._sessions[session_id] = Session(session_id, part)

    def requests(self, session_id: str) -> list[Request]:
        """What a session asked so far, in order of arrival of the answers."""
        with self._lock:
            return list(self._requests.get(session_id, ()))

    def close(self) -> None:
        """Stop listening, end what is under way, hanging answers included."""
        self._server.shutdown()
        self._server.server_close()
        self._server.hang_up()
        self._thread.join()

    def reply(self, session_id: str, agent: str, body: Any) -> Reply:
        """The reply to the body of a request; used by the server's threads."""
        if not isinstance(body, dict) or not isinstance(body.get("messages"), list) or "model" not in body:
            return Reply(None, Problem(400, "invalid_request_error", "not a request for a message"))
        with self._lock:
            if session_id and session_id not in self._sessions and self._default:
                self._sessions[session_id] = Session(session_id, self._default)
            session = self._sessions.get(session_id)
        if session is None:
            return Reply(None, Problem(404, "not_found_error", f"session '{session_id}' is not registered"))
        return session.reply(agent, body)

    def note(self, request: Request) -> None:
        with self._lock:
            self._requests.setdefault(request.session, []).append(request)
        if self._tell:
            self._tell(request)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, stub: Stub) -> None:
        self.stub = stub
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)

    def server_bind(self) -> None:
        """Without the look-up of the host's name, which may ask a name server."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def get_request(self) -> tuple[socket.socket, Any]:
        request, address = super().get_request()
        self._open.add(request)
        return request, address

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """End all connections; who waits for a hanging client wakes up."""
        for request in list(self._open):
            with suppress(OSError):  # the client was faster
                request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients go away in the middle, and so does a stub that is closed: nothing to report."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            self.close_connection = True
            self._send(411, Problem(411, "invalid_request_error", "a Content-Length is needed").body())
            return
        raw = self.rfile.read(int(length))
        place = self.path.partition("?")[0]
        if place == "/v1/messages/count_tokens":
            self._send(200, orjson.dumps({"input_tokens": len(raw) // 4}))
        elif place == "/v1/messages":
            self._message(raw)
        else:
            self._nowhere()

    def _nowhere(self) -> None:
        self.close_connection = True  # a body, if there is one, was not read
        message = f"no {self.command} {self.path} here"
        self.server.stub.note(Request(self.headers.get(SESSION, ""), "", self.path, None, 404, message=message))
        self._send(404, Problem(404, "not_found_error", message).body())

    do_GET = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _nowhere

    def _message(self, raw: bytes) -> None:
        try:
            body: Any = orjson.loads(raw)
        except orjson.JSONDecodeError:
            body = None
        session, agent = self.headers.get(SESSION, ""), self.headers.get(AGENT, "")
        reply = self.server.stub.reply(session, agent, body)
        request = Request(session, agent, self.path, reply.step, 0, reply.played)
        # Noted before anything is sent: who has the answer finds the request in the log.
        match reply.what:
            case Answer() as answer:
                self.server.stub.note(replace(request, status=200))
                self._stream(answer) if body.get("stream") else self._whole(answer)
            case Problem() as problem:
                self.server.stub.note(replace(request, status=problem.status, message=problem.message))
                more = {"retry-after": problem.retry_after} if problem.retry_after else {}
                self._send(problem.status, problem.body(), more)
            case None:
                self.server.stub.note(request)
                self.connection.recv(1)  # returns when either side is closed
                self.close_connection = True

    def _whole(self, answer: Answer) -> None:
        time.sleep(answer.pause)
        data = wire.body(answer)
        self._send(200, data, {"request-id": answer.request_id}, keep=None if answer.cut is None else len(data) // 2)

    def _stream(self, answer: Answer) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("cache-control", "no-cache")
        self.send_header("request-id", answer.request_id)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in wire.events(answer):
            time.sleep(answer.pause)
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
        if answer.cut is None:
            self.wfile.write(b"0\r\n\r\n")
        else:
            time.sleep(_LULL)
            self.close_connection = True

    def _send(self, status: int, data: bytes, more: Mapping[str, str] = {}, keep: int | None = None) -> None:
        """A JSON body; of a cut one the first `keep` bytes."""
        self.send_response(status)
        for name, value in {"content-type": "application/json", **more}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data[:keep])
        if keep is not None:
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are told to whoever made the stub."""
