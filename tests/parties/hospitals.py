"""Tables 5.2 and 5.4 of Mohammed 2012 (spec 03, 4.2): three hospitals, and what they publish together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from privet.parties.contract import Contract

ROWS = """\
A,1,Janitor,M,34,Y,Transgender
A,2,Lawyer,F,58,N,Plastic
A,3,Mover,M,58,N,Urology
B,4,Lawyer,M,24,N,Vascular
B,5,Mover,M,34,Y,Transgender
B,6,Janitor,M,44,Y,Plastic
B,7,Doctor,F,44,N,Vascular
C,8,Doctor,M,58,N,Plastic
C,9,Doctor,M,24,N,Urology
C,10,Carpenter,F,63,Y,Vascular
C,11,Technician,F,63,Y,Plastic
"""

TABLE_5_4 = """\
Non-Technical,M,[30-60),Y,Transgender
Professional,F,[30-60),N,Plastic
Non-Technical,M,[30-60),N,Urology
Professional,M,[1-30),N,Vascular
Non-Technical,M,[30-60),Y,Transgender
Non-Technical,M,[30-60),Y,Plastic
Professional,F,[30-60),N,Vascular
Professional,M,[30-60),N,Plastic
Professional,M,[1-30),N,Urology
Technical,F,[60-99),Y,Vascular
Technical,F,[60-99),Y,Plastic
"""
JOBS = {
    "Blue-collar": {"Non-Technical": ["Janitor", "Mover"], "Technical": ["Carpenter", "Technician"]},
    "White-collar": {"Professional": ["Doctor", "Lawyer"]},
}
SHORT = {"Blue-collar": ["Non-Technical", "Technical"], "White-collar": ["Professional"]}
AGES = [{"[1-60)": ["[1-30)", "[30-60)"]}, "[60-99)"]  # the source's tree, which ends there
ABOVE = {
    "Janitor": "Non-Technical", "Mover": "Non-Technical", "Carpenter": "Technical", "Technician": "Technical",
    "Doctor": "Professional", "Lawyer": "Professional",
}  # fmt: skip


def above_age(age: str) -> str:
    return "[1-30)" if int(age) < 30 else "[30-60)" if int(age) < 60 else "[60-99)"


def document(
    *, short: bool = False, parties: tuple[str, ...] = ("A", "B", "C"), **changes: Any
) -> dict[str, Any]:
    """The contract of the three hospitals; `short`: jobs end at Non-Technical, Technical, Professional."""
    return {
        "contract": 1,
        "split": "people",
        "parties": list(parties),
        "public": {
            "Transfuse": {"values": ["Y", "N"]},
            "Surgery": {"values": ["Transgender", "Plastic", "Urology", "Vascular"]},
        },
        "policy": {
            "policy": 1,
            "attributes": {
                "Job": {
                    "role": "quasi",
                    "hierarchy": {"type": "tree", "tree": {"ANY_Job": SHORT if short else JOBS}},
                },
                "Sex": {"role": "quasi", "hierarchy": {"type": "tree", "tree": {"ANY_Sex": ["M", "F"]}}},
                "Age": {"role": "quasi", "hierarchy": {"type": "tree", "tree": {"[1-99)": AGES}}},
                "Transfuse": {"role": "target"},
                "Surgery": {"role": "sensitive"},
            },
            "models": [
                {"type": "lkc-privacy", "l": 2, "k": 2, "c": "1/2", "sensitive": {"Surgery": ["Transgender"]}}
            ],
            "algorithm": {"type": "top-down", "score": "information-gain"},
        },
        **changes,
    }


def contract(**changes: Any) -> Contract:
    return Contract.from_document(document(**changes), base=Path())


def parts(folder: Path, *, short: bool = False, split: dict[str, str] | None = None) -> list[Path]:
    """A file for each party; `split`: which party has which row, instead of the source's way."""
    files: dict[str, list[str]] = {}
    for line in ROWS.splitlines():
        party, at, job, sex, age, transfuse, surgery = line.split(",")
        party = split[at] if split else party
        said = above_age(age)
        row = [ABOVE[job] if short else job, sex, said, transfuse, surgery]
        files.setdefault(party, []).append(",".join(row))
    found = []
    for party, rows in sorted(files.items()):
        path = folder / f"{party}.csv"
        path.write_text("Job,Sex,Age,Transfuse,Surgery\n" + "\n".join(rows) + "\n")
        found.append(path)
    return found
