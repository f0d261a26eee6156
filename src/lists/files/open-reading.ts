import { InputError } from '../../platform/errors/errors.js';
import type { OpenSourceOptions, SourceReading } from '../rows/source.js';
import { isTable } from '../csv/dialect/header-detection.js';
import {
  type ByteInput,
  type ByteReader,
  digestingReader,
  isRepeatable,
  PeekReader,
} from './bytes/byte-reader.js';
import { withMembers } from '../rows/guarded-ends.js';
import {
  isRandomAccess,
  type FileFormat,
  defaultMaxRowBytes,
  refuseUnknown,
  type FileOptions,
} from './file-format.js';
import {
  isBinary,
  isShiftedText,
  markBytesOf,
  adviceOn,
  detectSignature,
  utf8Mark,
} from './file-signature.js';
import { createGunzipReader } from './bytes/gzip.js';
import { type JsonlMemory, openJsonl } from '../jsonl/jsonl-reading.js';
import { openCsv } from '../csv/csv-reading.js';
import type { OnNotice } from '../../platform/text/notices.js';
import { parseJson } from '../../platform/json.js';
import { openRandomFile, spoolToRandomFile, type RandomFile } from './bytes/random-file.js';
import { parseEncoding, detectEncoding, createTranscodeReader } from './bytes/text-encoding.js';
import { TxtReading } from '../text/txt.js';
import { notice } from '../../platform/text/notices.js';
import { optionName } from '../../platform/text/sentence.js';

/** What a source knows about its input beside the caller's options. */
interface ReadingOptions extends FileOptions {
  /** Whether its name ends in .txt, and the format is not given. */
  readonly isTxt: boolean;
  readonly memory: JsonlMemory;
}

/** As many bytes as identify a signature or exclude one: a stream may be slow. */
async function peekSignature(reader: PeekReader): Promise<Buffer> {
  return reader.peekUntil((first) => detectSignature(first) !== 'undecided');
}

/** Opens one reading of an input; unknown compression, encoding and format are detected. */
export async function openReading(
  input: ByteInput,
  options: ReadingOptions,
  opening: OpenSourceOptions,
): Promise<SourceReading> {
  const onNotice: OnNotice = (given) => opening.onNotice?.(given);
  const raw = new PeekReader(await input.openReader(opening.signal, onNotice));
  return closeOnError(raw, async () => {
    const { reader, isInflated } = await inflate(raw, input.name);
    return closeOnError(reader, async () => {
      const format = options.format ?? (await findBinaryFormat(reader));
      if (format !== undefined && isRandomAccess(format)) {
        refuseUnknown(format, options);
        const { name, path } = input;
        if (isInflated || path === undefined) {
          const file = await spoolToRandomFile(reader, name, opening.signal);
          return openBinary(format, file, options, opening);
        }
        await reader.close();
        const file = await openRandomFile(path, name, opening.signal);
        return openBinary(format, file, options, opening);
      }
      return openText(reader, format, { input, options, opening });
    });
  });
}

/** Once as its name says, and once more by a server on the way. */
const mostCompressions = 2;

/** Compression shows in the bytes alone: servers unpack files named .gz, and compress others. */
async function inflate(
  raw: PeekReader,
  name: string,
): Promise<{ reader: PeekReader; isInflated: boolean }> {
  let reader = raw;
  for (let times = 0; times < mostCompressions; times += 1) {
    const first = await reader.peek(2);
    // A file cut after its first byte is not text either.
    if (first[0] !== 0x1f || (first[1] ?? 0x8b) !== 0x8b) break;
    reader = new PeekReader(createGunzipReader(name, reader));
  }
  return { reader, isInflated: reader !== raw };
}

async function findBinaryFormat(reader: PeekReader): Promise<FileFormat | undefined> {
  const signature = detectSignature(await peekSignature(reader));
  return typeof signature === 'object' ? signature.format : undefined;
}

/** Loaded when needed: most lists are plain text. */
async function openBinary(
  format: 'xlsx' | 'parquet',
  file: RandomFile,
  options: ReadingOptions,
  opening: OpenSourceOptions,
): Promise<SourceReading> {
  if (format === 'xlsx') {
    const { openXlsx } = await import('../xlsx/xlsx-reading.js');
    return openXlsx(file, options, opening);
  }
  const { openParquet } = await import('../parquet/parquet-reading.js');
  return openParquet(file, opening);
}

interface TextInput {
  readonly input: ByteInput;
  readonly options: ReadingOptions;
  readonly opening: OpenSourceOptions;
}

