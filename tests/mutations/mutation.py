"""What one deliberate error is, and how it is planted."""

from pathlib import Path
from typing import NamedTuple


class Mutation(NamedTuple):
    """One deliberate error."""

    name: str
    file: str  # below src/sparsekern
    old: str  # exactly once in the file
    new: str
    why: str  # it is wrong
    tests: str  # arguments of pytest that must notice it: a file below tests, perhaps -k


def planted(text: str, mutation: Mutation) -> str:
    """Return the text of a file with the error in it."""
    count = text.count(mutation.old)
    if count != 1:
        raise ValueError(
            f"{mutation.name}: its old text is {count} times in {mutation.file}, not once; bring "
            "the table of deliberate errors up to date."
        )
    if mutation.old == mutation.new:
        raise ValueError(f"{mutation.name} changes nothing.")
    changed = text.replace(mutation.old, mutation.new)
    compile(changed, mutation.file, "exec")
    return changed


def read_source(root: Path, mutation: Mutation) -> str:
    """Return the text of the file that an error goes into."""
    return (root / "src" / "sparsekern" / mutation.file).read_text()
