import { open, stat } from 'node:fs/promises';
import { ConfigurationError, InputError, type UploadFile } from '../../index.js';
import { describeSystemError } from '../../platform/text/system-errors.js';

const chunkBytes = 256 * 1024;

/** Opens a file of addresses, one a line, to be sent unchanged. Scanned first: an invalid one is refused unsent. */
export async function openLineFile(path: string): Promise<UploadFile> {
  const sizeBytes = await sizeOf(path);
  const check = createLineCheck(path);
  for await (const chunk of bytesOf(path)) check.take(chunk);
  check.end();
  return { sizeBytes, open: () => bytesOf(path) };
}

async function sizeOf(path: string): Promise<number> {
  try {
    const found = await stat(path);
    if (found.isFile()) return found.size;
  } catch (cause) {
    throw unreadable(path, cause);
  }
  throw new InputError(`${path} is not a file`, { code: 'input_unreadable', file: path });
}

function unreadable(path: string, cause: unknown): InputError {
  return new InputError(`cannot read ${path}: ${describeSystemError(cause)}`, {
    code: 'input_unreadable',
    cause,
    file: path,
  });
}

async function* bytesOf(path: string): AsyncGenerator<Uint8Array, void, undefined> {
  let file;
  try {
    file = await open(path);
    yield* file.createReadStream({
      highWaterMark: chunkBytes,
      autoClose: false,
    }) as AsyncIterable<Uint8Array>;
  } catch (cause) {
    throw unreadable(path, cause);
  } finally {
    await file?.close();
  }
}

/** Characters that a line must not hold, and its end. */
const notable = /[\n,\uFEFF\u2028\u2029\p{Cc}]/gu;

const troubles: ReadonlyMap<string, string> = new Map([
  [',', 'holds a comma: a batch file is not CSV'],
  ['\r', 'ends with a carriage return: lines end with LF alone'],
  ['\uFEFF', 'holds a byte-order mark'],
]);

/** "One address a line, without a header row, without commas" (spec 1); UTF-8 without a byte-order mark. */
function createLineCheck(path: string): { take(chunk: Uint8Array): void; end(): void } {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let line = 1;
  let isLineEmpty = true;
  const refuse = (trouble: string): never => {
    throw new ConfigurationError(
      `${path}, line ${line}: ${trouble}; sluice verify takes lists of any form`,
      { file: path, line },
    );
  };
  const decode = (chunk: Uint8Array | undefined): string => {
    try {
      return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode();
    } catch {
      return refuse('is not UTF-8, or the line before or after it');
    }
  };
  const take = (text: string): void => {
    let taken = 0;
    for (const { 0: character, index } of text.matchAll(notable)) {
      if (character !== '\n') refuse(troubles.get(character) ?? 'holds a control character');
      if (isLineEmpty && index === taken) refuse('is blank');
      taken = index + 1;
      line += 1;
      isLineEmpty = true;
    }
    if (taken < text.length) isLineEmpty = false;
  };
  return {
    take: (chunk) => take(decode(chunk)),
    end: () => {
      take(decode(undefined));
      if (line === 1 && isLineEmpty) refuse('the file is empty');
    },
  };
}
