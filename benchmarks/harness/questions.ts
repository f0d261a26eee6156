import { addressBook } from '../addresses/address-book.js';
import { criticalPath } from '../batches/critical-path.js';
import { start } from '../cli/start.js';
import { pace } from '../client/pace.js';
import { upload } from '../client/upload.js';
import { postgres } from '../databases/postgres.js';
import { endToEnd } from '../end-to-end.js';
import { csvToBatches } from '../formats/csv-to-batches.js';
import { largestList, listSizes } from '../list-sizes.js';
import { peakMemory } from '../peak-memory.js';
import { readExport } from '../results/read-export.js';
import { join } from '../runs/join.js';
import { partitions } from '../runs/partitions.js';
import { replay } from '../runs/replay.js';
import { asking } from '../service/asking.js';
import { verifyDuplex } from '../streams/verify.js';
import type { Question } from './question.js';

/** All questions by the name of the file that asks them. */
export const questions: Readonly<Record<string, Question>> = {
  'end-to-end': endToEnd,
  'runs/join': join,
  'streams/verify': verifyDuplex,
  'formats/csv-to-batches': csvToBatches,
  'results/read-export': readExport,
  'addresses/address-book': addressBook,
  'runs/partitions': partitions,
  'databases/postgres': postgres,
  'peak-memory': peakMemory,
  'client/upload': upload,
  'client/pace': pace,
  'runs/replay': replay,
  'batches/critical-path': criticalPath,
  'cli/start': start,
  'service/asking': asking,
  'list-sizes': listSizes,
  'largest-list': largestList,
};
