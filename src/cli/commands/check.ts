import {
  defaultUnitRequest,
  verificationTypes,
  type UnitAnswer,
  type UnitRequest,
  type VerificationType,
} from '../../contract/index.js';
import { ConfigurationError, type Client } from '../../index.js';
import {
  defineCommand,
  defineOptions,
  type ParsedOptions,
  type CommandInput,
  type NameOf,
} from '../command.js';
import { connectionOptions } from '../service/connect.js';
import { exitCodes } from '../exit-code.js';
import { fieldsText } from '../messages/fields-text.js';
import { countryOption, findCountry, readType } from '../options/batch-options.js';
import { choice } from '../options/option-types.js';
import { onlyArgument } from '../options/positionals.js';
import { jsonOption, printAnswer } from '../terminal/print.js';
import { withAnyService } from '../service/with-service.js';

const checkOptions = defineOptions([
  {
    name: 'type',
    type: choice('<type>', verificationTypes),
    help: 'email or phone (default: an address with an @ is an email).',
  },
  { ...countryOption, help: 'Target country, such as US; phones need it.' },
  jsonOption,
  ...connectionOptions,
]);

export const checkCommand = defineCommand({
  name: 'check',
  usage: '<address> [--country <CC>] [options]',
  summary: 'Verify one address at once; it costs a credit.',
  options: checkOptions,
  examples: [
    'sluice check ada@example.com --local',
    'sluice check "+1 202 555 0123" --country US --local --json',
  ],
  run: checkOne,
});

async function checkOne(input: CommandInput<NameOf<typeof checkOptions>>): Promise<number> {
  const { options, signal } = input;
  const address = onlyArgument(input.positionals, 'name one address to verify').trim();
  if (address === '') throw new ConfigurationError('the address is empty');
  const request = unitRequest(address, options);
  const answer = await withAnyService(input, (client) => verify(client, request, signal));
  await printAnswer(input, answer, () => fieldsText(flattened(answer)));
  return answer.status === 'ok' ? exitCodes.done : exitCodes.someFailed;
}

async function verify(
  client: Client,
  request: UnitRequest,
  signal: AbortSignal,
): Promise<UnitAnswer> {
  return client.verifyUnit(request, { signal });
}

function unitRequest(address: string, options: ParsedOptions<'type' | 'country'>): UnitRequest {
  const type = options.has('type') ? readType(options) : typeOf(address);
  const targetCountry = findCountry(options);
  if (targetCountry !== undefined) return defaultUnitRequest({ type, address, targetCountry });
  if (type === 'email') return { type, email: address };
  throw new ConfigurationError('a phone number needs its target country: --country <CC>', {
    code: 'country_missing',
  });
}

function typeOf(address: string): VerificationType {
  return address.includes('@') ? 'email' : 'phone';
}

/** The verdict stands first, whatever the service has put around it. */
function flattened(answer: UnitAnswer): unknown {
  const { result, ...others } = answer;
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return answer;
  return { ...result, ...others };
}
