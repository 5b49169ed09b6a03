"""What is asked of the cluster, and what is said when it fails: not what Spark says, which quotes data."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from privet.errors import InputError, MissingExtraError

CHANGED = "privet: not counted"  # raised on the cluster where a value was not there when it was counted


def functions() -> Any:
    """`pyspark.sql.functions`, where it is installed."""
    with warnings.catch_warnings():
        # pyspark warns of pandas 3; tables come and go as Arrow here, and pandas has no part in it.
        warnings.simplefilter("ignore")
        try:
            from pyspark.sql import functions as found  # noqa: PLC0415 - an optional extra
        except ImportError:
            raise MissingExtraError("the engine 'spark'", "spark") from None
    return found


@contextmanager
def told(what: str) -> Iterator[None]:
    """A failure of the cluster in one line, with what was tried and the kind of the failure."""
    from pyspark.errors import PySparkException  # noqa: PLC0415 - an optional extra

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except PySparkException as error:
            if CHANGED in str(error):
                raise InputError(
                    "Spark: the source was changed while it was published: it holds values that were not "
                    "counted; nothing was released"
                ) from None
            kind = type(error).__name__
            said = error.getCondition() if hasattr(error, "getCondition") else None
            raise InputError(
                f"Spark: {what} failed ({said or kind}); the cluster's own log says why"
            ) from None
        except Exception as error:
            if type(error).__module__.split(".")[0] not in {"grpc", "py4j", "pyarrow"}:
                raise
            raise InputError(f"Spark: {what} failed ({type(error).__name__})") from None


def fetched(frame: Any, what: str) -> Any:
    """The rows of a frame as a pyarrow table: for counts and values, never for records."""
    with told(what):
        return frame.toArrow()
