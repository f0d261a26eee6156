// The same function against the local service: real requests, real batches, no mocks, no cost.
import { Client } from 'sluice';
import { createService, type ServiceOptions } from 'sluice/service';
import { expect, onTestFinished, test } from 'vitest';
import { whoToWriteTo } from './newsletter.js';

const people = [
  { name: 'Ada', email: 'good@sluice.test' },
  { name: 'Bob', email: 'bad@sluice.test' },
  { name: 'Cyd', email: 'GOOD@sluice.test' },
  { name: 'Dan', email: '' },
];

async function connect(options: ServiceOptions = {}) {
  const service = await createService(options);
  const client = new Client(service);
  onTestFinished(async () => {
    await client.close();
    await service.close();
  });
  return { service, client };
}

test('writes to people whose address is valid, and pays for each address once', async () => {
  const { service, client } = await connect();
  expect(await whoToWriteTo(client, people)).toEqual(['Ada', 'Cyd']);
  const charged: string[] = [];
  for await (const { address } of service.ledger()) charged.push(address);
  expect(charged).toHaveLength(2);
  expect(new Set(charged)).toEqual(new Set(['bad@sluice.test', 'good@sluice.test']));
});

test('pays once, too, when the answer to the launch is lost', async () => {
  const { service, client } = await connect({
    faults: { faults: [{ operation: 'launchBatch', when: 'after', what: { reset: true } }] },
  });
  expect(await whoToWriteTo(client, people)).toEqual(['Ada', 'Cyd']);
  let credits = 0;
  for await (const charge of service.ledger()) credits += charge.credits;
  expect(credits).toBe(2);
});

test('says so when the credits are used up', async () => {
  const { client } = await connect({ emailCredits: 1 });
  await expect(whoToWriteTo(client, people)).rejects.toMatchObject({ code: 'payment_required' });
});
