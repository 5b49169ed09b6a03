"""A release every night with Apache Airflow: publish, verify, and only then tell whoever waits for it.

Put this file into Airflow's folder of DAGs; PRIVET_HOME names the folder with data and policy. A promise
that is broken ends `publish` with 1, and nothing after it runs.
"""

import os
from datetime import datetime

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

HOME = os.environ.get("PRIVET_HOME", "/srv/privet")

with DAG("privet_nightly", schedule="@daily", start_date=datetime(2026, 1, 1), catchup=False) as dag:  # noqa: DTZ001 - Airflow's own zone
    publish = BashOperator(
        task_id="publish",
        cwd=HOME,
        bash_command="privet publish patients.csv hospital.toml -o out --overwrite --quiet --log run.log",
    )
    verify = BashOperator(task_id="verify", cwd=HOME, bash_command="privet verify out")
    publish >> verify
