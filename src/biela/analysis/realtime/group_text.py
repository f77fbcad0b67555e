"""The files of a solver of groups for real time, from templates and generated code."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Final

from biela.analysis.realtime.group_laws import laws_text
from biela.analysis.realtime.group_outputs import Asked, OutputText, output_text
from biela.analysis.realtime.group_parts import GroupParts, Kind
from biela.analysis.realtime.text import _SEPARATE, _SHARED, _filled, _numbers, _plain, _work_notes
from biela.code.llvm.sincos import LIMIT
from biela.code.looped.c99 import JUDGEMENT, SolveText, solve_text
from biela.code.targets import c99
from biela.code.targets.description import heading
from biela.equations.groups.group import Group

__all__ = ["GroupChoices", "group_texts"]

_WIDTH: Final = 98
#: Groups that a comment lists.
_LISTED: Final = 40
#: Characters of a long text in a line.
_PIECE: Final = 80
#: Numbers that may lie on the stack.
_ON_STACK: Final = 16_384


@dataclass(frozen=True)
class GroupChoices:
    """What was chosen for a solver: its name, step, steps of Newton's method, and limit."""

    name: str
    step: float
    iterations: int
    limit: float


def group_texts(parts: GroupParts, asked: Asked, choices: GroupChoices) -> dict[str, str]:
    """The files by name."""
    name = choices.name
    values = _values(parts, asked, choices)
    files = {
        f"{name}.h": "groups.h",
        f"{name}.c": "groups.c",
        "main.c": "main.c",
        "Makefile": "Makefile",
        "README.txt": "groups_README.txt",
    }
    folder = resources.files("biela.analysis.realtime") / "templates"
    return {
        file: _filled((folder / f"{template}.in").read_text(encoding="utf-8"), file, values)
        for file, template in files.items()
    }


def _values(parts: GroupParts, asked: Asked, choices: GroupChoices) -> dict[str, str]:
    name, n = choices.name, len(parts.drivers)
    groups = parts.solver.structure.groups
    kinds = _kinds(parts)
    outputs = output_text(parts, asked, name)
    laws = laws_text(parts)
    functions = [f for kind in kinds for f in kind.functions]
    functions += [*laws.functions, *outputs.functions]
    code = c99.static_text(functions, work="fixed", also=("biela_select",))
    lines = _group_lines(groups)
    found = {
        "HEADING": f"model {_plain(parts.solver.model.name)}",
        "MARK": heading("", [])[1],
        "NAME": name,
        "UPPER": name.upper(),
        "GROUP_COUNT": _several(len(groups), "group"),
        "KIND_COUNT": _several(len(kinds), "kind"),
        "ITERATIONS": choices.iterations,
        "SEPARATE": _SHARED if c99.SHARED_MEMORY in code else _SEPARATE,
        "GROUP_LIST": "\n".join(f"// {line}" for line in lines),
        "GROUP_LINES": "\n".join(f"  {line}" for line in lines),
        "DRIVERS": n,
        "DRIVER_NUMBERS": max(3 * n, 1),  # C has no arrays of none
        "GROUPS": len(groups),
        "START": repr(parts.solver.t),
        "STEP": repr(choices.step),
        "LIMIT": repr(choices.limit),
        "ANGLE_LIMIT": f"{LIMIT:g}",
        "SIZE": parts.size,
        "DRIVER_LIST": _listed("drivers", [d.name for d in parts.drivers], 3),
        "OUTPUT_TYPES": outputs.types,
        "OUTPUT_LIST": "\n".join(_listed(field, names) for field, names in outputs.fields),
        "OUTPUTS": outputs.code,
        "MEMORY_LIST": _memory_list(parts),
        "KERNELS": code,
        "JUDGEMENT": JUDGEMENT,
        "KINDS": "\n".join(kind.text for kind in kinds),
        "START_SIZE": len(parts.start),
        "START_NUMBERS": _numbers(parts.start),
        "LAWS": laws.code,
        "TAU": parts.groups.memory.first("tau"),
        "CALLS": _calls(parts, kinds, choices),
        "TAKE_DRIVERS": _take_drivers(parts) if n else "  (void)drivers;\n",
        "TAKE_LAWS": "  laws_at(t, s->w[1 - s->now]);\n" if n else "",
        "REHEARSE": _rehearse(parts) if n else "  drivers[0] = 0.0;\n",
        "REHEARSE_OUTPUTS": _rehearse_outputs(name, outputs),
        "GROUP_NAMES": "\n".join(_literal(_in_words(g)) for g in groups),
        **_work_notes(functions),
        **_of_program(name, outputs),
    }
    return {key: str(value) for key, value in found.items()}


