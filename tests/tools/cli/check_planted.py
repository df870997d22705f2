"""Compares the findings of `diff` or `report vendor` with the changes planted in a synthetic fleet.

Usage: check_planted.py PLANTED_JSON LIBRARY FROM TO < DIFF_JSON, or PLANTED_JSON newest < VENDOR_JSON. Prints one line
per difference: a planted change of wall time that was not found, or an API flagged without a planted change.
"""

import json
import sys

WORDS = {"regression": "more", "improvement": "less"}


def flagged(library, apis, changes_of):
    """Returns (library, symbol, direction) for all metrics, and for wall time alone."""
    found = {(library(api), api["symbol"], change["change"], change["metric"])
             for api in apis for change in changes_of(api) if change["change"] in ("more", "less")}
    return {each[:3] for each in found}, {each[:3] for each in found if each[3] == "wall_time"}


def main():
    facts = json.load(open(sys.argv[1]))
    answer = json.load(sys.stdin)
    if sys.argv[2] == "newest":
        newest = {library["soname"]: library["versions"][-2:] for library in facts["libraries"]}
        wanted = [one for one in facts["planted"]
                  if [one["from_version"], one["to_version"]] == newest[one["soname"]]]
        found, found_times = flagged(lambda api: api["library"], answer["apis"], lambda api: api["changes"])
        expected = 2 * len(newest)
    else:
        wanted = [one for one in facts["planted"]
                  if [one["soname"], one["from_version"], one["to_version"]] == sys.argv[2:5]]
        found, found_times = flagged(lambda api: answer["library"], answer["apis"], lambda api: api["metrics"])
        expected = 2
    planted = {(one["soname"], one["symbol"], WORDS[one["kind"]]) for one in wanted}
    problems = [] if len(planted) == expected else [f"{len(planted)} planted changes"]
    problems += [f"not found: {one}" for one in sorted(planted - found_times)]
    problems += [f"not planted: {one}" for one in sorted(found - planted)]
    if not answer["freshness"]["synthetic"]:
        problems.append("not labelled synthetic")
    print("\n".join(problems), end="")


main()
