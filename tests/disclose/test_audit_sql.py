"""The dialect: what is read, and everything that is refused."""

from __future__ import annotations

from decimal import Decimal

import pytest

from privet.disclose.audit.sql import Query, RefusedError, parsed, select

PUBLIC, AUDITED = ("dept", "age", 'odd "name'), ("salary",)


def read(text: str) -> Query:
    return parsed(text, table="staff", public=PUBLIC, audited=AUDITED)


@pytest.mark.parametrize(
    ("text", "aggregate", "condition", "literals"),
    [
        ("SELECT SUM(salary) FROM staff", "sum", "", ()),
        ("select avg(Salary) as a from STAFF;", "avg", "", ()),
        ("select count(*) from staff", "count", "", ()),
        ("select max(staff.salary) from staff where staff.age >= 3", "max", '"age" >= ?', (3,)),
        (
            "SELECT SUM(salary) FROM staff WHERE dept = 'R&D' AND age > 40",
            "sum",
            '("dept" = ?) AND ("age" > ?)',
            ("R&D", 40),
        ),
        ("select min(salary) from staff where dept is not null", "min", 'NOT ("dept" IS NULL)', ()),
        (
            "select sum(salary) from staff where dept not in ('a', 'b')",
            "sum",
            'NOT ("dept" IN (?, ?))',
            ("a", "b"),
        ),
        (
            "select sum(salary) from staff where not age between -1.5 and 2",
            "sum",
            'NOT ("age" BETWEEN ? AND ?)',
            (Decimal("-1.5"), 2),
        ),
        ("select sum(salary) from staff where 3 < age", "sum", '? < "age"', (3,)),
        ('select sum(salary) from staff where "odd ""name" = true', "sum", '"odd ""name" = ?', (True,)),
        (
            "select sum(salary) from staff where dept = 'x''; drop table staff; --'",
            "sum",
            '"dept" = ?',
            ("x'; drop table staff; --",),
        ),
    ],
)
def test_what_is_read(text: str, aggregate: str, condition: str, literals: tuple[object, ...]) -> None:
    query = read(text)
    assert (query.aggregate, query.literals) == (aggregate, literals)
    made = select(("id",), "staff", query.condition, "sqlite")
    assert made == 'SELECT "id" FROM "staff"' + (f" WHERE {condition}" if condition else "")
    assert "%s" in select(("id",), "staff", query.condition, "postgres") or not literals


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sel",
        "delete from staff",
        "select sum(salary) from staff; drop table staff",
        "select sum(salary) from staff, staff",
        "select sum(salary) from staff join other on true",
        "select sum(salary) from (select * from staff)",
        "with a as (select 1) select sum(salary) from staff",
        "select sum(salary) from staff where age in (select 1)",
        "select sum(salary) from staff where exists (select 1)",
        "select sum(salary) from staff union select sum(salary) from staff",
        "select sum(salary) from staff limit 1",
        "select sum(salary) from staff order by age",
        "select sum(salary) from staff group by salary",
        "select sum(salary) from staff group by rollup (age)",
        "select sum(salary) from staff group by age + 1",
        "select sum(salary) from staff group by 1",
        "select sum(salary) from staff group by all",
        "select age, sum(salary) from staff",
        "select sum(salary) from staff group by age having age > 3",
        "select age, sum(salary) from staff group by dept",
        "select dept, dept from staff group by dept",
        "select dept, sum(salary), max(bonus) from staff group by dept",
        "select sum(salary), max(salary) from staff",
        "select distinct sum(salary) from staff",
        "select sum(distinct salary) from staff",
        "select sum(salary) filter (where age > 3) from staff",
        "select sum(salary) over () from staff",
        "select sum(salary + 1) from staff",
        "select -sum(salary) from staff",
        "select sum(case when age > 3 then salary end) from staff",
        "select salary from staff",
        "select * from staff",
        "select sum(nothing) from staff",
        "select sum(age) from staff",
        "select sum(salary) from other",
        "select sum(salary) from secret.staff",
        "select sum(salary) from staff as s",
        "select sum(salary) from staff tablesample bernoulli (10)",
        "select sum(salary) from staff for update",
        "select sum(salary) into x from staff",
        "select sum(salary) from staff where salary > 3",
        "select sum(salary) from staff where nothing = 3",
        "select sum(salary) from staff where lower(dept) = 'a'",
        "select sum(salary) from staff where dept like 'a%'",
        "select sum(salary) from staff where age = age",
        "select sum(salary) from staff where 1 = 1",
        "select sum(salary) from staff where true",
        "select sum(salary) from staff where age + 1 = 3",
        "select sum(salary) from staff where age = random()",
        "select sum(salary) from staff where age between symmetric 3 and 1",
        "select sum(salary) from staff where age = ?",
        "select sum(salary) from staff where other.age = 3",
        "select sum(salary) from staff where (age, dept) = (1, 'a')",
        "select sum(salary) from staff where " + "(" * 3000 + "age = 1" + ")" * 3000,
        "select sum(salary) from staff where " + "not " * 2000 + "age = 1",
        "select sum(salary) from staff where age in (" + "1, " * 5000 + "1)",
    ],
)
def test_what_is_refused(text: str) -> None:
    with pytest.raises(RefusedError) as caught:
        read(text)
    assert len(caught.value.complaints) == 1
    assert len(str(caught.value)) < 200
