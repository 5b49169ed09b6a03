"""Which split comes next, drawn by two parties: neither knows the other's counts, nor the scores of both.

Columns, exponential: every party weighs its own candidates, and one circuit draws (`drawing.weighed`).
Columns, noisy-max: scores with the owner's noise, and the other's noise; one circuit finds the largest
(`noisymax.loudest`). People, noisy-max: counts and noise of both in one circuit
(`noisymax.loudest_majority`). People, exponential: scores come out of a circuit masked
(`noisymax.masked_majority`), `polynomial` makes shares of weights of them, and one circuit draws
(`drawing.of_shares`). A candidate's score is the same whatever else was split, so shares of its weight are
made once.

Trust: two parties that follow the protocol; the first garbles, the second evaluates.
Leaks: the candidate that was drawn, to both, which the published table shows. To the other party it is as
private as to a reader, if computations are bounded: the draw has chance of one's own in it.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from privet.counts.door import Candidate
from privet.dp.noise import NoiseSource
from privet.dp.splitting import Splitter
from privet.errors import PartyError, UnsupportedError
from privet.parties.noisy.exponentials import Taylor, weight, weights
from privet.parties.primitives.circuits import lanes_of, number_of
from privet.parties.primitives.drawing import (
    chance_of,
    of_shares,
    weighed,
    wide_lanes,
    wide_numbers,
)
from privet.parties.primitives.garbling import Circuit, Evaluating, Garbling
from privet.parties.primitives.noisymax import (
    Shape,
    covered,
    loudest,
    loudest_majority,
    mask_bits,
    masked_majority,
    room_for,
)
from privet.parties.primitives.oblivious import Bits
from privet.parties.primitives.paillier import PrivateKey, PublicKey
from privet.parties.primitives.polynomial import evaluate, let_evaluate, shifted
from privet.parties.primitives.scalar import receive_key, send_key
from privet.parties.transport import Link


class Choice(Protocol):
    """A way to draw one of several candidates together."""

    def draw(self, offered: Sequence[Candidate], splitter: Splitter) -> int:
        """The number of the one that is drawn; it is paid for already."""


class Pair:
    """Two parties that run circuits: one garbles, the other evaluates; set up once."""

    def __init__(self, link: Link) -> None:
        if link.parties != 2:
            raise UnsupportedError("differential privacy is computed by two parties, and these are not two")
        self.link, self.me, self.other = link, link.me, 1 - link.me
        self.side = Garbling(link, 1) if link.me == 0 else Evaluating(link, 0)

    def both_learn(self, circuit: Circuit, mine: Bits, theirs: int) -> Bits:
        found = self.side.run(circuit, mine, theirs)
        if found is None:
            raise PartyError("a result that is for both was not told")
        return found

    def second_learns(self, circuit: Circuit, mine: Bits, theirs: int) -> Bits | None:
        if isinstance(self.side, Garbling):
            return self.side.run(circuit, mine, theirs, learn=False)
        return self.side.run(circuit, mine, theirs, tell=False)

    def index(self, circuit: Circuit, mine: Bits, theirs: int, count: int) -> int:
        """The number of one of so many."""
        found = number_of(self.both_learn(circuit, mine, theirs))
        if found >= count:
            raise PartyError(f"{self.link.name(self.other)}: a candidate was drawn that does not exist")
        return found


class ColumnsChoice:
    """Every party scores the candidates of its own columns."""

    def __init__(self, pair: Pair, owner: Sequence[int], most: int) -> None:
        """`owner`: by column the party that has it; `most`: the largest score that could be, public."""
        self._pair, self._owner, self._most = pair, owner, most

    def _sides(self, offered: Sequence[Candidate]) -> tuple[list[int], list[int]]:
        """The numbers of the first party's candidates, and of the second's."""
        of = [self._owner[candidate.attribute] for candidate in offered]
        return [at for at, party in enumerate(of) if party == 0], [at for at, p in enumerate(of) if p == 1]

    def _mine(
        self, offered: Sequence[Candidate], splitter: Splitter
    ) -> tuple[list[int], NDArray[np.int64], list[list[int]]]:
        sides = self._sides(offered)
        mine = sides[self._pair.me]
        return mine, splitter.scores([offered[at] for at in mine]), list(sides)


class ColumnsExponential(ColumnsChoice):
    """By weights that each party makes of its own scores."""

    def __init__(
        self, pair: Pair, owner: Sequence[int], most: int, temperature: Fraction, digits: int
    ) -> None:
        super().__init__(pair, owner, most)
        self._temperature, self._digits = temperature, digits
        self._largest = weight(Fraction(most) / temperature, digits)

    def draw(self, offered: Sequence[Candidate], splitter: Splitter) -> int:
        _, scores, sides = self._mine(offered, splitter)
        room = (len(offered) * self._largest).bit_length()
        upto = list(
            np.cumsum(np.array(weights(scores.tolist(), self._temperature, self._digits), dtype=object))
        )
        mine = np.concatenate([wide_lanes(upto, room), chance := chance_of(room)])
        theirs = len(sides[self._pair.other]) * room + len(chance)
        circuit = weighed(len(sides[0]), len(sides[1]), room)
        return [*sides[0], *sides[1]][self._pair.index(circuit, mine, theirs, len(offered))]


class ColumnsNoisyMax(ColumnsChoice):
    """By scores under the noise of both."""

    def __init__(
        self, pair: Pair, owner: Sequence[int], most: int, scale: Fraction, noise: NoiseSource
    ) -> None:
        super().__init__(pair, owner, most)
        self._scale, self._noise = scale, noise

    def draw(self, offered: Sequence[Candidate], splitter: Splitter) -> int:
        mine, scores, _ = self._mine(offered, splitter)
        size, count = ceil(self._scale), len(offered)
        room = room_for(size, self._most)
        numbers = covered(self._noise.laplace(self._scale, count), size)
        numbers[mine] += scores
        said = lanes_of(numbers, room)
        return self._pair.index(loudest(count, room), said, len(said), count)


class PeopleChoice:
    """Both have records of every candidate."""

    def __init__(self, pair: Pair, classes: int, most: int) -> None:
        """`most`: how many records there may be, both together."""
        self._pair, self._classes, self._most = pair, classes, most

    def _counted(self, offered: Sequence[Candidate], splitter: Splitter) -> tuple[Shape, Bits]:
        counts = splitter.child_counts(offered)
        fan = max(len(candidate.children) for candidate in offered)
        shape = Shape(len(offered), fan, self._classes, self._most.bit_length())
        laid = np.zeros((len(offered), fan, self._classes), dtype=np.int64)
        for at, some in enumerate(counts):
            laid[at, : len(some)] = some
        return shape, shape.laid(laid)


class PeopleNoisyMax(PeopleChoice):
    """By scores under the noise of both; counts, scores and noise stay in the circuit."""

    def __init__(self, pair: Pair, classes: int, most: int, scale: Fraction, noise: NoiseSource) -> None:
        super().__init__(pair, classes, most)
        self._scale, self._noise = scale, noise

    def draw(self, offered: Sequence[Candidate], splitter: Splitter) -> int:
        shape, counts = self._counted(offered, splitter)
        size = ceil(self._scale)
        room = room_for(size, self._most)
        noise = lanes_of(covered(self._noise.laplace(self._scale, len(offered)), size), room)
        said = np.concatenate([counts, noise])
        return self._pair.index(loudest_majority(shape, room), said, len(said), len(offered))


class PeopleExponential(PeopleChoice):
    """By weights that are shared between the two, modulo the first party's N."""

    def __init__(self, pair: Pair, classes: int, most: int, polynomial: Taylor, key_bits: int) -> None:
        super().__init__(pair, classes, most)
        self._coefficients = polynomial.coefficients
        self._largest = polynomial.of(most)
        self._private: PrivateKey | None = None
        if pair.me == 0:
            self._private = PrivateKey.fresh(key_bits)
            send_key(pair.link, 1, self._private)
            self._public: PublicKey = self._private.public
        else:
            self._public = receive_key(pair.link, 0, key_bits)
        self._shares: dict[Candidate, int] = {}

    def draw(self, offered: Sequence[Candidate], splitter: Splitter) -> int:
        if new := [candidate for candidate in offered if candidate not in self._shares]:
            self._shares.update(zip(new, self._shared(new, splitter), strict=True))
        n, count = int(self._public.n), len(offered)
        if count * self._largest >= n:
            raise UnsupportedError("noisy: the weights of so many candidates do not fit the key")
        room, wide = (count * self._largest).bit_length(), n.bit_length()
        shares = wide_lanes([self._shares[candidate] for candidate in offered], wide)
        said = np.concatenate([shares, chance_of(room)])
        return self._pair.index(of_shares(count, n, room), said, len(said), count)

    def _shared(self, new: Sequence[Candidate], splitter: Splitter) -> list[int]:
        """This party's share of each weight: the other's and this add up to it modulo N."""
        pair, n = self._pair, int(self._public.n)
        shape, counts = self._counted(new, splitter)
        wide = mask_bits(shape)
        if self._private is not None:
            masks = [secrets.randbits(wide) for _ in new]
            mine = np.concatenate([counts, wide_lanes(masks, wide)])
            pair.second_learns(masked_majority(shape), mine, len(counts))
            return evaluate(pair.link, 1, self._private, masks, len(self._coefficients) - 1)
        found = pair.second_learns(masked_majority(shape), counts, len(counts) + wide * len(new))
        if found is None:
            raise PartyError("what is for the second party was not told to it")
        less = [at - (1 << (wide + 1)) if at >> wide else at for at in wide_numbers(found, wide + 1)]
        mine_too = [secrets.randbelow(n) for _ in new]
        let_evaluate(
            pair.link,
            0,
            self._public,
            [shifted(self._coefficients, at % n, one, n) for at, one in zip(less, mine_too, strict=True)],
        )
        return mine_too
