import type { OperationName } from '../../../src/contract/operations.js';
import type { FaultPlan } from '../../../src/service/index.js';

type Fault = FaultPlan['faults'][number];

/** One thing that may go wrong, at whichever request. */
export interface FaultKind {
  readonly name: string;
  readonly what: Fault['what'];
  readonly when?: 'before' | 'after';
  /** Where it makes sense; everywhere unless given. */
  readonly operations?: readonly OperationName[];
  /** Whether a batch may rightly end as failed. */
  readonly mayFail?: boolean;
}

const posts: readonly OperationName[] = ['uploadBatch', 'prepareBatch', 'launchBatch'];
const changing: readonly OperationName[] = [...posts, 'deleteBatch'];
const ofBatch: readonly OperationName[] = [
  'prepareBatch',
  'launchBatch',
  'batchStatus',
  'exportBatch',
  'deleteBatch',
];

/** Silence begins after 150 ms in these runs: this is far beyond. */
const tooLateMs = 250;

function answer(name: string, given: object, more: Partial<FaultKind> = {}): FaultKind {
  return { name, what: { answer: given }, ...more };
}

/** The same before and after the commit. */
function bothSides(kind: FaultKind): readonly FaultKind[] {
  return (['before', 'after'] as const).map((when) => ({
    ...kind,
    when,
    name: `${kind.name} ${when}`,
  }));
}

const statuses = [400, 401, 403, 404, 405, 410, 422, 501, 502].map((status) =>
  answer(String(status), { status, json: { message: 'planned' } }),
);

const waits = ['1', '0', '-5', 'Thu, 01 Jan 1970 00:00:00 GMT', 'soon', '1, 2', '0x10'].map(
  (wait) => answer(`429, wait ${wait}`, { status: 429, headers: { 'Retry-After': wait } }),
);

const cuts = (['reset', 'close', 'silence', 'end'] as const).flatMap((by) =>
  [0, 1, 30].map((cutAtByte) => ({ name: `${by} at ${cutAtByte}`, what: { cutAtByte, by } })),
);

/** The words of a 200 that are not the ones hoped for (spec 2.9). */
const words = [
  answer('upload error', { json: { status: 'error' } }, { operations: ['uploadBatch'] }),
  answer('prepare error', { json: { status: 'error' } }, { operations: ['prepareBatch'] }),
  answer('launch error', { json: { status: 'error' } }, { operations: ['launchBatch'] }),
  answer(
    'not ready',
    { json: { status: 'not_ready_for_verification' } },
    { operations: ['launchBatch'] },
  ),
].flatMap(bothSides);

const lies = [
  answer(
    'unknown status',
    { json: { status: 'queued' } },
    { operations: [...posts, 'batchStatus'] },
  ),
  answer('broken JSON', { text: '{"status":' }),
  answer('empty', { text: '' }),
  answer('a page', { text: '<html>', headers: { 'Content-Type': 'text/html' } }),
  answer('null', { json: null }),
  answer('a list', { json: [] }),
  answer('a word', { json: 'ok' }),
  answer('blanks', { text: ' \n' }),
  answer('two values', { text: '{"status":"ok"}{}' }),
  answer('no number', { text: '{"status":NaN}' }),
  answer('a byte order mark', { text: '\uFEFF{"status":' }),
  answer('status of another type', { json: { status: 1 } }),
  answer('status below', { json: { data: { status: 'ok' } } }),
  answer('status of the prototype', { text: '{"__proto__":{"status":"ok"}}' }),
  answer('words of an error', { json: { message: 'Unauthorized' } }),
  answer('no gzip', { text: '{}', headers: { 'Content-Encoding': 'gzip' } }),
  answer('unknown coding', { text: '{}', headers: { 'Content-Encoding': 'x-own' } }),
  answer('deep', { text: '['.repeat(5000) }),
  answer('length too long', { text: '{}', headers: { 'Content-Length': '900' } }),
  answer('length too short', { json: { status: 'ok' }, headers: { 'Content-Length': '5' } }),
  answer('204', { status: 204 }),
  answer('408', { status: 408 }),
  answer('409', { status: 409 }),
  answer('redirect', { status: 303, headers: { Location: '/v1/batch' } }),
].flatMap(bothSides);

/** Everything that is tried at every request of a run. */
export const faultKinds: readonly FaultKind[] = [
  ...statuses,
  ...waits,
  answer('402', { status: 402, json: {} }, { operations: ['launchBatch'] }),
  answer('413', { status: 413, json: {} }, { operations: ['uploadBatch'] }),
  ...bothSides(answer('500', { status: 500 })),
  ...bothSides(answer('503', { status: 503, headers: { 'Retry-After': '1' } })),
  ...bothSides({ name: 'reset', what: { reset: true } }),
  ...bothSides({ name: 'hang', what: { hang: true } }),
  ...bothSides({ name: 'late', what: { delayMs: 3 } }),
  ...bothSides({ name: 'too late', what: { delayMs: tooLateMs } }),
  ...cuts,
  { name: 'drip', what: { dripMs: 1 } },
  ...[1, 60].map((ms) => ({
    name: `commit ${ms} ms after a reset`,
    what: { commitAfterMs: ms },
    operations: changing,
  })),
  ...lies,
  ...words,
  ...bothSides(
    answer(
      'parse error',
      { json: { status: 'parse_error' } },
      {
        operations: ['uploadBatch', 'prepareBatch'],
        mayFail: true,
      },
    ),
  ),
  ...(['deleted', 'internal_error'] as const).flatMap((batch) => {
    const kind = { name: `batch ${batch}`, what: { batch }, mayFail: true };
    const upload = { ...kind, name: `${kind.name} after`, when: 'after' as const };
    return [
      ...bothSides({ ...kind, operations: ofBatch }),
      { ...upload, operations: ['uploadBatch' as const] },
    ];
  }),
  ...bothSides({ name: 'key revoked', what: { key: 'revoked' } }),
];
