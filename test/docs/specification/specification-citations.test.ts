import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { allClauses, sectionOf } from '../../../src/conformance/check-conformance.js';
import { projectRoot } from '../page.js';
import { section, specification, specificationPath } from './specification.js';

/** The numbers of the points in a section's list. */
function points(number: string): readonly string[] {
  return section(number)
    .split('\n')
    .flatMap((line) => /^(\d+)\. /.exec(line)?.[1] ?? []);
}

describe('the clauses of the conformance suite', () => {
  it('are each of a section of docs/reference/service-interface.md', () => {
    const places = new Set(allClauses.map(({ id }) => sectionOf(id)));
    const anchors = [...specification.anchors()].filter((anchor) => /^\d/.test(anchor));
    const known = anchors.filter((anchor) => anchor !== '2-resources-and-their-fields');
    expect([...places]).toEqual(known.map((anchor) => `${specificationPath}#${anchor}`));
  });

  it('that name a point name one that its list has', () => {
    const named = allClauses.flatMap(({ id }) => {
      const found = /^([13-9])(?:\.| rule | note )(\d+)/.exec(id);
      return found ? [found] : [];
    });
    const lost = named.filter(([, number = '', point = '']) => !points(number).includes(point));
    expect(lost.map(([id]) => id)).toEqual([]);
    expect(named.length).toBeGreaterThan(30);
  });

  it('that are open are open there too', () => {
    const open = allClauses.filter((clause) => 'notShown' in clause).map(({ id }) => id);
    const isOpen = (id: string): boolean =>
      section(/^\d(?:\.\d)?/.exec(id)?.[0] ?? '').includes('**Not shown:**');
    expect(open.filter((id) => !isOpen(id))).toEqual([]);
  });
});

describe('what cites the specification', () => {
  const files = ['src', 'test'].flatMap((folder) =>
    readdirSync(`${projectRoot}${folder}`, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('specification-citations.test.ts'))
      .map((name) => `${folder}/${name}`),
  );
  /** Each as one line: a comment goes on on the next. */
  const texts = files.map((file) => {
    const text = readFileSync(`${projectRoot}${file}`, 'utf8').replaceAll(
      /\n *(?:\*|\/\/) ?/g,
      ' ',
    );
    return { file, text };
  });

  function found(
    form: RegExp,
  ): readonly { readonly file: string; readonly words: RegExpExecArray }[] {
    return texts.flatMap(({ file, text }) =>
      [...text.matchAll(form)].map((words) => ({ file, words })),
    );
  }

  it('names a section of docs/reference/service-interface.md, and a point that is in it', () => {
    const cited = found(
      /\bspec (\d(?:\.\d+)?(?:(?:, | and )\d(?:\.\d+)?)*)(?:, (?:rule|note)s? (\d(?: and \d)?))?/gi,
    );
    expect(cited.length).toBeGreaterThan(120);
    for (const { file, words } of cited) {
      const [citation, numbers = '', listed] = words;
      for (const number of numbers.split(/, | and /)) {
        expect(() => section(number), `${file}: ${citation}`).not.toThrow();
      }
      const named = listed?.split(' and ') ?? [];
      const listedThere = named.length === 0 ? [] : points(numbers);
      expect(listedThere, `${file}: ${citation}`).toEqual(expect.arrayContaining(named));
    }
  });

  it('does so in one form: spec, and the number', () => {
    const other = found(/\bspec\b(?! \d)|(?<!RFC \d{4}, |TS 23\.003, )\bsections? \d/gi);
    expect(other.map(({ file, words }) => `${file}: ${words[0]}`)).toEqual([]);
  });

  it('quotes it to the letter', () => {
    const quoted = found(/"([^"]+)" \(spec (\d(?:\.\d+)?)/gi);
    expect(quoted.length).toBeGreaterThan(15);
    for (const { file, words } of quoted) {
      const [, quote = '', number = ''] = words;
      const text = section(number)
        .replaceAll(/\s+(?:\d\. )?/g, ' ')
        .toLowerCase();
      expect(text, file).toContain(quote.toLowerCase());
    }
  });
});
