import heapq


def shortest(graph, start):
    """Cost of the cheapest way to each node: {node: {neighbour: cost}}."""
    costs = {}
    heap = [(0, start)]
    while heap:
        cost, node = heapq.heappop(heap)
        if node in costs:
            continue
        costs[node] = cost
        for other, step in graph.get(node, {}).items():
            heapq.heappush(heap, (step, other))
    return costs
