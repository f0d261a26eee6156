import { describe, expect, it } from 'vitest';
import type { ConformanceReport } from '../../../src/conformance/check-conformance.js';
import { runInProcess } from '../harness/run-in-process.js';
import { serve } from './serving.js';

describe('sluice conformance', () => {
  it('holds sluice serve to the specification, clause by clause', async () => {
    const serving = await serve(['--verify-delay', '200'], { SLUICE_API_KEY: 'k' });
    const args = ['conformance', '--base-url', serving.baseUrl, '--spend'];
    const ended = await runInProcess(args, { env: { SLUICE_API_KEY: 'k' } });
    expect(ended.stderr).toBe('');
    expect(ended.code).toBe(0);
    const table = ended.stdout.toString();
    expect(table).toMatch(
      /^docs\/reference\/service-interface\.md#1-what-the-service-does\nholds {11}1\.1 {34}verifies two kinds of data/,
    );
    expect(table.match(/^docs\/reference\/service-interface\.md#.*$/gm)).toHaveLength(17);
    expect(table).not.toMatch(/^FAILS/m);
    expect(table).toMatch(/\d+ clauses\n/);
    await serving.stop();
  });

  it('gives its report as JSON, asks nothing that costs without being told to, refuses a bad key', async () => {
    const serving = await serve(['--email-credits', '0'], { SLUICE_API_KEY: 'k' });
    const args = ['conformance', '--base-url', serving.baseUrl, '--json'];
    const ended = await runInProcess(args, { env: { SLUICE_API_KEY: 'k' } });
    const report = JSON.parse(ended.stdout.toString()) as ConformanceReport;
    expect([ended.code, report.conforms]).toEqual([0, true]);
    expect(report.outcomes.needs_spend).toBeGreaterThan(20);
    const refused = await runInProcess(args, { env: { SLUICE_API_KEY: 'wrong' } });
    expect(refused.code).toBe(4);
    await serving.stop();
    const gone = await runInProcess(args, { env: { SLUICE_API_KEY: 'k' } });
    expect(gone.code).toBe(7);
    expect((await runInProcess(['conformance', 'x'])).code).toBe(2);
  });
});
