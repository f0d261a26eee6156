import { describe, expect, it } from 'vitest';
import {
  checkConformance,
  conformanceLines,
  conformanceSums,
  type ConformanceOptions,
  type ConformanceReport,
  allClauses,
} from '../../src/conformance/check-conformance.js';
import type { OperationName } from '../../src/contract/operations.js';
import { parseFaultPlan, type ServiceOptions } from '../../src/service/index.js';
import { startServer } from '../client/test-server.js';
import { all } from '../service/wire.js';
import { withService } from '../service/with-service.js';

/** Long enough in its states to be met there. */
const lingering: ServiceOptions = { verifyDelayMs: 200 };

async function checked(
  options: ServiceOptions = {},
  asked: Partial<ConformanceOptions> = {},
): Promise<{
  readonly report: ConformanceReport;
  readonly charged: number;
  readonly left: number;
}> {
  const { service, wire } = await withService({ ...lingering, ...options });
  const report = await checkConformance({ ...service, ...asked });
  return {
    report,
    charged: (await all(service.ledger())).length,
    left: (await wire.get('/v1/batch')).list.length,
  };
}

function failing({ clauses }: ConformanceReport): readonly string[] {
  return clauses.filter(({ outcome }) => outcome === 'fails').map((one) => conformanceLines(one));
}

describe('the local service', () => {
  it('keeps every clause that can be observed', async () => {
    const { report, charged, left } = await checked({}, { spend: true });
    expect(failing(report)).toEqual([]);
    expect(report.conforms).toBe(true);
    expect(report.clauses.filter(({ outcome }) => outcome === 'not_reached')).toEqual([]);
    expect(report.outcomes.needs_spend).toBe(0);
    expect(report.outcomes.holds).toBeGreaterThan(80);
    // What the option says that it may cost.
    expect(charged).toBeLessThanOrEqual(10 + 2);
    expect([report.batchesLeft.length, left]).toEqual([0, 0]);
  });

  it('keeps those that are free without a launch, and says what was not asked', async () => {
    const { report, charged, left } = await checked();
    expect(failing(report)).toEqual([]);
    expect([charged, left]).toEqual([0, 0]);
    expect(report.outcomes.needs_spend).toBeGreaterThan(20);
    expect(report.clauses).toHaveLength(allClauses.length);
  });

  it('keeps them in its other variants too', async () => {
    const { report } = await checked(
      {
        variants: {
          upload: 'no_uuid',
          stateAfterUpload: 'ready_for_verification',
          exportSections: 'as_asked',
          extraFields: true,
        },
      },
      { spend: true },
    );
    // An export with members that no specification knows is no export of records.
    expect(failing(report).filter((line) => !/export|2\.7|2\.4|1\.4/.test(line))).toEqual([]);
  });
});

