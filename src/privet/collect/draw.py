"""Many answers to one question perturbed at once, by the same thresholds as `channels` has for one.

Words of the operating system's randomness are compared with the same whole numbers, so that a million answers
have exactly the channel's distribution, as one has. Of the words of a unary encoding most are never drawn to
their end.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.collect.channels import Additive, AsIs, Channel, Response, Take, Unary
from privet.errors import InternalError

Codes: TypeAlias = NDArray[np.int64]
Bits: TypeAlias = NDArray[np.bool_]
FEW = 2  # blocks that one thread does as quickly
REST = 24  # of the 32 bits of a word that are drawn only if the first 8 leave it open
AT_ONCE = 1 << 19  # answers; memory stays small and in the cache


def perturbed(channel: Channel, codes: Codes, take: Take = os.urandom) -> Codes | Bits:
    """An output for each input; of a unary encoding, a row of bits for each."""
    if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < channel.inputs:
        raise InternalError("collect: an input that the channel does not have")
    size = AT_ONCE // channel.inputs + 1 if isinstance(channel, Unary) else AT_ONCE
    blocks = [codes[at : at + size] for at in range(0, len(codes), size)]
    if take is os.urandom and len(blocks) > FEW:
        # The operating system's randomness and numpy's comparisons both run beside each other.
        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as workers:
            parts: list[Any] = list(workers.map(lambda block: _some(channel, block, take), blocks))
    else:
        parts = [_some(channel, block, take) for block in blocks]
    if not parts:
        return (
            np.zeros((0, channel.inputs), np.bool_) if isinstance(channel, Unary) else np.zeros(0, np.int64)
        )
    return np.concatenate(parts) if len(parts) > 1 else parts[0]


def _some(channel: Channel, codes: Codes, take: Take) -> Codes | Bits:
    match channel:
        case AsIs():
            return codes.copy()
        case Response():
            return _response(channel, codes, _words(take, len(codes)))
        case Unary():
            return _unary(channel, codes, take)
        case Additive():
            cuts = np.array(channel.cuts, dtype=np.uint64)
            steps = np.searchsorted(cuts, _words(take, len(codes)), side="right")
            steps += codes
            if channel.clamped:
                steps -= channel.reach
                np.clip(steps, 0, channel.inputs - 1, out=steps)
            return steps
    raise InternalError("collect: an unknown channel")


def _words(take: Take, size: int) -> NDArray[np.uint64]:
    return np.frombuffer(take(8 * size), dtype="<u8")


def _response(channel: Response, codes: Codes, words: NDArray[np.uint64]) -> Codes:
    keep = np.uint64(channel.keep)
    others = ((words - keep) // np.uint64(channel.other)).astype(np.int64)  # nonsense where it is kept
    others += others >= codes
    return np.where(words < keep, codes, others)


def _unary(channel: Unary, codes: Codes, take: Take) -> Bits:
    """A word of 32 bits for each bit, of which the upper 8 are drawn first: they decide unless they are the
    threshold's own, and only then are the others drawn.
    """
    first = np.frombuffer(take(channel.inputs * len(codes)), dtype=np.uint8).reshape(len(codes), -1)
    rows = np.arange(len(codes))
    own = first[rows, codes]
    bits = first < channel.zero >> REST
    bits[rows, codes] = own < channel.one >> REST
    close = first == channel.zero >> REST
    close[rows, codes] = own == channel.one >> REST
    row, bit = np.divmod(np.flatnonzero(close), channel.inputs)
    rest = np.zeros((len(row), 4), dtype=np.uint8)
    rest[:, 1:] = np.frombuffer(take(3 * len(row)), dtype=np.uint8).reshape(-1, 3)
    lower = np.where(codes[row] == bit, channel.one, channel.zero) & ((1 << REST) - 1)
    bits[row, bit] = rest.view(">u4").ravel() < lower
    return bits
