import * as z from 'zod';
import { type OperationName, operations } from '../../contract/operations.js';
import { isObject } from '../../platform/check-options.js';
import { checkConfig, readJsonText } from '../../platform/json.js';

/** The longest delay of a timer. */
const ms = z
  .int()
  .min(0)
  .max(2 ** 31 - 1);
const requestNumber = z.int().min(1);

/** What each member of a {@link FaultAction} takes. */
const shapes = {
  answer: z.strictObject({
    answer: z
      .strictObject({
        status: z.int().min(200).max(599).default(200),
        headers: z.record(z.string().regex(/^[\w-]+$/), z.string()).default({}),
        json: z.unknown().optional(),
        text: z.string().optional(),
      })
      .refine(({ json, text }) => json === undefined || text === undefined, {
        error: 'json and text exclude each other',
      }),
  }),
  reset: z.strictObject({ reset: z.literal(true) }),
  hang: z.strictObject({ hang: z.literal(true) }),
  cutAtByte: z.strictObject({
    cutAtByte: z.int().min(0),
    by: z.enum(['reset', 'close', 'silence', 'end']).default('reset'),
  }),
  dripMs: z.strictObject({ dripMs: ms }),
  delayMs: z.strictObject({ delayMs: ms }),
  commitAfterMs: z.strictObject({ commitAfterMs: ms }),
  batch: z.strictObject({ batch: z.enum(['deleted', 'internal_error']) }),
  key: z.strictObject({ key: z.literal('revoked') }),
} as const;

type FaultKind = keyof typeof shapes;
const kinds = Object.keys(shapes) as FaultKind[];

type FaultAction =
  | {
      /** Another answer in place of the true one. */
      readonly answer: {
        /** HTTP status. @default 200 */
        readonly status?: number | undefined;
        /** @default none */
        readonly headers?: Readonly<Record<string, string>> | undefined;
        /** The body, as JSON. @default none */
        readonly json?: unknown;
        /** The body, as text, in place of `json`. @default none */
        readonly text?: string | undefined;
      };
    }
  | {
      /** The connection is reset in place of an answer. */
      readonly reset: true;
    }
  | {
      /** No answer ever comes. */
      readonly hang: true;
    }
  | {
      /** Only this many bytes of the true answer's body are sent. */
      readonly cutAtByte: number;
      /** What follows; `end` looks like the end of a complete answer. @default 'reset' */
      readonly by?: 'reset' | 'close' | 'silence' | 'end' | undefined;
    }
  | {
      /** The true answer's body byte by byte, with this wait before each, in milliseconds. */
      readonly dripMs: number;
    }
  | {
      readonly delayMs: number;
    }
  | {
      /** The connection is reset, and the request carried out this many milliseconds later. */
      readonly commitAfterMs: number;
    }
  | {
      /** Somebody deletes the batch, or it breaks. */
      readonly batch: 'deleted' | 'internal_error';
    }
  | {
      /** The key is revoked. */
      readonly key: 'revoked';
    };

/** The same by the schemas: the compiler compares the two. */
export type ParsedAction = z.input<(typeof shapes)[FaultKind]>;

type What = z.output<(typeof shapes)[FaultKind]>;

/** A union would only say "invalid input": the member shows which shape was meant. */
const what = z
  .custom<FaultAction>(isObject, 'must be an object')
  .transform((raw, context): What => {
    const kind = kinds.find((name) => Object.hasOwn(raw, name));
    if (kind === undefined) {
      context.addIssue(`must have one of ${kinds.join(', ')}`);
      return z.NEVER;
    }
    const parsed = shapes[kind].safeParse(raw);
    if (parsed.success) return parsed.data;
    for (const { path, message } of parsed.error.issues) {
      context.addIssue({ code: 'custom', path: [...path], message });
    }
    return z.NEVER;
  });

const operationNames = Object.keys(operations) as [OperationName, ...OperationName[]];

const fault = z
  .strictObject({
    operation: z.enum(['*', ...operationNames]),
    requests: z.array(requestNumber).min(1).readonly().optional(),
    from: requestNumber.optional(),
    every: requestNumber.optional(),
    probability: z.number().min(0).max(1).optional(),
    times: requestNumber.optional(),
    when: z.enum(['before', 'after']).optional(),
    what,
  })
  .superRefine((given, context) => {
    const trouble = contradiction(given);
    if (trouble) context.addIssue({ code: 'custom', ...trouble, path: [...trouble.path] });
  });
export type Fault = z.input<typeof fault>;
/** The same with its defaults. */
export type ParsedFault = z.output<typeof fault>;

/** A planned fault and its count. */
export interface FaultReport {
  readonly fault: ParsedFault;
  /** Requests of its operation so far. */
  readonly requests: number;
  /** How often it fired. */
  readonly fired: number;
}

/** Operations that change something, with requests that are complete before. */
const lateOperations: readonly string[] = [
  'uploadBatch',
  'prepareBatch',
  'launchBatch',
  'deleteBatch',
];

function contradiction({
  operation,
  requests,
  from,
  every,
  when,
  what: { ...given },
}: ParsedFault): { readonly path: readonly string[]; readonly message: string } | undefined {
  if (requests && (from ?? every) !== undefined) {
    return { path: ['requests'], message: 'excludes from and every' };
  }
  if (
    when !== undefined &&
    ('cutAtByte' in given || 'dripMs' in given || 'commitAfterMs' in given)
  ) {
    return { path: ['when'], message: 'means nothing here: the request is always carried out' };
  }
  if ('commitAfterMs' in given && !lateOperations.includes(operation)) {
    return { path: ['operation'], message: `must be one of ${lateOperations.join(', ')}` };
  }
  if ('batch' in given) return batchContradiction(operation, when);
  if ('key' in given && operation !== '*' && !operations[operation].keyed) {
    return { path: ['operation'], message: 'asks for no key' };
  }
  return undefined;
}

function batchContradiction(
  operation: ParsedFault['operation'],
  when: ParsedFault['when'],
): ReturnType<typeof contradiction> {
  if (operation === 'uploadBatch') {
    return when === 'after'
      ? undefined
      : { path: ['when'], message: 'must be after: before its upload there is no batch' };
  }
  const isAboutABatch = operation !== '*' && operations[operation].path.includes('{batch_uuid}');
  return isAboutABatch
    ? undefined
    : { path: ['operation'], message: 'must be one that is about a batch' };
}

const fileName = 'the fault plan';

const faultPlan = z.strictObject({
  seed: z.int().min(0).max(0xffff_ffff).default(0),
  faults: z.array(fault).readonly(),
});

/** What fails, and when; described in docs/reference/local-service.md#faults. */
export type FaultPlan = z.input<typeof faultPlan>;

export type CheckedFaultPlan = z.output<typeof faultPlan>;

/**
 * Reads a fault plan from JSON.
 *
 * @throws ConfigurationError `invalid_option`, with the position
 *
 * @example
 * ```ts
 * const fault = '{ "operation": "credits", "requests": [1], "what": { "reset": true } }';
 * const service = await createService({ faults: parseFaultPlan(`{ "faults": [${fault}] }`) });
 * await service.close();
 * ```
 */
export function parseFaultPlan(json: string): FaultPlan {
  const plan = readJsonText(json, fileName);
  checkFaultPlan(plan);
  return plan as FaultPlan;
}

export function checkFaultPlan(raw: unknown): CheckedFaultPlan {
  return checkConfig(raw, faultPlan, fileName);
}
