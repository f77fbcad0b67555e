"""The files of a simulator for real time, put together from templates and generated code."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

from biela.analysis.realtime.kernels import Kernels
from biela.analysis.unrolled import identifier
from biela.code import Function
from biela.code.routines import Routine
from biela.code.targets import c99
from biela.code.targets.c99_fixed import variable_work
from biela.code.targets.description import heading
from biela.code.targets.names import externals_of
from biela.equations import Quantity

_WIDTH: Final = 98
_TOKEN: Final = re.compile(r"@([A-Z_]+)@")

#: rad: from here on a step says that an angle is large; sines hold to four times that.
ANGLE_LIMIT: Final = 1e5

_WRITE_STATE: Final = """\
  for (int i = 0; i < {upper}_STATE; i++) {{
    fprintf(csv, ",%.17g", simulator.x[i]);
  }}
"""
_SEPARATE: Final = "different structs are independent of each other."
_SHARED: Final = "they share memory, so step one at a time."


@dataclass(frozen=True)
class Choices:
    """What was chosen for a simulator: its name, step and integrator.

    ``routine`` is the integrator with projections, ``rows`` are its rows of work.
    """

    name: str
    step: float
    limit: float
    integrator: str
    routine: Routine[..., Any]
    rows: int


def texts(made: Kernels, choices: Choices) -> dict[str, str]:
    """The files by name."""
    name = choices.name
    values = _values(made, choices)
    files = {
        f"{name}.h": "simulator.h",
        f"{name}.c": "simulator.c",
        "main.c": "main.c",
        "Makefile": "Makefile",
        "README.txt": "README.txt",
    }
    folder = resources.files("biela.analysis.realtime") / "templates"
    return {
        file: _filled((folder / f"{template}.in").read_text(encoding="utf-8"), file, values)
        for file, template in files.items()
    }


def _filled(template: str, file: str, values: Mapping[str, str]) -> str:
    named = {**values, "HEADING": f"{file}: {values['HEADING']}"}
    return _TOKEN.sub(lambda match: named[match[1]], template)


def _values(made: Kernels, choices: Choices) -> dict[str, str]:
    system, start, functions = made.system, made.start, made.functions
    name, n = choices.name, made.n
    sizes = {a.name: a.size for a in functions["outputs"].outputs} if "outputs" in functions else {}
    mark = heading("", [])[1]
    all_functions = [*functions.values(), *made.hoisted.prepare]
    code = c99.static_text(all_functions, work="fixed", also=("biela_select",), loops=True)
    found = {
        "HEADING": f"model {_plain(system.name)}",
        "MARK": mark,
        "NAME": name,
        "UPPER": name.upper(),
        "INTEGRATOR": choices.integrator.removesuffix("_in_time").removesuffix("_step"),
        "FORMULATION": made.formulation.name,
        "CORRECTIONS": _corrections(made),
        "NQ": len(system.q),
        "NV": len(system.v),
        "NP": len(system.p),
        "NU": len(system.u),
        "NP_ROOM": max(len(system.p), 1),  # C has no arrays of none
        "NU_ROOM": max(len(system.u), 1),
        "NL": len(system.multipliers),
        "NY": sizes.get("y", 0),
        "N": n,
        "M": max(made.hoisted.size, 1),
        "ROWS": choices.rows,
        "STEP": repr(float(choices.step)),
        "LIMIT": repr(float(choices.limit)),
        "START": repr(float(start.t)),
        "ANGLE_LIMIT": f"{ANGLE_LIMIT:g}",
        "STATE": _state_order(made),
        "INPUT_LIST": _listed("inputs", system.u),
        "PARAMETER_LIST": _listed("parameters", system.p),
        "Q_LIST": _listed("q", system.q),
        "V_LIST": _listed("v", system.v),
        "KERNELS": code,
        "SEPARATE": _SHARED if c99.SHARED_MEMORY in code else _SEPARATE,
        "ROUTINES": _routines(choices),
        "PARAMETERS": _numbers(start.p),
        "INPUTS": _numbers(start.u),
        "Q": _numbers(start.q),
        "V": _numbers(start.v),
        "CONSTANTS": _constants(made),
        "SET_STATE": _set_state(made),
        "SCRATCH": _scratch(made, choices),
        "ADVANCE": _advance(made, choices),
        "ANGLES": "",
        "CSV_HEAD": ",".join(["t", *_state_names(made)]),
        "WRITE_STATE": _WRITE_STATE.format(upper=name.upper()),
        "TAKE_STEP": f"{name}_step(&simulator, {name.upper()}_STEP, NULL);",
        "EXIT": f"simulator.status & {name.upper()}_NOT_FINITE",
        **_work_notes(functions.values()),
        **_output_texts(made, name, sizes),
    }
    if made.angles is not None:
        found["ANGLES"] = (
            f"  double angle[1];\n  {made.angles.name}(t, s->x, s->p, angle);\n"
            f"  status |= {name.upper()}_ANGLE_TOO_LARGE*(angle[0] > {ANGLE_LIMIT!r});\n"
        )
    return {key: str(value) for key, value in found.items()}


def _scratch(made: Kernels, choices: Choices) -> str:
    """The arrays that a step needs."""
    n = made.n
    trial = f"stage[2*{n} + 1], end[{n} + 2]" if "last" in made.functions else f"trial[{n} + 1]"
    return f"next[{n}], {trial}, work[{choices.rows}*{n}]"


def _advance(made: Kernels, choices: Choices) -> str:
    """The call that integrates and projects."""
    functions = made.functions
    f, m = functions["f"].name, max(made.hoisted.size, 1)
    head = f"  {choices.name}_{choices.routine.name}({made.n}, {m}, dt, t, s->next, s->p, {f},"
    if "last" in functions:
        last = functions["last"].name
        return f"{head}\n      {last}, s->work, s->stage, s->end, s->residuals);"
    project_q, project_v = functions.get("project_q"), functions.get("project_v")
    q = f"{project_q.name}, {made.q_iterations}" if project_q else "NULL, 0"
    v = f"{project_v.name}, 1" if project_v else "NULL, 0"
    return f"{head}\n      {q}, {v}, s->trial, s->work, s->residuals);"


def _corrections(made: Kernels) -> str:
    if "last" in made.functions and made.system.geometric:
        return f"{_projections(made)} of the position and 1 of the velocity with the last slope"
    if "last" in made.functions:
        return "1 projection of the velocity with the last slope"
    if "project_v" not in made.functions and "project_q" in made.functions:
        return "unit norms restored after each step"
    if "project_v" not in made.functions:
        return "no projection"
    if "project_q" not in made.functions:
        return "1 projection of the velocity after each step"
    return f"{_projections(made)} of the position and 1 of the velocity after each step"


def _projections(made: Kernels) -> str:
    return f"{made.q_iterations} projection{'s' if made.q_iterations > 1 else ''}"


def _state_names(made: Kernels) -> list[str]:
    q, v = ([identifier(e.name) for e in entries] for entries in (made.system.q, made.system.v))
    chosen = made.formulation.independent
    return [*q, *v] if chosen is None else [*(v[i] for i in chosen), *q]


def _state_order(made: Kernels) -> str:
    if made.formulation.independent is None:
        return "positions, then velocities"
    return "independent velocities, then positions"


def _listed(array: str, entries: Sequence[Quantity]) -> str:
    """A comment with the entries of an array."""
    places = [f"{array}[{k}]\0{e.name}" for k, e in enumerate(entries)]
    text = ", ".join(places) or f"{array}: none"
    lines = textwrap.wrap(_plain(text), _WIDTH - 5, break_long_words=False, break_on_hyphens=False)
    return "\n".join(f"//   {line}" for line in lines).replace("\0", " ")


def _plain(text: str) -> str:
    """A text that stays inside a comment."""
    return "".join(c if (c.isprintable() or c == "\0") and c not in "\\?" else "_" for c in text)


def _numbers(numbers: Iterable[float]) -> str:
    """The entries of an array."""
    text = ", ".join(repr(float(x)) for x in numbers) or "0.0"
    return "\n".join(f"    {line}" for line in textwrap.wrap(text, _WIDTH - 4))


def _routines(choices: Choices) -> str:
    """The integrator and what it calls, all static."""
    text = choices.routine.c(prefix=f"{choices.name}_")
    body = text.partition("#include <stdint.h>\n")[2].lstrip("\n")
    head = f"void {choices.name}_{choices.routine.name}("
    return body.replace(f"\n{head}", f"\nstatic {head}")


def _constants(made: Kernels) -> str:
    """Calls of the functions that make constants out of the parameters."""
    place, lines = made.hoisted.given, []
    for function in made.hoisted.prepare:
        arrays = [{"t": "&s->t", "x": "s->x", "p": "s->p"}[a.name] for a in function.inputs]
        lines.append(f"  {function.name}({', '.join([*arrays, f's->p + {place}'])});")
        place += function.outputs[0].size
    return "\n".join(lines)


def _set_state(made: Kernels) -> str:
    """Copies of a position and velocity into the state."""
    nq, nv = len(made.system.q), len(made.system.v)
    chosen = made.formulation.independent
    if chosen is None:
        return _copy("s->x[i]", "q[i]", nq) + "\n" + _copy(f"s->x[{nq} + i]", "v[i]", nv)
    lines = [f"  s->x[{k}] = v[{i}];" for k, i in enumerate(chosen)]
    return "\n".join([*lines, _copy(f"s->x[{len(chosen)} + i]", "q[i]", nq)])


def _copy(target: str, source: str, count: int) -> str:
    return f"  for (int i = 0; i < {count}; i++) {{\n    {target} = {source};\n  }}"


def _work_notes(functions: Collection[Function]) -> dict[str, str]:
    """What is said of functions that biela does not write itself."""
    variable = variable_work(functions)
    note = f"But {', '.join(variable)} of <math.h> take longer for some numbers than for others.\n"
    supplied = dict.fromkeys(e.name for f in functions for e in externals_of(f))
    supply = (
        f"\nThe model calls functions that you supply, as functions of double: "
        f"{', '.join(supplied)}.\nGive their objects to make with OBJECTS=...\n"
    )
    return {
        "WORK_NOTE": note if variable else "",
        "WORK_COMMENT": f"// {note}" if variable else "",
        "EXTERNALS": supply if supplied else "",
    }


_MEANINGS: Final = {
    "q": "positions",
    "v": "velocities",
    "a": "derivatives of the velocities",
    "lam": "multipliers of the constraints",
    "y": "outputs of the model",
}


def _output_texts(made: Kernels, name: str, sizes: Mapping[str, int]) -> dict[str, str]:
    """What concerns the outputs: nothing, if none are wanted."""
    keys = [
        *("OUTPUT_STRUCT", "OUTPUT_PROTOTYPE", "OUTPUT_FUNCTION", "REHEARSE_OUTPUTS"),
        *("DECLARE_OUTPUTS", "CALL_OUTPUTS"),
    ]
    if not sizes:
        return dict.fromkeys(keys, "")
    system = made.system
    entries = {"y": _listed("y", system.y)} if "y" in sizes else {}
    if "lam" in sizes:
        entries["lam"] = "\n".join(
            f"//   lam[{k}] {_plain(m)}" for k, m in enumerate(system.multipliers)
        )
    fields = "".join(f"  double {a}[{size}];  // {_MEANINGS[a]}\n" for a, size in sizes.items())
    head = f"void {name}_outputs(const {name}_t *s, {name}_outputs_t *outputs)"
    arrays = ", ".join(f"outputs->{a}" for a in sizes)
    call = f"{made.functions['outputs'].name}(&s->t, s->x, s->p, {arrays});"
    notes = "".join(f"{text}\n" for text in entries.values())
    return {
        "OUTPUT_STRUCT": f"typedef struct {{\n{fields}}} {name}_outputs_t;\n",
        "OUTPUT_PROTOTYPE": f"\n// What there is to know of the state reached.\n{notes}{head};\n",
        "OUTPUT_FUNCTION": f"{head} {{\n  {call}\n}}\n",
        "REHEARSE_OUTPUTS": f"  {name}_outputs_t outputs;\n  {name}_outputs(s, &outputs);\n",
        "DECLARE_OUTPUTS": f"  {name}_outputs_t outputs;\n",
        "CALL_OUTPUTS": f"    {name}_outputs(&s, &outputs);\n",
    }
