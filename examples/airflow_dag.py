"""A list that Airflow has verified every night: by one process, or by four that share the run.

A failure that may pass is retried: the same command resumes and pays for nothing twice. What needs a
person fails at once. After that, clear the task: it resumes. One process also resumes the next night, even
if the list has changed; a shared run belongs to its own night.
"""

import os
import subprocess
from datetime import datetime, timedelta

from airflow.exceptions import AirflowException, AirflowFailException

try:  # Airflow 3
    from airflow.providers.standard.operators.python import PythonOperator
    from airflow.sdk import DAG
except ImportError:  # Airflow 2.4 or newer
    from airflow import DAG
    from airflow.operators.python import PythonOperator

FOLDER = os.environ.get("SLUICE_LISTS", "/opt/lists")

# SLUICE_BASE_URL and SLUICE_API_KEY come from the worker's environment.
VERIFY = "sluice verify contacts.csv --email email --country US -o verified.csv".split()
COMMAND = [
    *VERIFY,
    *"--history contacts.history --max-credits 10000 --max-unknown 20".split(),
    *"--min-rows 1 --max-shrink 50".split(),
    *"--wait-lock 600 --summary summary.json --report report.html --json-log".split(),
]
# So does SLUICE_STORE, the database of the shared run. All workers see the same folder.
SHARED = [*VERIFY, *"--store env:SLUICE_STORE --min-rows 1 --json-log".split()]

DONE = {
    0: "verified.csv is complete",
    3: "verified.csv is complete, except for failed rows: the next night sends them again",
}
FOR_A_PERSON = {
    2: "nothing was sent: see the log",
    127: "nothing was sent: this worker has no node",
    4: "the key was refused: set another",
    5: "credits are used up: buy some",
    8: "suspect: look at the list, or at verified.csv.suspect, as the log says",
}
WORTH_A_RETRY = {
    1: "a defect in Sluice: report it with the log",
    6: "the list, the output or the disk failed",
    7: "the service failed",
    75: "left to the service: the retry collects",
}


# A service that hangs ends a try. An "on_failure_callback" beside this is the place for an alert.
EACH_TRY = {"execution_timeout": timedelta(hours=12)}


def exit_code(command: list[str]) -> int:
    try:
        return subprocess.run(command, cwd=FOLDER).returncode
    except FileNotFoundError as missing:
        raise AirflowFailException(f"nothing was sent: this worker has no {missing.filename}")


def verify() -> str:
    code = exit_code(COMMAND)
    if code == 3:
        # Only what failed is sent again, once.
        code = exit_code([*COMMAND, "--retry-failed"])
    return outcome(code)


def share(worker: int, run: str) -> str:
    print(f"process {worker} of the run {run}")
    return outcome(exit_code([*SHARED, "--run", run]))


def outcome(code: int) -> str:
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
    default_args=EACH_TRY,
) as dag:
    PythonOperator(
        task_id="verify",
        python_callable=verify,
        retries=5,
        retry_delay=timedelta(minutes=10),
    )

with DAG(
    dag_id="verify_contacts_shared",
    start_date=datetime(2026, 11, 1),
    schedule="15 3 * * *",
    catchup=False,
    max_active_runs=1,
    default_args=EACH_TRY,
) as shared_dag:
    PythonOperator.partial(
        task_id="verify_shared",
        python_callable=share,
        # Two DAGs of one hour may have the same run_id.
        op_kwargs={"run": "{{ dag.dag_id }} {{ run_id }}"},
        retries=5,
        retry_delay=timedelta(minutes=1),
    ).expand(op_args=[[1], [2], [3], [4]])
