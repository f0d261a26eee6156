import { PutObjectCommand } from '@aws-sdk/client-s3';
import { expect, it, onTestFinished, vi } from 'vitest';
import { examplesOf, runExample } from '../../docs/examples/docstring-examples.js';
import { withS3 } from '../../servers/start-s3.js';

it('the examples of sluice/s3 run', async () => {
  const { client, env } = await withS3();
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  for (const Key of ['contacts.csv', '2026/north.csv', '2026/south.csv']) {
    const Body = 'id,email\n1,good@sluice.test\n';
    await client.send(new PutObjectCommand({ Bucket: 'lists', Key, Body }));
  }
  const codes = await examplesOf('sluice/s3');
  expect(codes).toHaveLength(5);
  for (const code of codes) await runExample(code);
});
