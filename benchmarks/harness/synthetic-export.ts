import { syntheticRecord } from '../reference/synthetic-results.js';

/** The export of a batch: a record for each line of its TXT file, in blocks. */
export function* syntheticExport(file: string): Generator<Buffer> {
  let block = '';
  let before = '{';
  for (const line of file.split('\n')) {
    if (line === '') continue;
    const record = syntheticRecord(line);
    let ending = endings.get(record);
    if (ending === undefined) {
      ending = JSON.stringify(record).slice(1);
      endings.set(record, ending);
    }
    block += `${before}"${line}":{"email":"${line}",${ending}`;
    before = ',';
    if (block.length < blockCharacters) continue;
    yield Buffer.from(block);
    block = '';
  }
  yield Buffer.from(`${before === '{' ? '{' : ''}${block}}`);
}

/** What follows the address in the records made so far: it must not cost what it is to measure. */
const endings = new Map<object, string>();

const blockCharacters = 64 * 1024;
