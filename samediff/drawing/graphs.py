"""Drawings of graphs: nodes with their shapes, in scopes; as DOT, as a page and as a dictionary."""
from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..base.javanames import JavaSpelling
from ..codecs.atomic_files import write_file
from .pages import asset, page, script_data


@dataclass(frozen=True)
class DrawnNode:
    """A layer, op or variable.

    Parameters
    ----------
    name : str
        Unique; the parts before each ``/`` are the scopes it lies in.
    kind : str
        Class of the layer, name of the op, or kind of variable.
    inputs : tuple of str
        Names of the nodes it reads.
    shape : str
        Of what it gives.
    details : dict of str by str
        What else there is to say.
    """

    name: str
    kind: str
    inputs: tuple[str, ...] = ()
    shape: str = ""
    details: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class GraphDrawing(JavaSpelling):
    """A graph to look at.

    Parameters
    ----------
    title : str
    nodes : tuple of DrawnNode
        In the order in which they run.

    Examples
    --------
    >>> print(GraphDrawing("g", (DrawnNode("x", "input"), DrawnNode("a/y", "relu", ("x",), "(-1, 3)"))).to_dot())
    digraph "g" {
      rankdir=TB; node [fontname=Helvetica, shape=box];
      "x" [label="x\\ninput"];
      "a/y" [label="a/y\\nrelu\\n(-1, 3)"];
      "x" -> "a/y";
      subgraph "cluster_a" { label="a"; "a/y"; }
    }
    """

    title: str
    nodes: tuple[DrawnNode, ...]

    def to_document(self) -> dict[str, Any]:
        """The drawing as a dictionary for JSON."""
        return {"title": self.title, "nodes": [
            {"name": n.name, "kind": n.kind, "inputs": list(n.inputs), "shape": n.shape, "details": dict(n.details)} for n in self.nodes]}

    def to_dot(self) -> str:
        """DOT text, for Graphviz and everything that reads it; scopes are clusters."""
        lines = [f"digraph {quoted(self.title)} {{", "  rankdir=TB; node [fontname=Helvetica, shape=box];"]
        scopes: dict[str, list[str]] = {}
        for node in self.nodes:
            label = "\n".join(part for part in (node.name, node.kind, node.shape) if part)
            lines.append(f"  {quoted(node.name)} [label={quoted(label)}];")
            lines += [f"  {quoted(given)} -> {quoted(node.name)};" for given in node.inputs]
            if "/" in node.name:
                scopes.setdefault(node.name.rpartition("/")[0], []).append(node.name)
        for scope, names in scopes.items():
            inside = " ".join(f"{quoted(n)};" for n in names)
            lines.append(f"  subgraph {quoted('cluster_' + scope)} {{ label={quoted(scope)}; {inside} }}")
        return "\n".join([*lines, "}"])

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """A page of its own, which needs no network: scopes fold, nodes are found by name, a click shows what is known of one.

        Parameters
        ----------
        path : path, optional
            Write the page to this file.
        """
        body = (f'<div id="graph" class="graph"></div>{script_data("drawing", self.to_document())}'
                f"<script>{asset('graph.js')}\nshowGraph(document.getElementById('graph'), "
                "JSON.parse(document.getElementById('drawing').textContent));</script>")
        text = page(self.title, body)
        if path is not None:
            write_file(path, text)
        return text


def quoted(text: str) -> str:
    """Text as a quoted string of the DOT language."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
