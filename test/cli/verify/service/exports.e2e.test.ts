import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RunEnd, Summary } from '../../../../src/index.js';
import type { Service, ServiceOptions } from '../../../../src/service/index.js';
import { withService } from '../../../service/with-service.js';
import type { Wire } from '../../../service/wire.js';
import { chargesOf, expectChargedOnce } from '../../harness/charges.js';
import { inFolder } from '../../harness/connect-to.js';
import { csvRows } from '../../harness/csv-cells.js';
import {
  startFront,
  type Changed,
  type Front,
  type Instead,
  type Sent,
} from '../../harness/front.js';
import { codedOf, eventsOf } from '../../harness/logged-events.js';
import { type EndedHere, runInProcess } from '../../harness/run-in-process.js';
import { addresses, verifyByTens, withThirtyRows } from '../resume/verify-by-tens.js';

const nothing = { status: 200, body: {} };
const isExport = /^GET \/v1\/batch\/([^/]+)\/export$/;
const isUpload = /^POST \/v1\/batch$/;
const isLaunch = /^POST \/v1\/batch\/./;
const isDeletion = /^DELETE /;

let folder: string;
beforeEach(async () => {
  folder = await withThirtyRows();
});

/** A service behind a front that answers as it likes for as long as it is out of its mind. */
async function outOfItsMind(
  answer: (request: string, service: Service) => Answered | Promise<Answered>,
  options: ServiceOptions = {},
): Promise<{ service: Service; wire: Wire; front: Front; comeToItsSenses(): void }> {
  const { service, wire } = await withService(options);
  let isSane = false;
  const front = await startFront(service, (request) =>
    isSane ? undefined : answer(request, service),
  );
  return {
    service,
    wire,
    front,
    comeToItsSenses: () => {
      isSane = true;
    },
  };
}
type Answered = Instead | Changed | Sent | undefined;

async function verify(front: Front, ...more: string[]): Promise<EndedHere> {
  return runInProcess(
    [...verifyByTens, '--summary', 'summary.json', ...more],
    inFolder(folder, front),
  );
}

async function readSummary(): Promise<Summary & RunEnd> {
  return JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8')) as Summary & RunEnd;
}

/** What stands in the two first added columns, each distinct one once, with how often. */
async function fates(bytes?: Buffer): Promise<Record<string, number>> {
  const rows = csvRows(bytes ?? (await readFile(join(folder, 'out.csv'))));
  const counts: Record<string, number> = {};
  for (const row of rows) {
    const fate = `${row['email_verification']} ${row['email_reason']}`.trim();
    counts[fate] = (counts[fate] ?? 0) + 1;
  }
  return counts;
}

function count({ requests }: Front, pattern: RegExp): number {
  return requests.filter((request) => pattern.test(request)).length;
}

/** Answers every export with that of the batch whose was asked for first. */
function exportsOfTheFirst(): (request: string, service: Service) => Promise<Answered> {
  let first: { uuid: string; body: Promise<unknown> } | undefined;
  return async (request, { baseUrl, apiKey }) => {
    const uuid = isExport.exec(request)?.[1];
    if (uuid === undefined) return undefined;
    if (!first) {
      const url = `${baseUrl}/v1/batch/${uuid}/export?format=json`;
      const body = fetch(url, { headers: { 'X-Api-Key': apiKey } }).then((answer) => answer.json());
      first = { uuid, body };
    }
    return { status: 200, body: await first.body };
  };
}

function shifted(body: unknown): unknown {
  const records = Object.entries(body as Record<string, unknown>);
  return Object.fromEntries(
    records.map(([key], at) => [key, records[(at + 1) % records.length]?.[1]]),
  );
}

/** Each with another list of the next night. */
const faults = [
  {
    what: 'an export `{}`',
    next: (list: string) => list,
    reason: 'export_incomplete',
    failed: 30,
    answer: () => (request: string) => (isExport.test(request) ? nothing : undefined),
  },
  {
    what: "another batch's export",
    next: (list: string) => `${list}30,good30@sluice.test\n`,
    reason: 'export_foreign',
    failed: 20,
    answer: exportsOfTheFirst,
  },
  {
    what: 'an export whose records are those of the next key',
    // Of which little is left.
    next: (list: string) => list.slice(0, list.indexOf('\n1,') + 1),
    reason: 'export_foreign',
    failed: 30,
    answer: () => (request: string) => (isExport.test(request) ? { change: shifted } : undefined),
  },
];

