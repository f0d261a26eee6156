import { appendFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mailVerdict } from '../../../src/live/email-verifier.js';
import { AnswerCache } from '../../../src/service/storage/answer-cache.js';
import { createKeyMaker, keyBytes } from '../../../src/service/storage/key-table.js';
import { judgeEmail } from '../../../src/service/verification/judge-email.js';
import { dayMs, withFolder } from '../with-service.js';

const now = Date.UTC(2026, 0, 15, 12);
const offline = judgeEmail('anna@firm.lab');
const accepted = mailVerdict(offline, 'accepted');
const noMailbox = mailVerdict(offline, 'no_mailbox');
const catchAll = mailVerdict(offline, 'catch_all');
const notReported = mailVerdict(offline, 'not_told');

function keysOf(...addresses: readonly string[]): Uint8Array {
  const maker = createKeyMaker('salt', 'email');
  const keys = new Uint8Array(addresses.length * keyBytes);
  for (const [index, address] of addresses.entries()) maker.write(address, keys, index * keyBytes);
  return keys;
}

describe('the answers of a network', () => {
  it('are there for the next process, what does not hold left out', async () => {
    const folder = await withFolder();
    const keys = keysOf('a', 'b', 'c', 'd');
    const first = await AnswerCache.open(folder, now);
    first.remember(keys, [accepted, notReported, noMailbox, catchAll], now);
    first.close();
    const second = await AnswerCache.open(folder, now);
    const found = [0, 1, 2, 3].map((index) => second.find(keys, index * keyBytes));
    second.close();
    expect(found).toEqual([accepted, undefined, noMailbox, catchAll]);
  });

  it('are the latest', async () => {
    const folder = await withFolder();
    const first = await AnswerCache.open(folder, now);
    first.remember(keysOf('a'), [accepted], now);
    first.remember(keysOf('a'), [noMailbox], now + dayMs);
    expect(first.find(keysOf('a'), 0)).toEqual(noMailbox);
    first.close();
    const second = await AnswerCache.open(folder, now + dayMs);
    expect(second.find(keysOf('a'), 0)).toEqual(noMailbox);
    second.close();
  });

  it('survive what a kill has torn', async () => {
    const folder = await withFolder();
    const first = await AnswerCache.open(folder, now);
    first.remember(keysOf('a'), [accepted], now);
    first.close();
    for (const name of await readdir(folder)) await appendFile(join(folder, name), '{"torn');
    const second = await AnswerCache.open(folder, now);
    second.remember(keysOf('b'), [noMailbox], now);
    second.close();
    const third = await AnswerCache.open(folder, now);
    expect(third.find(keysOf('a'), 0)).toEqual(accepted);
    expect(third.find(keysOf('b'), 0)).toEqual(noMailbox);
    third.close();
  });

  it('are dropped when no cache looks back so far', async () => {
    const folder = await withFolder();
    const first = await AnswerCache.open(folder, now);
    first.remember(keysOf('a'), [accepted], now);
    first.close();
    const second = await AnswerCache.open(folder, now + 200 * dayMs);
    expect(second.find(keysOf('a'), 0)).toBeUndefined();
    second.close();
    expect(await readdir(folder)).toEqual(['answers.verdicts']);
  });
});
