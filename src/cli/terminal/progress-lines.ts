import { counted, duration, grouped, rate } from '../../platform/text/shown-numbers.js';
import type { ParsedOptions } from '../command.js';
import { wrapped } from './text-table.js';
import { type RunFigures, type RunStage, runStages } from './run-figures.js';

export interface ProgressForm {
  readonly columns: number;
  readonly hasColour: boolean;
  readonly isUnicode: boolean;
}

const doing: Readonly<Partial<Record<RunStage, string>>> = {
  uploading: 'uploading',
  preparing: 'preparing',
  verifying: 'verifying',
  exporting: 'fetching',
};

const labelWidth = 9;
const mostBar = 30;
const leastBar = 6;
const percentWidth = ' 100 %'.length;
const besideText = 2 + labelWidth + 1;
const besideBar = besideText + percentWidth + 2;
/** What does not fit into less is cut. */
const leastText = 30;

/** A run as lines of a terminal, none wider: progress, then rows, batches, results and credits once there are any. */
export function progressLines(
  figures: RunFigures,
  form: ProgressForm,
  nowMs: number,
): readonly string[] {
  const { failedBatches } = figures;
  const lines: readonly (readonly [label: string, text: string, colour?: 'dim' | 'red'])[] = [
    ['progress', progressText(figures, form, nowMs)],
    ['rows', rowsText(figures, nowMs)],
    ['batches', batchesText(figures)],
    ['results', resultsText(figures, nowMs)],
    ['credits', creditsText(figures), 'dim'],
    ['failed', failedBatches === 0 ? '' : counted(failedBatches, 'batch'), 'red'],
  ];
  return lines
    .filter(([, text]) => text !== '')
    .flatMap(([label, text, colour]) =>
      wrapped(text, Math.max(form.columns - 1 - besideText, leastText)).map((part, index) => {
        const before = `  ${(index === 0 ? label : '').padEnd(labelWidth)} `;
        const line = cut(before + part, form.columns);
        return colour === undefined ? line : coloured(line, colour, form);
      }),
    );
}

/** How long a run has taken, and takes: `1 min 5 s, about 3 min left`. */
export function timeText(figures: RunFigures, nowMs: number): string {
  const { elapsedMs, leftMs } = figures.time(nowMs);
  const left = leftMs === undefined ? '' : `, about ${duration(roughly(leftMs / 1000))} left`;
  const waiting = figures.isWaiting ? ', waiting for the service' : '';
  return `${duration(elapsedMs / 1000)}${left}${waiting}`;
}

/** Long times are rounded, and unfinished ones are never 0. */
function roughly(seconds: number): number {
  return seconds < 120 ? Math.max(1, seconds) : Math.round(seconds / 60) * 60;
}

/** The total is unknown while the list is read. */
function progressText(figures: RunFigures, form: ProgressForm, nowMs: number): string {
  const time = timeText(figures, nowMs);
  const { share } = figures;
  if (share === undefined) return time;
  const bar = barOf(share, time, form);
  const percent = `${Math.floor(share * 100)} %`;
  return `${bar}${bar === '' ? percent : percent.padStart(percentWidth)}  ${time}`;
}

function rowsText(figures: RunFigures, nowMs: number): string {
  const read = figures.of('reading');
  const written = figures.of('writing');
  if (written.sinceMs !== undefined) {
    return `${grouped(written.done)} of ${grouped(read.done)} written${rateText(figures.rate('writing', 'writing', nowMs))}`;
  }
  const pace = rateText(figures.rate('reading', 'reading', nowMs));
  return read.sinceMs === undefined ? '' : `${grouped(read.done)} read${pace}`;
}

/** In the order of their life, the last stage first. */
function batchesText(figures: RunFigures): string {
  const { done, total } = figures.batches;
  if (total === undefined || total === 0) return '';
  const places = runStages.toReversed().flatMap((stage) => {
    const { batches } = figures.of(stage);
    return batches > 0 ? [`${grouped(batches)} ${doing[stage] ?? stage}`] : [];
  });
  return [`${grouped(done)} of ${grouped(total)} done`, ...places].join(', ');
}

function resultsText(figures: RunFigures, nowMs: number): string {
  const { done, total = 0 } = figures.of('exporting');
  if (figures.of('verifying').sinceMs === undefined) return '';
  // Results come at the end of their batches: the rate is that of all the work.
  const pace = rateText(figures.rate('exporting', 'uploading', nowMs));
  return `${grouped(done)} of ${grouped(total)} addresses${pace}`;
}

