import { text } from 'node:stream/consumers';
import { recordFields } from '../../contract/index.js';
import { ConfigurationError, History, type HistoryResult, type HistoryStats } from '../../index.js';
import { defineCommand, type CommandInput, programName } from '../command.js';
import { exitCodes } from '../process/exit-code.js';
import { maxAgeOption, waitLockOption } from '../options/store-options.js';
import { jsonText, print } from '../terminal/print.js';
import { printableLine } from '../../platform/text/printable.js';
import { counted, describeCredits, grouped, moment } from '../../platform/text/shown-numbers.js';
import { standard } from '../endpoints/locations.js';
import { localPath } from '../options/option-types.js';
import { textTable } from '../terminal/text-table.js';

const actions = ['stats', 'prune', 'export', 'forget'] as const;

export const historyCommand = defineCommand({
  name: 'history',
  usage: 'stats|prune|export|forget <file> [<address>…]',
  summary:
    'Look into a history (stats), drop what is too old (prune), print its results (export), forget addresses (forget).',
  words: actions,
  options: [
    { ...maxAgeOption, help: 'prune, stats: how old a result may be, as for sluice verify.' },
    waitLockOption,
    { name: 'json', help: 'Print JSON; export: one object a line.' },
  ],
  examples: [
    'sluice history stats contacts.history',
    'sluice history prune contacts.history --max-age valid=180,unknown=7',
    'sluice history export contacts.history --json > results.jsonl',
    'sluice history forget contacts.history ann@example.com',
  ],
  async run(input) {
    const { positionals, options, signal, cwd } = input;
    const [word, path, ...addresses] = positionals;
    const action = actions.find((known) => known === word);
    if (!action || path === undefined) {
      throw new ConfigurationError(
        `name ${action ? '' : 'an action and '}a history: ${programName(input)} history ${action ?? actions.join('|')} <file>`,
        { fault: 'missing' },
      );
    }
    if (action === 'forget' ? addresses.length === 0 : addresses.length > 0) {
      throw new ConfigurationError(
        action === 'forget'
          ? 'name the addresses to forget, or - for one a line on standard input'
          : `sluice history ${action} takes one history, not ${positionals.length - 1} arguments`,
        { fault: action === 'forget' ? 'missing' : 'repeated' },
      );
    }
    const history = await History.open({
      path: localPath(cwd, path),
      signal,
      ...options.libraryValues([maxAgeOption, waitLockOption]),
    });
    try {
      await print(await outputOf(action, history, addresses, input), input.stdout);
    } finally {
      await history.close();
    }
    return exitCodes.done;
  },
});

async function outputOf(
  action: (typeof actions)[number],
  history: History,
  addresses: readonly string[],
  { options, stdin, stdout }: CommandInput<'json'>,
): Promise<string> {
  const isJson = options.has('json');
  switch (action) {
    case 'stats':
      return statsText(await history.stats(), isJson);
    case 'prune': {
      const dropped = await history.prune();
      return isJson
        ? jsonText({ dropped, left: history.size })
        : `dropped ${counted(dropped, 'result')} that ${dropped === 1 ? 'was' : 'were'} too old; ${grouped(history.size)} left\n`;
    }
    case 'export':
      for (const lines of inPieces(exportLines(history, isJson))) await print(lines, stdout);
      return '';
    case 'forget': {
      const given = addresses.includes(standard)
        ? [...addresses.filter((address) => address !== standard), ...(await linesOf(stdin()))]
        : addresses;
      const forgotten = await history.forget(given);
      return isJson
        ? jsonText({ forgotten, left: history.size })
        : `forgot ${counted(forgotten, 'result')}; ${grouped(history.size)} left\n`;
    }
  }
}

function statsText(stats: HistoryStats, isJson: boolean): string {
  if (isJson) return jsonText(stats);
  const { verdicts, saved, unknownCost } = stats;
  const refunds = describeCredits(stats.refunded);
  const counts = Object.entries(verdicts).map(
    ([verdict, count]) => `${grouped(count)} ${verdict === 'none' ? 'without a verdict' : verdict}`,
  );
  return textTable([
    ['history', stats.path],
    ['service', stats.service],
    ['addresses', `${grouped(stats.addresses)} (${counts.join(', ')})`],
    [
      'usable',
      stats.usable < stats.addresses
        ? `${grouped(stats.usable)}: the others are too old`
        : grouped(stats.usable),
    ],
    ['batches', grouped(stats.batches)],
    [
      'spent',
      `${describeCredits(stats.spent) ?? '0 credits'} in all${refunds === undefined ? '' : `, before refunds of ${refunds}`}`,
    ],
    ...(unknownCost.batches === 0
      ? []
      : [
          [
            'not known',
            `up to ${describeCredits(unknownCost) ?? '0 credits'} more: what ${counted(unknownCost.batches, 'batch')} cost that ${unknownCost.batches === 1 ? 'is' : 'are'} not finished, or of which the service does not say it`,
          ],
        ]),
    [
      'saved',
      `${counted(saved.email + saved.phone, 'address')} not paid for again, in ${counted(saved.runs, 'finished run')}`,
    ],
    [
      'fetched',
      stats.oldest === null || stats.latest === null
        ? 'nothing yet'
        : `${moment(new Date(stats.oldest))} to ${moment(new Date(stats.latest))}`,
    ],
    [
      'size',
      `${sizeText(stats.bytes)}, with ${counted(stats.superseded, 'result')} that newer ones have replaced`,
    ],
  ]);
}

function sizeText(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB'];
  const at = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${grouped(bytes / 1000 ** at)} ${units[at] ?? ''}`;
}

const linesPerPiece = 1000;
const exportColumns = ['valid', 'wrong', 'unknown'] as const;

function* exportLines(history: History, isJson: boolean): Generator<string> {
  if (!isJson) {
    yield `hash,type,verification,${exportColumns.join(',')},verified_at,batch_uuid\n`;
  }
  for (const result of history.results()) {
    const record = recordOf(result);
    const { hash, type, verification, verifiedAt, batchUuid } = result;
    yield isJson
      ? `${JSON.stringify({ hash, type, verification, ...record, verified_at: verifiedAt, batch_uuid: batchUuid })}\n`
      : `${[
          hash,
          type ?? '',
          verification,
          ...exportColumns.map((name) => (record[name] === undefined ? '' : `${record[name]}`)),
          verifiedAt,
          batchUuid,
        ]
          .map(printableLine)
          .join(',')}\n`;
  }
}

/** A history can be larger than the longest string. */
function* inPieces(lines: Iterable<string>): Generator<string> {
  let piece: string[] = [];
  for (const line of lines) {
    piece.push(line);
    if (piece.length < linesPerPiece) continue;
    yield piece.join('');
    piece = [];
  }
  yield piece.join('');
}

function recordOf({
  type,
  values,
}: HistoryResult): Readonly<Record<string, string | boolean | null>> {
  if (type === null || values === null) return {};
  return Object.fromEntries(recordFields[type].map((name, index) => [name, values[index] ?? null]));
}

async function linesOf(input: NodeJS.ReadStream): Promise<readonly string[]> {
  return (await text(input)).split('\n').filter((line) => line.trim() !== '');
}
