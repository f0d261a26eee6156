import type { ComparedExport } from '../../index.js';
import { counted as count } from '../../platform/text/shown-numbers.js';

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

/** How a batch is called. */
export function batchName({
  name,
  batch_uuid: uuid,
}: {
  readonly name: string;
  readonly batch_uuid: string | null;
}): string {
  return `batch ${name}${uuid === null ? '' : ` (${uuid})`}`;
}

export const waitingWords = {
  not_found:
    'the service does not find it (404). Sluice asks again for about a minute; then its addresses fail',
  not_uploaded: 'its upload was not confirmed. Sluice looks for it and tries again',
  not_prepared: 'the service does not prepare it. Sluice tries again',
  not_launched: 'the service does not launch it. Sluice tries again; it is paid for once at most',
  broken_export:
    'its export arrives broken. Sluice asks again, which costs nothing: its results are paid for',
} as const;

export type WaitingReason = keyof typeof waitingWords;

/** Where the batches of a run are that is dropped: also asked about. */
export function keptSentence({
  batches,
  service,
}: {
  readonly batches: number;
  readonly service: string;
}): string {
  return `${count(batches, 'batch')} of the unfinished run that is dropped ${batches === 1 ? 'is' : 'are'} on ${service}`;
}
