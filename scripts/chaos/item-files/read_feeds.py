"""Reads feed files of each format with Python's own libraries, and prints their items as JSON lines: file, page, files."""
import csv
import gzip
import json
import sys
import xml.etree.ElementTree as ElementTree

csv.field_size_limit(10_000_000)


def items(name):
    opened = gzip.open(name, "rt", encoding="utf-8", newline="") if name.endswith(".gz") else open(
        name, encoding="utf-8", newline="")
    with opened as file:
        plain = name.removesuffix(".gz")
        if plain.endswith(".jsonl"):
            yield from (json.loads(line) for line in file)
        elif plain.endswith(".json"):
            yield from json.load(file)
        elif plain.endswith(".csv"):
            yield from csv.DictReader(file)
        else:
            for item in ElementTree.parse(file).getroot():
                yield {field.tag: field.text for field in item}


for name in sys.argv[1:]:
    for item in items(name):
        print(json.dumps({"file": name, "page": int(item["page"]), "files": item.get("files"), "images": item.get("images")}))
