"""A joint release rehearsed: all parties on one machine, with the real protocol, before anybody commits.

Every party runs in a thread of its own and sees its own table and the messages that it receives, nothing
else; what is sent is what would be sent between houses, byte for byte.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from privet.core import Purse, Step, Verdicts
from privet.engine import Engine, codes_of
from privet.equality import key
from privet.errors import InputError
from privet.evidence.signing import PrivateKey
from privet.parties.contract import Contract
from privet.parties.itemsets import MiningContract
from privet.parties.learned import coalitions, learned
from privet.parties.transport import Distance, InProcess, Link, Session, Traffic, Travelling, together
from privet.parties.words import Split
from privet.release import claimed, named
from privet.roads import engine_of, publish
from privet.roads.parties.concluding import AllSign
from privet.roads.parties.itemsets import mine_together
from privet.roads.parties.noisy import NoisyOutcome, made_up
from privet.roads.parties.party import Outcome, publish_together

FAR = Distance(0.02, 50e6 / 8)  # 20 ms, 50 Mbit/s


@dataclass(frozen=True)
class Rehearsal(Travelling):
    """What a run came to."""

    contract: Contract
    table: Any = field(repr=False)  # a polars frame, the same at every party
    steps: tuple[Step, ...] = field(repr=False)  # as a party that is not the leader knows them
    verdicts: Verdicts
    seconds: float
    traffic: Mapping[str, Traffic] = field(repr=False)
    learned: Mapping[str, tuple[str, ...]]
    coalitions: tuple[str, ...]
    as_pooled: bool | None  # is it the table that all rows in one place would give? None: not asked
    as_listed: bool | None  # the same, if the contract's public values are taken to occur
    folder: Path | None = None  # where the release was written

    @property
    def seconds_apart(self) -> float:
        """About how long it takes between houses 20 ms and 50 Mbit/s apart."""
        busiest = max(traffic.sent for traffic in self.traffic.values())
        return self.seconds + self.rounds * FAR.seconds + busiest / FAR.rate


def rehearse(
    contract: Contract | str | Path,
    sources: Sequence[Any],
    *,
    engine: Engine[Any] | str = "embedded",
    pooled: bool = False,
    record: bool = False,
    output: str | Path | None = None,
    overwrite: bool = False,
    keys: Sequence[PrivateKey] = (),
    purses: Sequence[Purse] = (),
    distance: Distance | None = None,
) -> Rehearsal:
    """Run every party of a contract, each on its own source; `pooled` compares with all rows in one place.

    `record` keeps what every party received, for those who want to search it. `output` is where the release
    is written, signed with `keys`: those of all parties, or none. `purses`: what each party pays from, where
    the contract spends; without them ledgers are made up, and nothing may be written. `distance` has messages
    arrive as late as between houses so far apart.
    """
    if not isinstance(contract, Contract):
        contract = Contract.load(contract)
    if len(sources) != len(contract.parties):
        raise InputError(
            f"the contract has {len(contract.parties)} parties ({', '.join(contract.parties)}), "
            f"and {len(sources)} tables are given: one for each, in this order"
        )
    _refuse_unpaid(contract, purses, pooled=pooled, written=output is not None)
    where = engine_of(engine)
    signing = _signing(contract, keys)
    session = Session(secrets.token_bytes(16), contract.digest, contract.parties)
    house = InProcess(session, record=record, distance=distance)
    place = None if output is None else named(Path(output))
    with ExitStack() as held:
        claim = None if place is None else held.enter_context(claimed(place, overwrite=overwrite))
        apart = Path(held.enter_context(TemporaryDirectory(prefix="privet-")))
        paying = purses or made_up(contract, apart)
        begun = perf_counter()

        def part(link: Link, source: Any) -> Outcome | NoisyOutcome:
            """One party, which writes its release where the others' are not."""
            outcome, release = publish_together(
                link,
                contract,
                source,
                where,
                rehearsed=True,
                signed=bool(signing),
                purse=paying[link.me] if paying else None,
            )
            if place is not None:
                mine = link.name(link.me)
                first = link.me == 0
                release.write(
                    place if first else apart / mine,
                    overwrite=overwrite,
                    claim=claim if first else None,
                    sign=AllSign(link, contract, signing.get(mine)),
                )
            return outcome

        outcomes: list[Outcome | NoisyOutcome] = together(
            house, [partial(part, source=source) for source in sources]
        )
        seconds = perf_counter() - begun
    first, *others = outcomes
    if any(not other.table.equals(first.table) for other in others):
        raise InputError("the parties hold different tables at the end")
    same, listed = _same(first.table, contract, sources, where) if pooled else (None, None)
    return Rehearsal(
        contract=contract,
        table=first.table,
        steps=others[-1].steps,
        verdicts=first.verdicts,
        seconds=seconds,
        traffic={link.name(link.me): link.traffic for link in house.links},
        learned=learned(contract),
        coalitions=coalitions(contract),
        as_pooled=same,
        as_listed=listed,
        folder=place,
    )


