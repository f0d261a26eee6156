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

/** Columns of all that stands beside the bar, with and without what batches are in work. */
const besideBar = 2 + 11 + 1 + 24 + 1 + 11 + 1 + 12;
const besideWideBar = besideBar + 13;
const mostBar = 40;
const leastBar = 6;

/** A run as lines of a terminal, none wider than it: one for each stage, and one for what it costs. */
export function progressLines(
  figures: RunFigures,
  form: ProgressForm,
  nowMs: number,
): readonly string[] {
  return [
    ...runStages.map((stage) => stageLine(figures, stage, form, nowMs)),
    creditLine(figures, form),
  ];
}

function stageLine(
  figures: RunFigures,
  stage: RunStage,
  form: ProgressForm,
  nowMs: number,
): string {
  const { done, total, batches, sinceMs, isOver } = figures.of(stage);
  const isWaiting = sinceMs === undefined;
  const seconds = isWaiting || isOver ? 0 : (nowMs - sinceMs) / 1000;
  const perSecond = seconds > 0 ? done / seconds : 0;
  const hasLeft = perSecond > 0 && total !== undefined && seconds >= 1;
  const left = hasLeft ? `${duration((total - done) / perSecond)} left` : '';
  const share = total === undefined ? undefined : total === 0 ? 1 : done / total;
  const inWork = batches > 0 ? `${grouped(batches)} ${batches === 1 ? 'batch' : 'batches'}` : '';
  const isWide = form.columns > besideWideBar + leastBar + 20;
  const cells = [
    (isWaiting ? '' : countOf(stage, done, total)).padStart(form.columns < 80 ? 17 : 24),
    (perSecond > 0 ? rate(perSecond) : '').padStart(11),
    isWide ? left.padEnd(13) : left || inWork,
    isWide ? inWork : '',
  ];
  const bar = barOf(share, form, isWide ? besideWideBar : besideBar);
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
function barOf(
  share: number | undefined,
  { columns, isUnicode }: ProgressForm,
  beside: number,
): string {
  const width = Math.min(mostBar, columns - 1 - beside);
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
