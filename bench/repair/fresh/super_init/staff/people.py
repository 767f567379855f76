class Person:
    def __init__(self, name):
        self.name = name
        self.tags = []

    def tag(self, text):
        self.tags.append(text)
        return self


class Employee(Person):
    def __init__(self, name, salary):
        self.name = name
        self.salary = salary

    def raise_by(self, percent):
        self.salary = round(self.salary * (1 + percent / 100))


class Manager(Employee):
    def __init__(self, name, salary, team):
        super().__init__(name, salary)
        self.team = team

    def cost(self):
        return self.salary + sum(member.salary for member in self.team)
