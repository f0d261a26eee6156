import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { putTable } from '../../benchmarks/harness/table.js';
import { questions } from '../../benchmarks/harness/questions.js';
import type { Answer } from '../../benchmarks/harness/answer.js';
import { Page, projectRoot } from './page.js';

const text = readFileSync(`${projectRoot}benchmarks/results.json`, 'utf8');
// `npm run bench` wrote it.
const { answers } = JSON.parse(text) as { readonly answers: readonly Answer[] };

describe('the figures in docs/performance.md', () => {
  it('are those of benchmarks/results.json', () => {
    const page = new Page('docs/performance.md');
    const figures = answers.flatMap((answer) => answer.figures);
    expect(page.text).toBe(putTable(page.text, figures));
  });

  it('answer questions that the benchmarks ask, in their order', () => {
    const answered = answers.map(({ question }) => question);
    expect(answered).toEqual(Object.keys(questions).filter((name) => answered.includes(name)));
  });

  it('name no machine and no path', () => {
    expect(text).not.toMatch(/\/(?:home|root|tmp|work|Users)\//);
  });
});
