"""docs/tour.ipynb, run from its first cell to its last in a kernel of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

TOUR = Path(__file__).parents[2] / "docs" / "tour.ipynb"
nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """Return the cells that hold code, as they are after the run; the notebook itself holds no output."""
    notebook = nbformat.read(TOUR, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    folder = tmp_path_factory.mktemp("tour")
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def shown(cell, kind: str) -> str:
    return "\n".join(str(output["data"][kind]) for output in cell.outputs if kind in output.get("data", {}))


@pytest.mark.slow
def test_the_tour_shows_runs_tables_a_figure_and_proof(cells):
    first, labels, comparison, renamed, answers, figure, proof = cells
    assert "<table>" in shown(first, "text/html") and "reasoner" in shown(first, "text/html")
    assert shown(labels, "text/plain") == "1.0"
    assert "detectable" in shown(comparison, "text/html")
    assert "−62.58" in shown(renamed, "text/html")  # as make run prints it
    assert "Yes" in shown(answers, "text/plain") or "No" in shown(answers, "text/plain")
    assert len(shown(figure, "image/png")) > 10_000
    assert shown(proof, "text/plain") == "True"
