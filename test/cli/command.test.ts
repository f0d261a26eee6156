import { describe, expect, it } from 'vitest';
import {
  defineCommand,
  defineOptions,
  ParsedOptions,
  type CommandInput,
  type NameOf,
} from '../../src/cli/command.js';
import { count } from '../../src/cli/options/option-types.js';

const options = defineOptions([
  { name: 'limit', type: count(), help: 'How many.' },
  { name: 'quiet', help: 'Print nothing.' },
]);

async function list(input: CommandInput<NameOf<typeof options>>): Promise<number> {
  return input.options.values(options).limit ?? 0;
}

describe('the options of a command', () => {
  it('are read by the names of their definitions alone', async () => {
    const given: ParsedOptions<NameOf<typeof options>> = new ParsedOptions(
      new Map([['limit', ['3']]]),
    );
    // @ts-expect-error -- a misspelt name does not compile
    expect(given.has('quite')).toBe(false);
    // @ts-expect-error -- nor does it where a value is read
    expect(given.values(options).limits).toBeUndefined();
    expect(given.values(options).limit).toBe(3);
  });

  it('are all that it may ask for', () => {
    const form = { name: 'list', usage: '', summary: '', examples: [], run: list };
    expect(defineCommand({ ...form, options }).options).toHaveLength(2);
    // @ts-expect-error -- it reads an option that it does not define
    expect(defineCommand({ ...form, options: defineOptions([]) }).options).toHaveLength(0);
    const half = defineOptions([{ name: 'quiet', help: 'Print nothing.' }]);
    // @ts-expect-error -- it reads another option than it defines
    expect(defineCommand({ ...form, options: half }).options).toHaveLength(1);
  });
});
