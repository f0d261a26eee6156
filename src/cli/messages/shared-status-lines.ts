import {
  describeStart,
  describeStatus,
  type DescribedRun,
  type FoundSharedRun,
  type SharedRunStatus,
  type WorkerStatus,
} from '../../index.js';
import { counted, duration } from '../../platform/text/shown-numbers.js';
import { errorText } from './describe-error.js';

/** A shared run among those of its store. */
export function linesOfShared(found: FoundSharedRun): readonly string[] {
  if ('error' in found) return [found.run, `  ${errorText(found.error)}`];
  const { status } = found;
  const { soFar, next } = describeShared(status);
  const { run, state, stopped, input, output, service } = status;
  return [
    `${run}, begun ${describeStart(status)}, ${state}`,
    ...(input === '' ? [] : [`  ${input} to ${output}, by ${service}`]),
    ...(stopped ? [`  stopped: ${stopped.message}`] : []),
    `  ${soFar}; ${alive(status)}`,
    `  the same command ${next}`,
  ];
}

/** Where a shared run is, and what its processes do. */
export function describeShared(
  status: SharedRunStatus,
): DescribedRun & { readonly more: readonly string[] } {
  const { state, workers } = status;
  const { soFar, next } = describeStatus(status);
  return {
    soFar: state === 'reading' ? 'the input is being read' : soFar,
    next: nextOf(state) ?? next,
    more: [
      `state    ${state}`,
      `workers  ${alive(status)}`,
      ...workers.map((worker) => `  ${workerLine(worker)}`),
    ],
  };
}

function nextOf(state: SharedRunStatus['state']): string | undefined {
  if (state === 'finished') return 'shows its summary again, and sends nothing';
  return state === 'reading' || state === 'working' ? 'joins it' : undefined;
}

function alive({ workers }: SharedRunStatus): string {
  return `${counted(workers.filter(({ isAlive }) => isAlive).length, 'process')} alive`;
}

function workerLine({ host, pid, isAlive, silentSeconds, batches, figures }: WorkerStatus): string {
  const { rowsRead, rowsWritten, batchesDone } = figures;
  const seen = `${isAlive ? '' : 'dead, '}last sign of life ${duration(silentSeconds)} ago`;
  const parts = [
    `${host} ${pid}: ${seen}`,
    `${counted(rowsRead, 'row')} read`,
    `${counted(batchesDone, 'batch')} done`,
    ...(rowsWritten > 0 ? [`${counted(rowsWritten, 'row')} written`] : []),
    ...(batches.length > 0 ? [`has ${batches.join(', ')}`] : []),
  ];
  return parts.join(', ');
}
