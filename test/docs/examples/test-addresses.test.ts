import { expect, it, onTestFinished } from 'vitest';
import { Client, verifyRows } from '../../../src/index.js';
import { createService } from '../../../src/service/index.js';
import { codeSpans, Page, tableRows } from '../page.js';

type Verdict = 'valid' | 'wrong' | 'unknown';

/** The verdicts of numbers, as a service gives them; none for those that it removes as no numbers. */
async function verdictsOf(numbers: readonly string[]): Promise<readonly string[]> {
  const service = await createService();
  const client = new Client(service);
  onTestFinished(async () => {
    await client.close();
    await service.close();
  });
  const options = { client, phone: ['mobile'], country: 'US', pollIntervalMs: 1 } as const;
  const verdicts: string[] = [];
  for await (const row of verifyRows(
    numbers.map((mobile) => ({ mobile })),
    options,
  )) {
    const flags: Readonly<Record<Verdict, boolean | null>> = {
      valid: row.mobile_valid,
      wrong: row.mobile_wrong,
      unknown: row.mobile_unknown,
    };
    const set = Object.entries(flags).filter(([, flag]) => flag === true);
    verdicts.push(set.map(([name]) => name).join() || String(row.mobile_reason));
  }
  return verdicts;
}

it('the numbers of docs/local-service.md have the verdicts that it says', async () => {
  const section = new Page('docs/local-service.md').section('## Test addresses');
  const shown = tableRows(section).flatMap(([number = '', verdict]) => {
    const [pattern = ''] = codeSpans(number);
    const short = /^(\+999\d+)…$/.exec(pattern)?.[1];
    return short === undefined
      ? []
      : [`${short}5550`, `${short}555012345`].map((whole) => [whole, verdict] as const);
  });
  expect(shown).toHaveLength(16);
  expect(await verdictsOf(shown.map(([number]) => number))).toEqual(
    shown.map(([, verdict]) => verdict),
  );
  const others = ['+999001555', '+9990015550123456'];
  expect(section).toContain('(`no_record`)');
  expect(await verdictsOf(others)).toEqual(others.map(() => 'no_record'));
});