async function openText(
  bytes: PeekReader,
  known: FileFormat | undefined,
  to: TextInput,
): Promise<SourceReading> {
  const { options, opening } = to;
  const { name } = to.input;
  const encoding = await findEncoding(bytes, options);
  if (encoding === 'utf-8') {
    refuseBinary(await peekSignature(bytes), name, known);
    refuseNoText(await bytes.peekLine(mostLookedThrough), name);
  } else opening.onNotice?.(notice('transcoded', { input: name, encoding }));
  const digesting = digestingReader(createTranscodeReader(name, bytes, encoding));
  const reading = await openFormat(new PeekReader(digesting), known, to);
  return withMembers(reading, { contentDigest: digesting.contentDigest });
}

async function openFormat(
  reader: PeekReader,
  known: FileFormat | undefined,
  { input, options, opening }: TextInput,
): Promise<SourceReading> {
  const { name } = input;
  const { maxRowBytes = defaultMaxRowBytes } = options;
  const csv = { ...options, name, isTsv: known === 'tsv', maxRowBytes };
  const isTxtTable = options.isTxt && (await isTable(reader, csv));
  const format = isTxtTable ? 'csv' : await findTextFormat(reader, name, known);
  refuseUnknown(format, options);
  switch (format) {
    case 'txt':
      return TxtReading.open(
        reader,
        { name, maxRowBytes, hasMark: markBytesOf(await reader.peek(utf8Mark.length)) > 0 },
        opening,
      );
    case 'jsonl':
      return openJsonl(
        reader,
        {
          name,
          maxRowBytes,
          findsAll: options.columns === 'all',
          memory: options.memory,
          ...(isRepeatable(input) && {
            reopen: () => reopenText(input, options, opening.signal),
          }),
        },
        opening,
      );
    default:
      return openCsv(reader, csv, opening);
  }
}

async function findEncoding(bytes: PeekReader, { encoding }: FileOptions): Promise<string> {
  if (encoding !== undefined) return parseEncoding(encoding);
  return detectEncoding(await bytes.peekLine(mostLookedThrough));
}

/** The text of an input again, in UTF-8. */
async function reopenText(
  input: ByteInput,
  options: ReadingOptions,
  signal: AbortSignal | undefined,
): Promise<ByteReader> {
  const raw = new PeekReader(await input.openReader(signal));
  return closeOnError(raw, async () => {
    const { reader } = await inflate(raw, input.name);
    return createTranscodeReader(input.name, reader, await findEncoding(reader, options));
  });
}

function refuseBinary(first: Buffer, name: string, format: FileFormat | undefined): void {
  const signature = detectSignature(first);
  if (typeof signature !== 'object') return;
  const advice =
    adviceOn(signature, name) ??
    `name its format with ${optionName('source.format')}, or give the file that ending`;
  throw new InputError(
    `${name} is not ${(format ?? 'csv').toUpperCase()}: it is ${signature.is}; ${advice}`,
    { line: 1, fault: 'other_format' },
  );
}

function refuseNoText(first: Buffer, name: string): void {
  if (isShiftedText(first)) {
    throw new InputError(
      `${name} is text in ISO-2022, as old Japanese mail programs write it, where a comma may be a part of a letter; save it as UTF-8 first (iconv -f ISO-2022-JP -t UTF-8)`,
      { line: 1, fault: 'encoding' },
    );
  }
  if (!isBinary(first)) return;
  throw new InputError(
    `${name} is not text: name its encoding with ${optionName('encoding')} if it is one such as utf-16le, or export the list as CSV, Excel or Parquet`,
    { line: 1, fault: 'encoding' },
  );
}

const mostLookedThrough = 1024 * 1024;

/** JSON lines begin with a complete object; anything else is CSV. */
async function findTextFormat(
  reader: PeekReader,
  name: string,
  known: FileFormat | undefined,
): Promise<FileFormat> {
  if (known !== undefined && known !== 'jsonl') return known;
  const head = await reader.peekLine(mostLookedThrough);
  const [line = ''] = head
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .split('\n', 1);
  if (/^\s*\[\s*(?:$|[{"[])/.test(line)) {
    throw new InputError(
      `${name} is one JSON array; make it JSON lines, one object a line, first (jq -c '.[]')`,
      { line: 1, fault: 'other_format' },
    );
  }
  // A brace alone, or a member that is not the last: the object ends on a later line.
  if (/^\s*\{\s*(?:"[^]*[,[{]\s*)?$/.test(line)) {
    throw new InputError(
      `${name} is JSON over several lines; make it JSON lines, one object a line, first (jq -c ., or jq -c '.contacts[]' for the list in a member)`,
      { line: 1, fault: 'other_format' },
    );
  }
  const isJson = line.trimStart().startsWith('{') && parseJson(line) !== undefined;
  return known ?? (isJson ? 'jsonl' : 'csv');
}

async function closeOnError<Result>(
  reader: ByteReader,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    await reader.close();
    throw error;
  }
}
