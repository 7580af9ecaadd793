"""The main comparisons as bars, in an SVG that needs nothing to be drawn."""

from html import escape

from .figures import number
from .section import Bar, Chart

WIDTH, MARGIN = 940, 24
CHART_WIDTH = (WIDTH - 3 * MARGIN) // 2
NAME_WIDTH, VALUE_WIDTH = 178, 62
BAR, STEP, HEAD = 15, 23, 46
COLOURS = {"belfry": "#c2410c", "peer": "#64748b", "floor": "#cbd5e1"}
INK, FAINT, LINE = "#0f172a", "#64748b", "#0f172a"


def draw(charts: list[Chart]) -> str:
    columns: list[list[Chart]] = [charts[0::2], charts[1::2]]
    parts, bottom = [], 0
    tops = [MARGIN, MARGIN]
    for left, right in zip(columns[0], [*columns[1], None]):
        for at, chart in enumerate((left, right)):
            if chart:
                parts.append(_chart(chart, MARGIN + at * (CHART_WIDTH + MARGIN), tops[at]))
        height = max(_height(chart) for chart in (left, right) if chart)
        tops = [top + height + MARGIN for top in tops]
        bottom = tops[0]
    height = bottom + 24
    legend = _legend(height - 22)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        ' font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif" font-size="12">\n'
        # A ground of its own: the page around it may be dark.
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff"/>\n'
        + "".join(parts)
        + legend
        + "</svg>\n"
    )


def _height(chart: Chart) -> int:
    return HEAD + STEP * len(chart.bars)


def _chart(chart: Chart, left: int, top: int) -> str:
    better = "less is better" if chart.less_is_better else "more is better"
    lines = [
        _text(left, top + 14, chart.title, size=14, weight=600),
        _text(left, top + 31, f"{chart.unit}; {better}", colour=FAINT),
    ]
    room = CHART_WIDTH - NAME_WIDTH - VALUE_WIDTH
    scale = room / max(bar.figure.high for bar in chart.bars)
    for at, bar in enumerate(chart.bars):
        lines.append(_bar(bar, left, top + HEAD + at * STEP, scale))
    return "".join(lines)


def _bar(bar: Bar, left: int, top: int, scale: float) -> str:
    start, middle = left + NAME_WIDTH, top + BAR / 2
    width = max(1.0, bar.figure.median * scale)
    low, high = start + bar.figure.low * scale, start + bar.figure.high * scale
    weight = 600 if bar.kind == "belfry" else 400
    return (
        _text(start - 8, top + 12, bar.name, anchor="end", weight=weight)
        + f'<rect x="{start}" y="{top}" width="{width:.1f}" height="{BAR}" rx="2" fill="{COLOURS[bar.kind]}"/>\n'
        + f'<path d="M{low:.1f} {middle}H{high:.1f}M{low:.1f} {middle - 3}v6M{high:.1f} {middle - 3}v6"'
        + f' stroke="{LINE}" stroke-width="1" fill="none"/>\n'
        + _text(max(start + width, high) + 6, top + 12, number(bar.figure.median), weight=weight)
    )


def _legend(top: int) -> str:
    parts, left = [], MARGIN
    for kind, name in (
        ("belfry", "Belfry"),
        ("peer", "peer"),
        ("floor", "floor: does nothing but the input and output"),
    ):
        parts.append(
            f'<rect x="{left}" y="{top - 9}" width="10" height="10" rx="2" fill="{COLOURS[kind]}"/>\n'
        )
        parts.append(_text(left + 15, top, name, colour=FAINT))
        left += 34 + int(6.3 * len(name))
    parts.append(_text(left, top, "lines: lowest and highest round", colour=FAINT))
    return "".join(parts)


def _text(
    x: float,
    y: float,
    text: str,
    *,
    size: int = 12,
    weight: int = 400,
    colour: str = INK,
    anchor: str = "start",
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y}" font-size="{size}" font-weight="{weight}" fill="{colour}"'
        f' text-anchor="{anchor}">{escape(text)}</text>\n'
    )
