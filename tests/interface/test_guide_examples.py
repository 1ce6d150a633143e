"""The examples of guide pages run, and print what the pages show."""

import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import pytest

NUMBER = r"-?\d+\.\d+|-?\d+"
GUIDE = Path(__file__).parents[2] / "docs" / "guide"


@pytest.mark.parametrize(
    "page",
    [
        "comparing_classifiers.md",
        "kernel_projection.md",
        "multiple_kernels.md",
        "vector_machines.md",
    ],
)
def test_examples_run_and_print_what_the_page_shows(page, capsys):
    text = (GUIDE / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    names: dict = {}
    for language, block in blocks:
        if language == "python":
            exec(compile(block, page, "exec"), names)
        else:
            printed = capsys.readouterr().out
            words = [re.sub(r"\s+", " ", re.sub(NUMBER, "#", part)) for part in (printed, block)]
            assert words[0] == words[1]
            found, shown = (
                [float(number) for number in re.findall(NUMBER, part)] for part in (printed, block)
            )  # other processors round elsewhere
            assert found == pytest.approx(shown, rel=0.05, abs=0.02)
    for link in re.findall(r"\]\(([^)#:]+)[^)]*\)", text):
        assert (GUIDE / link).is_file(), link
