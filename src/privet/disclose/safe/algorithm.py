"""`safe-lattice`: full-domain generalisation whose choice is safe from somebody who knows the rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from privet.core import Algorithm, Finding, Progress, Tally, Terms, silent
from privet.disclose.safe.lattice import recoding, safe_lattice
from privet.errors import UnsatisfiableError, UnsupportedError
from privet.models.ldiversity import EntropyLDiversity


@dataclass(frozen=True, slots=True)
class SafeLattice(Algorithm):
    """Full-domain levels for entropy l-diversity, chosen so that the choice itself tells nothing.

    A chain of ever more general tables is fixed by the hierarchies. The first diverse one is released,
    unless a table that looks the same further up would have had to go there: then it goes there too.
    """

    name: ClassVar[str] = "safe-lattice"
    why_records: ClassVar[str] = (
        "its proof is about tables in which each person has one row; give each person one row, or use "
        "top-down or optimal"
    )
    coincident: ClassVar[bool] = True

    def complaints(self, policy: Terms) -> list[str]:
        try:
            self._served(policy)
        except UnsupportedError as error:
            return [f"algorithm: {complaint}" for complaint in error.complaints]
        return []

    def _served(self, policy: Terms) -> EntropyLDiversity:
        """The one promise that it can keep."""
        promised = policy.models
        if len(promised) != 1 or not isinstance(promised[0], EntropyLDiversity):
            raise UnsupportedError(f"{self.name} serves one promise, entropy-l-diversity, and no other")
        if (many := len(promised[0].sensitive)) != 1:
            raise UnsupportedError(f"{self.name} serves one sensitive attribute, not {many}")
        return promised[0]

    def search(self, tally: Tally, policy: Terms, progress: Progress = silent) -> Finding:
        model = self._served(policy)
        progress("search", 0)
        choice = safe_lattice(tally, model.l, sensitive=model.sensitive[0])
        found = recoding(tally, choice)
        if found is None:
            raise UnsatisfiableError(
                f"no member of the chain of {len(choice.chain)} tables may be released: not even the most "
                f"general one is entropy {model.l}-diverse",
                "that nothing can be released may itself tell something: keep it to yourself",
            )
        released = (choice.index or 0) + 1
        note = (
            f"member {released} of a chain of {len(choice.chain)} tables that the hierarchies fix; whoever "
            "knows the rule learns no more than the table shows"
        )
        names = ", ".join(column.name for column in tally.quasi)
        levels = " ".join(f"({', '.join(map(str, node))})" for node in choice.chain)
        chain = f"the chain, fixed by quasi-identifiers alone, as levels of ({names}): {levels}"
        # Why earlier members were passed over depends on the sensitive values: said to the steward alone.
        why = (*choice.why, f"candidate {released} of {len(choice.chain)} is released")
        return Finding(found, notes=(note, chain), reasons=why)
