// The source and the sink of this folder do what run() relies on.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Row } from 'sluice';
import { sinkChecks, sourceChecks } from 'sluice/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { jsonSink } from './json-sink.js';
import { letters } from './letters.js';

describe('letters', () => {
  const rows = Array.from('abcdefghijklmnopqrstuvwxyz', (letter) => [`${letter}@example.org`]);
  const checks = sourceChecks({ create: () => letters, header: ['email'], rows });
  test.each(checks.map((check) => [check.name, check] as const))('%s', async (_, check) => {
    await expect(check.run()).resolves.toBeUndefined();
  });
});

describe('jsonSink()', () => {
  let path = '';
  const read = async (): Promise<Row[] | undefined> => {
    const text = await readFile(path, 'utf8').catch(() => undefined);
    return text === undefined ? undefined : (JSON.parse(text) as Row[]);
  };
  const checks = sinkChecks({ create: () => jsonSink(path), read });
  test.each(checks.map((check) => [check.name, check] as const))('%s', async (_, check) => {
    const folder = await mkdtemp(join(tmpdir(), 'ends-'));
    onTestFinished(async () => rm(folder, { recursive: true }));
    path = join(folder, 'out.json');
    await expect(check.run()).resolves.toBeUndefined();
  });
});
