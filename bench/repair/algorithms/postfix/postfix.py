def evaluate(tokens):
    """A sum in reverse Polish notation."""
    stack = []
    for token in tokens:
        if token in ("+", "-", "*"):
            b = stack.pop()
            a = stack.pop()
            if token == "+":
                stack.append(a + b)
            elif token == "-":
                stack.append(b - a)
            else:
                stack.append(a * b)
        else:
            stack.append(int(token))
    return stack.pop()