describe.each(faults)('$what', ({ reason, failed, answer, next }) => {
  it('fails the rows, keeps the batches, and is asked for again by --retry-failed: nothing is paid twice', async () => {
    const { service, wire, front, comeToItsSenses } = await outOfItsMind(answer());
    const ended = await verify(front, '--delete-batches', '--report', 'report.html');
    expect(ended.code).toBe(3);
    expect((await fates())[`failed ${reason}`]).toBe(failed);
    const summary = await readSummary();
    expect(summary.email?.buckets.no_result).toBe(0);
    expect(summary.email?.reasons).toEqual({ [reason]: failed });
    const wrong = summary.batches.filter((batch) => batch.reason === reason);
    expect(wrong).toHaveLength(failed / 10);
    expect(wrong[0]?.export).toMatchObject({ counted: 10, named: 0 });
    const report = await readFile(join(folder, 'report.html'), 'utf8');
    for (const { batch_uuid, name } of wrong) {
      const lines = ended.stderr.split('\n').filter((line) => line.includes(`${batch_uuid}`));
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain(name);
      expect(lines[0]).toContain(reason);
      expect(lines[0]).toContain('--retry-failed');
      expect(report).toContain(batch_uuid);
    }
    expect(report).toContain(reason);
    const listed = (await wire.get('/v1/batch')).json as unknown as readonly {
      batch_uuid: string;
    }[];
    const uuids = wrong.map(({ batch_uuid }) => batch_uuid);
    expect(listed.map(({ batch_uuid }) => batch_uuid)).toEqual(expect.arrayContaining(uuids));
    expect(count(front, isDeletion)).toBe(3 - wrong.length);
    expect(await chargesOf(service)).toHaveLength(addresses);

    // It stays so: the same batches are asked again, and nothing else.
    expect((await verify(front, '--retry-failed')).code).toBe(3);
    expect(count(front, isUpload)).toBe(3);
    expect(count(front, isLaunch)).toBe(3);

    comeToItsSenses();
    expect((await verify(front, '--retry-failed')).code).toBe(0);
    expect(await fates()).toEqual({ verified: addresses });
    expect(count(front, isUpload)).toBe(3);
    expect(count(front, isLaunch)).toBe(3);
    expect(await expectChargedOnce(service, await readSummary())).toHaveLength(addresses);
    expect(await readdir(folder)).not.toContain('out.csv.sluice');
  });

  it('is asked for again by the next run, too, whatever its list: nothing is paid twice', async () => {
    const { service, front, comeToItsSenses } = await outOfItsMind(answer());
    const failed = await verify(front);
    expect(failed.code).toBe(3);
    const [advice] = codedOf(failed, 'fetch_paid');
    expect(advice).toMatchObject({ addresses: 0, paid_twice: 0 });
    expect((await readSummary()).next).toBe(advice?.['message']);
    const path = join(folder, 'list.csv');
    await writeFile(path, next(await readFile(path, 'utf8')));
    comeToItsSenses();
    const ended = await verify(front);
    expect(codedOf(ended, 'results_owed')).toMatchObject([
      { severity: 'warning', batches: advice?.['exports'] },
    ]);
    expect(ended.code).toBe(0);
    const rows = (await readFile(path, 'utf8')).trim().split('\n').length - 1;
    expect(await fates()).toEqual({ verified: rows });
    const charged = (await chargesOf(service)).map(({ address }) => address);
    expect(charged).toHaveLength(Math.max(addresses, rows));
    expect(new Set(charged).size).toBe(charged.length);
    expect(await readdir(folder)).not.toContain('out.csv.sluice');
  });

  it('fails the rows of a run that streams', async () => {
    const { service, front } = await outOfItsMind(answer());
    const ended = await runInProcess(
      'verify list.csv --email email --country US --batch-size 10 --poll-interval 10 -o -'.split(
        ' ',
      ),
      inFolder(folder, front),
    );
    expect(ended.code).toBe(3);
    expect((await fates(ended.stdout))[`failed ${reason}`]).toBe(failed);
    expect(await chargesOf(service)).toHaveLength(addresses);
  });
});

