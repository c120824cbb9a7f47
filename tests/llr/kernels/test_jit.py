import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import pytest

from llr.kernels import jit

FIRST_STEP = "import llr; assert llr.Learner('gaussian').learn([1.0, 2.0])"


def run(code: str, kernels: Path) -> str:
    """Run code in a fresh process with its own cache of kernels; returns what it said on stderr."""
    environment = os.environ | {"LLR_KERNELS": str(kernels)}
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return done.stderr


def test_the_first_process_says_that_it_compiles_and_the_second_finds_it_done(
    tmp_path: Path,
) -> None:
    learn = "llr.ALGORITHMS['auto'].learn"
    hits = f"print(sum({learn}._compiled.stats.cache_hits.values()))"
    first = run(FIRST_STEP, tmp_path)
    assert first.count("compiling") == 1
    second = run(f"import sys; {FIRST_STEP}; sys.stdout = sys.stderr; {hits}", tmp_path)
    assert second.strip() == "1"


COLD_IN_THREADS = """
import threading, llr
barrier, learnt = threading.Barrier(4), []
def run():
    barrier.wait()
    learnt.append(bool(llr.Learner("gaussian").learn([1.0, 2.0])))
threads = [threading.Thread(target=run) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert learnt == [True] * 4, learnt
"""


def test_the_first_calls_may_come_from_several_threads_at_once() -> None:
    run(COLD_IN_THREADS, jit.cache_folder().parent)


def test_the_cache_is_keyed_by_the_sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(jit, "PACKAGE", tmp_path)
    (tmp_path / "part.py").write_text("x = 1")
    before = jit.source_digest()
    (tmp_path / "part.py").write_text("x = 2")
    assert jit.source_digest() != before


def test_a_folder_that_cannot_be_written_is_copied_to_one_that_can(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    baked = tmp_path / f"kernels-{jit.source_digest()}"
    baked.mkdir()
    (baked / "learn.compiled").touch()
    monkeypatch.setenv("LLR_KERNELS", str(tmp_path))
    monkeypatch.setattr(jit, "_writable", lambda _: False)
    used = jit.cache_folder.__wrapped__()
    assert used != baked
    assert (used / "learn.compiled").exists()


def test_a_folder_that_cannot_be_made_is_no_reason_to_fail(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("LLR_KERNELS", str(tmp_path / "file" / "kernels"))
    assert jit.cache_folder.__wrapped__().is_dir()


def test_numbas_own_setting_is_left_as_it_was() -> None:
    settings: Any = numba.config
    assert "kernels-" not in (settings.CACHE_DIR or "")


def test_dispatch_picks_by_position() -> None:
    pick = jit.dispatch(
        [jit.inline_jit(lambda x: x), jit.inline_jit(lambda x: -x), jit.inline_jit(lambda x: x * x)]
    )
    assert [pick(k, 3.0) for k in range(3)] == [3.0, -3.0, 9.0]
