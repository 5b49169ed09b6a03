"""Many answers to one question perturbed at once, by the same draws as `channels` makes one by one.

Words of the operating system's randomness are compared with the same whole numbers, so that a million answers
have exactly the channel's distribution, as one has.
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
    drawn = np.frombuffer(take(4 * channel.inputs * len(codes)), dtype="<u4").reshape(len(codes), -1)
    bits = drawn < np.uint32(channel.zero)
    rows = np.arange(len(codes))
    bits[rows, codes] = drawn[rows, codes] < np.uint32(channel.one)
    return bits