function creditsText(figures: RunFigures): string {
  const { refunded, ...spent } = figures.credits();
  const launched = figures.launchedCredits;
  const prices = (['email', 'phone'] as const)
    .filter((type) => launched[type] > 0)
    .map((type) => `${grouped(launched[type])} ${type}`);
  const saved = launched.email + launched.phone - spent.email - spent.phone + refunded;
  const less = saved > 0 ? `, ${grouped(saved)} of them not charged or refunded` : '';
  return prices.length === 0 ? '' : `at most ${prices.join(', ')}${less}`;
}

function rateText(perSecond: number | undefined): string {
  return perSecond === undefined ? '' : `, ${rate(perSecond)}`;
}

/** @param beside the text after it in its line */
function barOf(share: number, beside: string, { columns, isUnicode }: ProgressForm): string {
  const width = Math.min(mostBar, columns - 1 - besideBar - beside.length);
  if (width < leastBar) return '';
  const full = Math.floor(share * width);
  const [on, off] = isUnicode ? ['━', '╌'] : ['#', '.'];
  return `${on.repeat(full)}${off.repeat(width - full)}`;
}

/** The last column stays free: some terminals wrap when it is filled. */
function cut(line: string, columns: number): string {
  return line.trimEnd().slice(0, Math.max(1, columns - 1));
}

const colours = { dim: 2, red: 31 } as const;

function coloured(line: string, colour: keyof typeof colours, form: ProgressForm): string {
  if (!form.hasColour) return line;
  return `\u001b[${colours[colour]}m${line}\u001b[0m`;
}

export type ProgressMode = 'live' | 'lines' | 'none';

interface ProgressSurroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly isTerminal: boolean;
  readonly isOutputOnTerminal: boolean;
}

/** Lines are redrawn for a person where nothing else is written; logs get a line now and then. */
export function progressMode(
  options: ParsedOptions<'quiet' | 'no-progress'>,
  { env, isTerminal, isOutputOnTerminal }: ProgressSurroundings,
): ProgressMode {
  if (options.has('quiet') || options.has('no-progress')) return 'none';
  const isDumb = env['TERM'] === 'dumb';
  return isTerminal && !isDumb && !isOutputOnTerminal ? 'live' : 'lines';
}

/** What a terminal can display, as far as its environment shows. */
export function progressForm(env: NodeJS.ProcessEnv, columns: number | undefined): ProgressForm {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  return {
    columns: widthOf(columns),
    // no-color.org: set and not empty.
    hasColour: !env['NO_COLOR'],
    isUnicode: /utf-?8/i.test(locale),
  };
}

/** Columns of a terminal; one that does not know its width reports 0. */
export function widthOf(columns: number | undefined): number {
  return columns === undefined || columns === 0 ? 80 : columns;
}

interface Terminal {
  write(text: string): unknown;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

/** A run that ends at once shows no flickering lines. */
const firstAfterMs = 300;
const everyMs = 100;

/** Lines at the bottom of a terminal that are redrawn while others scroll above them. */
export class LiveLines {
  readonly #terminal: Terminal;
  readonly #lines: () => readonly string[];
  #drawn = 0;
  #timer: NodeJS.Timeout | undefined;
  #isHeld = false;

  /** @param lines the current lines, none wider than the terminal */
  constructor(terminal: Terminal, lines: () => readonly string[]) {
    this.#terminal = terminal;
    this.#lines = lines;
  }

  start(): void {
    if (this.#isHeld) return;
    this.#timer ??= setTimeout(() => {
      this.draw();
      this.#timer = setInterval(() => this.draw(), everyMs);
      // The timer alone keeps no process alive.
      this.#timer.unref();
    }, firstAfterMs).unref();
  }

  draw(): void {
    // More would scroll away what is redrawn; a terminal that does not know its height reports 0.
    const most = Math.max(1, (this.#terminal.rows || 24) - 1);
    const lines = this.#lines().slice(-most);
    this.#terminal.write(`${this.#eraser()}${lines.map((line) => `${line}\n`).join('')}`);
    this.#drawn = lines.length;
  }

  /** Shows what is new at once, where lines are shown. */
  redraw(): void {
    if (this.#drawn > 0) this.draw();
  }

  above(text: string): void {
    const isShown = this.#drawn > 0;
    this.#terminal.write(`${this.#eraser()}${text}`);
    this.#drawn = 0;
    if (isShown) this.draw();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#drawn === 0) return;
    this.#terminal.write(this.#eraser());
    this.#drawn = 0;
  }

  /** Stops until the work is done, which has the terminal to itself. */
  async without<Result>(work: () => Promise<Result>): Promise<Result> {
    const wasStarted = this.#timer !== undefined;
    this.stop();
    this.#isHeld = true;
    try {
      return await work();
    } finally {
      this.#isHeld = false;
      if (wasStarted) this.start();
    }
  }

  #eraser(): string {
    return this.#drawn === 0 ? '' : `\u001b[${this.#drawn}A\r\u001b[J`;
  }
}
