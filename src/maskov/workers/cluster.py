"""Units as Ray tasks, on this machine or a cluster (extra ``maskov[ray]``)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from maskov.errors import InputError, RunError
from maskov.workers.local import RETRIES, THREAD_VARIABLES, threads_each
from maskov.workers.unit import Unit, carry_out


def on_ray(units: list[Unit], workers: int, address: str | None) -> Iterator[tuple[Unit, dict[str, Any]]]:
    """Units as tasks of one core each, in order of completion; Ray does a unit again whose worker died.

    workers: cores of a cluster on this machine; ignored with ``address``, where the cluster's own count holds.
    """
    ray = _ray()
    ours = not ray.is_initialized()
    if ours:
        _start(ray, workers, address)
    try:
        task = ray.remote(num_cpus=1, max_retries=RETRIES)(carry_out)
        waiting = {task.remote(unit): unit for unit in units}
        while waiting:
            ready, _ = ray.wait(list(waiting), timeout=1.0)
            for future in ready:
                unit = waiting.pop(future)
                yield unit, _answer(ray, future, unit)
    finally:
        if ours:
            ray.shutdown()


def _answer(ray: Any, future: Any, unit: Unit) -> dict[str, Any]:
    try:
        return dict(ray.get(future))
    except ray.exceptions.RayError as error:
        raise RunError(f"{unit.name}: lost after {RETRIES} retries ({type(error).__name__})") from error


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        remedy = "pip install 'maskov[ray]', or pass --workers N for processes of this machine"
        raise InputError("workers", expected="the ray package", came="none", remedy=remedy) from None
    return ray


def _start(ray: Any, workers: int, address: str | None) -> None:
    threads = dict.fromkeys(THREAD_VARIABLES, str(1 if address else threads_each(workers)))
    environment = {**threads, **{k: v for k, v in os.environ.items() if k.startswith("HF_")}}
    options: dict[str, Any] = {"address": address} if address else {"num_cpus": workers, "include_dashboard": False}
    try:
        ray.init(runtime_env={"env_vars": environment}, log_to_driver=False, **options)
    except (ConnectionError, ValueError, RuntimeError) as error:
        came = f"{type(error).__name__}: {str(error)[:120]}"
        raise InputError("ray", expected="a cluster that answers", came=came, remedy="check --ray-address") from error
