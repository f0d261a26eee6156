import type { Random } from '../random.js';

/** A part of the state directory; `folder` is the directory itself and those in it; `sink` is the output. */
export type FilePlace = 'lock' | 'journal' | 'tickets' | 'batches' | 'results' | 'folder' | 'sink';

export type FileCall =
  | 'open'
  | 'read'
  | 'write'
  | 'sync'
  | 'truncate'
  | 'close'
  | 'rename'
  | 'rm'
  | 'mkdir'
  | 'readdir'
  | 'stat';

export type Operation =
  | 'credits'
  | 'listBatches'
  | 'uploadBatch'
  | 'prepareBatch'
  | 'batchStatus'
  | 'launchBatch'
  | 'exportBatch'
  | 'deleteBatch';

/** What can happen to any request. */
const generalNetworkFaults = [
  'refused',
  'reset_before',
  'reset_after',
  'cut_answer',
  '500_before',
  '500_after',
  '429',
  'hang_before',
  'hang_after',
  'malformed',
] as const;

/** What only makes sense for some. */
const specialNetworkFaults = {
  uploadBatch: ['no_uuid', 'uuid_of_another', 'says_error', 'late_commit', 'double_commit'],
  prepareBatch: ['says_error'],
  batchStatus: ['unknown_status', 'lags_behind'],
  launchBatch: [
    'says_error',
    'says_error_after',
    'not_ready',
    'no_credits',
    'no_credits_after',
    'no_key_after',
  ],
  exportBatch: ['export_of_nothing', 'export_of_strangers'],
} as const satisfies Partial<Record<Operation, readonly string[]>>;

export type NetworkFault =
  | (typeof generalNetworkFaults)[number]
  | (typeof specialNetworkFaults)[keyof typeof specialNetworkFaults][number];

/** Something that goes wrong, once or several times in a row. */
export type Fault =
  | {
      readonly of: 'network';
      readonly stage: Operation;
      readonly what: NetworkFault;
      /** The first request of this operation that it happens to, from 0, over all processes. */
      readonly nth: number;
      readonly times: number;
    }
  | {
      readonly of: 'file';
      readonly place: FilePlace;
      readonly call: FileCall;
      readonly code: string;
      readonly nth: number;
    }
  /** At the nth step of all, or of those in one stage, over all processes. */
  | {
      readonly of: 'crash' | 'abort';
      readonly nth: number;
      readonly stage: (typeof stages)[number] | undefined;
    };

export const operations: readonly Operation[] = [
  'credits',
  'listBatches',
  'uploadBatch',
  'prepareBatch',
  'batchStatus',
  'launchBatch',
  'exportBatch',
  'deleteBatch',
];

/** The calls that are made on each place, and what they can fail with. */
const fileFaults: readonly (readonly [FilePlace, FileCall, readonly string[]])[] = [
  ['folder', 'mkdir', ['ENOSPC', 'EIO']],
  ['folder', 'readdir', ['EIO', 'EMFILE']],
  ['folder', 'open', ['EMFILE', 'EIO']],
  ['folder', 'sync', ['EIO']],
  ['folder', 'close', ['EIO']],
  ['folder', 'rm', ['EIO']],
  ['folder', 'stat', ['EIO']],
  ['lock', 'open', ['EMFILE', 'EIO', 'ENOSPC']],
  ['lock', 'stat', ['EIO']],
  ['lock', 'close', ['EIO']],
  ['journal', 'open', ['EMFILE', 'EIO', 'ENOSPC']],
  ['journal', 'read', ['EIO']],
  ['journal', 'stat', ['EIO']],
  ['journal', 'truncate', ['EIO']],
  ['journal', 'write', ['ENOSPC', 'EIO']],
  ['journal', 'sync', ['EIO', 'ENOSPC']],
  ['journal', 'close', ['EIO']],
  ['journal', 'rm', ['EIO']],
  ['tickets', 'open', ['EMFILE', 'EIO', 'ENOSPC']],
  ['tickets', 'write', ['ENOSPC', 'EIO']],
  ['tickets', 'read', ['EIO']],
  ['tickets', 'close', ['EIO']],
  ['tickets', 'rm', ['EIO']],
  ['batches', 'open', ['EMFILE', 'EIO', 'ENOSPC']],
  ['batches', 'write', ['ENOSPC', 'EIO']],
  ['batches', 'read', ['EIO']],
  ['batches', 'close', ['EIO']],
  ['results', 'open', ['EMFILE', 'EIO', 'ENOSPC']],
  ['results', 'write', ['ENOSPC', 'EIO']],
  ['results', 'read', ['EIO']],
  ['results', 'sync', ['EIO', 'ENOSPC']],
  ['results', 'close', ['EIO']],
  ['results', 'rename', ['EIO', 'ENOSPC']],
  ['sink', 'stat', ['EIO']],
  ['sink', 'open', ['EMFILE', 'EIO', 'ENOSPC']],
  ['sink', 'write', ['ENOSPC', 'EIO']],
  ['sink', 'sync', ['EIO', 'ENOSPC']],
  ['sink', 'close', ['EIO']],
  ['sink', 'rename', ['EIO', 'ENOSPC']],
  ['sink', 'rm', ['EIO']],
];

