"""Finding channels by name: the key of each, patterns, and near matches for a wrong one."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from biela.errors import ResultsError, UnknownNameError
from biela.spelling import alike

__all__ = ["keys", "selected", "unknown"]

#: A channel: the group it belongs to ("" for a monitor), and its column (0 for a monitor).
Place = tuple[str, int]


def keys(groups: Mapping[str, Sequence[str]], monitors: Iterable[str]) -> dict[str, Place]:
    """Where each name is found.

    A name that an earlier group has already is reached as `group.name`.

    >>> list(keys({"q": ["x", "y"], "v": ["x", "y'"]}, ["energy"]))
    ['x', 'y', 'v.x', "y'", 'energy']

    Raises:
        ResultsError: two channels would need the same key.
    """
    found: dict[str, Place] = {}
    for group, names in groups.items():
        for column, name in enumerate(names):
            key = f"{group}.{name}" if name in found else name
            if key in found:
                raise ResultsError(f"more than one channel is called {key!r}: rename one")
            found[key] = (group, column)
    for name in monitors:
        if name in found:
            raise ResultsError(f"the monitor {name!r} has the name of a channel: rename one")
        found[name] = ("", 0)
    return found


def selected(
    patterns: Sequence[str],
    places: Mapping[str, Place],
    groups: Mapping[str, Sequence[str]],
    last: Container[str] = (),
) -> list[str]:
    """Keys meant by names, groups and patterns such as "theta*", in that order, each once.

    A pattern means channels of the groups in `last` only if it matches no others.

    Raises:
        UnknownNameError: nothing is called so, or nothing matches.
    """
    chosen: dict[str, None] = {}
    for pattern in patterns:
        if pattern in places:
            matches = [pattern]
        elif pattern in groups:
            matches = [key for key, (group, _) in places.items() if group == pattern]
        else:
            matches = [key for key in places if fnmatchcase(key, str(pattern))]
            matches = [key for key in matches if places[key][0] not in last] or matches
            matches = matches or [alias(pattern, places, groups)]
        chosen.update(dict.fromkeys(matches))
    return list(chosen)


def alias(name: object, places: Mapping[str, Place], groups: Mapping[str, Sequence[str]]) -> str:
    """The key of a name that may be written with its group, `q.theta1` for `theta1`.

    A name that only one coordinate begins with, before a dot, stands for it.

    Raises:
        UnknownNameError: nothing is called so.
    """
    if not isinstance(name, str):
        raise unknown(name, "channel", [*places, *groups])
    if name in places:
        return name
    group, dot, rest = name.partition(".")
    owner, column = places.get(rest, ("", 0))
    if dot and group and owner == group and groups[group][column] == rest:
        return rest
    # a joint with one coordinate goes by its own name, "A" for "A.angle"
    for group in ("q", "joints"):
        own = [other for other in groups.get(group, ()) if other.startswith(f"{name}.")]
        own = [other for other in own if not other.endswith("_rate")]
        if len(own) == 1 and own[0] in places:
            return own[0]
    raise unknown(name, "channel", [*places, *groups])


def unknown(name: object, what: str, known: Iterable[str]) -> UnknownNameError:
    """The error for a name that is not there, with the nearest of those that are.

    >>> print(unknown("theta3", "channel", ["theta1", "theta2", "x"]))
    no channel is called 'theta3'; did you mean 'theta2' or 'theta1'?
    """
    known = list(known)
    near = alike(str(name), known, 3)
    if near:
        hint = f"; did you mean {' or '.join(map(repr, near))}?"
    elif known:
        shown = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
        hint = f"; there are {shown}"
    else:
        hint = "; there are none"
    return UnknownNameError(f"no {what} is called {name!r}{hint}")
