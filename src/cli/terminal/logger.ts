import type { Writable } from 'node:stream';
import { printable, printableLine } from '../../platform/text/printable.js';
import type { MessageLog, Surroundings } from '../command.js';
import {
  formOf,
  listMark,
  message,
  nameOf,
  sentencesOf,
  type Message,
} from '../messages/catalogue.js';
import { errorFields, isTrace } from '../messages/describe-error.js';
import { printLines } from './print.js';
import { type LiveLines, type ProgressMode, widthOf } from './progress-lines.js';
import { hanging } from './text-table.js';

export interface LoggerOptions extends Pick<Surroundings, 'clock' | 'onMessage'> {
  /** @default false */
  readonly isQuiet?: boolean;
  /** One JSON object a line, for log collectors, instead of texts. @default false */
  readonly isJson?: boolean;
  /** Whether a person reads at a terminal: lines are wrapped, and do not name the program. @default false */
  readonly isTerminal?: boolean;
  /** @default 'lines' */
  readonly mode?: ProgressMode;
  /** Keys of what a person has read above: it counts, and is not shown again. */
  readonly shown?: ReadonlySet<string>;
}

/** Equal for two messages that say the same; of a column's doubt, whatever the counts are. */
export function messageKey({ event, fields }: Omit<Message, 'severity'>): string {
  const { doubt, column } = fields;
  return JSON.stringify([event, doubt === undefined ? fields : { doubt, column }]);
}

/** Of the items of a list where no terminal has a width. */
const logWidth = 100;

/** Writes messages to standard error as text or JSON, none twice in a row. */
export class Logger implements MessageLog {
  readonly #out: Writable;
  readonly #options: LoggerOptions;
  readonly #live: LiveLines | undefined;
  #isJson: boolean;
  #latest = '';
  #latestMs: number;
  readonly #warnings: string[] = [];
  /** Shows an open question again. */
  askAgain: (() => void) | undefined;

  /** @param live redrawn lines: others go above them */
  constructor(out: Writable, options: LoggerOptions, live?: LiveLines) {
    this.#out = out;
    this.#options = options;
    this.#live = live;
    this.#isJson = options.isJson === true;
    this.#latestMs = options.clock.now();
  }

  log(one: Message): void {
    const { severity } = one;
    const key = messageKey(one);
    if (severity === 'info') {
      if (this.#options.isQuiet === true || key === this.#latest) return;
      this.#latest = key;
    }
    const name = severity === 'warning' ? nameOf(one) : null;
    if (name !== null) this.#warnings.push(name);
    // A notice answers a person, and does so each time.
    if (severity !== 'notice' && this.#options.shown?.has(key) === true) return;
    this.#latestMs = this.#options.clock.now();
    this.#options.onMessage?.(one);
    const lines = this.isJson ? [this.#asJson(one)] : this.#asText(one);
    // The question keeps its line.
    if (this.askAgain) printLines('\n', this.#out);
    for (const line of lines) this.#put(line);
    this.askAgain?.();
  }

  /** Logs it unless something was logged lately; never where lines are redrawn or none are wanted. */
  logNowAndThen(one: Message, everyMs: number): void {
    if ((this.#options.mode ?? 'lines') !== 'lines') return;
    if (this.#options.clock.now() - this.#latestMs >= everyMs) this.log(one);
  }

  failed(error: unknown): void {
    this.log(message('error', errorFields(error)));
  }

  get isJson(): boolean {
    return this.#isJson;
  }

  /** From now on: a configuration is read when some messages may be written already. */
  useJson(): void {
    this.#isJson = true;
  }

  /** What people call those that were logged. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  #asJson(one: Message): string {
    const { event, severity, fields } = one;
    const time = new Date(this.#options.clock.wallNow()).toISOString();
    const text = sentencesOf(one).join('\n');
    return JSON.stringify({
      time,
      event,
      severity,
      ...(text !== '' && { message: text }),
      ...fields,
    });
  }

  #asText(one: Message): readonly string[] {
    const { mark, copied } = formOf(one);
    const isTerminal = this.#options.isTerminal === true;
    // In a log, too, the items of a list are read by people.
    const isItem = mark === listMark;
    const before = `${isTerminal || isItem ? mark : 'sluice: '}${one.severity === 'warning' ? 'warning: ' : ''}`;
    const { columns } = this.#out as Partial<NodeJS.WriteStream>;
    const lines = sentencesOf(one).map((line) => {
      // A trace keeps its lines.
      if (isTrace(one)) return printable(before + line);
      const text = printableLine(before + line);
      if (isTerminal) return hanging(text, widthOf(columns));
      return isItem ? hanging(text, logWidth) : text;
    });
    return copied === undefined ? lines : [...lines, printableLine(copied)];
  }

  #put(text: string): void {
    if (this.#live) this.#live.above(`${printable(text)}\n`);
    else printLines(`${text}\n`, this.#out);
  }
}
