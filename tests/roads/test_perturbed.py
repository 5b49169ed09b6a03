"""Releases that are perturbed or split: what leaves, what the evidence says, what verify finds."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import privet as pv
from privet.errors import InputError, PolicyError, UnsatisfiableError, UnsupportedError
from privet.verification import verify

RAW = pl.DataFrame(
    {
        "name": [f"canary{at}" for at in range(60)],
        "age": [20 + at % 12 for at in range(60)],
        "hours": [30 + at % 5 for at in range(60)],
        "ill": [["flu", "HIV", "cold", "gout"][at % 4] for at in range(60)],
    }
)
HEAD = """
policy = 1
[attributes]
name = { role = "identifier" }
age = { role = "quasi" }
hours = { role = "quasi" }
ill = { role = "sensitive" }
"""
CHANCE = '[[models]]\ntype = "by-construction"\n'
DIVERSE = '[[models]]\ntype = "distinct-l-diversity"\nl = 3\nsensitive = ["ill"]\n'


def policy(algorithm: str, models: str) -> pv.Policy:
    return pv.Policy.loads(f"{HEAD}\n{models}\n[algorithm]\n{algorithm}")


@pytest.mark.parametrize(
    ("algorithm", "claims"),
    [
        ('type = "condensation"\nk = 4', {"smallest group": 4}),
        ('type = "rank-swap"\nwithin = "1/10"', {"within": "1/10"}),
        ('type = "pram"\nkeep = "1/2"\ncolumns = ["ill"]', {"keep": "1/2", "odds of ill": 5}),
        ('type = "sampling"\nshare = "1/2"', {"share": "1/2"}),
    ],
)
def test_what_cannot_be_checked_is_said_to_be_made(
    algorithm: str, claims: dict[str, object], tmp_path: Path
) -> None:
    release = pv.publish(RAW, policy(algorithm, CHANCE))
    (promise,) = release.evidence["promises"]
    assert promise["checked"] is False
    assert promise["achieved"] == claims
    assert release.verdicts == ()
    folder = release.write(tmp_path / "out")
    found = verify(folder)
    assert found.holds
    assert [claim["model"]["type"] for claim in found.made] == ["by-construction"]
    assert "nobody can check that" in (folder / "report.html").read_text("utf-8")
    assert "canary" not in "".join(path.read_text("utf-8") for path in folder.iterdir())
    kept = release.evidence["records"] + release.evidence["suppressed_records"]
    assert kept == RAW.height
    assert release.to_polars().height == release.evidence["records"]


@pytest.mark.parametrize("engine", ["embedded", "plain"])
def test_several_records_are_drawn_for_each(engine: str, tmp_path: Path) -> None:
    # Two clouds far apart, in no order: whoever is drawn for a record is drawn from its own cloud.
    raw = pl.DataFrame(
        {
            "name": [f"canary{at}" for at in range(60)],
            "age": [(20 if at % 2 else 80) + at % 3 for at in range(60)],
            "hours": [30 + at % 5 for at in range(60)],
            "ill": ["flu" if at % 2 else "HIV" for at in range(60)],
        }
    )
    raw.write_csv(tmp_path / "raw.csv")
    made = policy('type = "condensation"\nk = 5\nalpha = 3\nnoise = "1/10"', CHANCE)
    release = pv.publish(tmp_path / "raw.csv", made, engine=engine)
    table = release.to_polars()
    assert Counter(table["ill"]) == Counter(raw["ill"].to_list() * 3)
    young = table["age"].cast(pl.Float64) < 50
    assert (young == (table["ill"] == "flu")).all()
    assert (release.evidence["records"], release.evidence["suppressed_records"]) == (180, 0)
    assert release.evidence["copies"] == 3
    before = raw.group_by("age", "hours").len()["len"].to_list()
    assert release.measures["risk"]["before"]["unique_records"] == before.count(1)
    folder = release.write(tmp_path / "out")
    assert verify(folder).holds
    found = pv.compare(tmp_path / "raw.csv", folder, classify=True, engine=engine)
    assert found["risk"]["before"] == release.measures["risk"]["before"]
    assert found["loss"]["query_error"] < 0.5
    with pytest.raises(InputError, match="has 59 records, the release 60"):
        pv.compare(raw.head(59), folder)
    with pytest.raises(PolicyError, match="alpha is how many"):
        policy('type = "condensation"\nk = 4\nalpha = 0', CHANCE)


def test_means_of_groups_keep_k_anonymity(tmp_path: Path) -> None:
    made = policy('type = "microaggregation"', '[[models]]\ntype = "k-anonymity"\nk = 4\n')
    release = pv.publish(RAW, made)
    assert release.evidence["recoding"] == "regions"
    assert verify(release.write(tmp_path / "out")).holds
    assert min(release.to_polars().group_by("age", "hours").len()["len"].to_list()) >= 4
    found = pv.compare(RAW, tmp_path / "out")
    assert found["loss"]["lm"] == pytest.approx(release.measures["loss"]["lm"], abs=1e-6)


def test_two_tables_leave_and_are_checked_together(tmp_path: Path) -> None:
    folder = pv.publish(RAW, policy('type = "anatomy"', DIVERSE)).write(tmp_path / "out")
    data, buckets = (pl.read_csv(folder / name) for name in ("data.csv", "buckets.csv"))
    assert data.columns == ["age", "hours", "bucket"]
    assert sorted(data.select("age", "hours").rows()) == sorted(RAW.select("age", "hours").rows())
    assert buckets.columns == ["bucket", "ill", "records"]
    assert buckets["records"].sum() == RAW.height
    assert min(buckets.group_by("bucket").len()["len"].to_list()) >= 3
    found = verify(folder)
    assert found.holds
    assert [model.name for model, _ in found.verdicts] == ["distinct-l-diversity"]
    compared = pv.compare(RAW, folder)
    assert compared["loss"]["query_error"] >= 0


def forged(folder: Path, name: str, text: str) -> None:
    """Replace a file and its digest, as somebody would who wants to be believed."""
    from privet.evidence import folder as ev

    (folder / name).write_text(text, "utf-8")
    evidence = json.loads((folder / "evidence.json").read_text("utf-8"))
    evidence["files"][name] = ev.digest(folder / name)
    (folder / "evidence.json").write_text(json.dumps(evidence, indent=1, ensure_ascii=False) + "\n", "utf-8")


def test_buckets_that_were_tampered_with_are_found(tmp_path: Path) -> None:
    folder = pv.publish(RAW, policy('type = "anatomy"', DIVERSE)).write(tmp_path / "out")
    lines = (folder / "buckets.csv").read_text("utf-8").splitlines()
    one = lines[1].split(",")
    forged(folder, "buckets.csv", "\n".join([lines[0], f"{one[0]},{one[1]},3", *lines[4:]]) + "\n")
    found = verify(folder)
    assert not found.holds
    assert any(not verdict.holds for _, verdict in found.verdicts) or found.complaints


def test_a_data_file_with_other_buckets_is_found(tmp_path: Path) -> None:
    folder = pv.publish(RAW, policy('type = "anatomy"', DIVERSE)).write(tmp_path / "out")
    lines = (folder / "data.csv").read_text("utf-8").splitlines()
    forged(folder, "data.csv", "\n".join([*lines[:-1], lines[-1].rsplit(",", 1)[0] + ",99"]) + "\n")
    assert "the two tables do not have the same records in their buckets" in verify(folder).complaints


def test_what_does_not_go_together_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"add it"):
        policy('type = "pram"\nkeep = "1/2"', '[[models]]\ntype = "k-anonymity"\nk = 1\n')
    with pytest.raises(PolicyError, match="top-down does not"):
        policy('type = "top-down"', CHANCE)
    with pytest.raises(UnsatisfiableError, match="may have"):
        pv.publish(RAW.with_columns(ill=pl.lit("flu")), policy('type = "anatomy"', DIVERSE))
    folder = pv.publish(RAW, policy('type = "anatomy"', DIVERSE)).write(tmp_path / "out")
    with pytest.raises(UnsupportedError, match="without --like"):
        pv.publish(RAW, policy('type = "anatomy"', DIVERSE), like=folder)
    with pytest.raises(UnsupportedError, match="no loss to explain"):
        pv.explain(folder)
    RAW.write_csv(tmp_path / "raw.csv")
    with pytest.raises(UnsupportedError, match="'embedded'"):
        pv.publish(tmp_path / "raw.csv", policy('type = "anatomy"', DIVERSE), engine="plain")
    swapped = pv.publish(RAW, policy('type = "rank-swap"\nwithin = "1/10"', CHANCE)).write(tmp_path / "other")
    with pytest.raises(UnsupportedError, match="perturbation"):
        pv.publish(
            RAW, policy('type = "top-down"', '[[models]]\ntype = "k-anonymity"\nk = 1\n'), like=swapped
        )


def test_what_only_suppressed_records_have_is_not_in_the_published_policy(tmp_path: Path) -> None:
    raw = pl.DataFrame(
        {"job": ["cook"] * 6 + ["canary"], "age": [30] * 7, "ill": ["flu", "HIV"] * 3 + ["flu"]}
    )
    text = """
policy = 1
[attributes]
job = { role = "quasi", hierarchy = { type = "tree", tree = { ANY = ["cook", "canary"] } } }
age = { role = "quasi" }
ill = { role = "sensitive" }
[[models]]
type = "k-anonymity"
k = 3
[algorithm]
type = "optimal"
suppression = "1/2"
"""
    release = pv.publish(raw, pv.Policy.loads(text))
    assert release.evidence["suppressed_records"] == 1
    folder = release.write(tmp_path / "out")
    assert "cook" in (folder / "policy.toml").read_text("utf-8")
    assert "canary" not in "".join(path.read_text("utf-8") for path in folder.iterdir())
