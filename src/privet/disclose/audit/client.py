"""The analyst's side of the gateway: one question, and what was said."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

from privet.errors import MissingExtraError, PrivetError

try:
    import httpx
except ImportError:
    raise MissingExtraError("asking a gateway", "audit") from None

OK = 200


class GatewayError(PrivetError):
    """The gateway did not answer, or refused."""

    code = "gateway"


def posed(url: str, key: str, sql: str, *, certificate: Path | None = None) -> dict[str, Any]:
    """Ask a gateway; what it said, or an error with its sentence."""
    context = ssl.create_default_context(cafile=None if certificate is None else str(certificate))
    try:
        said = httpx.post(
            f"{url.rstrip('/')}/v1/ask",
            json={"sql": sql},
            headers={"authorization": f"Bearer {key}"},
            timeout=120,
            verify=context,
        )
        document: dict[str, Any] = said.json()
    except (httpx.HTTPError, ValueError) as error:
        raise GatewayError(f"{url}: no answer ({type(error).__name__})") from None
    if said.status_code != OK:
        raise GatewayError(str(document.get("message", f"{url}: status {said.status_code}")))
    return document
