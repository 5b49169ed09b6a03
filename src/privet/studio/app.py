"""The studio as an application: the gate around all pages, and the door where the link becomes a cookie."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from fastapi import Request
from fastapi.responses import RedirectResponse, Response

from privet.studio import columns, exploring, opening, promises, releasing, trees
from privet.studio.gate import Guard
from privet.studio.pages import Pages, Studio, refusal

ASSETS = {
    "report.css": ("privet.report", "style.css", "text/css"),
    "studio.css": ("privet.studio", "assets/studio.css", "text/css"),
    "hover.js": ("privet.report", "hover.js", "text/javascript"),
    "turn.js": ("privet.studio", "assets/turn.js", "text/javascript"),
    "studio.js": ("privet.studio", "assets/studio.js", "text/javascript"),
    "lattice.js": ("privet.studio", "assets/lattice.js", "text/javascript"),
}


def application(studio: Studio) -> Any:
    """Everything that the studio answers, behind its gate."""
    pages = Pages(studio)
    gate = studio.gate

    async def enter(request: Request) -> Response:
        if not gate.exchanged(request.query_params.get("token", "")):
            return refusal(401)
        response = RedirectResponse(studio.url(""), status_code=303)
        response.set_cookie(gate.cookie_name, gate.cookie, path=gate.path, httponly=True, samesite="strict")
        return response

    async def asset(name: str) -> Response:
        if name not in ASSETS:
            return refusal(404)
        package, path, kind = ASSETS[name]
        body = files(package).joinpath(path).read_bytes()
        return Response(body, media_type=kind, headers={"cache-control": "private, max-age=3600"})

    pages.app.add_api_route("/enter", enter, methods=["GET"], response_model=None)
    pages.app.add_api_route("/assets/{name}", asset, methods=["GET"], response_model=None)
    for room in (opening, columns, trees, promises, exploring, releasing):
        room.routes(pages)
    return Guard(pages.app, gate)
