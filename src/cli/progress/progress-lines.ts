import { runStages, type RunFigures, type RunStage } from './run-figures.js';
import { duration, grouped, rate } from '../../words/shown-numbers.js';

/** What a terminal can show. */
export interface ProgressForm {
  readonly columns: number;
  readonly hasColour: boolean;
  /** Whether it shows more than ASCII. */
  readonly isUnicode: boolean;
}

const labels: Readonly<Record<RunStage, string>> = {
  reading: 'read',
  uploading: 'uploading',
  preparing: 'preparing',
  verifying: 'verifying',
  exporting: 'exporting',
  writing: 'writing',
};

/** Columns of all that is beside the bar. */
const besideBar = 2 + 11 + 1 + 24 + 1 + 11 + 1 + 12;
const mostBar = 40;
const leastBar = 6;

/**
 * A run as lines of a terminal, none wider than it: one for each stage, one for what it costs, and one for
 * how long it takes.
 */
export function progressLines(
  figures: RunFigures,
  form: ProgressForm,
  nowMs: number,
): readonly string[] {
  return [
    ...runStages.map((stage) => stageLine(figures, stage, form, nowMs)),
    creditLine(figures, form),
    coloured(
      cut(`  ${'elapsed'.padEnd(11)} ${timeText(figures, nowMs)}`, form.columns),
      'dim',
      form,
    ),
  ];
}

/** How long a run has taken, and takes: `1 min 5 s, about 3 min left`. */
export function timeText(figures: RunFigures, nowMs: number): string {
  const { elapsedMs, leftMs } = figures.time(nowMs);
  const left = leftMs === undefined ? '' : `, about ${duration(roughly(leftMs / 1000))} left`;
  return `${duration(elapsedMs / 1000)}${left}`;
}

/** Nobody knows the seconds of a long time, and what is not over takes some. */
function roughly(seconds: number): number {
  return seconds < 120 ? Math.max(1, seconds) : Math.round(seconds / 60) * 60;
}

function stageLine(
  figures: RunFigures,
  stage: RunStage,
  form: ProgressForm,
  nowMs: number,
): string {
  const { done, doneHere, total, batches, sinceMs, isOver } = figures.of(stage);
  const isWaiting = sinceMs === undefined;
  const seconds = isWaiting || isOver ? 0 : (nowMs - sinceMs) / 1000;
  const perSecond = seconds > 0 ? doneHere / seconds : 0;
  const share = total === undefined ? undefined : total === 0 ? 1 : done / total;
  const inWork = batches > 0 ? `${grouped(batches)} ${batches === 1 ? 'batch' : 'batches'}` : '';
  const cells = [
    (isWaiting ? '' : countOf(stage, done, total)).padStart(form.columns < 80 ? 17 : 24),
    (perSecond > 0 ? rate(perSecond) : '').padStart(11),
    inWork,
  ];
  const bar = barOf(share, form);
  const begin = `${marker(isOver, isWaiting, form)} ${labels[stage].padEnd(11)}`;
  const line = cut(`${begin} ${bar}${cells.join(' ')}`, form.columns);
  return coloured(line, isWaiting ? 'dim' : isOver ? 'green' : 'plain', form);
}

function countOf(stage: RunStage, done: number, total: number | undefined): string {
  return total === undefined || stage === 'reading'
    ? grouped(done)
    : `${grouped(done)}/${grouped(total)}`;
}

function creditLine(figures: RunFigures, form: ProgressForm): string {
  const { launched, refunded } = figures.credits();
  const spent = (['email', 'phone'] as const)
    .filter((type) => launched[type] > 0)
    .map((type) => `${grouped(launched[type])} ${type}`);
  const back = refunded > 0 ? `, ${grouped(refunded)} of them given back` : '';
  const failed = figures.failedBatches;
  const broken = failed > 0 ? `   ${grouped(failed)} batches failed` : '';
  const line = `  ${'credits'.padEnd(11)} ${spent.join(', ') || 'none launched'}${back}${broken}`;
  return coloured(cut(line, form.columns), failed > 0 ? 'red' : 'dim', form);
}

function marker(isOver: boolean, isWaiting: boolean, { isUnicode }: ProgressForm): string {
  if (isOver) return isUnicode ? '✓' : '*';
  if (isWaiting) return ' ';
  return isUnicode ? '›' : '>';
}

/** @param share of what is done; `undefined` while nobody knows */
function barOf(share: number | undefined, { columns, isUnicode }: ProgressForm): string {
  const width = Math.min(mostBar, columns - 1 - besideBar);
  if (width < leastBar) return '';
  if (share === undefined) return ' '.repeat(width + 1);
  const full = Math.floor(Math.min(1, Math.max(0, share)) * width);
  const [on, off] = isUnicode ? ['━', '╌'] : ['#', '.'];
  return `${on.repeat(full)}${off.repeat(width - full)} `;
}

/** The last column stays free: some terminals wrap when it is filled. */
function cut(line: string, columns: number): string {
  return line.trimEnd().slice(0, Math.max(1, columns - 1));
}

const colours = { dim: 2, green: 32, red: 31 } as const;

function coloured(
  line: string,
  colour: keyof typeof colours | 'plain',
  form: ProgressForm,
): string {
  if (!form.hasColour || colour === 'plain') return line;
  return `\u001b[${colours[colour]}m${line}\u001b[0m`;
}
