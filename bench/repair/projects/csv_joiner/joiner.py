def quote(field):
    text = str(field)
    if "," in text or '"' in text:
        return '"' + text.replace('"', '""') + '"'
    return text


def row(fields):
    return ";".join(quote(f) for f in fields)


def document(rows):
    return "\n".join(row(r) for r in rows) + "\n"
