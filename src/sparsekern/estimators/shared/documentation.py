"""Docstrings of estimators: paragraphs that several share are written once.

scikit-learn wants every parameter in the signature and in the docstring of its class. A line
``<<name>>`` in a docstring stands for the paragraph of that name in :mod:`.paragraphs`.
"""

from __future__ import annotations

from typing import TypeVar

from .paragraphs import PARAGRAPHS

Class = TypeVar("Class", bound=type)


def documented(cls: Class) -> Class:
    """Fill in the shared paragraphs of a class's docstring."""
    lines = []
    for line in (cls.__doc__ or "").split("\n"):
        text = line.strip()
        if text.startswith("<<") and text.endswith(">>"):
            indent = line[: len(line) - len(line.lstrip())]
            paragraph = PARAGRAPHS[text[2:-2]].split("\n")
            lines += [indent + part if part else part for part in paragraph]
        else:
            lines.append(line)
    cls.__doc__ = "\n".join(lines)
    return cls
