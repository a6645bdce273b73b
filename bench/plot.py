#!/usr/bin/env python3
# Draws the plots of one result file of bench/run.sh as SVG, with nothing but Python's standard library.
#
#   bench/plot.py RESULT.json DIRECTORY
#
# Each plot follows the reader's light or dark mode. A plot whose program is not in the file, or skipped everything, is left out.
import json
import math
import sys
from html import escape
from pathlib import Path

WIDTH, HEIGHT = 860, 470
LEFT, TOP, BOTTOM, LEGEND = 92, 64, 64, 214  # margins of a plot; the legend is on the right
COLOURS = 8

STYLE = """
svg { font: 14px "DejaVu Sans", Verdana, "Segoe UI", sans-serif; }
.paper { fill: #ffffff; } .text { fill: #1f2328; } .soft { fill: #59636e; } .title { font-size: 17px; font-weight: bold; }
.grid { stroke: #d1d9e0; stroke-width: 1; } .axis { stroke: #59636e; stroke-width: 1; }
.line { fill: none; stroke-width: 2.2; } .spread { stroke-width: 1.2; opacity: .6; }
.s0 { stroke: #0550ae; fill: #0550ae; } .s1 { stroke: #bc4c00; fill: #bc4c00; } .s2 { stroke: #116329; fill: #116329; }
.s3 { stroke: #8250df; fill: #8250df; } .s4 { stroke: #a40e26; fill: #a40e26; } .s5 { stroke: #1b7c83; fill: #1b7c83; }
.s6 { stroke: #7d4e00; fill: #7d4e00; } .s7 { stroke: #57606a; fill: #57606a; }
@media (prefers-color-scheme: dark) {
.paper { fill: #0d1117; } .text { fill: #f0f6fc; } .soft { fill: #9198a1; } .grid { stroke: #30363d; } .axis { stroke: #9198a1; }
.s0 { stroke: #79c0ff; fill: #79c0ff; } .s1 { stroke: #ffa657; fill: #ffa657; } .s2 { stroke: #7ee787; fill: #7ee787; }
.s3 { stroke: #d2a8ff; fill: #d2a8ff; } .s4 { stroke: #ff7b72; fill: #ff7b72; } .s5 { stroke: #56d4dd; fill: #56d4dd; }
.s6 { stroke: #e3b341; fill: #e3b341; } .s7 { stroke: #b1bac4; fill: #b1bac4; }
}
.line { fill: none; }
"""


def number(value):
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.3g} {letter}"
    return f"{value:.3g}"


def nanoseconds(value):
    for limit, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if value >= limit:
            return f"{value / limit:.3g} {unit}"
    return f"{value:.3g} ns"


def size(value):
    for limit, unit in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if value >= limit:
            return f"{value / limit:.3g} {unit}"
    return f"{value:g} B"


def text(x, y, what, anchor="start", kind="text", more=""):
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(what)}</text>'


def marker(shape, x, y, colour):
    r = 4.5
    if shape % 4 == 0:
        return f'<circle class="s{colour}" cx="{x:.1f}" cy="{y:.1f}" r="{r}"/>'
    if shape % 4 == 1:
        return f'<rect class="s{colour}" x="{x - r:.1f}" y="{y - r:.1f}" width="{2 * r}" height="{2 * r}"/>'
    corners = ((0, -r), (r, r), (-r, r)) if shape % 4 == 2 else ((0, -r - 1), (r + 1, 0), (0, r + 1), (-r - 1, 0))
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon class="s{colour}" points="{points}"/>'


def dash(index):
    """The second round of colours is dashed."""
    return ' stroke-dasharray="6 4"' if index >= COLOURS else ""


