"""Bad input to a real gateway over HTTP: refused with a fixed sentence that tells nothing, nothing logged."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.disclose.audit_place import CANARY, firm, on_postgresql, rows
from tests.disclose.audit_server import Server
from tests.engines.test_postgres import url as server

from privet.disclose.audit.keys import Keys
from privet.disclose.audit.log import AuditLog

url = server  # the fixture, under its own name

FORM = re.escape("SELECT SUM(column) FROM table WHERE …")
SENTENCES = re.compile(
    "|".join(
        (
            f"this is not SQL that can be read; the form is {FORM}",
            f"one SELECT and nothing else; the form is {FORM}",
            f"[a-z, ]+: not allowed; the form is {FORM}",
            "a query asks for one aggregate",
            "GROUP BY names public columns, and SELECT has these and one aggregate",
            "a query has at most 100 groups",
            "a query asks for SUM, AVG, MAX, MIN or COUNT of a column",
            "a query has at most 10,000 characters",
            "an aggregate has one plain column(, and no DISTINCT or arithmetic)?",
            "this column is not audited; there are bonus, days, salary",
            "(salary|bonus|days) is audited for [A-Z, ]+",
            "FROM names one table: staff",
            "columns are of staff",
            "a column has its name, or the table's name in front",
            "conditions may use age, dept",
            "a condition compares a column with a literal",
            "WHERE has comparisons of a column with a literal, IN, BETWEEN, IS NULL, AND, OR, NOT",
            "the conditions are nested too deeply",
            "this number cannot be read",
            "fewer than 2 people meet these conditions",
            "the database cannot compare these; give each column a literal of its own type",
        )
    )
)

# After SELECT SUM(salary) FROM staff
AFTER = """
where
where dept = 'A
where dept = "A"
where dept = b'1'
; select sum(salary) from staff
; drop table staff
join staff s on true
cross join staff
natural join staff
, staff
, lateral (select 1) x
s
tablesample bernoulli (50)
union all select sum(salary) from staff
except select 1
intersect select 1
order by 1
group by rollup (dept)
having sum(salary) > 3
qualify true
window w as ()
limit 1
offset 1
fetch first 1 rows only
for update
where age in (select age from staff)
where age = (select max(age) from staff)
where age > any (select 1)
where age = any (array[30, 32])
where exists (select 1)
where age = 30
where age = 1
where false
where true
where 1 = 1
where null
where age
where not age
where age = null
where age = age
where age = salary
where salary > 3
where "SALARY" > 3
where rowid = 3
where ctid is null
where id = 5
where name = 'x'
where staff.salary > 3
where other.age > 3
where a.b.age > 3
where lower(dept) = 'a'
where length(dept) = 1
where abs(age) = 30
where age + 1 = 31
where age % 2 = 0
where age > 1/0
where dept || 'x' = 'Ax'
where dept like 'A%'
where dept ilike 'a'
where dept similar to 'A'
where dept ~ 'A'
where dept collate "C" = 'A'
where age = cast('30' as int)
where age = '30'::int
where age = ?
where age = $1
where age = :a
where age = %s
where age = %(a)s
where age = @a
where age is distinct from 30
where (age, dept) = (30, 'C')
where age in ()
where age in (30, null)
where age between symmetric 50 and 30
where age is true
where random() < 0.5
where pg_sleep(5) is null
where case when age = 30 then true end
where age < nan
where age < inf
where dept = 'A' /* open
where dept \uff1d 'A'
where dept\u200b = 'A'
where age < 4\u00b2
where age < \uff14\uff10
where \u202eage\u202c > 3
where dept = '\ud800'
where dept = '\uff21'
where dept = 'A\u0301'
where dept = date '2020-01-01'
where dept = interval '1 day'
#
"""
WHOLE = """
sum(salary)
select
select sum(salary) from
select 1
select * from staff
select salary from staff
select salary, sum(salary) from staff
select sum(salary), sum(salary) from staff
select distinct sum(salary) from staff
select sum(distinct salary) from staff
select sum(salary order by age) from staff
select sum(salary) over () from staff
select sum(salary) over (partition by dept) from staff
select sum(salary) filter (where age > 30) from staff
select sum(salary + 0) from staff
select sum(-salary) from staff
select sum(salary) + 1 from staff
select sum(salary)::int from staff
select cast(sum(salary) as text) from staff
select round(sum(salary)) from staff
select sum(case when age = 30 then salary end) from staff
select median(salary) from staff
select var_pop(salary) from staff
select string_agg(salary, ',') from staff
select count(distinct salary) from staff
select count(*) from staff where salary > 77000
select count(salary) from staff where salary > 77000
select count(*) from staff where age = 30
select count(id) from staff
select sum(pay) from staff
select sum(dept) from staff
select sum(id) from staff
select sum(x.salary) from staff
select sum(a.staff.salary) from staff
select sum(\u017falary) from staff
select sum(salary) from \u017ftaff
select sum(salary) from \uff53taff
select sum(\u202esalary) from staff
select max(salary) from staff
select min(bonus) from staff
select avg(bonus) from staff
select sum(salary) from other
select sum(salary) from public.staff
select sum(salary) from only staff
select sum(salary) from (select * from staff)
select (select sum(salary) from staff)
with s as (select * from staff) select sum(salary) from s
with recursive s as (select 1) select sum(salary) from staff
select sum(salary) into t from staff
insert into staff values (1)
update staff set salary = 1
delete from staff
drop table staff
create table t as select sum(salary) from staff
explain select sum(salary) from staff
pragma writable_schema = 1
attach 'x' as y
copy staff to '/tmp/x'
call f()
begin
vacuum
set role x
grant all on staff to x
values (1)
table staff
"""
HERE = "select sum(salary) from staff "
BAD = [
    "",
    " ",
    "\x00",
    HERE + "where age < " + "9" * 5_000,
    HERE + "where age < 1e9999999999999999999999",
    HERE + "where " + "not " * 2_000 + "age = 3",
    HERE + "where " + "(" * 2_000 + "age = 3" + ")" * 2_000,
    HERE + "where age in (" + "1, " * 4_000 + "1)",
    "select sum(salary) from staff -- " + "x" * 10_000,
    *(HERE + line for line in AFTER.strip().splitlines()),
    *WHOLE.strip().splitlines(),
]
GOOD = [
    # What looks odd and is read: names in quotes or capitals, comments, a label, blanks of other alphabets.
    'select SUM("salary") as "total" from STAFF',
    "select /* c */ sum(staff.salary)\u00a0from staff -- where age = 30",
    "select sum(salary) from staff where dept is not null and age < .5e3;",
]


