#!/usr/bin/env python3
# Stands for Brendan Gregg's script: reads folded stacks strictly, and draws a line of text for each.
import re
import sys

lines = [re.fullmatch(r"(\S.*) (\d+)", line.rstrip("\n")) for line in sys.stdin]
if not lines or not all(lines):
    sys.exit("flamegraph.pl: no folded stacks")
print("<svg>" + "".join(f"<text>{match[1]} {match[2]}</text>\n" for match in lines) + "</svg>")