def decades(low, high):
    return [10.0**e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


class Panel:
    """Lines over places on the x axis that are equally far apart, on a logarithmic y axis."""

    def __init__(self, left, width, places, low, high, y_text):
        self.left, self.width, self.places = left, width, places
        self.marks = decades(low, high)
        if len(self.marks) == 1:
            self.marks.append(self.marks[0] * 10)
        self.y_text = y_text

    def x(self, place):
        index = self.places.index(place)
        inset = 24
        return self.left + inset + (self.width - 2 * inset) * (index / max(len(self.places) - 1, 1))

    def y(self, value):
        low, high = math.log10(self.marks[0]), math.log10(self.marks[-1])
        part = (math.log10(max(value, self.marks[0])) - low) / (high - low)
        return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)

    def frame(self, x_text, x_label, numbers):
        parts = []
        for mark in self.marks:
            y = self.y(mark)
            parts.append(f'<line class="grid" x1="{self.left}" x2="{self.left + self.width}" y1="{y:.1f}" y2="{y:.1f}"/>')
            if numbers:
                parts.append(text(self.left - 8, y + 5, self.y_text(mark), "end", "soft"))
        bottom = HEIGHT - BOTTOM
        parts.append(f'<line class="axis" x1="{self.left}" x2="{self.left + self.width}" y1="{bottom}" y2="{bottom}"/>')
        for place in self.places:
            small = ' font-size="11"' if self.width / len(self.places) < 60 else ""
            parts.append(text(self.x(place), bottom + 20, x_text(place), "middle", "soft", small))
        parts.append(text(self.left + self.width / 2, bottom + 44, x_label, "middle"))
        return parts

    def line(self, points, index):
        colour = index % COLOURS
        parts = []
        path = " ".join(f"{self.x(p['x']):.1f},{self.y(p['median']):.1f}" for p in points)
        parts.append(f'<polyline class="s{colour} line" points="{path}"{dash(index)}/>')
        for p in points:
            x = self.x(p["x"])
            parts.append(f'<line class="s{colour} spread" x1="{x:.1f}" x2="{x:.1f}" '
                         f'y1="{self.y(p["min"]):.1f}" y2="{self.y(p["max"]):.1f}"/>')
            parts.append(marker(index, x, self.y(p["median"]), colour))
        return parts


def legend(names):
    parts = []
    for index, name in enumerate(names):
        y = TOP + 16 + 24 * index
        x = WIDTH - LEGEND + 24
        parts.append(f'<line class="s{index % COLOURS} line" x1="{x - 14}" x2="{x + 14}" y1="{y}" y2="{y}"{dash(index)}/>')
        parts.append(marker(index, x, y, index % COLOURS))
        parts.append(text(x + 22, y + 5, name))
    return parts


def document(title, parts, height=HEIGHT):
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
            f'role="img"><title>{escape(title)}</title><style>{STYLE}</style>'
            f'<rect class="paper" width="{WIDTH}" height="{height}"/>')
    return head + "\n" + "\n".join([text(20, 32, title, kind="text title")] + parts) + "\n</svg>\n"


def line_plot(title, panels, x_text, x_label, y_text, y_label):
    """`panels`: (caption, {series: points}) side by side on one scale; a point has x, median, min, max."""
    every = [p for _, series in panels for points in series.values() for p in points]
    if not every:
        return None
    low = min(max(p["min"], 1e-3) for p in every)
    high = max(p["max"] for p in every)
    names = list(dict.fromkeys(name for _, series in panels for name in series))
    gap = 18
    width = (WIDTH - LEFT - LEGEND - gap * (len(panels) - 1)) / len(panels)
    parts = []
    for index, (caption, series) in enumerate(panels):
        places = sorted({p["x"] for points in series.values() for p in points})
        panel = Panel(LEFT + index * (width + gap), width, places, low, high, y_text)
        parts += panel.frame(x_text, x_label, index == 0)
        if caption:
            parts.append(text(panel.left + width / 2, TOP - 8, caption, "middle", "soft"))
        for name, points in series.items():
            parts += panel.line(sorted(points, key=lambda p: p["x"]), names.index(name))
    middle = TOP + (HEIGHT - TOP - BOTTOM) / 2
    parts.append(text(18, middle, y_label, "middle", "text", f' transform="rotate(-90 18 {middle:.1f})"'))
    return document(title, parts + legend(names))


def bar_plot(title, rows, x_label):
    """`rows`: (name, {group: point}); one bar for each group, on a logarithmic axis."""
    rows = [row for row in rows if row[1]]
    if not rows:
        return None
    groups = list(dict.fromkeys(group for _, bars in rows for group in bars))
    every = [bar for _, bars in rows for bar in bars.values()]
    marks = decades(min(bar["min"] for bar in every), max(bar["max"] for bar in every))
    low, high = math.log10(marks[0]), math.log10(marks[-1])
    step = 36
    left, right, bottom = 280, WIDTH - 84, TOP + step * len(rows)

    def x(value):
        return left + (math.log10(max(value, marks[0])) - low) / (high - low) * (right - left)

    parts = []
    for mark in marks:
        parts.append(f'<line class="grid" x1="{x(mark):.1f}" x2="{x(mark):.1f}" y1="{TOP}" y2="{bottom}"/>')
        parts.append(text(x(mark), bottom + 20, number(mark), "middle", "soft"))
    parts.append(text((left + right) / 2, bottom + 44, x_label, "middle"))
    for index, (name, bars) in enumerate(rows):
        y = TOP + step * index
        parts.append(text(left - 10, y + step / 2 + 5, name, "end"))
        height = step * 0.76 / len(bars)
        for place, (group, bar) in enumerate(bars.items()):
            top = y + step * 0.12 + place * height
            parts.append(f'<rect class="s{groups.index(group)}" x="{left}" y="{top:.1f}" '
                         f'width="{x(bar["median"]) - left:.1f}" height="{height - 1:.1f}"/>')
            parts.append(text(x(bar["median"]) + 6, top + height / 2 + 4, number(bar["median"]), kind="soft",
                              more=' font-size="11"'))
    for index, group in enumerate(groups):
        if group:
            at = left + 190 * index
            parts.append(f'<rect class="s{index}" x="{at}" y="{TOP - 20}" width="12" height="12"/>')
            parts.append(text(at + 18, TOP - 9, group))
    return document(title, parts, bottom + BOTTOM)


