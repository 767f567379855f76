def squeeze(numbers):
    """Neighbours that are equal become one."""
    result = []
    for number in numbers:
        if not result or number != result[0]:
            result.append(number)
    return result
