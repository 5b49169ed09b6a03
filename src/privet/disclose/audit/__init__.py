"""Query auditing: answer MAX and SUM exactly or not at all, so that nobody is given away.

The trap is the word `denied`: an auditor that denies exactly when the true answer would tell too much
tells by denying. So a decision has two halves. `plan` looks at the log alone and settles, for every
possible answer, whether it will be given: a *binding*. Only then `Plan.judge` looks at the true answer.
Whoever knows the log can make the same plan, so a denial says no more than the plan does.

Three families can be compared: `simple` (denies by the truth; leaks; a baseline), `simulatable` (denies
if any possible answer would tell too much) and `binding` (Zhang 2010, with repairs; the default).

Around them: a durable log that all analysts share, a small SQL dialect, and an HTTP gateway in front of
a table in SQLite, DuckDB or PostgreSQL.
"""