describe('an export that comes wrong for a while', () => {
  it('is waited for, and nobody need know', async () => {
    let exports = 0;
    const { service, front } = await outOfItsMind((request) => {
      if (!isExport.test(request)) return undefined;
      exports += 1;
      return exports <= 4 ? nothing : undefined;
    });
    expect((await verify(front)).code).toBe(0);
    expect(await fates()).toEqual({ verified: addresses });
    expect(await chargesOf(service)).toHaveLength(addresses);
  });
});

describe('an export of a service that counts nothing, which lacks a few records', () => {
  const isStatus = /^GET \/v1\/batch\/[^/]+$/;
  /** A front whose first exports lack the last two records of each batch. */
  async function lacking(exports: number): Promise<Front> {
    const asked = new Map<string, number>();
    const { front } = await outOfItsMind((request) => {
      if (isStatus.test(request))
        return { change: (body) => ({ status: (body as { readonly status: string }).status }) };
      if (!isExport.test(request)) return undefined;
      const times = (asked.get(request) ?? 0) + 1;
      asked.set(request, times);
      if (times > exports) return undefined;
      return { change: (body) => Object.fromEntries(Object.entries(body as object).slice(0, -2)) };
    });
    return front;
  }

  it('is asked for again, which is free, before any row is `no_record`', async () => {
    const front = await lacking(2);
    const ended = await verify(front);
    expect(ended.code, ended.stderr).toBe(0);
    expect(await fates()).toEqual({ verified: addresses });
    expect(eventsOf(ended, 'difference')).toEqual([]);
  });

  it('is used at last, what it lacks is said even when quiet, and the batch is kept', async () => {
    const front = await lacking(99);
    const ended = await verify(front, '--quiet', '--delete-batches');
    expect(ended.code, ended.stderr).toBe(0);
    expect(await fates()).toEqual({ verified: 24, 'no_result no_record': 6 });
    expect(count(front, isExport)).toBe(9);
    expect(count(front, isDeletion)).toBe(0);
    const left = eventsOf(ended, 'left_behind').flatMap(({ names }) => names as readonly string[]);
    // In the order in which they came to their end.
    expect(left.toSorted()).toEqual(
      ['1', '2', '3'].map((at) => expect.stringMatching(`-00000${at}-1$`) as unknown),
    );
    const lacks = { severity: 'warning', export: { missing: 2 } };
    expect(eventsOf(ended, 'difference')).toMatchObject([lacks, lacks, lacks]);
  });
});

