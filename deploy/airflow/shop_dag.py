"""The shop's crawl of each day: clear, crawl, validate, publish.

The job is the day of the run. So a task that is tried again goes on where the last try stopped, and pages that are done
are not fetched again. Exit codes of crawlnode become states of tasks: 0 is a success, 2 (settings or spider code) and 3 (refused)
fail at once, since another try changes nothing, and all others are tried again.
"""

import json
import os
import subprocess
from datetime import datetime, timedelta

from airflow.decorators import dag, task
from airflow.exceptions import AirflowException, AirflowFailException

PROJECT = os.environ.get("SHOP_PROJECT", "/srv/shop")
LEAST_ITEMS = int(os.environ.get("SHOP_LEAST_ITEMS", "1000"))


def crawlnode(*words: str) -> None:
    """Run a command of crawlnode in the project. When Airflow ends the task, the node finishes its pages first."""
    process = subprocess.Popen(["crawlnode", *words], cwd=PROJECT)
    try:
        code = process.wait()
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()
    message = f"crawlnode {words[0]} ended with exit code {code}"
    if code in (2, 3):
        raise AirflowFailException(message)
    if code != 0:
        raise AirflowException(message)


def items_file(day: str) -> str:
    return os.path.join(PROJECT, f"items-{day}.jsonl")


@task
def clear() -> None:
    """Days that are over for a month. The crawl of today is not touched: a run that is started again continues it."""
    crawlnode("reset", "shop", "--all-jobs", "--older-than", "30d", "--all", "--yes")


@task(retries=2, retry_delay=timedelta(minutes=5))
def crawl(day: str) -> None:
    # A run that somebody stops fails, so that half a file is never published.
    gates = ["--must-finish", "--max-failed", "5", "--max-status", "404=5%,5xx=1%"]
    crawlnode("crawl", "shop", "--job", day, "--exit-when-done", *gates, "-o", items_file(day))


@task
def validate(day: str) -> None:
    """What the crawl itself cannot know: here, that each item has a price."""
    with open(items_file(day), encoding="utf-8") as lines:
        items = [json.loads(line) for line in lines]
    if len(items) < LEAST_ITEMS:
        raise AirflowFailException(f"{len(items)} items, at least {LEAST_ITEMS} expected")
    without_price = [item for item in items if item.get("price") is None]
    if without_price:
        raise AirflowFailException(f"{len(without_price)} items without a price, such as {without_price[0]}")


@task
def publish(day: str) -> None:
    """In one step, so that a reader finds the file of yesterday or that of today."""
    os.replace(items_file(day), os.path.join(PROJECT, "items.jsonl"))


@dag(
    schedule="15 3 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=timedelta(hours=5),
)
def shop():
    day = "{{ ds }}"
    clear() >> crawl(day) >> validate(day) >> publish(day)


shop()
