from kitchen import scale, shopping

PANCAKES = {"serves": 4, "for": {"flour": 200, "milk": 400}}
SOUP = {"serves": 2, "for": {"milk": 100, "leek": 3}}


def test_scale():
    assert scale({"salt": 5}, 0.5) == {"salt": 2.5}


def test_list_by_name():
    assert shopping([PANCAKES, SOUP], 2) == [("flour", 100.0), ("leek", 3.0), ("milk", 300.0)]
