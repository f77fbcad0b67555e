"""The graph of a checked model on paper."""

from __future__ import annotations

from pathlib import Path

from biela.analysis.check_report import CheckReport
from biela.analysis.joint_replacements import coordinates_of, uses
from biela.model.topology.topology import Topology, symbol
from biela.results.graph_drawing import Edge, draw_graph

__all__ = ["draw_topology"]


def draw_topology(report: CheckReport, path: str | Path) -> Path:
    """Draw bodies and joints of what was looked at closely: a circle a body, an arc a joint.

    The format is that of the suffix.  Joints carry their symbols (R, P, C, U, S, E, H, 0), driven
    ones are coloured.

    Raises:
        ResultsError: The file cannot be written, or there are too many bodies to draw.
    """
    model = report.model
    whole = Topology.of(model)
    names = [whole.graph.bodies[k] for k in range(whole.bodies + 1)]
    driven = coordinates_of(model.drivers.values())
    edges = [
        Edge(
            int(whole.graph.first[k]),
            int(whole.graph.second[k]),
            symbol(whole.graph.kinds[int(whole.graph.kind[k])]),
            name := whole.graph.joints[k],
            uses(driven, name),
        )
        for k in range(whole.joints)
    ]
    title = report.topology.name
    if whole.bodies != report.topology.bodies:
        title += f" (one instance of each array; {report.topology.bodies:,} bodies in all)"
    return draw_graph(names, edges, path, title=title)
