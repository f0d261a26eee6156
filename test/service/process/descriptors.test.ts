import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { Agent } from 'undici';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { connectionsFor, openFilesLimit } from '../../../src/service/http/http-server.js';
import type { Service } from '../../../src/service/index.js';
import { buildService } from './service-process.js';
import { withFolder, withService } from '../with-service.js';
import { type Answer, Wire } from '../wire.js';

let built: ReturnType<typeof buildService>;

beforeAll(() => {
  built = buildService();
});

afterAll(async () => built.remove());

/** What the process does between its service's requests. */
const behaviour = `
  import { closeSync, openSync } from 'node:fs';
  const taken = [];
  let pass = () => {};
  let aheadMs = 0;
  const clock = {
    now: () => performance.now(),
    wallNow: () => Date.now() + aheadMs,
    sleep: (ms) => new Promise((resolve) => {
      // The long delay ends when it is asked to; waits between repetitions are over at once.
      if (ms > 60_000) pass = resolve;
      else setImmediate(resolve);
    }),
  };
  process.on('message', (word) => {
    if (word === 'starve') {
      try { for (;;) taken.push(openSync('/dev/null')); } catch {}
    }
    if (word === 'feed') for (const fd of taken.splice(0)) closeSync(fd);
    if (word === 'pass') {
      aheadMs = 3_600_000;
      pass();
    }
    process.send({ did: word });
  });
  const onError = (error) => process.send({ trouble: error.code });
`;

interface Limited {
  readonly service: Pick<Service, 'baseUrl' | 'apiKey'>;
  readonly wire: Wire;
  readonly child: ChildProcess;
  /** Has the process take all its descriptors, give them back, or end a long delay. */
  tell(word: 'starve' | 'feed' | 'pass'): Promise<void>;
  /** Resolves when the service says that it met the error. */
  untilTrouble(code: string): Promise<void>;
}

/** A service in a process that may open so many files. */
async function limitedService(files: number, options: string): Promise<Limited> {
  const dataDir = await withFolder();
  const script =
    `${behaviour}; import { createService } from ${JSON.stringify(built.url)};` +
    `const s = await createService({ dataDir: ${JSON.stringify(dataDir)}, onError, ${options} });` +
    'process.send({ baseUrl: s.baseUrl, apiKey: s.apiKey });';
  const child = spawn(
    '/bin/sh',
    ['-c', `ulimit -n ${files}; exec "$0" --input-type=module -e "$1"`, process.execPath, script],
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
  );
  const gone = once(child, 'exit').then(() => {
    throw new Error('the service has ended');
  });
  gone.catch(() => undefined);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await gone.catch(() => undefined);
  });
  const received: Record<string, unknown>[] = [];
  const until = async (isIt: (message: Record<string, unknown>) => boolean) => {
    for (;;) {
      const at = received.findIndex(isIt);
      if (at !== -1) return received.splice(at, 1)[0];
      await Promise.race([once(child, 'message'), gone]);
    }
  };
  child.on('message', (message) => received.push(message as Record<string, unknown>));
  const service = (await until((message) => 'baseUrl' in message)) as unknown as Service;
  // Without a descriptor a service resets a second connection, which undici opens where the first was busy a
  // moment ago.
  const one = new Agent({ connections: 1 });
  onTestFinished(async () => one.destroy());
  return {
    service,
    wire: new Wire(service, one),
    child,
    async tell(word) {
      child.send(word);
      await until(({ did }) => did === word);
    },
    async untilTrouble(code) {
      await until(({ trouble }) => trouble === code);
    },
  };
}

