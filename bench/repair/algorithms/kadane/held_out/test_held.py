from kadane import best_run


def test_held():
    import itertools, random
    r = random.Random(1)
    for _ in range(50):
        v = [r.randint(-9, 9) for _ in range(8)]
        assert best_run(v) == max(sum(v[i:j]) for i in range(9) for j in range(i, 9))
