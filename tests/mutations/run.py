"""Plant deliberate errors one at a time and see which tests notice: run by hand or at night.

    python tests/mutations/run.py [name ...]

Works on a private copy in .mutations (git ignores it), edited in place and restored with its old
times, so that numba's cache of everything that an error does not reach stays warm. Ends with
status 1 if an error survives, or cannot be judged.
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

from mutation import Mutation, planted, read_source
from mutation_table import MUTATIONS

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / ".mutations"
CHECKOUT, CACHE, TRIAL, PASSED = (
    BUILD / part for part in ("checkout", "cache", "trial-cache", "passed.json")
)
SECONDS = 1800  # for the tests of one error; what hangs is noticed, too
# what an error in the code, not in what it computes, looks like
BROKEN = re.compile(r"numba\.core\.errors|SyntaxError|NameError|ImportError|UnboundLocalError")
FIRST = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", re.MULTILINE)


def copy_repository() -> str:
    """Bring the private copy up to date, times included; return a hash of what it holds."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    wanted = sorted(name for name in names.split("\0") if name and (ROOT / name).is_file())
    digest = hashlib.sha256()
    for name in wanted:
        source, target = ROOT / name, CHECKOUT / name
        content = source.read_bytes()
        if not name.startswith("tests/mutations/"):
            digest.update(f"{name} {len(content)}".encode() + content)
        if target.exists() and target.read_bytes() == content:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
    for path in CHECKOUT.rglob("*.py"):
        if str(path.relative_to(CHECKOUT)) not in wanted:
            path.unlink()
    return digest.hexdigest()


def run_python(arguments: list[str], cache: Path) -> tuple[int, str]:
    """Run Python on the private copy; return its status, -1 if it hangs, and its words."""
    environment = os.environ | {
        "PYTHONPATH": str(CHECKOUT / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "SPARSEKERN_CACHE_DIR": str(cache),
        "OPENBLAS_NUM_THREADS": "1",
        "MPLBACKEND": "Agg",
    }
    try:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=CHECKOUT, env=environment, capture_output=True,
            text=True, timeout=SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return -1, f"ran for more than {SECONDS} seconds"
    return done.returncode, done.stdout + done.stderr


def run_tests(tests: str, cache: Path) -> tuple[int, str]:
    """Run quick tests up to the first that fails."""
    file, *rest = shlex.split(tests)
    options = ["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "--tb=short"]
    return run_python(["-m", "pytest", *options, f"tests/{file}", *rest], cache)


def check_unharmed(mutations: list[Mutation], digest: str) -> dict[str, str]:
    """Run all named tests on the sources as they are, which fills the cache; return what fails."""
    told = run_python(["-c", "import sparsekern; print(sparsekern.__file__)"], CACHE)[1]
    if not told.strip().startswith(str(CHECKOUT)):
        sys.exit(f"The private copy is not what Python imports: {told}")
    known = json.loads(PASSED.read_text()) if PASSED.exists() else {}
    passed = set(known["tests"]) if known.get("digest") == digest else set()
    failing = {}
    for tests in dict.fromkeys(mutation.tests for mutation in mutations):
        if tests in passed:
            continue
        begin = time.perf_counter()
        status, words = run_tests(tests, CACHE)
        if status != 0:
            failing[tests] = f"INVALID: without it its tests end with {status}\n{words[-3000:]}"
            continue
        print(f"passes: {tests} ({time.perf_counter() - begin:.0f} s)", flush=True)
        passed.add(tests)
        PASSED.write_text(json.dumps({"digest": digest, "tests": sorted(passed)}))
    return failing


def judge(mutation: Mutation) -> str:
    """Plant one error, run its tests, restore; return what came of it."""
    path = CHECKOUT / "src" / "sparsekern" / mutation.file
    text, times = path.read_text(), path.stat()
    shutil.rmtree(TRIAL, ignore_errors=True)
    shutil.copytree(CACHE, TRIAL, copy_function=os.link)  # numba replaces files, it edits none
    try:
        path.write_text(planted(text, mutation))
        status, words = run_tests(mutation.tests, TRIAL)
    finally:
        path.write_text(text)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        shutil.rmtree(TRIAL, ignore_errors=True)
    if status == 0:
        return "SURVIVED"
    if status < 0:
        return f"killed: {words}"
    failed = FIRST.search(words)
    if failed is None or BROKEN.search(words):
        return f"INVALID\n{words[-3000:]}"
    return f"killed by {failed[1].removeprefix('tests/')}"


def main() -> None:
    """Judge the errors named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="errors to plant; none: all")
    names = parser.parse_args().names
    unknown = set(names) - {mutation.name for mutation in MUTATIONS}
    if unknown:
        parser.error(f"no such errors: {sorted(unknown)}")
    chosen = [mutation for mutation in MUTATIONS if not names or mutation.name in names]
    for mutation in chosen:
        planted(read_source(ROOT, mutation), mutation)
    failing = check_unharmed(chosen, copy_repository())
    left = []
    for mutation in chosen:
        begin = time.perf_counter()
        outcome = failing.get(mutation.tests) or judge(mutation)
        if not outcome.startswith("killed"):
            left.append(mutation)
        print(f"{mutation.name} | {outcome} | {time.perf_counter() - begin:.0f} s", flush=True)
    for mutation in left:
        print(f"left: {mutation.name} ({mutation.file}): {mutation.why}")
    print(f"{len(chosen) - len(left)} of {len(chosen)} errors were noticed.")
    sys.exit(bool(left))


if __name__ == "__main__":
    main()
