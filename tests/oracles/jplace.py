"""What the specification of jplace 3 (Matsen, Hoffman, Gallagher and Stamatakis 2012) asks of a file."""

import json
import re


def check_jplace(text):
    """Asserts the rules, and gives the file's entries: names with their counts -> fields of each placement."""
    read = json.loads(text)
    assert {"tree", "fields", "placements", "version", "metadata"} <= set(read) and read["version"] == 3
    assert len(set(read["fields"])) == len(read["fields"]) and "edge_num" in read["fields"]
    lengths = {int(number): float(length) for length, number in re.findall(r":([^:{},()]+)\{(\d+)\}", read["tree"])}
    assert sorted(lengths) == list(range(len(lengths))) and read["tree"].endswith(";")
    entries = {}
    for entry in read["placements"]:
        assert set(entry) in ({"p", "nm"}, {"p", "n"}) and entry["p"]
        names = entry["nm"] if "nm" in entry else [[name, 1] for name in entry["n"]]
        assert names and all(isinstance(name, str) and count > 0 for name, count in names)
        placed = [dict(zip(read["fields"], row, strict=True)) for row in entry["p"]]
        edges = [row["edge_num"] for row in placed]
        assert len(set(edges)) == len(edges) and set(edges) <= set(lengths)
        assert abs(sum(row["like_weight_ratio"] for row in placed) - 1) <= 1e-9
        for row in placed:
            assert 0 <= row["distal_length"] <= lengths[row["edge_num"]] and row["pendant_length"] >= 0
        for name, count in names:
            assert name not in entries
            entries[name] = (count, placed)
    return entries
