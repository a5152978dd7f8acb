"""What a run costs beside the judge's time: CPU a call, wall time, cached rows a second, memory. Ratios of one run.

    python benchmarks/speed.py cpu       CPU a call of a whole run, against the openai SDK alone with the same bodies
    python benchmarks/speed.py wall      wall time of a run, against an SDK loop that sends as many, as many at once
    python benchmarks/speed.py cached    rows a second when every reply is kept already, and whether it stays linear
    python benchmarks/speed.py memory    peak memory over 1,000 and over 50,000 rows

Each measurement is a process of its own; the endpoint is another. Machines are noisy: read the ratios, not the times.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CARRIERS = ("httpx2", "aiohttp")
METRICS = ["faithfulness", "context_precision", "context_recall", "answer_relevance"]
MODEL = "fixed-2026-01-01"
_WORDS = "the pump at Halden station moves water from the lower basin to the upper one when its level falls".split()


def rows(count: int) -> Iterator[dict[str, Any]]:
    """Made-up rows of the size that other tools were measured on: five contexts of 113 words, four sentences."""
    context = " ".join((_WORDS * 7)[:113])
    for number in range(count):
        sentences = (f"Pump {number} moves water to the upper basin at level {n} [{n}]." for n in range(1, 5))
        yield {
            "id": f"r{number}",
            "question": f"How does pump {number} at Halden station work?",
            "answer": " ".join(sentences),
            "contexts": [f"{context} {number} {n}." for n in range(5)],
            "reference": f"Pump {number} moves water when the level falls. It moves it to the upper basin.",
        }


@contextmanager
def endpoint(median: float = 0.0, sigma: float = 0.0) -> Iterator[str]:
    """The URL of an endpoint whose replies take `median` seconds, times a lognormal draw where sigma is not 0."""
    command = [sys.executable, str(HERE / "endpoint.py"), str(median), str(sigma)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        server.communicate("")


# --- what a child process measures --------------------------------------------------------------------


def child_run(given: dict[str, Any]) -> dict[str, float]:
    """A whole run: read the log, ask, parse, score, write."""
    if given.get("carrier") == "httpx2":
        sys.modules["aiohttp"] = None  # type: ignore[assignment]  # as if it were not installed
    else:
        import aiohttp  # noqa: F401
    import openai  # noqa: F401 - loading it is no part of what a call costs, neither here nor there

    import judgekit as jk
    from judgekit.records import Options

    judge = jk.Judge(MODEL, base_url=given["url"], concurrency=given["concurrency"], cache=given.get("cache"))
    cpu, wall = time.process_time(), time.perf_counter()
    with judge:
        jk.judge_log(
            given["log"],
            out=given["out"],
            judge=judge,
            metrics=given.get("metrics", METRICS),
            options=Options(split=given.get("split", "claims")),
        )
    meter = judge.meters["extractor"]
    return {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall, "calls": meter.sent}


def child_sdk(given: dict[str, Any]) -> dict[str, float]:
    """The openai SDK as it comes: one client, `chat.completions.create`, as many at once."""
    from openai import AsyncOpenAI

    bodies = [json.loads(line) for line in Path(given["bodies"]).read_text(encoding="utf-8").splitlines()]

    async def loop() -> tuple[float, float]:
        client = AsyncOpenAI(base_url=given["url"], api_key="none", max_retries=0)
        waiting = iter(bodies)

        async def worker() -> None:
            for body in waiting:
                await client.chat.completions.create(**body)

        cpu, wall = time.process_time(), time.perf_counter()
        async with client, asyncio.TaskGroup() as group:
            for _ in range(given["concurrency"]):
                group.create_task(worker())
        return time.process_time() - cpu, time.perf_counter() - wall

    cpu, wall = asyncio.run(loop())
    return {"cpu": cpu, "wall": wall, "calls": len(bodies)}


def child_memory(given: dict[str, Any]) -> dict[str, float]:
    """A whole run, and the most memory that its process ever held. (`ru_maxrss` may be that of the parent: Linux.)"""
    found = child_run(given)
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return {**found, "peak_mb": int(status.partition("VmHWM:")[2].split()[0]) / 1024}


def measured(kind: str, **given: Any) -> dict[str, float]:
    """What a child process of that kind found."""
    done = subprocess.run(
        [sys.executable, str(HERE / "speed.py"), "child", kind, json.dumps(given, default=str)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stderr)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


# --- the measurements -----------------------------------------------------------------------------------


def log_of(folder: Path, count: int) -> Path:
    path = folder / f"log-{count}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows(count))
    return path


def bodies_of(folder: Path, cache: Path) -> Path:
    """The bodies of all calls that a run kept in its cache, as they were sent."""
    from judgekit.judge.store import Store

    store = Store(cache)
    kept = [json.loads(store.get(key) or "{}") for key in list(store.keys()) if not key.startswith("who:")]
    store.close()
    path = folder / "bodies.jsonl"
    path.write_text("".join(json.dumps(row["request"]) + "\n" for row in kept), encoding="utf-8")
    return path


def cpu(repeats: int) -> None:
    for concurrency in (16, 64, 256):
        found: dict[str, list[float]] = {name: [] for name in ("SDK alone", *CARRIERS)}
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as name, endpoint() as url:
                folder = Path(name)
                given = {"url": url, "log": log_of(folder, 300), "concurrency": concurrency}
                for carrier in CARRIERS:
                    run = measured("run", out=folder / carrier, carrier=carrier, **given)
                    found[carrier].append(1000 * run["cpu"] / run["calls"])
                bodies = bodies_of(folder, folder / carrier / "cache")
                sdk = measured("sdk", url=url, bodies=bodies, concurrency=concurrency)
            assert run["calls"] == sdk["calls"]
            found["SDK alone"].append(1000 * sdk["cpu"] / sdk["calls"])
        alone = found["SDK alone"]
        print(f"cpu, {concurrency} in flight: SDK alone {statistics.median(alone):.2f} ms a call")
        for carrier in CARRIERS:
            ratios = [ours / theirs for ours, theirs in zip(found[carrier], alone, strict=True)]
            shown = f"{statistics.median(found[carrier]):.2f} ms: {statistics.median(ratios):.2f} x ({_spread(ratios)})"
            print(f"  a run over {carrier}: {shown}")


def wall(repeats: int) -> None:
    for median, sigma in ((0.5, 0.0), (0.5, 1.0)):
        for concurrency in (64, 256):
            ratios, ideal = [], []
            for _ in range(repeats):
                with tempfile.TemporaryDirectory() as name, endpoint(median, sigma) as url:
                    folder = Path(name)
                    run = measured("run", url=url, log=log_of(folder, 300), out=folder / "run", concurrency=concurrency)
                    bodies = bodies_of(folder, folder / "run" / "cache")
                    sdk = measured("sdk", url=url, bodies=bodies, concurrency=concurrency)
                ratios.append(run["wall"] / sdk["wall"])
                mean = median * (2.718281828 ** (sigma**2 / 2))
                ideal.append(run["wall"] / (run["calls"] * mean / concurrency))
            name = f"{median * 1000:.0f} ms" + (f", lognormal sigma {sigma:g}" if sigma else "")
            print(
                f"wall, {name}, {concurrency} in flight: {statistics.median(ratios):.2f} x the SDK loop "
                f"({_spread(ratios)}), {statistics.median(ideal):.2f} x calls x latency / in flight"
            )


def cached(repeats: int) -> None:
    with tempfile.TemporaryDirectory() as name, endpoint() as url:
        folder = Path(name)
        for count in (500, 1000, 2000):
            log, cache = log_of(folder, count), folder / f"cache-{count}"
            given = {"url": url, "log": log, "cache": cache, "concurrency": 64}
            measured("run", out=folder / f"first-{count}", **given)
            found = [measured("run", out=folder / f"again-{count}-{turn}", **given) for turn in range(repeats)]
            assert not any(one["calls"] for one in found), "something was sent"
            of_core, of_clock = (statistics.median(count / one[what] for one in found) for what in ("cpu", "wall"))
            print(f"cached, {count} rows: {of_core:.0f} rows a second of CPU, {of_clock:.0f} of wall, nothing sent")


def memory(_repeats: int) -> None:
    peaks = []
    for count in (1_000, 50_000):
        with tempfile.TemporaryDirectory() as name, endpoint() as url:
            folder = Path(name)
            given = {"url": url, "log": log_of(folder, count), "out": folder / "run", "concurrency": 64}
            found = measured("memory", metrics=["faithfulness"], split="segments", **given)
        peaks.append(found["peak_mb"])
        print(f"memory, {count:,} rows: peak {found['peak_mb']:.0f} MB, {count / found['wall']:.0f} rows a second")
    print(f"memory, 50,000 against 1,000 rows: {peaks[1] - peaks[0]:+.0f} MB")


def _spread(values: list[float]) -> str:
    return f"{min(values):.2f}..{max(values):.2f} in {len(values)}"


WHAT = {"cpu": cpu, "wall": wall, "cached": cached, "memory": memory}
CHILDREN = {"run": child_run, "sdk": child_sdk, "memory": child_memory}


def main() -> None:
    if sys.argv[1:2] == ["child"]:
        print(json.dumps(CHILDREN[sys.argv[2]](json.loads(sys.argv[3]))))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=[*WHAT, "all"], nargs="?", default="all")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    for name, work in WHAT.items():
        if given.what in (name, "all"):
            work(given.repeats)


if __name__ == "__main__":
    main()