class Results:
    def __init__(self, path):
        self.programs = {p["program"]: p for p in json.loads(Path(path).read_text())["programs"]}

    def measurements(self, program):
        return self.programs.get(program, {}).get("measurements", [])

    def lines(self, program, wanted=lambda m: True, convert=lambda m: m):
        series = {}
        for m in self.measurements(program):
            if "series" in m and wanted(m):
                series.setdefault(m["series"], []).append(convert(m))
        return series

    def percentiles(self, program, wanted):
        """One line for each measurement that is wanted: x is the percentile."""
        series = {}
        for m in self.measurements(program):
            name = wanted(m)
            if name is None or "extras" not in m:
                continue
            points = [{"x": 50, "median": m["median"], "min": m["min"], "max": m["max"]}]
            points += [{"x": float(key[1:]), **m["extras"][key]} for key in ("p90", "p99", "p99.9", "p99.99")
                       if key in m["extras"]]
            series[name] = points
        return series


def rate_of_cost(m):
    """The mean cost of a publish in ns as publishes a second."""
    if m["unit"] != "ns":
        return m
    return {"x": m["x"], "median": 1e9 / m["median"], "min": 1e9 / m["max"], "max": 1e9 / m["min"]}


def peer_rows(results):
    rows = {}
    for m in results.measurements("peers"):
        name, _, idle = m["name"].rpartition(", ")
        if m["unit"] == "records/s":
            group = {"spin": "consumer spins", "pause": "consumer pauses 1 µs"}.get(idle, "waits in the kernel")
            rows.setdefault(name if name else m["name"], {})[group] = m
    return list(rows.items())


def open_loop_panel(results, percent):
    def name_of(m):
        if m.get("series") == "hiccup floor":
            return m["series"]
        return m["series"] if m.get("x") == percent else None

    return f"{percent} % of the peak", results.percentiles("open_loop", name_of)


def plots(results):
    rate = "records a second"
    yield "throughput", bar_plot("64-byte records, one producer, one consumer", peer_rows(results),
                                 rate + " (logarithmic)")
    yield "throughput-by-size", line_plot("Throughput by size of the records", [("", results.lines("sizes"))], size,
                                          "bytes of a record", number, rate)
    yield "throughput-by-producers", line_plot("Throughput by producers (40 bytes, one consumer)",
                                               [("", results.lines("producers"))], "{:g}".format, "producers", number, rate)
    yield "throughput-by-readers", line_plot("Throughput by readers that each read everything (64 bytes)",
                                             [("", results.lines("readers"))], "{:g}".format, "readers", number,
                                             rate + " to each reader")
    yield "throughput-by-partitions", line_plot("Throughput by partitions (40 bytes, one producer)",
                                                [("", results.lines("partitions", convert=rate_of_cost))], "{:g}".format,
                                                "partitions", number, rate)
    yield "latency-closed-loop", line_plot("One way, 64 bytes, closed loop",
                                           [("", results.percentiles("peer_round_trip", lambda m: m["name"]))],
                                           "{:g}".format, "percentile", nanoseconds, "half a round trip")
    yield "latency-open-loop", line_plot("One way, 64 bytes, open loop at a fixed rate",
                                         [open_loop_panel(results, percent) for percent in (10, 50, 80)],
                                         "{:g}".format, "percentile", nanoseconds, "after the record was due")
    yield "footprint", line_plot("Throughput by size of the ring", [("", results.lines("footprint"))], size,
                                 "bytes of the ring (64 for each place)", number, rate)


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: bench/plot.py RESULT.json DIRECTORY")
    results = Results(sys.argv[1])
    directory = Path(sys.argv[2])
    directory.mkdir(parents=True, exist_ok=True)
    for name, drawing in plots(results):
        if drawing is None:
            print(f"bench/plot.py: nothing to draw for {name}.svg", file=sys.stderr)
            continue
        (directory / f"{name}.svg").write_text(drawing)


if __name__ == "__main__":
    main()