def _refuse_unpaid(contract: Contract, purses: Sequence[Purse], *, pooled: bool, written: bool) -> None:
    """What a rehearsal of a contract that spends cannot do, and what only such a one can."""
    if contract.noisy is None:
        if purses:
            raise InputError("a ledger: this contract spends nothing; only diffgen does")
        return
    if pooled:
        raise InputError("pooled: noise is drawn anew every time; no two releases are the same")
    if purses and len(purses) != len(contract.parties):
        raise InputError("a ledger and a data set of each party, in the contract's order, or none at all")
    if written and not purses:
        raise InputError(
            "a noisy release that is written is paid for: give each party's ledger and data set, in the "
            "contract's order"
        )


def _signing(contract: Contract, keys: Sequence[PrivateKey]) -> dict[str, PrivateKey]:
    """By party the key that it signs with; all of them, or none."""
    found = {party: key for party, public in contract.keys.items() for key in keys if key.public == public}
    if keys and (len(found) != len(contract.parties) or len(keys) != len(found)):
        raise InputError("keys: one of each party that the contract lists under [keys], or none at all")
    return found


def _same(table: Any, contract: Contract, sources: Sequence[Any], engine: Engine[Any]) -> tuple[bool, bool]:
    """Would `privet publish` on all rows give this table, row by row after sorting? And with public values?

    Which of the public values occur no party knows: a missing value or a negative number that nobody has is
    in the labels and cuts of intervals all the same. Nor does it know how others write them: they leave as
    the contract does.
    """
    import polars as pl  # noqa: PLC0415 - only who asks needs it

    from privet.roads.stations import in_frame, settle  # noqa: PLC0415
    from privet.roads.tables.persons import columns_read  # noqa: PLC0415

    policy = contract.policy
    by_columns = contract.split is Split.COLUMNS
    frames = []
    for source in sources:
        wanted = None if by_columns else columns_read(policy)
        frame = in_frame(engine, engine.read(source, settle(source, policy.form), wanted))
        frames.append(frame.select(pl.all().cast(pl.String)))
    if by_columns:
        person = str(contract.person)
        spelt_alike = pl.col(person).map_elements(key, return_dtype=pl.String)
        whole_table, *others = (frame.with_columns(spelt_alike) for frame in frames)
        for other in others:
            new = [name for name in other.columns if name not in whole_table.columns]
            whole_table = whole_table.join(other.select(person, *new), on=person)
        whole_table = whole_table.select(n for n in columns_read(policy) if n in whole_table.columns)
    else:
        whole_table = pl.concat(frames, how="diagonal")

    def made_by(policy: Any, rows: Any) -> bool:
        whole = publish(rows, policy, engine=engine)
        alone = whole.to_polars().select(pl.all().cast(pl.String)).select(table.columns)
        return bool(alone.sort(table.columns).equals(table.sort(table.columns)))

    def listed(name: str) -> Any:
        domain = contract.domains[name]
        written = whole_table.get_column(name).unique().drop_nulls().to_list()
        as_listed = [domain.values[code] for code in codes_of(domain, written).tolist()]
        return pl.col(name).replace(written, as_listed)

    same = made_by(policy, whole_table)
    terms = replace(policy, attributes=contract.terms().attributes)
    return same, same or made_by(terms, whole_table.with_columns(map(listed, contract.domains)))


@dataclass(frozen=True)
class Mined:
    """What mining together came to."""

    contract: MiningContract
    itemsets: Mapping[tuple[str, ...], int] = field(repr=False)  # how many persons have each
    seconds: float
    traffic: Mapping[str, Traffic] = field(repr=False)
    rounds: int


def mine(
    contract: MiningContract | str | Path,
    sources: Sequence[Any],
    *,
    engine: Engine[Any] | str = "embedded",
    record: bool = False,
) -> Mined:
    """Run every party of a mining contract, each on its own source."""
    if not isinstance(contract, MiningContract):
        contract = MiningContract.load(Path(contract))
    if len(sources) != len(contract.parties):
        raise InputError(
            f"the contract has {len(contract.parties)} parties ({', '.join(contract.parties)}), "
            f"and {len(sources)} tables are given: one for each, in this order"
        )
    where = engine_of(engine)
    house = InProcess(Session(secrets.token_bytes(16), contract.digest, contract.parties), record=record)
    begun = perf_counter()
    found: list[dict[tuple[str, ...], int]] = together(
        house, [partial(mine_together, contract=contract, source=one, engine=where) for one in sources]
    )
    if any(other != found[0] for other in found):
        raise InputError("the parties hold different itemsets at the end")
    return Mined(
        contract,
        found[0],
        perf_counter() - begun,
        {link.name(link.me): link.traffic for link in house.links},
        max(link.traffic.rounds for link in house.links),
    )
