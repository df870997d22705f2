"""How the service's costs grow: doubles agents, keys, published rows and threads, and draws a chart."""

import math
from pathlib import Path

SIZES = (1, 2, 4, 8)
AGENTS = 16  # with 8 batches each, times the size
KEYS = 50_000
ROWS = 62_500

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 360, 56, 190, 40, 44
STYLE = ("text{font:12px sans-serif;fill:#333}.axis{stroke:#999}.grid{stroke:#ddd}"
         ".linear{stroke:#999;stroke-dasharray:6 4}path{fill:none;stroke-width:2}"
         ".s0{stroke:#0a6cbd}.s1{stroke:#b9770e}.s2{stroke:#1e8449}"
         "@media (prefers-color-scheme:dark){text{fill:#ddd}.axis{stroke:#888}.grid{stroke:#444}"
         ".s0{stroke:#5cb3ff}.s1{stroke:#f0b04a}.s2{stroke:#58d68d}}")


def measure(bench):
    """Yields (what grows, unit of the cost, costs at SIZES); `bench` is an AggregatorBench."""
    def ingest(**options):
        traffic = bench.make(**options)
        try:
            return bench.ingest_once(traffic)["server_cpu_seconds"]
        finally:
            traffic.unlink()

    yield "agents, 8 batches each", "CPU s", [ingest(agents=AGENTS * size) for size in SIZES]
    yield "keys, same batches", "CPU s", [ingest(agents=2 * AGENTS, keys=KEYS * size) for size in SIZES]
    yield "published rows", "s", [bench.publish_once(ROWS * size)[0] for size in SIZES]


def draw(series):
    """Returns an SVG: cost over size, both relative to the smallest, on logarithmic axes."""
    most = max(max(costs) / costs[0] for _, _, costs in series)
    top = max(math.log2(most), 3)
    low = min(0.0, min(math.log2(min(costs) / costs[0]) for _, _, costs in series))

    def x(size):
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log2(size) / 3

    def y(cost):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (math.log2(cost) - low) / (top - low)

    told = "; ".join(f"{name}: " + ", ".join(f"{cost / costs[0]:.2f}" for cost in costs)
                     for name, _, costs in series)
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
           f'aria-labelledby="t d">\n<title id="t">How costs grow with size</title>\n'
           f'<desc id="d">Costs at 1, 2, 4 and 8 times the size, relative to the first. {told}.</desc>\n'
           f'<style>{STYLE}</style>']
    for size in SIZES:
        svg.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(size):.1f}" y2="{y(size):.1f}"/>'
                   f'<text x="{LEFT - 8}" y="{y(size) + 4:.1f}" text-anchor="end">{size}</text>'
                   f'<text x="{x(size):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{size}</text>')
    svg.append(f'<line class="linear" x1="{x(1):.1f}" y1="{y(1):.1f}" x2="{x(8):.1f}" y2="{y(8):.1f}"/>'
               f'<text x="{WIDTH - RIGHT + 8}" y="{y(8) + 4:.1f}">proportional</text>')
    below = -math.inf
    for number, (name, _, costs) in sorted(enumerate(series), key=lambda item: -item[1][2][-1] / item[1][2][0]):
        points = " ".join(f"{x(size):.1f},{y(cost / costs[0]):.1f}" for size, cost in zip(SIZES, costs))
        at = max(y(costs[-1] / costs[0]) + 4, y(8) + 20, below + 16)  # labels must not overlap
        below = at
        svg.append(f'<path class="s{number}" d="M{points}"/>'
                   f'<text x="{WIDTH - RIGHT + 8}" y="{at:.1f}">{name}</text>')
    svg.append(f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{HEIGHT - BOTTOM}" y2="{HEIGHT - BOTTOM}"/>'
               f'<text x="8" y="20">cost, relative</text>'
               f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">'
               f'size, relative</text>\n</svg>\n')
    return "\n".join(svg)


def rows(bench, picture):
    """Yields the rows of the benchmark; writes the chart to the given file, if any."""
    series = list(measure(bench))
    if picture:
        Path(picture).write_text(draw(series))
    for name, unit, costs in series:
        growth = costs[-1] / costs[0]
        yield {"row": 7 if unit == "CPU s" else 9, "name": f"8 x {name}", "unit": "x", "value": growth,
               "floor": SIZES[-1], "ratio": growth / SIZES[-1], "target": "<= 1.1 x proportional",
               "ok": growth <= 1.1 * SIZES[-1],
               "peers": {f"{unit} at {size} x": cost for size, cost in zip(SIZES, costs)}}
    traffic = bench.make(agents=4 * AGENTS)
    alone, both = (bench.ingest_once(traffic, threads=threads)["seconds"] for threads in (1, 2))
    yield {"row": 7, "name": "2 x threads, wall", "unit": "x", "value": alone / both, "floor": None,
           "ratio": None, "target": "not slower", "ok": both <= 1.1 * alone,
           "peers": {"s with 1": alone, "s with 2": both}}
