"""What is installed is whole: the built wheel alone, in an empty environment, does the main job from another folder."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False, timeout=400
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT, cwd=folder)
    (built,) = folder.glob("judgekit-*.whl")
    return built


def test_the_wheel_carries_every_prompt_and_page_and_what_the_demo_needs(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    prompts = {f"judgekit/shipped/prompts/{path.name}" for path in (ROOT / "prompts").glob("*.j2")}
    demo = {"judgekit/shipped/examples/answers.jsonl", "judgekit/shipped/cassettes/demo.jsonl", "judgekit/py.typed"}
    page = ROOT / "judgekit" / "review" / "page"
    parts = {path.relative_to(ROOT).as_posix() for kind in ("j2", "css", "js") for path in page.rglob(f"*.{kind}")}
    assert len(parts) > 2
    assert prompts | demo | parts | {"judgekit/doctor/canaries.jsonl"} <= inside
    assert not [name for name in inside if name.startswith(("tests/", "benchmarks/", "examples/"))]


def test_the_wheel_does_the_main_job_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    commands = tmp_path / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
    run(commands / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, cwd=tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shown = run(commands / "judgekit", "demo", cwd=elsewhere)
    assert "faithfulness" in shown
    assert (elsewhere / "runs" / "demo" / "manifest.json").exists()
    names = run(commands / "judgekit", "prompts", "list", cwd=elsewhere)
    assert "verify" in names