/** How far a run may have come when its process ends. */
export const stages = [
  'opening',
  'carried',
  'reading',
  'read',
  'uploading',
  'uploaded',
  'parsing',
  'ready',
  'launching',
  'verifying',
  'done',
  'exported',
  'writing',
  'written',
] as const;

/** Called often enough to be met for certain, by how many of their kind. */
const certainRequests: Readonly<Partial<Record<Operation, number>>> = {
  credits: 1,
  uploadBatch: 3,
  prepareBatch: 3,
  batchStatus: 6,
  launchBatch: 3,
  exportBatch: 3,
};

/** Faults that a service can have for a long time; of the others a few in a row are all. */
const outages: readonly NetworkFault[] = [
  'refused',
  'reset_before',
  '500_before',
  '429',
  'hang_before',
  'export_of_nothing',
  'export_of_strangers',
];

/** Where a fault is counted: the stage, and what went wrong in it. */
export function cellOf(fault: Fault, stage: string): string {
  switch (fault.of) {
    case 'network':
      return `${fault.stage} ${fault.what}`;
    case 'file':
      return `${fault.place}.${fault.call} ${fault.code}`;
    case 'crash':
    case 'abort':
      return `${stage} ${fault.of}`;
  }
}

/** Every cell that makes sense. */
export const cells: readonly string[] = [
  ...operations.flatMap((stage) => networkFaults(stage).map((what) => `${stage} ${what}`)),
  ...fileFaults.flatMap(([place, call, codes]) => codes.map((code) => `${place}.${call} ${code}`)),
  ...stages.flatMap((stage) => [`${stage} crash`, `${stage} abort`]),
];

export function networkFaults(operation: Operation): readonly NetworkFault[] {
  const special: Partial<Record<Operation, readonly NetworkFault[]>> = specialNetworkFaults;
  return [...generalNetworkFaults, ...(special[operation] ?? [])];
}

/** Two faults that are met for certain, and up to three more. */
export function planFaults(random: Random): Fault[] {
  const first = certainFault(random);
  let second = certainFault(random);
  while (collide(first, second)) second = certainFault(random);
  const faults = [first, second];
  if (random.chance(0.3)) faults.push(endIn(random, 'crash'));
  for (let more = random.between(0, 3); more > 0; more -= 1) faults.push(...anyFault(random));
  return faults;
}

function certainFault(random: Random): Fault {
  if (random.chance(0.2)) return { of: 'crash', nth: random.between(0, 120), stage: undefined };
  const operation = random.pick(Object.keys(certainRequests) as Operation[]);
  return networkFault(random, operation, certainRequests[operation] ?? 1);
}

/** Of two faults that are due at one request, or at one step, only the first happens. */
export function collide(one: Fault, other: Fault): boolean {
  if (one.of === 'network') {
    if (other.of !== 'network' || one.stage !== other.stage) return false;
    return one.nth < other.nth + other.times && other.nth < one.nth + one.times;
  }
  if (one.of === 'file' || other.of === 'file' || other.of === 'network') return false;
  return one.stage === other.stage && one.nth === other.nth;
}

function anyFault(random: Random): readonly Fault[] {
  switch (random.pick(['file', 'file', 'network', 'crash', 'abort', 'unlikely'] as const)) {
    case 'file': {
      const [place, call, codes] = random.pick(fileFaults);
      const nth = Math.floor(random.next() ** 2 * (place === 'journal' ? 40 : 12));
      return [{ of: 'file', place, call, code: random.pick(codes), nth }];
    }
    case 'network':
      return [networkFault(random, random.pick(operations), 8)];
    case 'unlikely':
      // An upload that was taken twice must show itself in what is launched.
      if (random.chance(0.3)) {
        const nth = random.between(0, 2);
        return [
          { of: 'network', stage: 'uploadBatch', what: 'double_commit', nth, times: 1 },
          { of: 'crash', nth: random.between(0, 8), stage: 'launching' },
        ];
      }
      // Lists are read after a lost upload only, and only orphans are deleted.
      return [
        { of: 'network', stage: 'uploadBatch', what: 'reset_after', nth: 0, times: 1 },
        networkFault(random, random.pick(['listBatches', 'deleteBatch']), 2),
      ];
    case 'crash':
      return [{ of: 'crash', nth: random.between(0, 900), stage: undefined }];
    case 'abort':
      return [endIn(random, 'abort')];
  }
}

function endIn(random: Random, of: 'crash' | 'abort'): Fault {
  return { of, nth: random.between(0, 12), stage: random.pick(stages) };
}

function networkFault(random: Random, stage: Operation, requests: number): Fault {
  const what = random.pick(networkFaults(stage));
  const isOutage = outages.includes(what) && random.chance(0.2);
  const times = isOutage ? random.pick([8, 25]) : random.pick([1, 1, 1, 2]);
  return { of: 'network', stage, what, nth: random.between(0, requests - 1), times };
}
