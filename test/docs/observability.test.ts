import type ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';
import { diagnosticsChannels } from '../../src/diagnostics/channels.js';
import { codeSpans, Page, tableRows } from './page.js';
import { createProgram, membersOf } from './source-types.js';

const rows = tableRows(new Page('docs/observability.md').section('## Channels'));

let program: ts.Program;

beforeAll(() => {
  program = createProgram(new Map([['faces.ts', "import './src/index.js';\n"]]));
}, 120_000);

/** The type of what is published: `sluice:run:start` has RunStartEvent. */
function eventType(channel: string): string {
  const words = channel.split(':').slice(1);
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return `${name}Event`;
}

describe('the channels in docs/observability.md', () => {
  it('are those that there are', () => {
    expect(rows.flatMap(([name = '']) => codeSpans(name))).toEqual([...diagnosticsChannels]);
  });

  it.each(
    rows.map(
      ([name = '', , fields = '']) => [codeSpans(name)[0] ?? '', codeSpans(fields)] as const,
    ),
  )('%s has the fields that are said of it', (channel, fields) => {
    const known = membersOf(program, 'src/diagnostics/channels.ts', eventType(channel));
    expect(fields.toSorted()).toEqual(known.toSorted());
  });
});
