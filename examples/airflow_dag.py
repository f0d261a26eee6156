"""A list that Airflow has verified every night.

A run that stopped (4 to 7, 130, 143) is worth a retry: the same command goes on where it was and pays
for nothing twice. What ends with 2 needs a person, and 3 is an output with rows that failed.
"""

from datetime import datetime, timedelta

from airflow import DAG
from airflow.operators.bash import BashOperator

with DAG(
    dag_id="verify_contacts",
    start_date=datetime(2026, 11, 1),
    schedule="15 3 * * *",
    catchup=False,
    max_active_runs=1,
) as dag:
    verify = BashOperator(
        task_id="verify",
        cwd="/opt/lists",
        # SLUICE_BASE_URL and SLUICE_API_KEY come from the worker's environment.
        bash_command=(
            "sluice verify contacts.csv --email email --country US"
            " -o verified.csv --json-log --partial"
        ),
        append_env=True,
        retries=5,
        retry_delay=timedelta(minutes=10),
    )
