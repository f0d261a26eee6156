// Sluice under Jest, in CommonJS: it is an ES module, so it is imported in the test.
// NODE_OPTIONS=--experimental-vm-modules npx jest --testMatch '**/jest.test.cjs'
test('writes to people whose address is valid', async () => {
  const { Client, verifyRows } = await import('sluice');
  const { createService } = await import('sluice/service');
  const service = await createService();
  const client = new Client(service);
  const people = [{ email: 'good@sluice.test' }, { email: 'bad@sluice.test' }];
  const options = { client, email: ['email'], country: 'US', pollIntervalMs: 10 };
  const valid = [];
  for await (const row of verifyRows(people, options)) valid.push(row.email_valid);
  expect(valid).toEqual([true, false]);
  await client.close();
  await service.close();
});
