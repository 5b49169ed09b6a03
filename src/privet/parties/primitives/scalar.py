"""Secure scalar product: two parties learn summands of the product of their vectors, and nothing else.

The first encrypts its entries under its own key, the second multiplies those it has, adds a secret number and
sends the sum back; what the first reads and the secret number add up to the product modulo N. (Mohammed 2012,
section 7.4.2; Goethals, Laur, Lipmaa and Mielikäinen, ICISC 2004.)

Packed: the first has many 0/1 vectors that exclude each other (which region each record is in), the second
has several groups of records; one ciphertext for each record gives the counts of all regions in every group.

Trust: two parties that follow the protocol; each holds a key of its own and never decrypts what the other
has not masked.
Leaks: the lengths of the vectors, and in the packed form how many regions and groups there are. The second
sees ciphertexts only; the first uniform numbers (packed: within 2**-40 of numbers that tell nothing).
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from privet.errors import PartyError
from privet.parties.primitives.paillier import ROOTS, Cipher, Packing, PrivateKey, PublicKey, Sizes
from privet.parties.transport import Link

HIDING = 40  # bits by which a mask is wider than what it hides
LONGEST = 4096  # bytes of a key
BLOCK = 256  # records whose ciphertexts travel together: while some are added up, the next are encrypted


def send_key(link: Link, to: int, private: PrivateKey) -> None:
    """The public one, and a proof that it is fit."""
    key = private.public
    link.send(to, "key length", key.wide.to_bytes(4, "little"))
    link.send(to, "key", int(key.n).to_bytes(key.wide, "little"))
    link.send(to, "key proof", private.proof(_context(link, link.me)))


def _context(link: Link, owner: int) -> bytes:
    return link.session.id + link.session.contract + bytes([owner])


def receive_key(link: Link, sender: int, bits: int | None = None) -> PublicKey:
    """The other's key; `bits`: how long it is to be."""
    from gmpy2 import mpz  # noqa: PLC0415 - checked where keys are made

    length = int.from_bytes(link.receive(sender, "key length", 4), "little")
    n = mpz(int.from_bytes(link.receive(sender, "key", min(length, LONGEST)), "little"))
    if bits not in {None, n.bit_length()} or n.bit_length() < Sizes.least:
        raise PartyError(f"{link.name(sender)}: its key does not have the length that was agreed on")
    proof = link.receive(sender, "key proof", ROOTS * length)
    try:
        key = PublicKey(n)
        key.refuse_unproved(proof, _context(link, sender))
    except PartyError as error:
        raise error.by(link.name(sender)) from None
    return key


def send_ciphers(link: Link, to: int, kind: str, ciphers: Sequence[Cipher]) -> None:
    link.send(to, kind, b"".join(cipher.key.sealed(cipher) for cipher in ciphers))


def receive_ciphers(link: Link, sender: int, kind: str, key: PublicKey, count: int) -> list[Cipher]:
    raw = link.receive(sender, kind, count * key.length)
    try:
        return [key.opened(raw[at * key.length : (at + 1) * key.length]) for at in range(count)]
    except PartyError as error:
        raise error.by(link.name(sender)) from None


def product_first(link: Link, other: int, key: PrivateKey, mine: Sequence[int]) -> int:
    """The first party's summand modulo N; it holds the key."""
    send_key(link, other, key)
    link.send(other, "vector", key.sent(mine))
    (sum_,) = receive_ciphers(link, other, "product", key.public, 1)
    return key.decrypt(sum_)


def product_second(link: Link, other: int, mine: Sequence[int]) -> tuple[int, PublicKey]:
    """The second party's summand, and the modulus under which both add up."""
    key = receive_key(link, other)
    theirs = receive_ciphers(link, other, "vector", key, len(mine))
    secret = secrets.randbelow(int(key.n))
    found = key.total(
        cipher if factor == 1 else cipher * factor
        for cipher, factor in zip(theirs, mine, strict=True)
        if factor
    )
    send_ciphers(link, other, "product", [found + (-secret)])
    return secret, key


def counts_first(  # noqa: PLR0917 - what is public, and what is mine
    link: Link, other: int, key: PrivateKey, regions: Sequence[int], wide: int, groups: int
) -> list[list[int]]:
    """By group and region a summand of how many records are in both; `regions`: the region of each record.

    `wide`: how many regions there are. The summands of both parties add up to the counts.
    """
    public = key.public
    packing = Packing.of(public, len(regions), HIDING)
    send_key(link, other, key)
    ciphers = _ciphers_for(wide, packing)
    for begin in range(0, len(regions), BLOCK):
        rows = (
            1 << (region % packing.slots * packing.slot) if region // packing.slots == at else 0
            for region in regions[begin : begin + BLOCK]
            for at in range(ciphers)
        )
        link.send(other, "regions", key.sent(rows))
    found = receive_ciphers(link, other, "counts", public, groups * ciphers)
    counts = []
    for group in range(groups):
        numbers: list[int] = []
        for at in range(ciphers):
            here = min(packing.slots, wide - at * packing.slots)
            numbers += packing.unpacked(key.decrypt(found[group * ciphers + at]), here)
        counts.append(numbers)
    return counts


def counts_second(  # noqa: PLR0917 - what is public, and what is mine
    link: Link, other: int, group_of: Sequence[int], wide: int, groups: int, bits: int | None = None
) -> list[list[int]]:
    """The second party's summands, which are negative; `group_of`: the group of each record.

    `bits`: how long the first party's key is to be, where that was agreed on.
    """
    key = receive_key(link, other, bits)
    packing = Packing.of(key, len(group_of), HIDING)
    ciphers = _ciphers_for(wide, packing)
    sums = [key.total(()) for _ in range(groups * ciphers)]
    for begin in range(0, len(group_of), BLOCK):
        some = group_of[begin : begin + BLOCK]
        rows = receive_ciphers(link, other, "regions", key, len(some) * ciphers)
        for record, group in enumerate(some):
            for at in range(ciphers):
                sums[group * ciphers + at] += rows[record * ciphers + at]
    masks = [
        [secrets.randbits(packing.mask_bits) for _ in range(min(packing.slots, wide - at * packing.slots))]
        for _ in range(groups)
        for at in range(ciphers)
    ]
    masked = [sum_ + packing.packed(mask) for sum_, mask in zip(sums, masks, strict=True)]
    send_ciphers(link, other, "counts", masked)
    return [
        [-number for at in range(ciphers) for number in masks[group * ciphers + at]]
        for group in range(groups)
    ]


def _ciphers_for(wide: int, packing: Packing) -> int:
    return -(-wide // packing.slots)
