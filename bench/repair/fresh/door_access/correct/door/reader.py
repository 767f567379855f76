class Reader:
    def __init__(self, zone, opens=6, closes=22):
        self.zone = zone
        self.opens = opens
        self.closes = closes
        self.log = []

    def in_hours(self, hour):
        return self.opens <= hour < self.closes

    def admit(self, card, day, hour):
        allowed = self.zone in card.zones and not card.blocked  and not card.expired(day)
        if allowed and not self.in_hours(hour):
            allowed = "night" in card.zones
        self.log.append((card.owner, allowed))
        return allowed