def database(folder: Path, kind: str) -> str:
    firm(folder)
    if kind == "sqlite":
        return f"sqlite:///{folder / 'staff.db'}"
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(folder / "staff.duckdb")) as db:
        db.execute(
            "create table staff (id int, dept text, age int, salary decimal(9,2), bonus double, days int)"
        )
        db.executemany("insert into staff values (?, ?, ?, ?, ?, ?)", rows())
    return f"duckdb:///{folder / 'staff.duckdb'}"


def refused(folder: Path, db: str) -> None:
    gateway = Server(folder, db=db)
    key = Keys(folder / "audit.keys.toml").issue("ann")
    try:
        with httpx.Client(headers={"authorization": f"Bearer {key}"}, timeout=120) as client:

            def pose(sql: str) -> httpx.Response:
                return client.post(f"{gateway.url}/v1/ask", content=json.dumps({"sql": sql}))

            for sql in BAD:
                said = pose(sql)
                assert (said.status_code, said.json()["error"]) == (400, "refused"), sql[:200]
                assert SENTENCES.fullmatch(said.json()["message"]), sql[:200]
            log = AuditLog(folder / "audit.log.db")
            assert not list(log.entries())
            total = str(sum(row[3] for row in rows()))
            assert [pose(sql).json().get("answer") for sql in GOOD] == [total] * len(GOOD)
            assert client.get(f"{gateway.url}/healthz").status_code == 200
    finally:
        logged = gateway.stop()
    for word in ("select", "salary", "pragma", "drop", str(CANARY)):  # not even by way of the parser
        assert word not in logged.lower()
    assert "failed" not in logged


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_bad_input_is_refused_with_a_sentence_that_tells_nothing(tmp_path: Path, kind: str) -> None:
    refused(tmp_path, database(tmp_path, kind))


@pytest.fixture
def postgres(url: str) -> Iterator[str]:
    with on_postgresql(url):
        yield url


@pytest.mark.services
def test_bad_input_to_postgresql(tmp_path: Path, postgres: str) -> None:
    firm(tmp_path)
    refused(tmp_path, postgres)
