"""What is asked of the cluster, and what is said when it fails: not what Spark says, which quotes data."""

from __future__ import annotations

import atexit
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

from privet.errors import InputError, MissingExtraError

T = TypeVar("T")
_ASKED: list[tuple[Any, Any]] = []  # clients of ours, and how often they ask a server that does not answer
DICTIONARY = "Dictionary("  # in what Sail says of a type that Spark does not have
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


def impatient(client: Any, retries: int) -> None:
    """A client that asks a server which is gone so often at every question, and once when we are stopped."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql.connect.client.retries import DefaultPolicy  # noqa: PLC0415 - an optional extra

    often = DefaultPolicy(max_retries=retries)
    client.set_retry_policies([often])
    _ASKED.append((client, often))


def once() -> None:
    """Nobody is asked again from now on, if there is no answer."""
    for client, often in _ASKED:
        client.set_retry_policies([])
        often.max_retries = 0  # for who is asking already, in threads that the end of the process waits for


def stopped() -> None:
    """Who stops us waits for no server, which may be stopped too, or not answer while our last job goes on.

    So pyspark does not say goodbye at the end of the process, which it would wait for without a limit.
    """
    once()
    for client, _ in _ASKED:
        if (goodbye := getattr(client, "_on_exit", None)) is not None:
            atexit.unregister(goodbye)


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
            if DICTIONARY in str(error):
                raise InputError(
                    f"Spark: {what} failed: a column is a dictionary of Arrow (as categories are stored), "
                    "which this cluster cannot name; cast it before, or give the path of its files: "
                    '.withColumn(name, col(name).cast("string"))'
                ) from None
            kind = type(error).__name__
            said = error.getCondition() if hasattr(error, "getCondition") else None
            raise InputError(
                f"Spark: {what} failed ({said or kind}); the cluster's own log says why"
            ) from None
        except ConnectionError as error:  # Spark's own process is gone
            raise InputError(f"Spark: {what} failed ({type(error).__name__})") from None
        except Exception as error:
            if type(error).__module__.split(".")[0] not in {"grpc", "py4j", "pyarrow"}:
                raise
            raise InputError(f"Spark: {what} failed ({type(error).__name__})") from None
        except BaseException:
            stopped()
            raise


def all_told(what: str) -> Callable[[type[T]], type[T]]:
    """A class whose every answer is under `told`: in Spark itself another process makes even the plan."""

    def covered(made: type[T]) -> type[T]:
        for name, asked in list(vars(made).items()):
            if callable(asked) and not isinstance(asked, type) and not name.startswith("_"):
                setattr(made, name, _told_of(asked, what))
        return made

    return covered


def _told_of(asked: Callable[..., Any], what: str) -> Callable[..., Any]:
    @wraps(asked)
    def answered(*given: Any, **named: Any) -> Any:
        functions()
        with told(what):
            return asked(*given, **named)

    return answered


def fetched(frame: Any, what: str) -> Any:
    """The rows of a frame as a pyarrow table: for counts and values, never for records."""
    with told(what):
        return frame.toArrow()
