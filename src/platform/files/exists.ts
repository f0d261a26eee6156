import { stat } from 'node:fs/promises';

/** Whether a path leads to something. */
export async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