def _of_program(name: str, outputs: OutputText) -> dict[str, str]:
    """What is different in the program that times a solver."""
    names = [column.replace(",", ";").replace(" ", "_") for column in outputs.columns]
    head = _quoted(",".join(["t", *names, "status"])).replace("%", "%%")
    pieces = [head[k : k + _PIECE] for k in range(0, len(head), _PIECE)]
    rows = [
        f"  static {name}_outputs_t outputs;",
        f"  {name}_outputs(&simulator, &outputs);",
        "  // a struct of numbers only",
        "  const double *numbers = (const double *)&outputs;",
        "  // where an instant is not solved these are outputs of the last one that was",
        "  const int status = simulator.solved < simulator.t || simulator.solved > simulator.t",
        "      ? simulator.status : 0;",
        "  for (size_t i = 0; i < sizeof outputs/sizeof *numbers; i++) {",
        "    if (status == 0) {",
        '      fprintf(csv, ",%.17g", numbers[i]);',
        "    } else {",
        '      fprintf(csv, ",nan");',
        "    }",
        "  }",
        '  fprintf(csv, ",%d", status);',
        "",
    ]
    step = f"{name}_step_time(&simulator, simulator.t + {name.upper()}_STEP);"
    return {
        "CSV_HEAD": '"\n        "'.join(pieces),
        "WRITE_STATE": "\n".join(rows),
        "TAKE_STEP": step,
        "EXIT": "simulator.status != 0",
    }


# --------------------------------------------------------------------------------- kinds


def _kinds(parts: GroupParts) -> list[SolveText]:
    """Every kind of group with a name of its own."""
    found: list[SolveText] = []
    taken: set[str] = set()
    for number, kind in enumerate(parts.kinds):
        stem = "group_" + "_".join(_words(kind.cast.example.name))
        name, count = stem, 2
        while name in taken:
            name, count = f"{stem}_{count}", count + 1
        taken.add(name)
        found.append(solve_text(kind.stage, name, _notes(parts, kind), _about(parts, number)))
    return found


def _words(name: str) -> list[str]:
    plain = "".join(c if c.isascii() and c.isalnum() else " " for c in name)
    return plain.split() or ["kind"]


def _notes(parts: GroupParts, kind: Kind) -> list[str]:
    groups = parts.solver.structure.groups
    return [
        _plain(f"{int(kind.cast.groups[k]) + 1}: {', '.join(groups[kind.cast.groups[k]].bodies)}")
        for k in kind.order
    ]


def _about(parts: GroupParts, number: int) -> list[str]:
    kind = parts.kinds[number]
    example = kind.cast.example
    text = [
        f"{example.name}: {_several(kind.cast.count, 'group')}, the first of "
        f"{', '.join(example.bodies)} with joints {', '.join(example.joints)}"
    ]
    if kind.unknowns:
        names = [f"x[{k}]\0{name}" for k, name in enumerate(kind.unknowns)]
        closed = ", in closed form, polished by one step" if kind.closed else ""
        text.append(f"unknowns {', '.join(names)}{closed}")
    else:
        text.append("no unknowns")
    wrapped = [line for t in text for line in textwrap.wrap(_plain(t), _WIDTH - 3)]
    return [line.replace("\0", " ") for line in wrapped]


def _calls(parts: GroupParts, kinds: Sequence[SolveText], choices: GroupChoices) -> str:
    upper = choices.name.upper()
    lines = []
    for s in parts.segments:
        call = f"  status = {kinds[s.stage].name}(last, now, {s.first}, {s.count}, "
        steps = "1" if parts.kinds[s.stage].closed else f"{upper}_ITERATIONS"
        rest = f"{steps}, bound, status);"
        lines += [call + rest] if len(call + rest) <= _WIDTH else [call.rstrip(), f"      {rest}"]
    return "\n".join(lines)


