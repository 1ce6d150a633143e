"""Imports go down the levels of the design, or stay level without cycles."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "sparsekern"

LEVELS = {
    "_jit": 0, "_apart": 0, "_checks": 0, "_dispatch": 0, "_threads": 0, "_memory": 0,
    "_progress": 0,
    "random": 1, "linalg": 1, "settings": 1,
    "kernels": 2,
    "likelihoods": 3, "bases": 3, "priors": 3,
    "predictive": 4, "model": 4, "posteriors": 4,
    "inference": 5,
    "estimators": 6, "diagnostics": 6, "composites": 6,
    "plotting": 7, "datasets": 7,
}  # fmt: skip


# rooms of inference that engines share, and engines, which know nothing of each other
SHARED_ROOMS = {"chains", "moves", "feature_search", "diagnostics"}
ENGINES = {
    "generalized_kernel", "doubly_sparse", "hybrid", "vector_machine", "multiple_kernel",
    "kernel_projection",
}  # fmt: skip


def modules() -> list[Path]:
    return [path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"]


def dotted_imports(path: Path) -> set[tuple[str, ...]]:
    """Return what a file imports of the package, as parts of dotted names."""
    parents = path.relative_to(PACKAGE).parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            if node.level:
                base = parents[: len(parents) - node.level + 1]
            elif node.module and node.module.split(".")[0] == "sparsekern":
                base = ()
            else:
                continue
            named = node.module.split(".") if node.module else []
            target = (*base, *(named if node.level else named[1:]))
            found |= {(*target, alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {
                tuple(alias.name.split(".")[1:])
                for alias in node.names
                if alias.name.startswith("sparsekern.")
            }
    return found


def imports_of(path: Path) -> set[str]:
    """Return the top-level pieces of the package that a file imports."""
    return {name[0] for name in dotted_imports(path)}


def piece_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down(path):
    level = LEVELS[piece_of(path)]
    for target in imports_of(path) - {"__version__"}:
        assert LEVELS[target] <= level, f"{path.name} (level {level}) imports {target}"


def test_level_pieces_do_not_import_each_other_in_a_circle():
    graph: dict[str, set[str]] = {}
    for path in modules():
        graph.setdefault(piece_of(path), set()).update(imports_of(path) - {piece_of(path)})
    finished: set[str] = set()

    def visit(piece: str, above: tuple[str, ...]) -> None:
        assert piece not in above, " -> ".join((*above, piece))
        if piece not in finished:
            for target in graph.get(piece, set()) & LEVELS.keys():
                visit(target, (*above, piece))
            finished.add(piece)

    for piece in graph:
        visit(piece, ())


def test_engines_stand_apart():
    """An engine imports the shared rooms and itself; a shared room imports no engine."""
    rooms = {path.name for path in (PACKAGE / "inference").iterdir() if path.is_dir()}
    assert rooms - {"__pycache__"} == SHARED_ROOMS | ENGINES
    for path in (PACKAGE / "inference").rglob("*.py"):
        room = path.relative_to(PACKAGE).parts[1]
        used = {name[1] for name in dotted_imports(path) if name[0] == "inference"}
        assert used <= SHARED_ROOMS | {room}, f"{room}/{path.name} imports {used}"


def test_sampler_of_the_active_set_knows_no_likelihood():
    source = (PACKAGE / "inference" / "moves" / "active_set.py").read_text()
    assert "likelihoods" not in source
    assert "probit" not in source


def test_source_files_stay_small():
    long = {
        str(path.relative_to(PACKAGE)): lines
        for path in modules()
        if (lines := len(path.read_text().splitlines())) > 380
    }
    assert not long


def private_names_read(source: str) -> list[str]:
    """Return the private names that are read of other objects; ``self`` and ``cls`` are own."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and _is_private(node.attr):
            if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")):
                found.append(f"{node.lineno}: {ast.unparse(node)}")
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "hasattr"):
            name = node.args[1]
            if isinstance(name, ast.Constant) and _is_private(str(name.value)):
                found.append(f"{node.lineno}: {ast.unparse(node)}")
    return found


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


@pytest.mark.parametrize(
    "path", sorted((PACKAGE / "plotting").glob("*.py")), ids=lambda path: path.name
)
def test_figures_read_public_names_only(path):
    assert private_names_read(path.read_text()) == []


def test_private_names_are_found():
    source = "a._b; self._c; getattr(a.d, '_e'); a.f_; _own(a); a.__class__"
    assert private_names_read(source) == ["1: a._b", "1: getattr(a.d, '_e')"]
