import { defineCommand, defineOptions } from '../command.js';
import { chooseTarget, type Target, targetOptions } from '../connect.js';
import { exitCodes } from '../process/exit-code.js';
import { duration } from '../options/option-types.js';
import { noArguments } from '../options/parse-command-line.js';
import { jsonOption, jsonText, print } from '../terminal/print.js';

const conformanceOptions = defineOptions([
  ...targetOptions,
  { name: 'spend', help: 'Check also what costs credits: at most 10 email, 2 phone credits.' },
  {
    name: 'patience',
    type: duration,
    library: 'patienceMs',
    help: 'How long a batch may take from one state to the next, in seconds (default: 600).',
  },
  jsonOption,
]);

export const conformanceCommand = defineCommand({
  name: 'conformance',
  usage: '[options]',
  summary:
    'Check a service against the specification (docs/reference/service-interface.md), clause by clause.',
  options: conformanceOptions,
  examples: [
    'sluice conformance --local --spend',
    'SLUICE_API_KEY=secret sluice conformance --base-url https://service.example',
  ],
  async run({ positionals, options, env, signal, stdout }) {
    noArguments('conformance', positionals);
    const service = await open(await chooseTarget(options, env));
    const { checkConformance, conformanceLines, conformanceSums } =
      await import('../../conformance/check-conformance.js');
    const isJson = options.has('json');
    const { patienceMs } = options.libraryValues(conformanceOptions);
    // Lines are printed in order, each when the one before is out.
    let printed = Promise.resolve();
    let section: string | undefined;
    try {
      const report = await checkConformance({
        baseUrl: service.baseUrl,
        apiKey: service.apiKey,
        spend: options.has('spend'),
        ...(patienceMs !== undefined && { patienceMs }),
        signal,
        onClause: (checked) => {
          const lines = conformanceLines(checked, section);
          ({ section } = checked);
          if (!isJson) printed = printed.then(async () => print(lines, stdout));
          // A failed print is reported at the end.
          printed.catch(() => undefined);
        },
      });
      await printed;
      await print(isJson ? jsonText(report) : conformanceSums(report), stdout);
      return report.conforms ? exitCodes.done : exitCodes.someFailed;
    } finally {
      await service.close();
    }
  },
});

async function open(
  target: Target,
): Promise<{ readonly baseUrl: string; readonly apiKey: string; close(): Promise<void> }> {
  if (target.kind === 'service') return { ...target, close: async () => undefined };
  const { createService } = await import('../../service/index.js');
  // Long enough in each state to be seen there.
  return createService({ verifyDelayMs: 200 });
}
