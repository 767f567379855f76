from thermostat import Thermostat


def test_cold():
    assert Thermostat(20).update(18)


def test_keeps_on_between():
    it = Thermostat(20)
    it.update(18)
    assert it.update(20.2)
