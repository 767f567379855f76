from dataclasses import dataclass


@dataclass(frozen=True)
class Post:
    title: str
    day: int
    pinned: bool = False


def feed(posts, most=3):
    """Pinned posts first, then the newest."""
    ordered = sorted(posts, key=lambda post: (not post.pinned, -post.day))
    return [post.title for post in ordered[:most]]
