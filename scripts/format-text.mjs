import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format } from 'oxfmt';
import { projectRoot } from './project.mjs';

/** A file's text as `npm run format` would write it. */
export async function formatText(path, text) {
  const options = JSON.parse(await readFile(join(projectRoot, '.oxfmtrc.json'), 'utf8'));
  const { code, errors } = await format(path, text, options);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`);
  return code;
}
