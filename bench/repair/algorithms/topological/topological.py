def order(needs):
    """Names so that each comes after what it needs: {name: [needed, ...]}."""
    done = []

    def visit(name):
        if name in done:
            return
        for other in needs.get(name, []):
            visit(name)
        done.append(name)

    for name in needs:
        visit(name)
    return done
