import type { Writable } from 'node:stream';
import { OutputError } from '../../index.js';
import { printable, printableJson } from '../../platform/text/printable.js';
import type { CommandInput, OptionDefinition } from '../command.js';

/* Everything printed goes through here, but for data on standard output: names and answers may hold control characters. */

export async function print(text: string, out: Writable): Promise<void> {
  await write(printable(text), out);
}

/** Says several lines on standard error, or where else a person reads. */
export function printLines(text: string, out: Writable): void {
  out.write(printable(text));
}

export async function printBytes(bytes: AsyncIterable<Uint8Array>, out: Writable): Promise<void> {
  for await (const piece of bytes) await write(piece, out);
}

export async function printJson(bytes: AsyncIterable<Uint8Array>, out: Writable): Promise<void> {
  const decoder = new TextDecoder();
  for await (const piece of bytes) {
    await write(printableJson(decoder.decode(piece, { stream: true })), out);
  }
  await write(printableJson(decoder.decode()), out);
}

async function write(text: string | Uint8Array, out: Writable): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    out.write(text, (cause) => {
      if (cause) reject(new OutputError('cannot write standard output', { cause }));
      else resolve();
    });
  });
}

/**
 * Waits until standard error has taken everything, or never will: an exit drops what still waits. Writers to
 * standard output wait there; a reader that stopped reading must not hold up an exit.
 */
export async function printed({ stderr }: NodeJS.Process): Promise<void> {
  await new Promise<void>((resolve) => {
    stderr.write('', () => {
      resolve();
    });
  });
}

/** Keeps a closed pipe from ending the process: standard output's writers get the error, messages are dropped. */
export function outliveClosedPipes({ stdout, stderr }: NodeJS.Process): void {
  for (const stream of [stdout, stderr]) stream.on('error', () => undefined);
}

export const jsonOption = { name: 'json', help: 'Print JSON.' } as const satisfies OptionDefinition;

export async function printAnswer(
  { options, stdout }: CommandInput<'json'>,
  answer: unknown,
  forPeople: () => string,
): Promise<void> {
  await print(options.has('json') ? jsonText(answer) : forPeople(), stdout);
}

export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
