import type { Batch } from '../store/batch.js';
import { statusOf } from '../store/batch.js';
import { defaultVariants } from '../variants.js';
import { dateTime, progressFields } from './batch-fields.js';
import { safeCell } from './safe-cell.js';

/** The rows of the sheet of statistics: what the batch is, what was found in it and what it cost. */
export function statisticsRows(batch: Batch): readonly (readonly [string, string | number])[] {
  const { parameters } = batch;
  return [
    ['Batch', safeCell(batch.name)],
    ['Description', safeCell(batch.description ?? '')],
    ['Batch UUID', batch.uuid],
    ['Status', statusOf(batch.stage)],
    ['Type', parameters.type],
    ['Target country', parameters.target_country],
    ['Uploaded', dateTime(batch.createdAtMs)],
    ['Changed', dateTime(batch.updatedAtMs)],
    ...figures(progressFields(batch, defaultVariants)),
  ];
}

/** Numbers inside objects, each with the names on the way to it: `results valid`. */
function figures(fields: Readonly<Record<string, unknown>>, path = ''): [string, number][] {
  return Object.entries(fields).flatMap(([name, value]) => {
    const words = `${path}${name.replaceAll('_', ' ')}`;
    if (typeof value === 'number') return [[words, value] satisfies [string, number]];
    if (typeof value !== 'object' || value === null) return [];
    return figures(value as Readonly<Record<string, unknown>>, `${words}: `);
  });
}
