from collections import deque


def distances(graph, start):
    """Steps from start to each node that can be reached."""
    found = {start: 0}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for other in graph.get(node, []):
            if other not in found:
                found[other] = found[start] + 1
                queue.append(other)
    return found
