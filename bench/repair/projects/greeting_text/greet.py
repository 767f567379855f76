def greeting(name, hour):
    if hour < 12:
        part = "morning"
    elif hour < 18:
        part = "afternoon"
    else:
        part = "evening"
    return f"Good {part}, {name}."


def farewell(name):
    return "Bye, " + name + "!"
