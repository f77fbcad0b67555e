"""COLLADA files (.dae): the triangles of the geometries that their scene shows.

Read are positions, ``triangles``, ``polylist`` and ``polygons``, placed by the nodes of the visual
scene with ``matrix``, ``translate``, ``rotate`` and ``scale``; colours, normals and skins are not.
Lengths are multiplied by the ``unit`` of the file.  Its ``up_axis`` is not looked at: robot files
mean the coordinates as they stand (as the viewers of ROS do).

COLLADA 1.4.1 specification, Khronos Group 2008, ch. 5.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from biela.budgets import NODES, REPEATED_TRIANGLES, within
from biela.errors import ModelError
from biela.model.meshes.mesh import Floats, Mesh
from biela.model.xml_parsing import parse_xml

__all__ = ["read_collada"]

#: Nodes within nodes, more than which no robot has.
_DEEPEST = 100


def read_collada(file: Path, content: bytes) -> Mesh:
    """The mesh of the scene of a COLLADA file, in metres.

    Raises:
        ModelError: The file is faulty, or shows no triangles.
    """
    made = ElementTree.TreeBuilder()

    def start(tag: str, attributes: dict[str, str], _: int) -> None:
        made.start(tag.rpartition("}")[2], attributes)  # the name space is always the same one

    parse_xml(str(file), content, start, lambda tag: made.end(tag.rpartition("}")[2]), made.data)
    root = made.close()
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return _Collada(file, root).mesh()
    except KeyError as error:
        raise ModelError(f"{file}: an element of it has no {error}=…") from None
    except (ValueError, IndexError, OverflowError) as error:
        raise ModelError(f"{file}: this COLLADA file cannot be understood: {error}") from None


class _Collada:
    def __init__(self, file: Path, root: ElementTree.Element) -> None:
        self._file, self._root = file, root
        self._by_id = {e.attrib["id"]: e for e in root.iter() if "id" in e.attrib}
        # each is read once, however often it is shown
        self._read: dict[str, tuple[Floats, np.ndarray]] = {}
        self._nodes: dict[ElementTree.Element, tuple[Floats, list[ElementTree.Element]]] = {}
        self._places: dict[ElementTree.Element, Floats] = {}

    def mesh(self) -> Mesh:
        unit = self._root.find("asset/unit")
        scale = float(unit.attrib.get("meter", 1.0)) if unit is not None else 1.0
        scene = self._root.find("scene/instance_visual_scene")
        if scene is not None:
            tops = list(self._named(scene.attrib["url"]).findall("node"))
        else:
            tops = self._root.findall("library_visual_scenes/visual_scene/node")
        self._check_sizes(tops)
        parts = [found for node in tops for found in self._shown(node, np.eye(4))]
        if not parts and not tops:  # geometries alone
            found = self._root.findall("library_geometries/geometry")
            parts = [self._geometry(f"#{name}") for name in {g.attrib["id"]: 0 for g in found}]
        vertices, triangles, count = [], [], 0
        for places, faces in parts:
            vertices.append(places * scale)
            triangles.append(faces + count)
            count += len(places)
        if not triangles or not sum(map(len, triangles)):
            raise ModelError(f"{self._file}: there are no triangles in it")
        return Mesh(np.concatenate(vertices), np.concatenate(triangles))

    def _named(self, url: str) -> ElementTree.Element:
        if url.removeprefix("#") not in self._by_id:
            raise ModelError(f"{self._file}: it names {url!r}, which is not in it")
        return self._by_id[url.removeprefix("#")]

    # ------------------------------------------------------------------------ nodes

    def _check_sizes(self, tops: list[ElementTree.Element]) -> None:
        """See that what nodes repeat, which may repeat others in their turn, stays within limits.

        Raises:
            ModelError: It does not, or nodes are nested too deep.
        """
        known: dict[ElementTree.Element, tuple[int, int]] = {}

        def size(node: ElementTree.Element, depth: int) -> tuple[int, int]:
            """The nodes and triangles that a node shows."""
            if depth > _DEEPEST:
                raise ModelError(f"{self._file}: nodes are nested too deep")
            if node not in known:
                nodes = triangles = 0
                for child in self._node(node)[1]:
                    if child.tag == "instance_geometry":
                        triangles += len(self._geometry(child.attrib["url"])[1])
                        nodes += 1
                    else:
                        again = child.tag == "instance_node"
                        inner = self._named(child.attrib["url"]) if again else child
                        more = size(inner, depth + 1)
                        nodes, triangles = nodes + more[0], triangles + more[1]
                known[node] = nodes + 1, triangles
            return known[node]

        shown = [size(node, 0) for node in tops]
        stored = sum(len(faces) for _, faces in self._read.values())
        advice = "show nodes and geometries less often"
        within(
            NODES,
            sum(n for n, _ in shown),
            f"{self._file}: its scene would show {{}} nodes and geometries",
            advice,
        )
        within(
            REPEATED_TRIANGLES,
            sum(count for _, count in shown) - stored,
            f"{self._file}: its scene would repeat {{}} triangles",
            advice,
        )

    def _shown(
        self, node: ElementTree.Element, pose: Floats
    ) -> Iterator[tuple[Floats, np.ndarray]]:
        """The places and triangles of what hangs from a node."""
        transform, shown = self._node(node)
        pose = pose @ transform
        for child in shown:
            if child.tag == "instance_geometry":
                places, faces = self._geometry(child.attrib["url"])
                moved = places @ pose[:3, :3].T + pose[:3, 3]
                with np.errstate(all="ignore"):  # sizes that hardly are any
                    reflected = np.linalg.det(pose[:3, :3]) < 0
                # a reflection turns the triangles inside out
                yield moved, faces[:, ::-1] if reflected else faces
            elif child.tag == "instance_node":
                yield from self._shown(self._named(child.attrib["url"]), pose)
            else:
                yield from self._shown(child, pose)

    def _node(self, node: ElementTree.Element) -> tuple[Floats, list[ElementTree.Element]]:
        """The pose of a node in the one above, and those of its children that are shown."""
        if node not in self._nodes:
            shown = [c for c in node if c.tag in ("instance_geometry", "instance_node", "node")]
            self._nodes[node] = _transform(node), shown
        return self._nodes[node]

    # ------------------------------------------------------------------- geometries

    def _geometry(self, url: str) -> tuple[Floats, np.ndarray]:
        if url not in self._read:
            self._read[url] = self._triangles(self._named(url))
        return self._read[url]

    def _triangles(self, geometry: ElementTree.Element) -> tuple[Floats, np.ndarray]:
        """The corners of the triangles of a geometry, and their numbers; no other vertices."""
        mesh = geometry.find("mesh")
        if mesh is None:  # a spline or a convex hull
            return np.zeros((0, 3)), np.zeros((0, 3), np.int64)
        places: list[Floats] = []
        faces: list[np.ndarray] = []
        first: dict[ElementTree.Element, int] = {}
        count = 0
        for kind in ("triangles", "polylist", "polygons"):
            for group in mesh.findall(kind):
                inputs = group.findall("input")
                vertex = next((i for i in inputs if i.attrib.get("semantic") == "VERTEX"), None)
                if vertex is None:
                    continue
                source = self._source(vertex.attrib["source"])
                if source not in first:
                    first[source] = count
                    places.append(self._positions(source))
                    count += len(places[-1])
                stride = 1 + max(int(i.attrib.get("offset", 0)) for i in inputs)
                offset = int(vertex.attrib.get("offset", 0))
                for corners in _polygons(group, kind, stride, offset):
                    faces.append(first[source] + corners)
        if not faces:
            return np.zeros((0, 3)), np.zeros((0, 3), np.int64)
        found, joined = np.concatenate(places), np.concatenate(faces)
        if joined.max() >= len(found) or joined.min() < 0:
            raise ModelError(
                f"{self._file}: geometry {geometry.attrib.get('id')!r} has a corner at vertex "
                f"{int(joined.max())}, and there are {len(found)}"
            )
        # a scene that repeats few triangles must not repeat many vertices
        used, numbers = np.unique(joined, return_inverse=True)
        return found[used], numbers.reshape(-1, 3)

    def _source(self, url: str) -> ElementTree.Element:
        """The source of the positions of ``vertices``, or a source itself."""
        element = self._named(url)
        if element.tag == "vertices":
            inputs = element.findall("input")
            own = next((i for i in inputs if i.attrib.get("semantic") == "POSITION"), None)
            if own is None:
                raise ModelError(f"{self._file}: the vertices {url!r} have no positions")
            element = self._named(own.attrib["source"])
        return element

    def _positions(self, source: ElementTree.Element) -> Floats:
        if source not in self._places:
            numbers = _floats(source.find("float_array"))
            accessor = source.find("technique_common/accessor")
            stride = int(accessor.attrib.get("stride", 3)) if accessor is not None else 3
            self._places[source] = np.ascontiguousarray(numbers.reshape(-1, stride)[:, :3])
        return self._places[source]


def _polygons(
    group: ElementTree.Element, kind: str, stride: int, offset: int
) -> Iterator[np.ndarray]:
    """The corners (m, 3) of triangles; a polygon is a fan from its first corner."""
    lists = group.findall("p")
    if kind == "polylist" and len(lists) > 1:
        raise ValueError(f"a polylist has one <p>, not {len(lists)}")
    for p in lists:
        corners = _integers(p).reshape(-1, stride)[:, offset]
        if kind == "triangles":
            yield corners.reshape(-1, 3)
            continue
        counts = _integers(group.find("vcount")) if kind == "polylist" else [len(corners)]
        start = np.concatenate([[0], np.cumsum(counts)])
        if start[-1] != len(corners):
            raise ValueError(f"polygons of {start[-1]} corners in all have {len(corners)}")
        for size in np.unique(counts):
            begin = start[:-1][np.asarray(counts) == size]
            k = np.arange(1, size - 1)
            fan = np.stack([np.zeros_like(k), k, k + 1], axis=1)
            yield corners[(begin[:, None, None] + fan).reshape(-1, 3)]


def _transform(node: ElementTree.Element) -> Floats:
    """The pose of a node in the one above: its transformations in their order."""
    pose = np.eye(4)
    for child in node:
        if child.tag == "matrix":
            pose = pose @ _floats(child).reshape(4, 4)
        elif child.tag == "translate":
            step = np.eye(4)
            step[:3, 3] = _floats(child)
            pose = pose @ step
        elif child.tag == "scale":
            pose = pose @ np.diag([*_floats(child), 1.0])
        elif child.tag == "rotate":
            *axis, degrees = _floats(child)
            length = np.linalg.norm(axis)
            if not length > 0:
                raise ValueError(f"a rotation about the axis {axis}")
            n = np.array(axis) / length
            K = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
            angle = math.radians(degrees)
            step = np.eye(4)
            step[:3, :3] += math.sin(angle) * K + (1 - math.cos(angle)) * K @ K
            pose = pose @ step
    return pose


def _floats(element: ElementTree.Element | None) -> Floats:
    if element is None:
        raise ValueError("an array of numbers is missing")
    return np.array((element.text or "").split(), dtype=float)


def _integers(element: ElementTree.Element | None) -> np.ndarray:
    if element is None:
        raise ValueError("a list of whole numbers is missing")
    return np.array((element.text or "").split(), dtype=np.int64)
