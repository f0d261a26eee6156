import { adviceOn } from './describe-export.js';
import type { Said } from './run-lines.js';
import { counted, grouped } from '../../platform/text/shown-numbers.js';

interface Failures {
  readonly count: number;
  /** The latest of them. */
  readonly said: Said;
  /** Of the first few that have one: support is asked about them by it. */
  readonly uuids: readonly string[];
}

const mostNamed = 3;

/** Batches that have failed for no wrong export: said at the end, one line for each reason. */
export class FailedBatches {
  readonly #byReason = new Map<string, Failures>();

  note(reason: string, said: Said): void {
    const { count = 0, uuids = [] } = this.#byReason.get(reason) ?? {};
    const uuid = said.fields?.['batch_uuid'];
    const isNamed = typeof uuid === 'string' && uuids.length < mostNamed;
    this.#byReason.set(reason, {
      count: count + 1,
      said,
      uuids: isNamed ? [...uuids, uuid] : uuids,
    });
  }

  lines(): readonly Said[] {
    return [...this.#byReason].map(([reason, { count, said, uuids }]) => {
      if (count === 1) return said;
      const line = `${counted(count, 'batch')} failed: ${reason}; ${adviceOn(reason, undefined)}${named(uuids, count)}`;
      return { ...said, line };
    });
  }
}

function named(uuids: readonly string[], count: number): string {
  if (uuids.length === 0) return '';
  const more = count - uuids.length;
  return `: ${uuids.join(', ')}${more > 0 ? ` and ${grouped(more)} more (--summary names all)` : ''}`;
}
