import { constants } from 'node:fs';
import { access, chmod, mkdir, readdir, readFile, realpath, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { ConfigurationError, type ErrorFault } from '../../../platform/errors/errors.js';
import {
  type FilePermissions,
  systemFiles,
  exists,
  besidePath,
  move,
} from '../../../platform/files/file-system.js';
import type { ByteOutput } from '../outputs/byte-output.js';
import { refuseWriting } from '../../../platform/files/disk-errors.js';
import { describeSystemError } from '../../../platform/text/system-errors.js';
import { holdOutput, mostOpenFolder, refuseLate } from '../outputs/output-path.js';
import type { LockWait } from '../../rows/sink.js';
import { createOutputFile } from '../outputs/output-file.js';
import * as z from 'zod';
import { kindNames } from '../../rows/values/kinds.js';
import { parseJson } from '../../../platform/json.js';
import { optionName } from '../../../platform/text/sentence.js';

/** The file in a folder of parts that marks it as one. */
export const manifestName = 'manifest.json';
export const manifestMark = 'parts 1';

/** A folder written beside its place that appears there complete, by rename. */
export interface PartsFolder {
  /** Prefix of the parts' numbers, where earlier parts stay until the end. */
  readonly mark?: string;
  create(name: string): Promise<ByteOutput>;
  /** Makes the folder visible, replacing an existing one of parts. */
  finish(): Promise<void>;
  /** Drops what was written. Never fails; does nothing after `finish`. */
  abort(): Promise<void>;
}

/** Fails early where writing would fail late. @returns the folder's path with links followed */
export async function checkPartsFolder(path: string): Promise<string> {
  const refuse = (why: string, fault: ErrorFault): never => {
    throw new ConfigurationError(`cannot write ${path}: ${why}`, { file: path, fault });
  };
  const place = await followLinks(path).catch(() => refuse('its folder does not exist', 'missing'));
  await access(dirname(place), constants.W_OK | constants.X_OK).catch(refuseWriting(path));
  const found = await stat(place).catch(() => undefined);
  if (!found) return place;
  if (!found.isDirectory()) refuse('it is a file, and parts go into a folder', 'exists');
  const names = await readdir(place).catch(refuseWriting(path));
  if (names.length > 0 && !(await isParts(place))) {
    refuse(
      'the folder holds something else than parts, which is not written over: name another',
      'other_content',
    );
  }
  return place;
}

/** Holds a folder as an output; see `Sink.hold`. */
export async function holdFolder(path: string, patience?: LockWait): Promise<() => Promise<void>> {
  return holdOutput(path, await followLinks(path), patience);
}

/** Also where nothing exists yet. */
async function followLinks(path: string): Promise<string> {
  const place = resolve(path);
  return realpath(place).catch(async () => join(await realpath(dirname(place)), basename(place)));
}

/** @param noMoreOpenThan permissions of the file whose content is in the parts */
export async function createPartsFolder(
  path: string,
  noMoreOpenThan?: FilePermissions,
): Promise<PartsFolder> {
  const fail = refuseWriting(path);
  const target = await checkPartsFolder(path).catch(refuseLate);
  const written = besidePath(target, 'parts');
  const old = besidePath(target, 'old');
  // A process killed between the two renames of an exchange has left the old folder aside.
  if (!(await exists(target)) && (await exists(old))) await put(old, target).catch(fail);
  await rm(written, { recursive: true, force: true }).catch(fail);
  await rm(old, { recursive: true, force: true }).catch(fail);
  const mode = await makeClosed(written, noMoreOpenThan).catch(fail);
  const created = await stat(written).catch(fail);
  /** Another process of the run may have taken it for a killed one's. */
  const isUnchanged = async (): Promise<boolean> => {
    const found = await stat(written).catch(() => undefined);
    return found?.ino === created.ino && found.dev === created.dev;
  };
  let isOpen = true;
  return {
    create: (name) => createOutputFile(join(written, name), { noMoreOpenThan }),
    async finish() {
      try {
        if (!(await isUnchanged())) throw new Error('another process writes it at the same time');
        const existing = await stat(target).catch(() => undefined);
        await chmod(written, existing ? existing.mode & 0o7777 : mode);
        if (existing) await put(target, old);
        await put(written, target).catch(async (error: unknown) => {
          await put(old, target).catch(() => undefined);
          throw error;
        });
        isOpen = false;
        await rm(old, { recursive: true, force: true });
      } catch (error) {
        fail(error);
      }
    },
    async abort() {
      if (!isOpen) return;
      isOpen = false;
      if (!(await isUnchanged())) return;
      await rm(written, { recursive: true, force: true }).catch(() => undefined);
    },
  };
}

async function makeClosed(path: string, noMoreOpenThan?: FilePermissions): Promise<number> {
  await mkdir(path);
  const { mode, gid } = await stat(path);
  await chmod(path, 0o700);
  return mode & mostOpenFolder(noMoreOpenThan, gid);
}

async function isParts(folder: string): Promise<boolean> {
  const text = await readFile(join(folder, manifestName), 'utf8').catch(() => '');
  return text.replace(/\s/g, '').startsWith(`{"sluice":"${manifestMark.replace(' ', '')}"`);
}

async function put(from: string, to: string): Promise<void> {
  await move(systemFiles, { from, to });
}

const partKind = z.object({
  name: z.enum(kindNames),
  precision: z.number().exactOptional(),
  scale: z.number().exactOptional(),
  /** Whether a Parquet column is nested: a list or structure. */
  nested: z.boolean().exactOptional(),
});

const partsManifest = z.object({
  sluice: z.literal(manifestMark),
  format: z.enum(['csv', 'tsv', 'jsonl', 'parquet']),
  compression: z.enum(['gzip']).nullable(),
  header: z.boolean(),
  /** Of CSV and TSV: delimiter and quote; null where cells have no quotes. */
  delimiter: z.string().length(1).exactOptional(),
  quote: z.string().length(1).nullable().exactOptional(),
  columns: z.array(z.string()).min(1),
  kinds: z.array(partKind),
  rows: z.number(),
  bytes: z.number(),
  parts: z
    .array(z.object({ name: z.string(), rows: z.number(), bytes: z.number(), sha256: z.string() }))
    .min(1),
});

export type PartsManifest = z.infer<typeof partsManifest>;
export type PartKind = z.infer<typeof partKind>;

export async function readPartsManifest(folder: string): Promise<PartsManifest> {
  const path = join(folder, manifestName);
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new ConfigurationError(
      `cannot read ${path}: ${describeSystemError(cause)}; name a folder of parts, which a run with ${optionName('partBytes')} writes`,
      { cause, file: path, fault: 'missing' },
    );
  });
  const parsed = partsManifest.safeParse(parseJson(text));
  if (parsed.success && parsed.data.kinds.length === parsed.data.columns.length) return parsed.data;
  throw new ConfigurationError(
    `${path} is not a manifest of parts, or one of an earlier version of Sluice: write the parts again`,
    { file: path, fault: 'other_format' },
  );
}
