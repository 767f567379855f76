class Thermostat:
    def __init__(self, wanted, slack=0.5):
        self.wanted = wanted
        self.slack = slack
        self.heating = False

    def update(self, measured):
        if measured < self.wanted - self.slack:
            self.heating = True
        elif measured > self.wanted + self.slack:
            self.heating = False
        return self.heating