describe('a service that deviates', () => {
  it.each<[string, string, ServiceOptions]>([
    ['2.4 status', 'has a status of its own', { variants: { statusWords: word('queued') } }],
    ['2.1', 'has balances as texts', answering('credits', { json: { email_credit: '1' } })],
    ['4 GET /v1/batch', 'has no list', answering('listBatches', { json: {} })],
    ['2.9 name', 'refuses uploads', answering('uploadBatch', { status: 500 })],
    ['4 DELETE /v1/batch/{batch_uuid}', 'deletes nothing', answering('deleteBatch', { json: {} })],
    ['1.6', 'formats nothing', answering('format', { status: 404 })],
  ])('fails %s: %s', async (clause, _what, options) => {
    const { report } = await checked(options, { patienceMs: 100 });
    const outcome = report.clauses.find((candidate) => candidate.clause === clause)?.outcome;
    expect(outcome).toBe('fails');
    expect(report.conforms).toBe(false);
  });

  it('fails for money where many launches at once of one batch are each told that they launch it', async () => {
    const { report } = await checked(answering('launchBatch', { json: { status: 'ok' } }), {
      patienceMs: 100,
      spend: true,
    });
    const { outcome, note } =
      report.clauses.find(({ clause }) => clause === '3 rule 3 at once') ?? {};
    expect([outcome, note]).toEqual(['fails', '20 launches say "ok"']);
  });

  it('fails where pages do not follow the offset, and where an export lacks its sections by default', async () => {
    const { service } = await withService(lingering);
    const proxy = await startServer(({ method, url, headers, body }, response) => {
      const target = new URL(url, service.baseUrl);
      target.searchParams.delete('offset');
      const { searchParams } = target;
      if (searchParams.has('format') && !searchParams.has('include_details')) {
        searchParams.set('include_details', 'false');
      }
      const kept = ['x-api-key', 'content-type'].flatMap((name) => {
        const value = headers[name];
        return typeof value === 'string' ? [[name, value] as const] : [];
      });
      const sent = method === 'GET' ? {} : { body: new Uint8Array(body) };
      const asked = fetch(target, { method, ...sent, headers: Object.fromEntries(kept) });
      void asked.then(async (answer) => {
        response.writeHead(answer.status, {
          'content-type': answer.headers.get('content-type') ?? '',
        });
        response.end(new Uint8Array(await answer.arrayBuffer()));
      });
    });
    const report = await checkConformance({ ...service, baseUrl: proxy.baseUrl, spend: true });
    const failed = report.clauses.filter(({ outcome }) => outcome === 'fails');
    expect(failed.map(({ clause }) => clause)).toEqual(
      expect.arrayContaining(['4 GET /v1/batch pages', '4 note 3 default']),
    );
  });

  it('is not checked at all when it does not take the key, or is not there', async () => {
    const { service } = await withService();
    const { baseUrl } = service;
    await expect(checkConformance({ baseUrl, apiKey: 'wrong' })).rejects.toMatchObject({
      code: 'unauthorized',
    });
    await service.close();
    await expect(checkConformance({ ...service })).rejects.toMatchObject({
      code: 'connection_failed',
    });
  });

  it('is waited for when it says so', async () => {
    const { report } = await checked(answering('credits', tooMany, 2));
    expect(report.clauses.find(({ clause }) => clause === '2.1')?.outcome).toBe('holds');
  });
});

describe('the table', () => {
  it('has every clause once', () => {
    expect(new Set(allClauses.map(({ id }) => id)).size).toBe(allClauses.length);
    for (let section = 1; section <= 9; section += 1) {
      expect(allClauses.some(({ id }) => id.startsWith(String(section)))).toBe(true);
    }
  });

  it('has a line for each below its section, and says at its end how many came out how', () => {
    const section = 'docs/reference/service-interface.md#9-versions';
    const nine = { clause: '9.9', section, says: 'x', outcome: 'fails', note: 'a\u001bb' } as const;
    const line = `FAILS           ${'9.9'.padEnd(36)} x (a\u001bb)\n`;
    expect(conformanceLines(nine)).toBe(`${section}\n${line}`);
    expect(conformanceLines(nine, section)).toBe(line);
    expect(conformanceLines(nine, 'x')).toBe(`\n${section}\n${line}`);
    const outcomes = {
      holds: 1,
      fails: 1,
      needs_spend: 0,
      not_reached: 0,
      not_observable: 0,
      not_shown: 0,
    };
    const sums = conformanceSums({ conforms: false, clauses: [], outcomes, batchesLeft: ['u'] });
    expect(sums).toContain('1  fail\n');
    expect(sums).toContain('batches that were left: u');
  });
});

const tooMany = { status: 429, headers: { 'Retry-After': '0' } };

function word(status: string) {
  return { ready_for_verification: status };
}

/** A service that answers an operation in its own way, once the key is seen to be taken. */
function answering(operation: OperationName, answer: object, times = 1000): ServiceOptions {
  const plan = {
    faults: [{ operation, from: operation === 'credits' ? 2 : 1, times, what: { answer } }],
  };
  return { faults: parseFaultPlan(JSON.stringify(plan)) };
}
