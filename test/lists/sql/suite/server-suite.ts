import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { rowsSource, run, streamRun, type RunProgress, type Sink } from '../../../../src/index.js';
import { startCountingProxy } from '../harness/counting-proxy.js';
import { readAll } from '../harness/carry.js';
import { expectExit, rejection } from '../harness/rejection.js';
import { startVerifying } from '../harness/verify-rows.js';
import type { Database, DatabaseServer } from './database.js';
import { makePeople, verifyOwnRows } from './people.js';

/** A sink that counts what it gets. */
function countingSink(): Sink & { readonly rows: number } {
  let rows = 0;
  return {
    name: 'a counting sink',
    get rows() {
      return rows;
    },
    async check() {
      // It takes anything.
    },
    async open() {
      return {
        async write({ from, to }) {
          rows += to - from;
        },
        async finish() {
          // Nothing has to be made to stand.
        },
        async abort() {
          // Nothing has to be dropped.
        },
      };
    },
  };
}

/** What an error that a cut connection makes has as its cause, by whatever end of the driver's. */
const connectionLost = {
  code: expect.stringMatching(/^(?:ECONNRESET|EPIPE|PROTOCOL_CONNECTION_LOST)$/) as string,
};

/** What a database on a server is asked besides. */
export function describeServer({ numbers, open }: Database, server: DatabaseServer): void {
  const { rights, scheme } = server;
  const rowBytes = 1000;
  /** So many rows of a thousand bytes. */
  const rowsOf = (rows: number): string =>
    `SELECT i AS id, concat('good', i, '@sluice.test') AS email, repeat('x', ${rowBytes}) AS filling FROM ${numbers(rows)}`;

  describe('the server', () => {
    test('refuses a wrong password, which is said, and no password', async () => {
      const url = new URL(server.url());
      url.password = 'not-the-password';
      const error = await rejection(readAll((await open()).source('SELECT 1', url.href)));
      const cause = { code: server.refusedCode };
      expect(error).toMatchObject({ code: 'invalid_option', cause });
      expect(error.message).toContain(
        `cannot read ${scheme}://${url.username}@${url.host}${url.pathname}: the user or the password is refused`,
      );
      expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain(url.password);
    });

    test('is the same by another name of this machine', async () => {
      const place = await open();
      await makePeople(place);
      const url = new URL(server.url());
      url.hostname = 'localhost';
      expect(await verifyOwnRows(place, url.href)).toEqual([{ email: 'newer@sluice.test' }]);
    });

    test.each([
      ['password', 'not-the-password'],
      ['pathname', '/not-the-database'],
      ['hostname', 'not-the-host.invalid'],
    ] as const)(
      'has another %s, which is reported to the caller before anything is sent',
      async (part, wrong) => {
        const url = new URL(server.url());
        url[part] = wrong;
        const place = await open();
        const verifying = await startVerifying();
        const people = rowsSource([{ id: 1, email: 'good1@sluice.test' }]);
        const asInput = place.source("SELECT 'good@sluice.test' AS email", url.href);
        for (const each of [
          { source: asInput, sink: place.sink() },
          { source: people, sink: place.sink({ url: url.href }) },
        ]) {
          const error = await rejection(verifying.run({ ...each, email: ['email'] }));
          expectExit(error, 2);
          expect(error.message).toContain(url.host + url.pathname);
        }
        expect(await verifying.client.listBatches()).toEqual([]);
      },
    );

    test('is not there, which is said', async () => {
      const url = `${scheme}://u:geheim@127.0.0.1:1/db`;
      const error = await rejection(readAll((await open()).source('SELECT 1', url)));
      expect(error).toMatchObject({ code: 'input_unreadable', cause: { code: 'ECONNREFUSED' } });
      expect(error.message).toContain('nothing listens there');
      expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain('geheim');
    });

    test('has a URL that is not quoted where it cannot be read', async () => {
      const { source } = await open();
      for (const rest of ['u:geheim%zz@ho st/', 'u:geh@eheim@:x/']) {
        const error = await rejection((async () => source('SELECT 1', `${scheme}://${rest}`))());
        expect(error).toMatchObject({ code: 'invalid_option' });
        expect(inspect(error, { depth: Infinity })).not.toContain('geh');
      }
    });

    test('is lost in the middle of the rows, which is no end', async () => {
      const proxy = await startCountingProxy(server.url(), { cutAfterFromServer: 3_000_000 });
      const error = await rejection(readAll((await open()).source(rowsOf(10_000), proxy.url)));
      expect(error).toMatchObject({ code: 'input_unreadable', cause: connectionLost });
    });

    test('is lost while a new table is written: none is seen before it is whole, and nothing is paid again', async () => {
      const place = await open();
      const proxy = await startCountingProxy(server.url(), { cutAfterToServer: 1_500_000 });
      const verifying = await startVerifying();
      const whole = { source: place.source(rowsOf(2500)), email: ['email'] };
      const lost = place.sink({ url: proxy.url });
      const error = await rejection(verifying.run({ ...whole, sink: lost }));
      expect(error).toMatchObject({ code: 'output_failed', cause: connectionLost });
      expect(await place.traces()).toEqual([]);
      // The results are on disk: only the writing is done again.
      const paid = await verifying.charges();
      await verifying.run({ ...whole, sink: { ...place.sink(), name: lost.name } });
      expect(await verifying.charges()).toBe(paid);
      const rows = await place.ask(`SELECT id FROM ${place.table} WHERE email_valid`);
      expect(rows).toHaveLength(2500);
    });
  });

  describe('while the service stalls, the server', () => {
    test('is asked for no more rows than may wait, when they stream', async () => {
      const rows = 150_000;
      const proxy = await startCountingProxy(server.url());
      const { client } = await startVerifying({ verifyDelayMs: 3_600_000 });
      const sink = countingSink();
      const controller = new AbortController();
      const running = rejection(
        streamRun({
          client,
          source: (await open()).source(rowsOf(rows), proxy.url),
          sink,
          email: ['email'],
          country: 'US',
          batchSize: 500,
          concurrency: 2,
          maxWaitingRows: 2000,
          pollIntervalMs: 20,
          signal: controller.signal,
        }),
      );
      const asked = await proxy.stalled();
      controller.abort(new Error('enough'));
      expect((await running).message).toBe('enough');
      expect(sink.rows).toBe(0);
      // Two thousand rows may wait, and the buffers of two sockets and a driver lie in between.
      expect(asked).toBeLessThan((rows * rowBytes) / 5);
    });

    test('has given all its rows and is let go of, in a durable run', async () => {
      const rows = 5000;
      const proxy = await startCountingProxy(server.url());
      const { client, stateDir } = await startVerifying({ verifyDelayMs: 3_600_000 });
      const controller = new AbortController();
      let isVerifying = (): void => undefined;
      const verifying = new Promise<void>((resolve) => (isVerifying = resolve));
      const running = rejection(
        run({
          client,
          stateDir,
          source: (await open()).source(rowsOf(rows), proxy.url),
          sink: countingSink(),
          email: ['email'],
          country: 'US',
          pollIntervalMs: 20,
          signal: controller.signal,
          onProgress: (progress: RunProgress) => {
            if (progress.stage === 'batch' && progress.state.stage === 'verifying') isVerifying();
          },
        }),
      );
      await verifying;
      expect(proxy.fromServer).toBeGreaterThan(rows * rowBytes);
      await expect.poll(() => proxy.connections).toBe(0);
      controller.abort(new Error('enough'));
      expect((await running).message).toBe('enough');
    });
  });

  test.each(rights.cases)(
    'a user %s, which is reported before anything is sent',
    async (_, grants, into, words) => {
      const place = await open();
      const { url, schema } = await rights.makeUser(grants);
      const verifying = await startVerifying();
      const error = await rejection(
        verifying.run({
          source: rowsSource([1, 2].map((id) => ({ id, email: `good${id}@sluice.test` }))),
          sink: place.sink({ url, into: `${schema}.${into}`, key: 'id' }),
          email: ['email'],
        }),
      );
      expect(error.message).toMatch(words);
      expect(error).toMatchObject({
        fault: expect.stringMatching(/^(?:right|read_only)$/) as string,
      });
      expectExit(error, 2);
      expect(await verifying.charges()).toBe(0);
      expect(await verifying.client.listBatches()).toEqual([]);
      expect(await place.ask(`SELECT * FROM ${schema}.people`)).toEqual([
        { id: 1, email: 'good1@sluice.test' },
      ]);
    },
  );
}
