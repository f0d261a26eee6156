import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemFiles } from '../../../../src/platform/files/file-system.js';
import { TicketFile } from '../../../../src/engine/runs/planning/ticket-file.js';
import { withFolder } from '../../../service/with-service.js';
import { systemError, watchedFiles } from '../watched-files.js';

let path: string;
beforeEach(async () => {
  path = join(await withFolder(), 'tickets');
});

async function fileOf(...blocks: readonly Uint32Array[]): Promise<TicketFile> {
  const file = await TicketFile.create(systemFiles, path);
  for (const block of blocks) await file.append(block);
  await file.close();
  return file;
}

const ticket = fc.integer({ min: 0, max: 0xffff_ffff });
const blocks = fc.array(fc.uint32Array({ maxLength: 40 }), { maxLength: 8 });

describe('TicketFile', () => {
  it('gives the tickets back in whatever portions they are asked for', async () => {
    await fc.assert(
      fc.asyncProperty(
        blocks,
        fc.array(fc.integer({ min: 0, max: 60 })),
        async (written, asked) => {
          const all = written.flatMap((block) => [...block]);
          const reader = (await fileOf(...written)).read();
          const read: number[] = [];
          for (const count of asked) {
            read.push(...(await reader.next(Math.min(count, all.length - read.length))));
          }
          expect(await reader.isAtEnd()).toBe(read.length === all.length);
          await reader.close();
          expect(read).toEqual(all.slice(0, read.length));
        },
      ),
      { numRuns: 50 },
    );
  });

  it('holds more tickets than one read brings', async () => {
    const many = Uint32Array.from({ length: 200_001 }, (_, index) => index * 7919);
    const reader = (await fileOf(many.subarray(0, 99_999), many.subarray(99_999))).read();
    const first = await reader.next(100_001);
    const rest = await reader.next(100_000);
    expect(Buffer.from(first.buffer).equals(Buffer.from(many.slice(0, 100_001).buffer))).toBe(true);
    expect(Buffer.from(rest.buffer).equals(Buffer.from(many.slice(100_001).buffer))).toBe(true);
    expect(await reader.isAtEnd()).toBe(true);
    await reader.close();
  });

  it('keeps every ticket as it is', async () => {
    await fc.assert(
      fc.asyncProperty(ticket, async (one) => {
        const reader = (await fileOf(Uint32Array.of(one))).read();
        expect([...(await reader.next(1))]).toEqual([one]);
        await reader.close();
      }),
      { numRuns: 20, examples: [[0], [0xffff_ffff], [0x8000_0000]] },
    );
  });

  it('says that the input has changed when more is asked for than there is', async () => {
    const reader = (await fileOf(Uint32Array.of(1, 2))).read();
    await expect(reader.next(3)).rejects.toMatchObject({ code: 'input_changed' });
    await reader.close();
  });

  it('replaces what an earlier process left, and only its owner can read it', async () => {
    await fileOf(Uint32Array.of(1, 2, 3));
    const reader = (await fileOf(Uint32Array.of(9))).read();
    expect([...(await reader.next(1))]).toEqual([9]);
    expect(await reader.isAtEnd()).toBe(true);
    await reader.close();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('says so when the disk fails', async () => {
    let isFailing = false;
    const files = watchedFiles((call) => {
      if (isFailing && call === 'appendFile tickets') throw systemError('ENOSPC');
    });
    const file = await TicketFile.create(files, path);
    isFailing = true;
    await expect(file.append(Uint32Array.of(1))).rejects.toMatchObject({
      code: 'output_failed',
      cause: { code: 'ENOSPC' },
    });
    await file.close();
  });
});
