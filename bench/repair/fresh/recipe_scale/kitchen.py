def scale(amounts, factor):
    return {name: round(amount * factor, 1) for name, amount in amounts.items()}


def shopping(recipes, people):
    need = {}
    for recipe in recipes:
        for name, amount in scale(recipe["for"], people / recipe["serves"]).items():
            need[name] = need.get(name, 0) + amount
    return sorted(need.items(), reverse=True)
