from invoicing.tax import tax


class Line:
    def __init__(self, text, net, kind="standard"):
        self.text = text
        self.net = net
        self.kind = kind

    def gross(self):
        return self.net + tax(self.net)


def total(lines):
    return sum(line.gross() for line in lines)
