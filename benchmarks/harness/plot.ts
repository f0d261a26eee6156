/** What a list of so many rows took. */
export interface PlotPoint {
  readonly rows: number;
  readonly seconds: number;
  readonly peakBytes: number;
}

interface Panel {
  readonly title: string;
  /** From the left edge of the picture. */
  readonly left: number;
  readonly ticks: readonly Tick[];
  readonly valueOf: (point: PlotPoint) => number;
}

interface Tick {
  readonly value: number;
  readonly label: string;
}

const width = 760;
const height = 300;
const plotWidth = 300;
const plotHeight = 200;
const top = 50;
const bottom = top + plotHeight;
const ink = '#6b7280';
const grid = '#d1d5db';
const line = '#0f766e';

const rowTicks: readonly Tick[] = [
  { value: 1e4, label: '10k' },
  { value: 1e5, label: '100k' },
  { value: 1e6, label: '1M' },
  { value: 1e7, label: '10M' },
  { value: 1e8, label: '100M' },
];

const panels: readonly Panel[] = [
  {
    title: 'Seconds',
    left: 60,
    ticks: [0.1, 1, 10, 100, 1000].map((value) => ({ value, label: String(value) })),
    valueOf: ({ seconds }) => seconds,
  },
  {
    title: 'Peak memory (MiB)',
    left: 60 + plotWidth + 80,
    ticks: [10, 100, 1000, 10_000].map((value) => ({ value, label: String(value) })),
    valueOf: ({ peakBytes }) => peakBytes / 1024 / 1024,
  },
];

/** An SVG picture of time and memory against rows, both axes logarithmic. */
export function plot(points: readonly PlotPoint[]): string {
  const drawn = panels.map((panel) => draw(panel, points)).join('\n');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="${ink}">
<title>Time and memory against the rows of a list</title>
${drawn}
</svg>
`;
}

function draw({ title, left, ticks, valueOf }: Panel, points: readonly PlotPoint[]): string {
  const x = scale(rowTicks, left, left + plotWidth);
  const y = scale(ticks, bottom, top);
  const marks = points.map((point) => [x(point.rows), y(valueOf(point))] as const);
  return [
    text(left, top - 22, title, 'start', ' font-size="14" font-weight="600"'),
    ...rowTicks.map(({ value, label }) => text(x(value), bottom + 20, label, 'middle')),
    text(left + plotWidth / 2, bottom + 40, 'rows, all of them different', 'middle'),
    ...ticks.flatMap(({ value, label }) => [
      `<path d="M${left} ${y(value)}h${plotWidth}" stroke="${grid}"/>`,
      text(left - 8, y(value) + 4, label, 'end'),
    ]),
    `<polyline points="${marks.map((mark) => mark.join(',')).join(' ')}" fill="none" stroke="${line}" stroke-width="2"/>`,
    ...marks.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3.5" fill="${line}"/>`),
  ].join('\n');
}

/** Puts values between two places, by their logarithm. */
function scale(ticks: readonly Tick[], from: number, to: number): (value: number) => number {
  const least = Math.log10(ticks[0]?.value ?? 1);
  const most = Math.log10(ticks.at(-1)?.value ?? 10);
  return (value) =>
    Math.round((from + ((Math.log10(value) - least) / (most - least)) * (to - from)) * 10) / 10;
}

function text(x: number, y: number, words: string, anchor: string, more = ''): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}"${more}>${words}</text>`;
}
