import { chown, lchown, mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** A user that is not this process's. */
const strangerUid = 65_534;

/** Only root may give files away; others find theirs among those of the system. */
export const isRoot = process.geteuid?.() === 0;

/** A file that belongs to another user: one given away, or one of the system's. */
export async function strangersFile(folder: string): Promise<string> {
  if (!isRoot) return '/etc/passwd';
  const path = join(folder, 'strangers-file');
  await writeFile(path, 'theirs\n', { mode: 0o600 });
  await chown(path, strangerUid, strangerUid);
  return path;
}

/** A folder that belongs to another user, at a path where that can be had. */
export async function strangersFolder(folder: string): Promise<string> {
  if (!isRoot) return '/etc';
  const path = join(folder, 'strangers-folder');
  await mkdir(path, { mode: 0o700 });
  await lchown(path, strangerUid, strangerUid);
  return path;
}

/** Puts a stranger's file in the place of another, as whoever may write in its folder could. */
export async function replaceByStrangers(path: string): Promise<void> {
  await rename(await strangersFile(dirname(path)), path);
}
