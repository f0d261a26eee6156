import { constants } from 'node:fs';
import * as fileSystem from 'node:fs/promises';
import type { FilePermissions } from '../../../platform/files/file-system.js';
import { refuseWriting } from '../../../platform/files/disk-errors.js';
import type { ByteOutput } from './byte-output.js';
import { checkOutputPath, type OutputFiles, type OutputTarget } from './output-path.js';
import { createReplacement } from './replacement.js';

export interface OutputFileOptions {
  /**
   * Permissions of the file.
   * @default those of the file that is replaced, else what the process gives new files
   */
  readonly mode?: number | undefined;
  /** A new file gets no more than these permissions: what is in it comes from the file that has them. */
  readonly noMoreOpenThan?: FilePermissions | undefined;
  /** The calls on the disk, for tests. @default the system's @internal */
  readonly files?: OutputFiles | undefined;
}

/**
 * Opens a file for writing that appears whole, by rename, when it is finished, or not at all. Links are
 * followed; mode and, where permitted, owner of the file that is replaced are kept. What is no regular
 * file (a pipe, a device) is written directly.
 *
 * @throws ConfigurationError, OutputError
 */
export async function createOutputFile(
  path: string,
  options: OutputFileOptions = {},
): Promise<ByteOutput> {
  const { mode, noMoreOpenThan, files = fileSystem } = options;
  const target = await checkOutputPath(path, files);
  const fail = refuseWriting(path);
  const output = await (
    target.kind === 'direct'
      ? openDirectly(target, files)
      : createReplacement(target, { mode: mode ?? target.existing?.mode, noMoreOpenThan, files })
  ).catch(fail);
  return {
    givesBack: output.givesBack ?? false,
    write: (bytes) => output.write(bytes).catch(fail),
    finish: () => output.finish().catch(fail),
    ...(output.readBack && { readBack: output.readBack }),
    abort: () => output.abort(),
  };
}

/**
 * Writes such a file from its first byte to its last.
 *
 * @throws ConfigurationError, OutputError; what the bytes fail with
 *
 * @example
 * ```ts
 * await writeOutputFile('answer.json', [Buffer.from('{"ok":true}\n')]);
 * ```
 */
export async function writeOutputFile(
  path: string,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options?: OutputFileOptions,
): Promise<void> {
  const output = await createOutputFile(path, options);
  try {
    for await (const piece of bytes) await output.write(piece);
    await output.finish();
  } catch (error) {
    await output.abort();
    throw error;
  }
}

async function openDirectly(
  { realPath }: OutputTarget,
  files: Pick<typeof fileSystem, 'open'>,
): Promise<ByteOutput> {
  // Appending: `>> list.csv` with /dev/stdout keeps what the list holds already.
  const handle = await files.open(realPath, constants.O_WRONLY | constants.O_APPEND);
  return {
    givesBack: true,
    write: (bytes) => handle.writeFile(bytes),
    finish: () => handle.close(),
    abort: () => handle.close().catch(() => undefined),
  };
}
