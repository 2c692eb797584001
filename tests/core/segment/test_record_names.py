"""A kept value comes with what names its record, also where the name is in an object beside the value."""

import json
from typing import Any

import pytest

from ctxcompress import compress
from ctxcompress.segment.formats import segment

_CITIES = "Lyon Porto Ghent Bergen Turku Graz Split Kaunas Vigo Cork Bari Varna Linz Nantes Bilbao Aarhus Tartu".split()
_NODES = "oak elm ash fir yew".split()


def _service(number: int) -> dict[str, Any]:
    """Return an object whose name is beside what it says: a long one, which is cut."""
    name = f"{_CITIES[number % 17].lower()}-{number}"
    ports = [{"protocol": "TCP", "port": 8000 + number * 10 + n, "label": f"port-{n}"} for n in range(6)]
    return {
        "version": "v1",
        "kind": "Service",
        "metadata": {"created": f"2026-03-{number % 28 + 1:02}T10:00:00Z", "name": name, "namespace": "shop"},
        "spec": {"node": _NODES[number % 5], "memory": f"{number * 16 + 100}Mi", "ports": ports, "schedule": "default"},
        "status": {"phase": "Running", "address": f"10.0.{number}.7", "conditions": ["Ready", "Scheduled"] * 8},
    }


SERVICES = [_service(number) for number in range(40)]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("number", [3, 17, 33])
def test_the_name_in_an_object_beside_a_value_comes_with_it(indent: int | None, number: int) -> None:
    wanted = SERVICES[number]
    text = json.dumps({"kind": "List", "items": SERVICES}, indent=indent)
    result = compress(f"What is the memory of {wanted['metadata']['name']}?", [text], max_tokens=400)
    items = json.loads(result.text)["items"]
    assert all("name" in item["metadata"] for item in items)
    assert wanted["spec"]["memory"] in [item["spec"].get("memory") for item in items if "spec" in item]


def test_a_record_with_an_id_needs_no_name_of_another_object() -> None:
    rows = [{"id": n, "note": "x" * 800, "buyer": {"name": f"Ann {n}", "address": "y" * 150}} for n in range(20)]
    text = json.dumps(rows)
    segments = segment(text)
    note = next(part for part in segments if text.startswith('"note"', part.start))
    assert not any("Ann" in text[segments[other].start : segments[other].end] for other in note.needs)


def _yaml(service: dict[str, Any]) -> str:
    meta, spec, status = service["metadata"], service["spec"], service["status"]
    ports = "".join(f"    - protocol: TCP\n      port: {port['port']}\n" for port in spec["ports"])
    return (
        f"- version: v1\n  kind: Service\n  metadata:\n    created: {meta['created']}\n    name: {meta['name']}\n"
        f"    namespace: shop\n  spec:\n    node: {spec['node']}\n    memory: {spec['memory']}\n    ports:\n{ports}"
        f"  status:\n    phase: Running\n    address: {status['address']}\n"
    )


@pytest.mark.parametrize("number", [3, 17, 33])
def test_a_value_of_yaml_comes_with_the_name_of_its_record(number: int) -> None:
    text = "items:\n" + "".join(map(_yaml, SERVICES))
    name = SERVICES[number]["metadata"]["name"]
    kept = compress(f"What is the memory of {name}?", [text], max_tokens=300).text
    for item in kept.split("- version:")[1:]:
        assert "    name: " in item
    wanted = next(item for item in kept.split("- version:")[1:] if f"name: {name}\n" in item)
    assert f"memory: {SERVICES[number]['spec']['memory']}" in wanted


@pytest.mark.parametrize("city", _CITIES)
@pytest.mark.parametrize(
    "as_text", [json.dumps, lambda value: json.dumps(value, indent=2), lambda value: _items(value)]
)
def test_where_a_short_record_does_not_fit_its_asked_value_does(as_text: Any, city: str) -> None:
    records = [
        {"name": name, "price": 100 + 7 * n, "weight": f"{n}0 kg", "owner": f"Ms Cole {n}", "since": f"20{n:02}-01-01"}
        for n, name in enumerate(_CITIES)
    ]
    wanted = str(100 + 7 * _CITIES.index(city))
    kept = compress(f"What is the price of {city}?", [as_text(records)], max_tokens=40).text
    assert wanted in kept[kept.index(city) :]


def _items(records: list[dict[str, Any]]) -> str:
    return "".join("- " + "\n  ".join(f"{key}: {value}" for key, value in one.items()) + "\n" for one in records)
