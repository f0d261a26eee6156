import { it } from 'vitest';
import { expectPage } from './expect-page.js';
import { Page } from '../page.js';
import { documentedOptions, type DocumentedOption } from '../source-types.js';

const path = 'docs/reference/library.md';

function itemOf({ names, text, whenAbsent }: DocumentedOption): string {
  const ending = whenAbsent === undefined ? '' : ` Default: ${whenAbsent}.`;
  const linked = text.replace(/\(([a-z]+ \d[\d.]*)\)/, '([$1](service-interface.md))');
  return `- ${names.map((name) => `\`${name}\``).join(', ')}: ${linked}${ending}`;
}

/** The options of a type; those that `verify()` has with the same text are named together. */
function optionsOf(
  module: string,
  type: string,
  verifyOptions: readonly DocumentedOption[],
): readonly DocumentedOption[] {
  const known = new Set(verifyOptions.map((option) => itemOf(option)));
  const all = documentedOptions(module, type);
  const shared = all.filter((option) => known.has(itemOf(option)));
  if (shared.length === 0) return all;
  const names = shared.flatMap((option) => option.names);
  return [
    ...all.filter((option) => !shared.includes(option)),
    { names, text: 'As for [`verify()`](#options-of-verify).', whenAbsent: undefined },
  ];
}

/** Held by the tests of tables, which ask the compiler too. */
export function describeLibraryOptions(): void {
  it(`${path} lists the options by what their types say of them (npm run pages writes it)`, async () => {
    const ofVerify = documentedOptions('src/engine/streams/stream-options.ts', 'VerifyOptions');
    const ofRun = optionsOf('src/engine/runs/options/run-options.ts', 'RunOptions', ofVerify);
    const lists = new Map([
      ['### Options of verify()', ofVerify],
      ['### Options of run()', ofRun],
      ['### Options of a call', documentedOptions('src/client/client-options.ts', 'CallOptions')],
      [
        '### Options of the client',
        documentedOptions('src/client/client-options.ts', 'ClientOptions'),
      ],
    ]);
    const page = new Page(path);
    let { text } = page;
    for (const [heading, options] of lists) {
      const section = page.section(heading);
      const kept = section.split('\n').filter((line) => !line.startsWith('- '));
      const list = options.map((option) => itemOf(option)).join('\n');
      text = text.replace(section, () => `${kept.join('\n').trimEnd()}\n\n${list}\n`);
    }
    await expectPage(path, [text]);
  });
}
