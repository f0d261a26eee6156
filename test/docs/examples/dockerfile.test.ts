import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { projectRoot } from '../page.js';

/** Instructions in order, with lines that go on joined; comments and blank lines left out. */
function instructions(): readonly (readonly [string, string])[] {
  const text = readFileSync(`${projectRoot}examples/Dockerfile`, 'utf8');
  const lines = text.replaceAll(/\\\n\s*/g, '').split('\n');
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => [line.split(' ', 1)[0] ?? '', line.slice(line.indexOf(' ') + 1)] as const);
}

test('examples/Dockerfile keeps the rules that linters of Dockerfiles check', () => {
  const found = instructions();
  const of = (name: string): readonly string[] =>
    found.filter(([instruction]) => instruction === name).map(([, rest]) => rest);
  expect(found[0]?.[0]).toBe('FROM');
  // A base that is named by version, a user that is not root, commands without a shell around them.
  expect(of('FROM')).toHaveLength(2);
  for (const base of of('FROM')) expect(base).toMatch(/^node:\d+-[\w-]+( AS \w+)?$/);
  expect(of('USER').at(-1)).not.toMatch(/^(root|0)$/);
  for (const command of [...of('ENTRYPOINT'), ...of('CMD')]) {
    expect(JSON.parse(command)).toEqual(expect.any(Array));
  }
  for (const command of of('RUN')) {
    expect(command).not.toMatch(/\bsudo\b|\bcd /);
  }
  // The state of a run outlives its container, and npm's cache stays in the first stage.
  expect(of('VOLUME')).toEqual([of('WORKDIR').at(-1)]);
  const last = found.slice(found.findLastIndex(([name]) => name === 'FROM'));
  expect(last.filter(([, rest]) => rest.includes('npm'))).toEqual([]);
  for (const folder of of('WORKDIR')) expect(folder).toMatch(/^\//);
  const known = ['FROM', 'COPY', 'RUN', 'USER', 'WORKDIR', 'VOLUME', 'ENTRYPOINT', 'CMD'];
  expect(found.filter(([name]) => !known.includes(name))).toEqual([]);
});
