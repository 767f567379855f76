from billing.meter import Meter

RATE = 0.31
BASE = 8.5


def invoice(meter: Meter):
    return round(BASE + meter.used() * RATE, 2)
