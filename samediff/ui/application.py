"""The pages and answers of the training page, on Starlette."""
from __future__ import annotations

import hmac
import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from ..drawing.pages import asset
from ..errors import DL4PyError, FileFormatError, MissingPackageError
from .records import MOST_BYTES, checked_record
from .runs import Runs

_OWN = {"ui.js": "text/javascript", "charts.js": "text/javascript", "tabs.js": "text/javascript", "ui.css": "text/css"}
_DRAWING = {"graph.js": "text/javascript", "page.css": "text/css"}
#: Nothing from elsewhere is loaded or run, whatever a record says.
_POLICY = "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"
_HEADERS = {"Content-Security-Policy": _POLICY, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store"}

#: Takes a record that came from elsewhere.
Take = Callable[[dict[str, Any]], None]


def application(runs: Runs, remote: Callable[[], tuple[str, Take] | None]) -> Any:
    """The application.

    Parameters
    ----------
    runs : what is shown
    remote : gives the token by which other processes may add records, and what takes these; None where none may

    Raises
    ------
    MissingPackageError
        Starlette, uvicorn or plotly is not installed.
    """
    try:
        import plotly  # noqa: F401 - its script is shown
        from starlette.applications import Starlette
        from starlette.concurrency import run_in_threadpool
        from starlette.middleware import Middleware
        from starlette.middleware.trustedhost import TrustedHostMiddleware
        from starlette.responses import JSONResponse, Response
        from starlette.routing import Route
    except ImportError as error:
        raise MissingPackageError(f"the training page needs {error.name}: pip install starlette uvicorn plotly (or dl4py[ui])") from None

    async def page(request: Any) -> Any:
        return Response(_own("page.html"), media_type="text/html", headers=_HEADERS)

    async def script(request: Any) -> Any:
        name = request.path_params["name"]
        if name == "plotly.js":
            data = await run_in_threadpool(_plotly)
            return Response(data, media_type="text/javascript", headers={**_HEADERS, "Cache-Control": "max-age=3600"})
        if name in _DRAWING:
            return Response(asset(name), media_type=_DRAWING[name], headers=_HEADERS)
        if name in _OWN:
            return Response(_own(name), media_type=_OWN[name], headers=_HEADERS)
        return _error(404, f"there is no {name!r}")

    def _error(code: int, text: str) -> Any:
        return JSONResponse({"error": text}, code, headers=_HEADERS)

    def answering(answer: Callable[[Any], Any]) -> Callable[[Any], Any]:
        async def reply(request: Any) -> Any:
            try:
                found = await run_in_threadpool(answer, request.query_params)
            except ValueError:
                return _error(400, "numbers were expected")
            except DL4PyError as error:
                return _error(404, str(error))
            return Response(json.dumps(found), media_type="application/json", headers=_HEADERS)
        return reply

    async def receive(request: Any) -> Any:
        known = remote()
        if known is None:
            return _error(403, "remote listeners are not enabled: UIServer.enable_remote_listener()")
        token, take = known
        given = request.headers.get("authorization", "")
        if not hmac.compare_digest(given.encode("utf-8", "replace"), f"Bearer {token}".encode()):
            return _error(401, "the token is not that of this server")
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                return _error(413, f"a record has at most {MOST_BYTES} bytes")
        try:
            record = checked_record(bytes(body))
        except FileFormatError as error:
            return _error(400, str(error))
        await run_in_threadpool(take, record)
        return Response(status_code=204, headers=_HEADERS)

    def number(query: Any, name: str = "run") -> int:
        return int(query.get(name, "0"))

    def optional(query: Any) -> int | None:
        return int(query["iteration"]) if "iteration" in query else None

    answers: dict[str, Callable[[Any], Any]] = {
        "runs": lambda q: runs.listed(),
        "records": lambda q: runs.records(number(q), number(q, "since")),
        "run": lambda q: runs.told(number(q)),
        "histograms": lambda q: runs.histograms(number(q), q.get("kind", ""), q.get("name", "")),
        "latest": lambda q: runs.latest(number(q), q.get("what", ""), optional(q)),
    }
    routes = [Route("/", page), Route("/assets/{name}", script), Route("/remote", receive, methods=["POST"]),
              *[Route(f"/api/{name}", answering(answer)) for name, answer in answers.items()]]
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=["localhost", "127.0.0.1", "[::1]"])
    return Starlette(routes=routes, middleware=[hosts])


def _own(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _plotly() -> bytes:
    return files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()
