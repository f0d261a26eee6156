import { expect, it } from 'vitest';
import { runExample } from './docstring-examples.js';
import { Page } from '../page.js';

/** How often the rule of the page makes a call that always ends with this error. */
const calls = `
const callsOf = async (error) => {
  let calls = 0;
  const job = async () => {
    calls += 1;
    throw error;
  };
  const last = await withRetries(job, 1).catch((thrown) => thrown);
  return last === error ? calls : 'another error';
};
const unpaid = { code: 'payment_required', operation: 'launchBatch', status: 402 };
console.log(await callsOf(new BudgetError('no credits'))); // 1
console.log(await callsOf(new ApiError('no credits', unpaid))); // 1
console.log(await callsOf(new DetachedError('not agreed', { retryable: false }))); // 1
console.log(await callsOf(new Error('a defect'))); // 1
console.log(await callsOf(new DeadlineError('slow'))); // 5
console.log(await callsOf(new StateError('busy', { code: 'state_locked' }))); // 5
`;

it('the retry rule of the page ends, and repeats nothing that needs a person', async () => {
  const block = new Page('docs/when-it-stops.md')
    .blocks('ts')
    .find(({ text }) => text.includes('withRetries'));
  const rule = block?.text.replace(/^import .*\n/gm, '').replace('export ', '');
  const wait = 'const wait = (ms) => new Promise((done) => setTimeout(done, ms));';
  await expect(runExample(`${wait}\n${rule}\n${calls}`)).resolves.toBeUndefined();
});
