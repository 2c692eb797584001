"""Tells what is wrong with an outline."""


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
