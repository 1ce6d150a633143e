"""The examples of guide pages run, and print what the pages show.

A fence says how: ``python`` blocks are run; ``python slow`` ones by the slow tests only; what a
block prints stands in the fence after it, which has no language, or is ``text within=0.1`` where
other processors (whose chains are others) may be so far away.
"""

import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import pytest

NUMBER = r"-?\d+\.\d+|-?\d+\.|-?\d+"
ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
ALL_QUICK = ("comparing_classifiers", "kernel_projection", "multiple_kernels", "vector_machines")


def fences(page):
    """Yield (words after the backticks, what is inside) of every fence."""
    text = page.read_text(encoding="utf-8")
    for info, block in re.findall(r"^```([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield info.split(), block


def numbers_of(text):
    return [float(number) for number in re.findall(NUMBER, text)]


def words_of(text):
    return re.sub(r"\s+", " ", re.sub(NUMBER, "#", text)).replace("[ #", "[#").strip()


def run_page(page, capsys, *, slow):
    names: dict = {}
    ran, printed = False, ""
    for info, block in fences(page):
        if info[:1] == ["python"]:
            assert not printed, f"the page does not show {printed}"
            ran = slow or "slow" not in info
            if ran:
                exec(compile(block, page.name, "exec"), names)
                printed = capsys.readouterr().out
        elif ran and (not info or info[0] == "text"):
            assert words_of(printed) == words_of(block)
            within = [float(word.removeprefix("within=")) for word in info if "within=" in word]
            bound = {"abs": within[0]} if within else {"rel": 0.05, "abs": 0.02}
            assert numbers_of(printed) == pytest.approx(numbers_of(block), **bound)
            printed = ""
    assert not printed, f"the page does not show {printed}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_run_and_print_what_the_page_shows(page, capsys):
    run_page(page, capsys, slow=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.stem not in ALL_QUICK], ids=lambda page: page.stem
)
def test_slow_examples_print_what_the_page_shows(page, capsys):
    run_page(page, capsys, slow=True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_fence_is_known_and_every_link_leads_somewhere(page):
    for info, _ in fences(page):
        assert not info or info[0] in ("python", "text", "sh"), info
        assert all(word == "slow" or word.startswith("within=") for word in info[1:]), info
        assert not (page.stem in ALL_QUICK and "slow" in info)
    for link in re.findall(r"\]\(([^)#:]+)[^)]*\)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), link


def test_a_wrong_figure_is_seen(tmp_path, capsys):
    """The comparison itself: numbers near enough, others, and other words."""
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1)\n```\n")
    with pytest.raises(AssertionError, match="does not show 1"):
        run_page(page, capsys, slow=False)
    for shown, right in (
        ("error 1.21", True), ("error 1.3", False), ("errors 1.21", False), ("error 1.21 2", False)
    ):  # fmt: skip
        page.write_text(f"```python\nprint('error', 1.2)\n```\n\n```\n{shown}\n```\n")
        if right:
            run_page(page, capsys, slow=False)
        else:
            with pytest.raises(AssertionError):
                run_page(page, capsys, slow=False)
