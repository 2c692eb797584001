"""Passages about towns, of which one answers the question."""

from ctxcompress import Passage

QUERY = "How high is the lighthouse of Fenwick?"
PLACES = ("Arle", "Brent", "Calver", "Dunmore", "Eldby", "Fenwick", "Garth")
TEXTS = [
    f"The harbour of {place} is old. {'The lighthouse of ' + place + ' is high. ' if n % 2 else ''}Ships call at "
    f"{place} in summer. {'How high it is nobody knows. ' if n == 5 else ''}Its market is on the square."
    for n, place in enumerate(PLACES)
]
PASSAGES = [
    Passage(place.lower(), text, title=place, header_path=("Coast", "Towns"))
    for place, text in zip(PLACES, TEXTS, strict=True)
]


def words(text):
    return len(text.split())
