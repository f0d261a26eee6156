import type { ComparedExport, KnownBatch, RunProgress } from '../../index.js';
import { counted, counted as count, grouped } from '../../platform/text/shown-numbers.js';
import type { Said } from './run-lines.js';

/** Whether a batch has failed for its export, so that what it cost is not lost. */
export function isExportWrong(reason: string | undefined): boolean {
  return reason === 'export_incomplete' || reason === 'export_foreign';
}

/** What to do about a batch that has failed. */
export function adviceOn(reason: string, exported: ComparedExport | undefined): string {
  if (!isExportWrong(reason)) return "report it to the service's support";
  const held = exported ? `${describeDifference(exported)}. ` : '';
  return `${held}Its results are paid for and the batch is kept on the service: --retry-failed asks for its export again, which is free. If that does not help, give the batch_uuid to the service's support`;
}

/** What an export held, beside what the service counted. */
export function describeDifference({
  counted,
  named,
  strangers,
  conflicting,
  missing = 0,
}: ComparedExport): string {
  const parts = [
    counted === null
      ? `the export names ${named} of its addresses`
      : `the service counted ${count(counted, 'verified address')}, the export names ${named}`,
  ];
  if (strangers > 0) parts.push(`has ${count(strangers, 'record')} of other addresses`);
  if (conflicting > 0)
    parts.push(
      `contradicts itself on ${count(conflicting, 'address')}, which ${conflicting === 1 ? 'gets' : 'get'} no result`,
    );
  if (missing > 0)
    parts.push(
      `lacks ${count(missing, 'address')} that should be there, though it was asked for again`,
    );
  return parts.join(', ');
}

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

/** Answers of one kind in a row after which a batch counts as held up: some seconds with the usual waits. */
const inARow = 3;
/** The same cause is told again after so long, whichever batch it holds up then. */
const againAfterMs = 60_000;

type HeldUpBy = 'not_found' | 'not_uploaded' | 'not_prepared' | 'not_launched' | 'broken_export';

const words: Readonly<Record<HeldUpBy, string>> = {
  not_found:
    'the service does not find it (404). Sluice asks again for about a minute; then its addresses fail',
  not_uploaded: 'its upload was not confirmed. Sluice looks for it and tries again',
  not_prepared: 'the service does not prepare it. Sluice tries again',
  not_launched: 'the service does not launch it. Sluice tries again; it is paid for once at most',
  broken_export:
    'its export arrives broken. Sluice asks again, which costs nothing: its results are paid for',
};

/** Batches for which the service answers, but not as it should: the run waits, and says for what. */
export class HeldUpBatches {
  readonly #toldAtMs = new Map<HeldUpBy, number>();

  /** @returns what is to be said now: of each cause, once a minute at most */
  note(
    progress: Extract<RunProgress, { readonly stage: 'batch' }>,
    nowMs: number,
  ): Said | undefined {
    const cause = heldUpBy(progress.known);
    if (cause === undefined) return undefined;
    const toldAtMs = this.#toldAtMs.get(cause) ?? -Infinity;
    if (nowMs - toldAtMs < againAfterMs) return undefined;
    this.#toldAtMs.set(cause, nowMs);
    const { name, known } = progress;
    const uuid = 'uuid' in known ? known.uuid : undefined;
    return {
      event: 'batch_waiting',
      fields: { name, batch_uuid: uuid ?? null, stage: known.stage, reason: cause },
      line: `${batchCalled(progress)} is waiting: ${words[cause]}`,
    };
  }
}

function heldUpBy(known: KnownBatch): HeldUpBy | undefined {
  if ('misses' in known && known.misses >= inARow) return 'not_found';
  switch (known.stage) {
    case 'planned':
      return known.uploads >= inARow ? 'not_uploaded' : undefined;
    case 'uploading':
      return known.looks >= inARow ? 'not_uploaded' : undefined;
    case 'uploaded':
      return known.prepares >= inARow ? 'not_prepared' : undefined;
    case 'parsing':
    case 'ready':
    case 'launching':
      return known.launches >= inARow ? 'not_launched' : undefined;
    case 'done':
      return known.broken >= inARow ? 'broken_export' : undefined;
    default:
      return undefined;
  }
}

/** How a batch is called. */
export function batchCalled({
  name,
  known,
}: Extract<RunProgress, { readonly stage: 'batch' }>): string {
  const uuid = 'uuid' in known ? known.uuid : undefined;
  return `batch ${name}${uuid === undefined ? '' : ` (${uuid})`}`;
}
