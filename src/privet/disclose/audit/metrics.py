"""What a monitor may know of a gateway, as Prometheus reads it: counts and times, never who or what.

An answer and a denial are one count here, as they are one line in the log.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # seconds
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Counts since the gateway began."""

    def __init__(self) -> None:
        self.shed: Counter[str] = Counter()  # connections that were ended, by why
        self.open = 0  # connections
        self._asked: Counter[int] = Counter()  # by status
        self._times = [0] * (len(BUCKETS) + 1)
        self._spent = 0.0

    def asked(self, status: int, seconds: float) -> None:
        """One request to /v1/ask is done."""
        self._asked[status] += 1
        self._times[bisect_left(BUCKETS, seconds)] += 1
        self._spent += seconds

    def text(self, *, ready: bool) -> str:
        """The page.

        >>> metrics = Metrics()
        >>> metrics.asked(200, 0.02)
        >>> [line for line in metrics.text(ready=True).splitlines() if "requests_total{" in line]
        ['privet_audit_requests_total{status="200"} 1']
        """
        return "\n".join(self._lines(ready=ready)) + "\n"

    def _lines(self, *, ready: bool) -> Iterator[str]:
        yield from _head("requests_total", "counter", "Requests to /v1/ask by status; a denial is a 200.")
        yield from (
            f'privet_audit_requests_total{{status="{k}"}} {v}' for k, v in sorted(self._asked.items())
        )
        yield from _head("request_seconds", "histogram", "How long a request to /v1/ask took.")
        total = 0
        for edge, count in zip((*BUCKETS, "+Inf"), self._times, strict=True):
            total += count
            yield f'privet_audit_request_seconds_bucket{{le="{edge}"}} {total}'
        yield f"privet_audit_request_seconds_sum {self._spent:.6f}"
        yield f"privet_audit_request_seconds_count {total}"
        yield from _head("connections", "gauge", "Open connections.")
        yield f"privet_audit_connections {self.open}"
        yield from _head("connections_shed_total", "counter", "Connections that the gateway ended, by why.")
        yield from (
            f'privet_audit_connections_shed_total{{why="{k}"}} {v}' for k, v in sorted(self.shed.items())
        )
        yield from _head("ready", "gauge", "1 if queries can be decided, as /readyz says.")
        yield f"privet_audit_ready {int(ready)}"


def _head(name: str, kind: str, words: str) -> Iterator[str]:
    yield f"# HELP privet_audit_{name} {words}"
    yield f"# TYPE privet_audit_{name} {kind}"
