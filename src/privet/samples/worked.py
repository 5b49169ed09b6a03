"""The worked examples of Mohammed (2012), chapters 2 and 3, as CSV text.

Not among the samples that `privet sample` writes: the tests and the explanations count with them.
"""

from __future__ import annotations

# Chapter 2. Quasi-identifiers Job, Sex, Age; sensitive Disease.
TABLE_2_1A = """\
id,Job,Sex,Age,Disease
1,Engineer,Male,35,Hepatitis
2,Engineer,Male,38,Hepatitis
3,Lawyer,Male,38,HIV
4,Writer,Female,30,Flu
5,Writer,Female,33,HIV
6,Dancer,Male,30,HIV
7,Dancer,Female,30,HIV
"""

# The same table made 2-anonymous by local recoding.
TABLE_2_1B = """\
id,Job,Sex,Age,Disease
1,Professional,Male,[35-40),Hepatitis
2,Professional,Male,[35-40),Hepatitis
3,Professional,Male,[35-40),HIV
4,Writer,Female,[30-35),Flu
5,Writer,Female,[30-35),HIV
6,Dancer,*,30,HIV
7,Dancer,*,30,HIV
"""

# The same table in buckets: what is known about a person, and apart from it what is sensitive.
TABLE_2_2A = """\
Job,Sex,Age,Bucket
Engineer,Male,35,1
Engineer,Male,38,2
Lawyer,Male,38,1
Writer,Female,30,3
Writer,Female,33,2
Dancer,Male,30,3
Dancer,Female,30,3
"""

TABLE_2_2B = """\
Bucket,Disease
1,Hepatitis
1,HIV
2,Hepatitis
2,HIV
3,Flu
3,HIV
3,HIV
"""

# Chapter 3. Quasi-identifiers Job, Sex, Age; target Transfuse; sensitive Surgery, of which Transgender.
TABLE_3_1 = """\
id,Job,Sex,Age,Transfuse,Surgery
1,Janitor,M,34,Y,Transgender
2,Doctor,M,58,N,Plastic
3,Mover,M,34,Y,Transgender
4,Lawyer,M,24,N,Vascular
5,Mover,M,58,N,Urology
6,Janitor,M,44,Y,Plastic
7,Doctor,M,24,N,Urology
8,Lawyer,F,58,N,Plastic
9,Doctor,F,44,N,Vascular
10,Carpenter,F,63,Y,Vascular
11,Technician,F,63,Y,Plastic
"""

# What is published there for L = 2, K = 2, C = 50 %: correct, though one more step would be valid.
TABLE_3_2 = """\
id,Job,Sex,Age,Transfuse,Surgery
1,Non-Technical,M,[30-60),Y,Transgender
2,Professional,M,[30-60),N,Plastic
3,Non-Technical,M,[30-60),Y,Transgender
4,Professional,M,[1-30),N,Vascular
5,Non-Technical,M,[30-60),N,Urology
6,Non-Technical,M,[30-60),Y,Plastic
7,Professional,M,[1-30),N,Urology
8,Professional,F,[30-60),N,Plastic
9,Professional,F,[30-60),N,Vascular
10,Technical,F,[60-99),Y,Vascular
11,Technical,F,[60-99),Y,Plastic
"""

EVERY_TABLE = {
    "table_2_1a": TABLE_2_1A,
    "table_2_1b": TABLE_2_1B,
    "table_2_2a": TABLE_2_2A,
    "table_2_2b": TABLE_2_2B,
    "table_3_1": TABLE_3_1,
    "table_3_2": TABLE_3_2,
}