# ------------------------------------------------------------------------------- drivers


def _take_drivers(parts: GroupParts) -> str:
    n, first = len(parts.drivers), parts.groups.memory.size
    return (
        "  double *now = s->w[1 - s->now];\n"
        f"  for (int i = 0; i < {n}; i++) {{\n"
        f"    now[{first} + i] = drivers[3*i];\n"
        f"    now[{first + n} + i] = drivers[3*i + 1];\n"
        f"    now[{first + 2 * n} + i] = drivers[3*i + 2];\n"
        "  }\n"
    )


def _rehearse(parts: GroupParts) -> str:
    n, first = len(parts.drivers), parts.groups.memory.size
    return (
        f"  for (int i = 0; i < {3 * n}; i++) {{\n"
        f"    drivers[i] = s->w[s->now][{first} + {n}*(i%3) + i/3];\n"
        "  }\n"
    )


def _rehearse_outputs(name: str, outputs: OutputText) -> str:
    """Outputs on trial, if they are not too many for a stack."""
    if len(outputs.columns) > _ON_STACK:
        return ""
    return f"  {name}_outputs_t outputs;\n  {name}_outputs(s, &outputs);\n"


# ---------------------------------------------------------------------------------- words


def _group_lines(groups: Sequence[Group]) -> list[str]:
    lines = [f"{k}: {_in_words(g)}" for k, g in enumerate(groups[:_LISTED], start=1)]
    if len(groups) > _LISTED:
        lines.append(f"… and {len(groups) - _LISTED} more")
    return [part for line in lines for part in textwrap.wrap(_plain(line), _WIDTH - 8)]


def _in_words(group: Group) -> str:
    return _plain(f"{group.name}: {', '.join(group.bodies)} (joints {', '.join(group.joints)})")


def _literal(text: str) -> str:
    """A string of C, in pieces where it is long."""
    pieces = textwrap.wrap(_quoted(text), _WIDTH - 10, drop_whitespace=False) or [""]
    lines = [f'    "{piece}"' for piece in pieces]
    return "\n  ".join(lines) + ","


def _quoted(text: str) -> str:
    """A text inside of quotation marks in C."""
    return _plain(text).replace('"', "'")


def _several(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def _listed(array: str, names: Sequence[str], width: int = 1) -> str:
    """A comment with the entries of an array; the first ones of very many."""
    many = 5 * _LISTED
    places = [
        f"{array}[{width * k}]\0{name.replace(' ', chr(0))}" for k, name in enumerate(names[:many])
    ]
    places += ["…"] if len(names) > many else []
    text = ", ".join(places) or f"{array}: none"
    lines = textwrap.wrap(_plain(text), _WIDTH - 5, break_long_words=False, break_on_hyphens=False)
    return "\n".join(f"//   {line}" for line in lines).replace("\0", " ")


def _memory_list(parts: GroupParts) -> str:
    """Where in a workspace things are."""
    memory, n = parts.groups.memory, len(parts.drivers)
    lines = ["Workspaces hold, from the place given on:"]
    meaning = {"tau": "time since the last instant", "y": "points and directions of bodies"}
    meaning |= {"dy": "their rates", "ddy": "their second rates"}
    for c, kind in enumerate(parts.kinds):
        called = kind.cast.example.name
        meaning |= {f"x{c}": f"unknowns of {called}", f"dx{c}": "their rates"}
        meaning |= {f"ddx{c}": "their second rates", f"gauge{c}": f"signs of {called}"}
        meaning[f"branch{c}"] = f"branches of {called}"
    for key, size in memory.sizes.items():
        if size and key in meaning:
            lines.append(f"{memory.first(key):8d}  {_plain(meaning[key])}")
    what = ("values of drivers", "their rates", "their second rates")
    lines += [f"{memory.size + k * n:8d}  {w}" for k, w in enumerate(what) if n]
    return "\n".join(f"// {line}" for line in lines)
