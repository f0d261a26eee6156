"""A list that Airflow has verified every night.

A failure that may pass is retried: the same command resumes and pays for nothing twice. What needs a
person fails at once. The next night resumes in either case, also if the list has changed.
"""

import os
import subprocess
from datetime import datetime, timedelta

from airflow import DAG
from airflow.exceptions import AirflowException, AirflowFailException
from airflow.operators.python import PythonOperator

FOLDER = os.environ.get("SLUICE_LISTS", "/opt/lists")

# SLUICE_BASE_URL and SLUICE_API_KEY come from the worker's environment.
COMMAND = [
    *"sluice verify contacts.csv --email email --country US -o verified.csv".split(),
    *"--history verified.history --max-credits 10000 --max-unknown 20".split(),
    *"--wait-lock 600 --summary summary.json --report report.html --json-log".split(),
]

DONE = {
    0: "verified.csv is complete",
    3: "verified.csv is complete, except for failed rows: the next night sends them again",
}
FOR_A_PERSON = {
    2: "nothing was sent: see the log",
    4: "the key was refused: set another, the next night resumes",
    5: "credits are used up: buy some, the next night resumes",
    8: "too many verdicts are unknown: look at verified.csv.suspect",
}
WORTH_A_RETRY = {
    1: "a defect in Sluice: report it with the log",
    6: "a file or the disk failed",
    7: "the service failed",
    75: "left to the service: the retry collects",
}


def verify() -> str:
    code = subprocess.run(COMMAND, cwd=FOLDER).returncode
    if code == 3:
        # Only what failed is sent again, once.
        code = subprocess.run([*COMMAND, "--retry-failed"], cwd=FOLDER).returncode
    if code in DONE:
        return DONE[code]
    if code in FOR_A_PERSON:
        raise AirflowFailException(FOR_A_PERSON[code])
    raise AirflowException(WORTH_A_RETRY.get(code, f"stopped ({code}): the retry resumes"))


with DAG(
    dag_id="verify_contacts",
    start_date=datetime(2026, 11, 1),
    schedule="15 3 * * *",
    catchup=False,
    max_active_runs=1,
) as dag:
    PythonOperator(
        task_id="verify",
        python_callable=verify,
        retries=5,
        retry_delay=timedelta(minutes=10),
    )
