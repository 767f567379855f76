from thermostat import Thermostat


def test_off():
    it = Thermostat(20, 1)
    it.update(10)
    assert not it.update(21.5)
