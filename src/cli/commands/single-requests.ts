import {
  defaultUnitRequest,
  type UnitAnswer,
  type UnitRequest,
  type VerificationType,
} from '../../contract/index.js';
import { fitsCountry, phoneCountry } from '../../engine/addresses/phone/phone-country.js';
import { suggestDomain } from '../../engine/addresses/suggest-domain.js';
import { isMalformed } from '../../engine/driver/verify-address.js';
import { ConfigurationError } from '../../index.js';
import { grouped } from '../../platform/text/shown-numbers.js';
import { defineCommand, type ParsedOptions } from '../command.js';
import { exitCodes } from '../process/exit-code.js';
import { fieldsText, textTable } from '../terminal/text-table.js';
import { countryOption, findCountry, readType, typeOption } from '../options/batch-options.js';
import { noArguments, onlyArgument } from '../options/parse-command-line.js';
import {
  askPaid,
  serviceOptions,
  singleConnectionOptions,
  withService,
  withAnyService,
} from '../connect.js';
import { jsonOption, printAnswer } from '../terminal/print.js';

export const creditsCommand = defineCommand({
  name: 'credits',
  usage: '[options]',
  summary: "Show the account's credits.",
  options: [jsonOption, ...serviceOptions],
  examples: ['sluice credits', 'sluice credits --json'],
  async run(input) {
    noArguments('credits', input.positionals);
    const balance = await withService(input, (client) => client.credits({ signal: input.signal }));
    await printAnswer(input, balance, () =>
      textTable([
        ['email credits', grouped(balance.email_credit)],
        ['phone credits', grouped(balance.phone_credit)],
      ]),
    );
    return exitCodes.done;
  },
});

export const checkCommand = defineCommand({
  name: 'check',
  usage: '<address> [--country <CC>] [options]',
  summary: 'Verify one address at once; it costs a credit.',
  options: [
    {
      ...typeOption,
      help: 'email or phone, asked whatever its form (default: an address with an @ is an email; what cannot be an address is refused).',
    },
    {
      ...countryOption,
      help: 'Target country, such as US; phones need it, unless their calling code says it.',
    },
    jsonOption,
    ...singleConnectionOptions,
  ],
  examples: [
    'sluice check ada@example.com --local',
    'sluice check "+1 202 555 0123" --country US --local --json',
  ],
  async run(input) {
    const { options } = input;
    const address = onlyArgument(input.positionals, 'name one address to verify').trim();
    if (address === '') throw new ConfigurationError('the address is empty', { fault: 'empty' });
    const request = unitRequest(address, options);
    const answer = await withAnyService(input, (client) =>
      askPaid(input, 'verifyUnit', (call) => client.verifyUnit(request, call)),
    );
    const meant = request.type === 'email' ? suggestDomain(address) : undefined;
    const hint = meant === undefined ? '' : fieldsText({ suggestion: meant });
    await printAnswer(input, answer, () => fieldsText(flattened(answer)) + hint);
    return answer.status === 'ok' ? exitCodes.done : exitCodes.someFailed;
  },
});

function unitRequest(address: string, options: ParsedOptions<'type' | 'country'>): UnitRequest {
  const type = options.has('type') ? readType(options) : guessType(address);
  const targetCountry = findCountry(options);
  if (targetCountry !== undefined) return defaultUnitRequest({ type, address, targetCountry });
  if (type === 'email') return { type, email: address };
  const own = phoneCountry(address);
  const likely = typeof own === 'string' ? own : undefined;
  if (likely !== undefined && fitsCountry(address, likely)) {
    return defaultUnitRequest({ type, address, targetCountry: likely });
  }
  throw new ConfigurationError(
    `a phone number needs its target country: ${likely === undefined ? '--country <CC>' : `--country ${likely}, if its calling code is right`}`,
    { code: 'country_missing', option: 'country' },
  );
}

/** The service charges for whatever it is asked. */
function guessType(address: string): VerificationType {
  const type = address.includes('@') ? 'email' : 'phone';
  if (!isMalformed(type, address)) return type;
  throw new ConfigurationError(
    type === 'email'
      ? 'no email address has this form, and asking costs a credit: --type email asks all the same'
      : 'it is neither an email address (it has no @) nor a phone number (it has too few digits), and asking costs a credit: --type asks all the same',
    { option: 'type', fault: 'unsupported' },
  );
}

/** The verdict comes first, whatever surrounds it in the answer: a phone has a `status` of its own. */
function flattened(answer: UnitAnswer): unknown {
  const { result, ...others } = answer;
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return answer;
  return { ...result, ...others, ...result };
}
