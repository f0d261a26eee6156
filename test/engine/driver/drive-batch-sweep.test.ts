import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { driveBatch } from '../../../src/engine/driver/batch-driver.js';
import { planned, type BatchState } from '../../../src/engine/batches/batch-state.js';
import { TransportError } from '../../../src/platform/errors/service-errors.js';
import { Driving, makeBatch } from './driving.js';
import {
  FakeService,
  lostAnswer,
  oddAnswer,
  refusal,
  type FakeRequest,
  type Fault,
} from './fake-service.js';

/** The process dies in the middle of the request: nothing more is written down. */
const killed = Symbol('killed');

const notSent = new TransportError('refused', {
  code: 'connection_failed',
  operation: 'any',
  sent: 'no',
});

const readyFault = { commits: false, answer: { status: 'ready_for_verification' } } as const;

/** What may happen to any request; those that were refused or never sent are not carried out. */
const anyFault: readonly (readonly [string, Fault])[] = [
  ...[false, true].flatMap((commits): (readonly [string, Fault])[] => {
    const when = commits ? 'after the commit' : 'before the commit';
    return [
      [`lost ${when}`, { commits, error: lostAnswer('any') }],
      [`500 ${when}`, { commits, error: refusal(500, 'any') }],
      [`504 ${when}`, { commits, error: refusal(504, 'any') }],
      [`408 ${when}`, { commits, error: refusal(408, 'any') }],
      [`303 ${when}`, { commits, error: refusal(303, 'any') }],
      [`odd ${when}`, { commits, error: oddAnswer('any') }],
      [`queued ${when}`, { commits, answer: { status: 'queued' } }],
      [`killed ${when}`, { commits, error: killed }],
    ];
  }),
  ['not sent', { commits: false, error: notSent }],
  ...[400, 401, 402, 403, 404, 413, 418, 422, 429].map((status): readonly [string, Fault] => [
    `${status}`,
    { commits: false, error: refusal(status, 'any') },
  ]),
  ['internal_error', { commits: false, answer: { status: 'internal_error' } }],
  ['parsing_content', { commits: false, answer: { status: 'parsing_content' } }],
  ['ready_for_verification', readyFault],
  ['error', { commits: false, answer: { status: 'error' } }],
  ['not ready', { commits: false, answer: { status: 'not_ready_for_verification' } }],
];

/** Whether a service could do this to a request at all. */
function fits(fault: Fault, { operation, uuid }: FakeRequest, service: FakeService): boolean {
  if (!('answer' in fault)) return true;
  // An answer without the shape of its operation never comes out of the client.
  if (operation === 'listBatches' || operation === 'exportBatch') return false;
  // A lagging copy tells what was, not what will be.
  const isReady = fault === readyFault && operation === 'batchStatus';
  const status = service.batches.get(uuid ?? '')?.status;
  return !isReady || status !== 'parsing_content';
}

type AtEnd = Extract<BatchState, { readonly stage: 'exported' | 'failed' | 'split' }>;

function isAtEnd(state: BatchState): state is AtEnd {
  return ['exported', 'failed', 'split'].includes(state.stage);
}

/**
 * Runs process after process, each from what the last one wrote down, until the batch is at its end.
 *
 * @throws when no end is in sight
 */
async function runToEnd(service: FakeService): Promise<AtEnd> {
  let state: BatchState = planned;
  for (let processes = 0; processes < 80; processes += 1) {
    const driving = new Driving(service, {
      batchDeadlineMs: 600_000,
      record: (progress) => {
        state = progress.state;
      },
    });
    const driven = driving.clock.runUntil(driveBatch(makeBatch(), state, driving.options));
    await driven.then(
      (end) => {
        state = end;
      },
      () => undefined,
    );
    if (isAtEnd(state)) return state;
  }
  throw new Error(`no end after 80 processes: ${JSON.stringify(state)}`);
}

/** What the ledger says, against what the batch came to. */
function check(service: FakeService, known: AtEnd, faults: string): void {
  const charges = [...service.chargesPerAddress().values()];
  const story = `${faults}: ${JSON.stringify(known)}, charges ${charges.join()}`;
  if (charges.some((count) => count > 1) || service.launched().length > 1) {
    throw new Error(`paid twice: ${story}`);
  }
  const [paid] = service.launched();
  if (paid && known.stage === 'split') throw new Error(`split, and paid: ${story}`);
  if (paid && known.uuid !== paid.uuid) throw new Error(`not the paid batch: ${story}`);
  if (known.stage === 'exported' && charges.length !== 2) throw new Error(`not paid: ${story}`);
  if (known.stage === 'failed' && charges.length > 0 && !known.launched) {
    throw new Error(`paid, and said not to be: ${story}`);
  }
}

/** Requests of a run without faults, and a few more that faults lead to. */
const requests = Array.from({ length: 12 }, (_, number) => number);

describe('one fault', () => {
  it.each(anyFault)(
    '(%s) at any request leaves every address paid for at most once',
    async (name, fault) => {
      for (const at of requests) {
        const service: FakeService = new FakeService({
          polls: 1,
          faultOf: (request) =>
            request.number === at && fits(fault, request, service) ? fault : undefined,
        });
        const end = await runToEnd(service);
        check(service, end, `${name} at ${at}`);
        const [asked] = service.requests.filter(({ number }) => number === at);
        const isLostForGood = end.stage === 'failed' && name === 'internal_error';
        const isTooLarge =
          name === '413' && ['uploadBatch', 'prepareBatch'].includes(`${asked?.operation}`);
        // One fault alone fails no batch, but where the service says itself that a launched one broke.
        if (isTooLarge) {
          expect(end.stage, `${name} at ${at}`).toBe('split');
        } else if (!isLostForGood) {
          expect(end.stage, `${name} at ${at} (${asked?.operation})`).toBe('exported');
        }
      }
    },
  );
});

describe('many faults', () => {
  it('at any requests leave every address paid for at most once', async () => {
    const ends: Record<string, number> = {};
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.option(fc.nat({ max: anyFault.length - 1 }), { freq: 2 }), {
          minLength: 8,
          maxLength: 60,
          size: 'max',
        }),
        fc.constantFrom('yes' as const, 'no' as const),
        fc.boolean(),
        async (plan, tellsUuid, parsesOnUpload) => {
          const service: FakeService = new FakeService({
            polls: 1,
            tellsUuid,
            parsesOnUpload,
            faultOf: (request) => {
              const fault = anyFault[plan[request.number] ?? -1]?.[1];
              return fault && fits(fault, request, service) ? fault : undefined;
            },
          });
          const end = await runToEnd(service);
          check(service, end, 'many');
          ends[end.stage] = (ends[end.stage] ?? 0) + 1;
        },
      ),
      { numRuns: 700 },
    );
    expect(ends['exported']).toBeGreaterThan(350);
  });
});