describe('counts that differ from what came', () => {
  it('are reported, and fail nothing', async () => {
    const { front } = await outOfItsMind((request) =>
      isExport.test(request)
        ? { change: (body) => Object.fromEntries(Object.entries(body as object).slice(0, 8)) }
        : undefined,
    );
    const ended = await verify(front, '--report', 'report.html');
    expect(ended.code).toBe(0);
    expect(await fates()).toEqual({ verified: 24, 'no_result no_record': 6 });
    const held = { counted: 10, named: 8, strangers: 0, conflicting: 0, missing: 2 };
    const difference = { export: held };
    expect(eventsOf(ended, 'difference')).toMatchObject([difference, difference, difference]);
    for (const batch of (await readSummary()).batches) expect(batch.export).toEqual(held);
    const report = await readFile(join(folder, 'report.html'), 'utf8');
    expect(report).toContain('<section id="exports">');
  });

  it('as two records of one address that contradict each other do: it gets no result', async () => {
    const { front } = await outOfItsMind(async (request, service) => {
      if (!isExport.test(request)) return undefined;
      const path = request.replace('GET ', '');
      const answer = await fetch(`${service.baseUrl}${path}?format=json&include_details=false`, {
        headers: { 'X-Api-Key': service.apiKey },
      });
      const records = Object.entries((await answer.json()) as Record<string, { valid: boolean }>);
      const [first] = records;
      if (!first) throw new Error('an export without records');
      const [address, record] = first;
      const again = JSON.stringify({ ...record, valid: !record.valid });
      const members = records.map(
        ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`,
      );
      const text = `{${[...members, `${JSON.stringify(address)}:${again}`].join(',')}}`;
      return { send: (response) => response.end(text) };
    });
    const ended = await verify(front);
    expect(ended.code).toBe(0);
    expect(eventsOf(ended, 'difference')[0]).toMatchObject({ export: { conflicting: 1 } });
    const { batches, email } = await readSummary();
    expect(batches.map(({ export: held }) => held?.conflicting)).toContain(1);
    const conflicting = batches.reduce(
      (sum, { export: held }) => sum + (held?.conflicting ?? 0),
      0,
    );
    expect(email?.buckets).toMatchObject({ no_result: conflicting, failed: 0 });
  });
});

describe('one uuid for all uploads', () => {
  it('is refused: each batch is found by its name, launched once, and gets its own results', async () => {
    let first: unknown;
    const { service, front } = await outOfItsMind((request) =>
      isUpload.test(request)
        ? {
            change: (body) => {
              first ??= (body as { batch_uuid: string }).batch_uuid;
              return { ...(body as object), batch_uuid: first };
            },
          }
        : undefined,
    );
    const ended = await verify(front, '--delete-batches');
    expect(ended.code).toBe(0);
    expect(await fates()).toEqual({ verified: addresses });
    expect(count(front, isLaunch)).toBe(3);
    const { batches } = await readSummary();
    expect(new Set(batches.map(({ batch_uuid }) => batch_uuid)).size).toBe(3);
    expect(await expectChargedOnce(service, await readSummary())).toHaveLength(addresses);
  });
});

describe('a uuid of a batch that an earlier process launched', () => {
  it('is refused, too', async () => {
    let first: unknown;
    let uploads = 0;
    const { service, front } = await outOfItsMind((request) => {
      if (!isUpload.test(request)) return undefined;
      uploads += 1;
      const isLast = uploads === 3;
      return {
        change: (body) => {
          first ??= (body as { batch_uuid: string }).batch_uuid;
          return isLast ? { ...(body as object), batch_uuid: first } : body;
        },
      };
    });
    const one = ['--concurrency', '1'];
    expect((await verify(front, ...one, '--max-credits', '10')).code).toBe(5);
    expect(count(front, isUpload)).toBe(2);
    expect((await verify(front, ...one, '--max-credits', '30')).code).toBe(0);
    expect(uploads).toBe(3);
    expect(await fates()).toEqual({ verified: addresses });
    expect(await expectChargedOnce(service, await readSummary())).toHaveLength(addresses);
  });
});

/** About a second. */
const deadline = ['--batch-deadline', '0.0003'];

describe('what never ends', () => {
  it('as a list of batches, ends with 7 at the deadline, and the same command goes on', async () => {
    let pages = 0;
    const endless = (): Instead => {
      pages += 1;
      const items = Array.from({ length: 1000 }, (_, index) => ({
        batch_uuid: `00000000-0000-4000-8000-${String(pages * 1000 + index).padStart(12, '0')}`,
        name: 'other',
        description: null,
        status: 'verification_done',
        created_at: '2026-11-21T00:00:00Z',
        updated_at: '2026-11-21T00:00:00Z',
      }));
      return { status: 200, body: items };
    };
    const { service, front, comeToItsSenses } = await outOfItsMind(
      (request) => (request === 'GET /v1/batch' ? endless() : undefined),
      { variants: { upload: 'no_uuid' } },
    );
    const stopped = await verify(front, ...deadline);
    expect(stopped).toMatchObject({ code: 7, stderr: expect.stringContaining("'uploading'") });
    expect(await chargesOf(service)).toEqual([]);
    comeToItsSenses();
    expect((await verify(front)).code).toBe(0);
    expect(await expectChargedOnce(service, await readSummary())).toHaveLength(addresses);
  });

  it.each([
    ['white space', ' '.repeat(1024)],
    ['strangers', '"x@else.test":{"valid":true,"wrong":false,"unknown":false},'.repeat(20)],
  ])(
    'as an export of %s, ends with 7 at the deadline, and the same command goes on',
    async (_, piece) => {
      const { service, front, comeToItsSenses } = await outOfItsMind((request) =>
        isExport.test(request)
          ? {
              send: (response) => {
                response.write('{');
                const timer = setInterval(() => response.write(piece), 5);
                response.on('close', () => clearInterval(timer));
              },
            }
          : undefined,
      );
      const stopped = await verify(front, ...deadline);
      expect(stopped).toMatchObject({ code: 7, stderr: expect.stringContaining("'done'") });
      comeToItsSenses();
      expect((await verify(front)).code).toBe(0);
      expect(await fates()).toEqual({ verified: addresses });
      expect(await expectChargedOnce(service, await readSummary())).toHaveLength(addresses);
    },
  );
});
