from staff.people import Employee, Manager, Person


def test_person_tags():
    assert Person("a").tag("x").tags == ["x"]


def test_employee_tags():
    assert Employee("a", 10).tag("x").tags == ["x"]


def test_cost():
    assert Manager("b", 5, [Employee("a", 10)]).cost() == 15