describe('a service that has no descriptor left', () => {
  it('goes on with parsing when it has some again', async () => {
    const { wire, tell, untilTrouble } = await limitedService(300, 'clock');
    const uuid = await wire.upload(['good@sluice.test', 'bad@sluice.test']);
    await tell('starve');
    expect((await wire.send('PATCH', `/v1/batch/${uuid}`)).json.status).toBe('ok');
    // More than once: it does not give up after the first repetition.
    for (let time = 0; time < 5; time += 1) await untilTrouble('EMFILE');
    expect(await wire.status(uuid)).toBe('parsing_content');
    await tell('feed');
    expect((await wire.until(uuid, 'ready_for_verification')).parsing_counts).toMatchObject({
      valid_email: 2,
    });
  });

  it('goes on with a verification that is paid for, and charges it once', async () => {
    const limited = await limitedService(300, 'clock, verifyDelayMs: 3_600_000, emailCredits: 10');
    const { wire, tell, untilTrouble } = limited;
    const uuid = await wire.upload(['good@sluice.test', 'bad@sluice.test']);
    await wire.prepare(uuid);
    expect((await wire.launch(uuid)).json.status).toBe('ok');
    await tell('starve');
    await tell('pass');
    for (let time = 0; time < 3; time += 1) await untilTrouble('EMFILE');
    expect(await wire.status(uuid)).toBe('verification_ongoing');
    // What a request needs a file for is asked to come again, and is no end either.
    let refused = await wire.uploadAnswer(['good@sluice.test']).catch(() => undefined);
    while (refused?.status !== 503) {
      // Connections that ended meanwhile gave their descriptors back.
      await tell('starve');
      refused = await wire.uploadAnswer(['good@sluice.test']).catch(() => undefined);
    }
    expect(refused.headers['retry-after']).toBe('1');
    await tell('feed');
    while ((await wire.status(uuid)) === 'verification_ongoing') await tell('pass');
    expect(Object.keys(await wire.records(uuid))).toHaveLength(2);
    expect((await wire.get('/_local/ledger')).list).toHaveLength(2);
    expect((await wire.get('/v1/account/credits')).json.email_credit).toBe(8);
  });

  it('has kept some back: connections are bounded by what it may open', async () => {
    const { service, wire } = await limitedService(300, '');
    const uuid = await wire.upload(['good@sluice.test']);
    const sockets = await dawdle(service.baseUrl, 60);
    // Whoever comes while all places are taken is notified so.
    // A service may end an idle connection just as it is asked for more.
    const list = (): Promise<Answer> => wire.get('/v1/batch').catch(list);
    let late = await list();
    // The connection of the upload has its place until the crowd is let in.
    while (late.status === 200) late = await list();
    expect([late.status, late.headers['connection']]).toEqual([503, 'close']);
    for (const socket of sockets) socket.destroy();
    while ((await list()).status === 503);
    await wire.prepare(uuid);
    await wire.launch(uuid);
    expect((await wire.until(uuid, 'verification_done')).results).toMatchObject({ valid: 1 });
  });
});

/** Opens connections that begin a request and never end it; gives those that are left open. */
async function dawdle(baseUrl: string, count: number): Promise<readonly Socket[]> {
  const { hostname, port } = new URL(baseUrl);
  const sockets: Socket[] = [];
  for (let at = 0; at < count; at += 1) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    sockets.push(socket);
    await once(socket, 'connect');
    socket.write('GET / HTTP/1.1\r\nHost:');
  }
  return sockets;
}

describe('the bound on connections', () => {
  it('answers 503 beyond it, and serves those within it', async () => {
    const { service, wire } = await withService({ maxConnections: 2 });
    const [first, second] = await dawdle(service.baseUrl, 2);
    if (first === undefined) throw new Error('no connection');
    const over = await wire.get('/v1/batch');
    expect([over.status, over.json.message]).toEqual([503, 'too many connections']);
    const answered = once(first, 'data') as Promise<[Buffer]>;
    first.write(' localhost\r\n\r\n');
    expect((await answered)[0].toString()).toMatch(/^HTTP\/1\.1 200/);
    second?.destroy();
    while ((await wire.get('/v1/batch')).status !== 200);
  });

  it('closes a connection on which nothing is asked for one that asks', async () => {
    const { service, wire } = await withService({ maxConnections: 1 });
    const { hostname, port } = new URL(service.baseUrl);
    const idle = connect(Number(port), hostname);
    idle.write('GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(idle, 'data');
    const closed = once(idle.resume(), 'close');
    while ((await wire.get('/v1/batch')).status !== 200);
    await closed;
  });

  it('follows from how many files the process may open', async () => {
    const path = join(await withFolder(), 'limits');
    await writeFile(
      path,
      'Limit                     Soft Limit           Hard Limit           Units     \n' +
        'Max processes             63704                63704                processes \n' +
        'Max open files            1024                 1048576              files     \n',
    );
    expect(await openFilesLimit(path)).toBe(1024);
    expect(await openFilesLimit(`${path}.not`)).toBeUndefined();
    expect([20, 256, 1024, 2 ** 20, undefined].map(connectionsFor)).toEqual([
      4, 42, 256, 10_000, 1000,
    ]);
  });
});
