"""Prints the rows of benchmarks: a table, or one JSON object per line.

Standard output belongs to the rows. Many programs are started here, and some log there; therefore a Report moves
everything else that this process and its children write to standard output to standard error.
"""

import json
import math
import os
import sys

FIELDS = ("row", "name", "unit", "value", "floor", "ratio", "target", "ok", "peers")


def shown(number, width):
    return f"{'-' if number is None else f'{number:.2f}':>{width}}"


def known(number):
    """Returns None instead of a number that JSON lacks: infinities, and values that are not numbers."""
    return None if isinstance(number, float) and not math.isfinite(number) else number


class Report:
    """Makes file descriptor 1 a copy of standard error for the rest of the process. Create one, before any child."""

    def __init__(self, as_json):
        self.as_json = as_json
        self.missed = False
        sys.stdout.flush()
        self.out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def add(self, row):
        """Prints a row; raises ValueError unless it has exactly the FIELDS."""
        if set(row) != set(FIELDS):
            raise ValueError(f"fields of a row: expected {FIELDS}, got {tuple(row)}")
        self.missed = self.missed or not row["ok"]
        row = {name: known(row[name]) for name in FIELDS}
        row["peers"] = {peer: known(cost) for peer, cost in row["peers"].items()}
        text = json.dumps(row, allow_nan=False) if self.as_json else self.line(row)
        print(text, file=self.out, flush=True)

    @staticmethod
    def line(row):
        peers = ", ".join(f"{peer} {'missing' if cost is None else f'{cost:.1f}'}"
                          for peer, cost in row["peers"].items())
        return (f"row {row['row'] or '-'}  {row['name']:26} {shown(row['value'], 9)} {row['unit']:3}  "
                f"floor {shown(row['floor'], 9)}  ratio {shown(row['ratio'], 5)}  "
                f"{'ok    ' if row['ok'] else 'MISSED'}  {row['target']}{'  | ' + peers if peers else ''}")
