from staff.people import Employee, Manager


def test_name():
    assert Employee("zoe", 1).name == "zoe"


def test_manager():
    assert Manager("m", 1, []).tag("q").tags == ["q"]
