import type { RequestStep } from '../../../src/engine/driver/batch-errors.js';
import type { BatchState, Stage } from '../../../src/engine/batches/batch-state.js';
import type { BatchEvent } from '../../../src/engine/batches/transitions.js';

/** Every kind of event that a request can bring, by the step that makes the request. */
export const eventsOf: Readonly<Record<RequestStep, readonly BatchEvent[]>> = {
  upload: [
    { of: 'upload', status: 'ok', uuid: 'answered' },
    { of: 'upload', status: 'ok', uuid: undefined },
    { of: 'upload', status: 'parse_error' },
    { of: 'upload', status: 'error' },
    { of: 'upload', status: 'unknown' },
    { of: 'upload', status: 'refused' },
    { of: 'too_large', addresses: 1 },
    { of: 'too_large', addresses: 2 },
  ],
  find: [
    { of: 'find', uuid: 'found' },
    { of: 'find', uuid: undefined },
  ],
  prepare: [
    { of: 'prepare', status: 'ok' },
    { of: 'prepare', status: 'error' },
    { of: 'prepare', status: 'parse_error' },
    { of: 'prepare', status: 'queued' },
    { of: 'too_large', addresses: 2 },
    { of: 'missing' },
  ],
  read_status: [
    { of: 'status', status: 'parsing_content' },
    { of: 'status', status: 'ready_for_verification' },
    { of: 'status', status: 'verification_ongoing' },
    { of: 'status', status: 'verification_done' },
    { of: 'status', status: 'internal_error' },
    { of: 'status', status: 'queued' },
    { of: 'missing' },
    { of: 'another' },
    { of: 'unread' },
  ],
  launch: [
    { of: 'launch', status: 'ok' },
    { of: 'launch', status: 'error' },
    { of: 'launch', status: 'not_ready_for_verification' },
    { of: 'launch', status: 'verification_already_ongoing' },
    { of: 'launch', status: 'verification_already_done' },
    { of: 'launch', status: 'lost' },
    { of: 'launch', status: 'refused' },
    { of: 'launch', status: 'not_found' },
    { of: 'launch', status: 'queued' },
  ],
  export: [
    { of: 'export', result: 'safe' },
    { of: 'export', result: 'broken' },
    { of: 'export', result: 'export_incomplete' },
    { of: 'export', result: 'export_foreign' },
    { of: 'missing' },
  ],
};

export const allEvents: readonly BatchEvent[] = Object.values(eventsOf).flat();

const tries = { attempt: 1, fresh: 0, uploads: 1 } as const;

/** What every elected batch carries. */
export const electedAs = {
  ...tries,
  uuid: 'answered',
  isFound: false,
  misses: 0,
  prepares: 0,
  launches: 0,
  doubt: false,
} as const;

type At<S extends Stage> = Extract<BatchState, { readonly stage: S }>;

/** One state of every stage. */
export const stateOf: { readonly [S in Stage]: At<S> } = {
  planned: { stage: 'planned', attempt: 1, fresh: 0, uploads: 0 },
  uploading: { stage: 'uploading', ...tries, accepted: false, looks: 0 },
  uploaded: { stage: 'uploaded', ...electedAs },
  parsing: { stage: 'parsing', ...electedAs, prepared: true, polls: 0 },
  ready: { stage: 'ready', ...electedAs },
  launching: { stage: 'launching', ...electedAs, launches: 1, answeredError: false },
  verifying: { stage: 'verifying', ...electedAs, launches: 1, readies: 0 },
  done: { stage: 'done', ...electedAs, launches: 1, broken: 0 },
  exported: { stage: 'exported', ...electedAs, launches: 1 },
  split: { stage: 'split', ...tries, uuid: undefined },
  failed: { stage: 'failed', ...tries, reason: 'internal_error', uuid: 'answered', launched: true },
};

export const stages = Object.keys(stateOf) as readonly Stage[];
