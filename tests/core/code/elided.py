"""Leaves nodes of an outline out, and tells what is wrong with an outline."""


def without(text, nodes, is_out, *, python):
    """`text` without the nodes that are out; signature and tail of the others stay. A body of Python gets `...` where
    nothing of it stays."""
    return "".join(_kept(text, node, is_out, python) for node in nodes if not is_out(node))


def _kept(text, node, is_out, python):
    if node.body < 0:
        return text[node.start : node.end]
    inner = without(text, node.children, is_out, python=python)
    if python and not inner:
        inner = _indentation(text[node.body : node.tail]) + "...\n"
    return text[node.start : node.body] + inner + text[node.tail : node.end]


def _indentation(body):
    line = next(line for line in body.split("\n") if line.strip() and not line.lstrip().startswith("#"))
    return line[: len(line) - len(line.lstrip())]


def some_out(random):
    """Leaves out any of them, few or many, and mostly within others."""
    leaf, inner = random.choice((0.02, 0.3, 0.5, 0.9, 1.0)), random.choice((0.0, 0.05, 0.3))
    return lambda node: random.random() < (leaf if node.body < 0 else inner)


def faults(text, nodes):
    """What is not as the outline of a text should be."""
    return _faults(text, nodes, 0, len(text))


def _faults(text, nodes, start, end):
    found, at = [], start
    for node in nodes:
        if node.start != at or node.end <= node.start:
            found.append(f"{node.kind} {node.name} begins at {node.start} after {at}, and ends at {node.end}")
        at = node.end
        if node.end < len(text) and text[node.end - 1] != "\n":
            found.append(f"{node.kind} {node.name} does not end with a line")
        if node.signature >= 0 and not node.start <= node.signature < node.end:
            found.append(f"the signature of {node.name} is at {node.signature}")
        if node.body < 0 and (node.tail != -1 or node.children):
            found.append(f"{node.name} has a tail or children, but no body")
        if node.body >= 0:
            if not node.start <= max(node.start, node.signature) < node.body < node.tail <= node.end:
                found.append(f"the body of {node.name} is not within it: {node}")
            found += _faults(text, node.children, node.body, node.tail)
    return found if at == end else [*found, f"the last node ends at {at}, not {end}"]
