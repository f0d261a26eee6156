import { appendFile, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventLog } from '../../../src/service/storage/events.js';
import { withFolder } from '../with-service.js';

async function logWith(path: string, events: readonly object[]) {
  const { log } = await EventLog.open(path, { durable: true });
  for (const event of events) log.append(event);
  await log.close();
}

async function read(path: string) {
  const { events, log } = await EventLog.open(path, { durable: false });
  await log.close();
  return events;
}

describe('the event log', () => {
  it('gives back what was appended, in order, and goes on behind it', async () => {
    const path = join(await withFolder(), 'log');
    await logWith(path, [{ a: 1 }, { b: 'ü\n"' }]);
    await logWith(path, [{ c: null }]);
    expect(await read(path)).toEqual([{ a: 1 }, { b: 'ü\n"' }, { c: null }]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('is read and written to the letter as earlier versions wrote it', async () => {
    const path = join(await withFolder(), 'log');
    const written = 'b314ff1f {"event":"first","text":"zwölf"}\n6bf6174e {"event":"second"}\n';
    await writeFile(path, written, { mode: 0o600 });
    expect(await read(path)).toEqual([{ event: 'first', text: 'zwölf' }, { event: 'second' }]);
    const other = `${path}.other`;
    await logWith(other, [{ event: 'first', text: 'zwölf' }, { event: 'second' }]);
    expect(await readFile(other, 'utf8')).toBe(written);
  });

  it('drops an event that was torn anywhere, and only that', async () => {
    const path = join(await withFolder(), 'log');
    await logWith(path, [{ first: 1 }, { second: 2 }]);
    const whole = await readFile(path);
    const secondAt = whole.indexOf('\n') + 1;
    for (let cut = secondAt; cut < whole.length; cut += 1) {
      await writeFile(path, whole);
      await truncate(path, cut);
      expect(await read(path)).toEqual([{ first: 1 }]);
      await logWith(path, [{ third: 3 }]);
      expect(await read(path)).toEqual([{ first: 1 }, { third: 3 }]);
    }
  });

  it('refuses to go on when anything but the last event is damaged', async () => {
    const path = join(await withFolder(), 'log');
    await logWith(path, [{ first: 1 }, { second: 2 }, { third: 3 }]);
    const whole = await readFile(path);
    const lastAt = whole.lastIndexOf('\n', whole.length - 2) + 1;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: lastAt - 2 }),
        fc.integer({ min: 1, max: 255 }),
        async (at, change) => {
          const damaged = Buffer.from(whole);
          damaged[at] = (damaged[at] ?? 0) ^ change;
          await writeFile(path, damaged);
          await expect(read(path)).rejects.toMatchObject({ code: 'state_damaged' });
        },
      ),
      { numRuns: 60 },
    );
  });

  it('drops a last line that is rubbish', async () => {
    const path = join(await withFolder(), 'log');
    await logWith(path, [{ first: 1 }]);
    await appendFile(path, '00000000 {"made":"up"}\n');
    expect(await read(path)).toEqual([{ first: 1 }]);
  });
});
